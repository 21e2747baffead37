//! The sources of packages, from the command line and the environment.

use std::path::PathBuf;

use crate::buckets::CloudEnvironment;
use crate::cli::{SourceArg, SourceArgs};
use crate::locking::Trust;
use crate::mirror::MirrorDirectory;

use super::index::cloud_environment;
use super::{CacheSettings, Environment, IndexSettings};

/// The sources of packages, and the signatures that packages must have.
#[derive(Clone, Debug)]
pub struct SourceSettings {
    pub choice: SourceChoice,
    /// Signature requirements in addition to the rules of the engine.
    pub trust: Trust,
    /// The maximum number of packages processed at the same time.
    pub jobs: usize,
    pub cache: CacheSettings,
    pub index: IndexSettings,
    pub clouds: CloudEnvironment,
    /// The mirror in which to store packages. `None` if packages are only hashed.
    pub keep: Option<MirrorDirectory>,
}

/// The source from which packages are taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceChoice {
    /// The origin registry of each provider, as in `providers lock`.
    Registry,
    /// The methods in the `provider_installation` block of the CLI configuration.
    Config,
    Filesystem(PathBuf),
    Network(String),
    /// OCI repositories, named by this URI template.
    Oci(String),
}

impl SourceChoice {
    /// Expects at most one of the options, because the command line rejects combinations.
    fn resolve(args: &SourceArgs) -> Self {
        if let Some(base) = &args.fs_mirror {
            return Self::Filesystem(base.clone());
        }
        if let Some(base) = &args.net_mirror {
            return Self::Network(base.clone());
        }
        if let Some(template) = &args.oci_mirror {
            return Self::Oci(template.clone());
        }
        match args.source {
            None | Some(SourceArg::Registry) => Self::Registry,
            Some(SourceArg::Config) => Self::Config,
        }
    }
}

impl SourceSettings {
    /// Merges the command line and the environment. `jobs` is the effective value of `--jobs`.
    pub fn resolve(args: &SourceArgs, environment: &Environment, jobs: usize) -> Self {
        Self {
            choice: SourceChoice::resolve(args),
            trust: trust(environment),
            jobs,
            cache: CacheSettings::resolve(&args.cache, environment),
            index: IndexSettings::default(),
            clouds: cloud_environment(environment),
            keep: None,
        }
    }
}

/// Reads OpenTofu's variables for signature checks. Only the value `true` enables a check (see section 6 of docs/rules/registry.md).
fn trust(environment: &Environment) -> Trust {
    let enforced = |name: &str| environment.get(name) == Some("true");
    Trust {
        enforce_validation: enforced("OPENTOFU_ENFORCE_GPG_VALIDATION"),
        enforce_expiration: enforced("OPENTOFU_ENFORCE_GPG_EXPIRATION"),
        registry_hashes: false,
    }
}
