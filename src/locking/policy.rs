//! What the user asked for, as far as it decides what a lock contains (docs/reference/options.md).

use std::collections::BTreeMap;
use std::time::Duration;

use crate::provider::{AddressError, Engine, Platform, ProviderAddr, Version, VersionError};

use super::signers::SignerRules;

/// What a lock shall contain.
#[derive(Clone, Debug)]
pub struct Policy {
    /// The platforms asked for, in the order given, each once, at least one.
    pub platforms: Vec<Platform>,
    /// Nobody named a platform: it is this machine's.
    pub platforms_defaulted: bool,
    /// Which providers move to the newest version.
    pub upgrade: Upgrade,
    /// Work on these providers only, as sources; empty: on all.
    pub providers: Vec<String>,
    /// Remove entries that are not required.
    pub prune: bool,
    /// When no recorded hash of a kept version is genuine.
    pub mismatch: Mismatch,
    /// When a selected version has no package for an asked platform.
    pub missing_platform: Missing,
    /// Versions that have been out for less are no upgrade, unless they are named.
    pub min_age: Option<Duration>,
    /// Who may sign for which providers.
    pub signers: SignerRules,
}

/// When no recorded hash of a kept version is genuine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// The directory fails.
    Error,
    /// The right hashes are added beside the foreign ones.
    Add,
    /// Only the right hashes are recorded.
    Replace,
}

/// Whether something missing fails its directory; the stricter comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Missing {
    /// It does.
    Error,
    /// The rest is recorded, and a warning says so.
    Warn,
}

/// Which providers move to the newest version that their constraints allow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Upgrade {
    /// None: a locked version that fits is kept.
    None,
    /// All.
    All,
    /// The named ones, as sources with the version to move to, if one is named.
    Named(Vec<UpgradeTarget>),
}

/// One `--upgrade=ADDR[@VERSION]`. The source becomes an address in each directory, since the default host depends on the
/// engine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpgradeTarget {
    /// The source as written.
    pub source: String,
    /// The version to move to; `None`: the newest.
    pub version: Option<Version>,
}

/// Why `--upgrade` or `--provider` cannot be understood.
#[derive(Clone, Debug, thiserror::Error)]
pub enum TargetError {
    /// The address is none.
    #[error(transparent)]
    Address(#[from] AddressError),
    /// What follows `@` is no version.
    #[error(transparent)]
    Version(#[from] VersionError),
}

impl UpgradeTarget {
    /// Reads `ADDR` or `ADDR@VERSION`.
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

/// The policy with its sources as addresses of one engine.
#[derive(Clone, Debug)]
pub struct ProviderScope {
    upgrade: ScopedUpgrade,
    only: Option<Vec<ProviderAddr>>,
}

#[derive(Clone, Debug)]
enum ScopedUpgrade {
    None,
    All,
    Named(BTreeMap<ProviderAddr, Option<Version>>),
}

/// What is to be done with the version of one provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionTarget<'a> {
    /// Keep a locked version that fits.
    Keep,
    /// Take the newest that fits.
    Newest,
    /// Take this one.
    To(&'a Version),
}

impl ProviderScope {
    /// What `policy` means for directories of `engine`. Sources that are no address for this engine name nothing in it.
    pub fn new(policy: &Policy, engine: Engine) -> Self {
        let upgrade = match &policy.upgrade {
            Upgrade::None => ScopedUpgrade::None,
            Upgrade::All => ScopedUpgrade::All,
            Upgrade::Named(targets) => ScopedUpgrade::Named(
                targets
                    .iter()
                    .filter_map(|target| {
                        let address = ProviderAddr::parse(&target.source, engine).ok()?;
                        Some((address, target.version.clone()))
                    })
                    .collect(),
            ),
        };
        let only = (!policy.providers.is_empty()).then(|| {
            let parse = |source: &String| ProviderAddr::parse(source, engine).ok();
            policy.providers.iter().filter_map(parse).collect()
        });
        Self { upgrade, only }
    }

    /// Whether `address` is to be worked on.
    pub fn includes(&self, address: &ProviderAddr) -> bool {
        self.only.as_ref().is_none_or(|only| only.contains(address))
    }

    /// What is to be done with the version of `address`.
    pub fn version_target(&self, address: &ProviderAddr) -> VersionTarget<'_> {
        match &self.upgrade {
            ScopedUpgrade::None => VersionTarget::Keep,
            ScopedUpgrade::All => VersionTarget::Newest,
            ScopedUpgrade::Named(targets) => match targets.get(address) {
                None => VersionTarget::Keep,
                Some(None) => VersionTarget::Newest,
                Some(Some(version)) => VersionTarget::To(version),
            },
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
    fn sources_mean_addresses_of_the_engine() {
        let targets = ["acme/anvil@1.2.0", "hashicorp/aws"];
        let targets = targets.map(|text| UpgradeTarget::parse(text).unwrap());
        let policy = policy(Upgrade::Named(targets.to_vec()), &["acme/anvil"]);
        for engine in [Engine::Terraform, Engine::Tofu] {
            let scope = ProviderScope::new(&policy, engine);
            let anvil = address("acme/anvil", engine);
            let wanted = Version::parse("1.2.0").unwrap();
            assert_eq!(scope.version_target(&anvil), VersionTarget::To(&wanted));
            assert_eq!(
                scope.version_target(&address("aws", engine)),
                VersionTarget::Newest
            );
            assert_eq!(
                scope.version_target(&address("acme/bolt", engine)),
                VersionTarget::Keep
            );
            assert!(scope.includes(&anvil));
            assert!(!scope.includes(&address("example.com/acme/anvil", engine)));
        }
    }

    #[test]
    fn without_names_all_providers_are_meant() {
        let anvil = address("acme/anvil", Engine::Terraform);
        let all = policy(Upgrade::All, &[]);
        let scope = ProviderScope::new(&all, Engine::Terraform);
        assert_eq!(
            (scope.version_target(&anvil), scope.includes(&anvil)),
            (VersionTarget::Newest, true)
        );
        let none = policy(Upgrade::None, &[]);
        let scope = ProviderScope::new(&none, Engine::Terraform);
        assert_eq!(scope.version_target(&anvil), VersionTarget::Keep);
    }

    #[test]
    fn targets_that_are_none_are_refused() {
        for text in [
            "",
            "a/b/c/d",
            "acme/anvil@",
            "acme/anvil@~> 1.0",
            "acme/anvil@v1",
        ] {
            assert!(UpgradeTarget::parse(text).is_err(), "{text}");
        }
    }
}
