//! What `tflock lock` is to do.

use crate::cli::{CreateArg, LockArgs, MismatchArg};
use crate::locking::{Mismatch, Policy, Signers, Upgrade, UpgradeTarget};
use crate::provider::{Engine, Platform, ProviderAddr};

use super::area::{missing, platforms};
use super::{Create, Environment, ReportSettings, SettingsError, SourceSettings, TreeSettings};

/// What `tflock lock` is to do.
#[derive(Clone, Debug)]
pub struct LockSettings {
    /// Where.
    pub tree: TreeSettings,
    /// Where packages come from.
    pub sources: SourceSettings,
    /// Write nothing.
    pub check: bool,
    /// Show how lock files change.
    pub diff: bool,
    /// How the run is reported.
    pub report: ReportSettings,
}

impl LockSettings {
    /// Checks what was typed. `current` is the platform to lock for when none is named.
    pub fn resolve(
        args: &LockArgs,
        environment: &Environment,
        current: Platform,
    ) -> Result<Self, SettingsError> {
        let create = match args.create {
            None | Some(CreateArg::Auto) => Create::Auto,
            Some(CreateArg::Always) => Create::Always,
            Some(CreateArg::Never) => Create::Never,
        };
        let policy = policy(args, current)?;
        let mut tree =
            TreeSettings::resolve(&args.tree, &args.reading, environment, create, policy)?;
        tree.clean_up = !args.check;
        Ok(Self {
            tree,
            sources: SourceSettings::resolve(&args.sources, environment),
            check: args.check,
            diff: args.diff,
            report: ReportSettings::resolve(&args.report),
        })
    }
}

fn policy(args: &LockArgs, current: Platform) -> Result<Policy, SettingsError> {
    for text in &args.providers {
        ProviderAddr::parse(text, Engine::Terraform).map_err(|source| SettingsError::Provider {
            text: text.clone(),
            source: Box::new(source),
        })?;
    }
    let named = platforms(&args.platforms.platforms)?;
    Ok(Policy {
        platforms_defaulted: named.is_empty(),
        platforms: if named.is_empty() {
            vec![current]
        } else {
            named
        },
        upgrade: upgrade(&args.upgrade)?,
        providers: args.providers.clone(),
        prune: args.prune,
        mismatch: match args.mismatch {
            None | Some(MismatchArg::Error) => Mismatch::Error,
            Some(MismatchArg::Add) => Mismatch::Add,
            Some(MismatchArg::Replace) => Mismatch::Replace,
        },
        missing_platform: missing(args.missing_platform),
        signers: Signers::default(),
    })
}

/// `--upgrade` without a value means all, whatever else is named.
fn upgrade(texts: &[String]) -> Result<Upgrade, SettingsError> {
    if texts.is_empty() {
        return Ok(Upgrade::None);
    }
    if texts.iter().any(String::is_empty) {
        return Ok(Upgrade::All);
    }
    let target = |text: &String| {
        UpgradeTarget::parse(text).map_err(|source| SettingsError::Upgrade {
            text: text.clone(),
            source: Box::new(source),
        })
    };
    texts
        .iter()
        .map(target)
        .collect::<Result<_, _>>()
        .map(Upgrade::Named)
}
