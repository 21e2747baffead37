//! The options that determine what a lock file contains (see docs/reference/options.md).

use std::collections::BTreeMap;
use std::time::Duration;

use crate::provider::{AddressError, Engine, Platform, ProviderAddr, Version, VersionError};

use super::signers::SignerRules;

#[derive(Clone, Debug)]
pub struct Policy {
    /// The requested platforms, in the given order, without duplicates. Never empty.
    pub platforms: Vec<Platform>,
    /// Whether no platform was requested, in which case `platforms` contains only the platform of this machine.
    pub platforms_defaulted: bool,
    pub upgrade: Upgrade,
    /// The sources of the providers to lock; empty for all providers.
    pub providers: Vec<String>,
    /// Whether entries that are not required are removed.
    pub prune: bool,
    pub mismatch: Mismatch,
    /// What to do if the selected version has no package for a requested platform.
    pub missing_platform: Missing,
    /// How long a version must have been published before `--upgrade` selects it, unless the option names that version.
    pub min_age: Option<Duration>,
    pub signers: SignerRules,
}

/// What to do if no recorded hash of a kept version belongs to a package of this version (`--mismatch`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The directory fails.
    Error,
    /// The hashes of the packages are added to the recorded ones.
    Add,
    /// The hashes of the packages replace the recorded ones.
    Replace,
}

/// What to do if a package or a module is missing. The stricter variant is first, so that the minimum of several values is the
/// strictest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// The directory fails.
    Error,
    /// A warning is reported, and the directory is locked without the package or module.
    Warn,
}

/// Which providers are upgraded to the newest version that their constraints allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Upgrade {
    /// No provider: a locked version that satisfies the constraints is kept.
    None,
    All,
    Named(Vec<UpgradeTarget>),
}

/// A value of `--upgrade=ADDR[@VERSION]`. The source is not an address yet, because its default host depends on the engine of
/// each directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpgradeTarget {
    /// The source as written.
    pub source: String,
    /// The version to select; `None` for the newest.
    pub version: Option<Version>,
}

/// The reason why a value of `--upgrade` or `--provider` is invalid.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TargetError {
    #[error(transparent)]
    Address(#[from] AddressError),
    /// The version after `@` is invalid.
    #[error(transparent)]
    Version(#[from] VersionError),
}

impl UpgradeTarget {
    /// Parses `ADDR` or `ADDR@VERSION`.
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        let (source, version) = match text.split_once('@') {
            Some((source, version)) => (source, Some(Version::parse(version)?)),
            None => (text, None),
        };
        ProviderAddr::parse(source, Engine::Terraform)?;
        Ok(Self {
            source: source.to_owned(),
            version,
        })
    }
}

/// The values of `--upgrade` and `--provider`, as addresses of one engine.
#[derive(Clone, Debug)]
pub struct ProviderScope {
    upgrades_all: bool,
    /// The providers that `--upgrade` names, with the version to select; `None` for the newest.
    upgraded: BTreeMap<ProviderAddr, Option<Version>>,
    only: Option<Vec<ProviderAddr>>,
}

/// The version to select for a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionTarget<'a> {
    /// The locked version if it satisfies the constraints, otherwise the newest version that does.
    Keep,
    /// The newest version that satisfies the constraints.
    Newest,
    To(&'a Version),
    /// The locked version of the entry for Terraform's registry. It is selected if the provider's own entry no longer satisfies the
    /// constraints, because OpenTofu would replace this entry by a copy of the one for Terraform's registry (see
    /// [`Locks::add_twins`](crate::lockfile::Locks::add_twins)).
    Twin(&'a Version),
}

impl ProviderScope {
    /// Converts the sources in `policy` to addresses. Ignores sources that are invalid for `engine`.
    pub fn new(policy: &Policy, engine: Engine) -> Self {
        let parse = |source: &String| ProviderAddr::parse(source, engine).ok();
        let named = match &policy.upgrade {
            Upgrade::None | Upgrade::All => &[],
            Upgrade::Named(targets) => targets.as_slice(),
        };
        let upgraded = named
            .iter()
            .filter_map(|target| Some((parse(&target.source)?, target.version.clone())));
        let only = (!policy.providers.is_empty())
            .then(|| policy.providers.iter().filter_map(parse).collect());
        Self {
            upgrades_all: policy.upgrade == Upgrade::All,
            upgraded: upgraded.collect(),
            only,
        }
    }

    pub fn includes(&self, address: &ProviderAddr) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(address))
    }

    /// Returns the version to select. A provider that stores the state is upgraded only if `--upgrade` names it.
    pub fn version_target(&self, address: &ProviderAddr, stores_state: bool) -> VersionTarget<'_> {
        match self.upgraded.get(address) {
            Some(Some(version)) => VersionTarget::To(version),
            Some(None) => VersionTarget::Newest,
            None if self.upgrades_all && !stores_state => VersionTarget::Newest,
            None => VersionTarget::Keep,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn policy(upgrade: Upgrade, providers: &[&str]) -> Policy {
        Policy {
            platforms: vec![Platform::current()],
            platforms_defaulted: true,
            upgrade,
            providers: providers.iter().map(ToString::to_string).collect(),
            prune: false,
            mismatch: Mismatch::Error,
            missing_platform: Missing::Error,
            min_age: None,
            signers: SignerRules::default(),
        }
    }

    fn address(source: &str, engine: Engine) -> ProviderAddr {
        ProviderAddr::parse(source, engine).unwrap()
    }

    #[test]
    fn sources_become_addresses_of_the_engine() {
        let targets = ["acme/anvil@1.2.0", "hashicorp/aws"];
        let targets = targets.map(|text| UpgradeTarget::parse(text).unwrap());
        let policy = policy(Upgrade::Named(targets.to_vec()), &["acme/anvil"]);
        for engine in [Engine::Terraform, Engine::Tofu] {
            let scope = ProviderScope::new(&policy, engine);
            let anvil = address("acme/anvil", engine);
            let wanted = Version::parse("1.2.0").unwrap();
            assert_eq!(
                scope.version_target(&anvil, true),
                VersionTarget::To(&wanted)
            );
            assert_eq!(
                scope.version_target(&address("aws", engine), true),
                VersionTarget::Newest
            );
            assert_eq!(
                scope.version_target(&address("acme/bolt", engine), false),
                VersionTarget::Keep
            );
            assert!(scope.includes(&anvil));
            assert!(!scope.includes(&address("example.com/acme/anvil", engine)));
        }
    }

    #[test]
    fn without_names_all_providers_are_included() {
        let anvil = address("acme/anvil", Engine::Terraform);
        let all = policy(Upgrade::All, &[]);
        let scope = ProviderScope::new(&all, Engine::Terraform);
        assert_eq!(
            (scope.version_target(&anvil, false), scope.includes(&anvil)),
            (VersionTarget::Newest, true)
        );
        assert_eq!(scope.version_target(&anvil, true), VersionTarget::Keep);
        let none = policy(Upgrade::None, &[]);
        let scope = ProviderScope::new(&none, Engine::Terraform);
        assert_eq!(scope.version_target(&anvil, false), VersionTarget::Keep);
    }

    #[test]
    fn invalid_targets_are_refused() {
        let rows = [
            "",
            "a/b/c/d",
            "acme/anvil@",
            "acme/anvil@~> 1.0",
            "acme/anvil@v1",
        ];
        for text in rows {
            assert!(UpgradeTarget::parse(text).is_err(), "{text}");
        }
    }
}
