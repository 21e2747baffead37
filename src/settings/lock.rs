//! The settings of `tflock lock`.

use std::time::Duration;

use crate::cli::LockArgs;
use crate::locking::{Upgrade, UpgradeTarget};
use crate::provider::{Engine, ProviderAddr};

use super::path_group::PathGroup;
use super::tree::{LockTargets, TreeRequest, config_files, path_groups};
use super::{
    Environment, IndexSettings, ReportSettings, SettingsError, SourceSettings, TreeSettings,
};

#[derive(Clone, Debug)]
pub struct LockSettings {
    pub tree: TreeSettings,
    pub sources: SourceSettings,
    /// Whether to check lock files without writing them (`--check`).
    pub check: bool,
    /// Whether to exit with the code for drift if a lock file was created or changed.
    pub fail_on_change: bool,
    pub diff: bool,
    pub report: ReportSettings,
}

impl LockSettings {
    /// Checks the command line, and merges it with config files and the environment.
    pub fn resolve(args: &LockArgs, environment: &Environment) -> Result<Self, SettingsError> {
        check_providers(&args.providers)?;
        let upgrade = upgrade(&args.upgrade)?;
        let is_upgrade_of_all = upgrade == Upgrade::All;
        let request = TreeRequest {
            tree: &args.tree,
            with_callers: args.callers.callers,
            reading: &args.reading,
            command_line: args.layered.layer()?,
            targets: LockTargets {
                upgrade,
                providers: args.providers.clone(),
                min_age: args.min_age.map(days),
            },
        };
        let tree = TreeSettings::resolve(request, environment);
        let mut tree = match tree {
            Err(error) if is_upgrade_of_all => return Err(error.after("--upgrade")),
            tree => tree?,
        };
        tree.clean_up = !args.change.check;
        let mut sources = SourceSettings::resolve(&args.sources, environment, tree.jobs());
        sources.trust.registry_hashes = args.trust_registry_hashes;
        sources.index = IndexSettings::resolve(&args.index, environment, &tree)?;
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

/// Determines the effective options for each PATH on the command line, for `tflock config`.
pub fn effective_options(
    args: &LockArgs,
    environment: &Environment,
) -> Result<Vec<PathGroup>, SettingsError> {
    let config_files = config_files(&args.tree, &args.reading.confinement, environment)?;
    path_groups(
        &args.tree,
        &args.layered.layer()?,
        environment,
        &config_files,
    )
}

fn days(count: u16) -> Duration {
    Duration::from_secs(u64::from(count) * 24 * 60 * 60)
}

pub(super) fn check_providers(texts: &[String]) -> Result<(), SettingsError> {
    for text in texts {
        ProviderAddr::parse(text, Engine::Terraform)
            .map_err(|error| SettingsError::argument(format!("--provider {text}"), error))?;
    }
    Ok(())
}

/// Combines the values of all `--upgrade` options. An option without a value selects all providers, whatever the other options name.
fn upgrade(texts: &[String]) -> Result<Upgrade, SettingsError> {
    if texts.is_empty() {
        return Ok(Upgrade::None);
    }
    if texts.iter().any(String::is_empty) {
        return Ok(Upgrade::All);
    }
    let target = |text: &String| {
        UpgradeTarget::parse(text)
            .map_err(|error| SettingsError::argument(format!("--upgrade={text}"), error))
    };
    let targets: Result<_, _> = texts.iter().map(target).collect();
    targets.map(Upgrade::Named)
}
