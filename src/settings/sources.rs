//! The sources of packages, from the command line and the environment.

use std::path::PathBuf;

use crate::cli::{SourceArg, SourceArgs};
use crate::locking::Trust;
use crate::mirror::MirrorDirectory;

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
}

impl SourceSettings {
    /// Merges the command line and the environment. `jobs` is the effective value of `--jobs`.
    pub fn resolve(args: &SourceArgs, environment: &Environment, jobs: usize) -> Self {
        Self {
            choice: match (&args.fs_mirror, &args.net_mirror, args.source) {
                (Some(base), _, _) => SourceChoice::Filesystem(base.clone()),
                (None, Some(base), _) => SourceChoice::Network(base.clone()),
                (None, None, None | Some(SourceArg::Registry)) => SourceChoice::Registry,
                (None, None, Some(SourceArg::Config)) => SourceChoice::Config,
            },
            trust: trust(environment),
            jobs,
            cache: CacheSettings::resolve(&args.cache, environment),
            index: IndexSettings::default(),
            keep: None,
        }
    }
}

/// Reads OpenTofu's variables for signature checks. Only the value `true` enables one (docs/rules/registry.md 6).
fn trust(environment: &Environment) -> Trust {
    let enforced = |name: &str| environment.get(name) == Some("true");
    Trust {
        enforce_validation: enforced("OPENTOFU_ENFORCE_GPG_VALIDATION"),
        enforce_expiration: enforced("OPENTOFU_ENFORCE_GPG_EXPIRATION"),
        registry_hashes: false,
    }
}
