//! What `tflock lock` is to do.

use std::time::Duration;

use crate::cli::LockArgs;
use crate::locking::{Upgrade, UpgradeTarget};
use crate::provider::{Engine, Platform, ProviderAddr};

use super::{Environment, ReportSettings, SettingsError, SourceSettings, TreeSettings, Typed};

/// What `tflock lock` is to do.
#[derive(Clone, Debug)]
pub struct LockSettings {
    /// Where.
    pub tree: TreeSettings,
    /// Where packages come from.
    pub sources: SourceSettings,
    /// Write nothing.
    pub check: bool,
    /// A lock file that was created or changed counts as found.
    pub fail_on_change: bool,
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
        current: &Platform,
    ) -> Result<Self, SettingsError> {
        let upgrade = upgrade(&args.upgrade)?;
        check_providers(&args.providers)?;
        let tree = TreeSettings::resolve(&typed(args), environment, current);
        let mut tree = tree.map_err(|error| match upgrade {
            Upgrade::All => error.after("--upgrade"),
            Upgrade::None | Upgrade::Named(_) => error,
        })?;
        tree = tree.with_policy(|policy| {
            policy.upgrade = upgrade.clone();
            policy.providers.clone_from(&args.providers);
            policy.min_age = args.min_age.map(days);
        });
        tree.clean_up = !args.change.check;
        let mut sources = SourceSettings::resolve(&args.sources, environment, tree.jobs());
        sources.trust.registry_hashes = args.trust_registry_hashes;
        Ok(Self {
            sources,
            tree,
            check: args.change.check,
            fail_on_change: args.change.fail_on_change,
            diff: args.diff,
            report: ReportSettings::resolve(&args.report, environment),
        })
    }
}

/// What was typed of the things that a config file may set as well.
pub fn typed(args: &LockArgs) -> Typed<'_> {
    Typed {
        create: args.create,
        prune: match (args.prune.prune, args.prune.no_prune) {
            (true, _) => Some(true),
            (false, true) => Some(false),
            (false, false) => None,
        },
        mismatch: args.mismatch,
        missing_platform: args.missing_platform,
        ..Typed::new(&args.tree, &args.platforms, &args.reading, &args.sources)
    }
}

fn days(count: u16) -> Duration {
    Duration::from_secs(u64::from(count) * 24 * 60 * 60)
}

pub(super) fn check_providers(texts: &[String]) -> Result<(), SettingsError> {
    for text in texts {
        ProviderAddr::parse(text, Engine::Terraform).map_err(|source| SettingsError::Provider {
            text: text.clone(),
            source: Box::new(source),
        })?;
    }
    Ok(())
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
