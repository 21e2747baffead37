//! Where packages come from, as far as the command line and switches in the environment say.

use std::path::PathBuf;

use crate::cli::{SourceArg, SourceArgs};
use crate::locking::Trust;
use crate::mirror::MirrorDirectory;

use super::{CacheSettings, Environment};

/// Where packages come from and what is asked of them.
#[derive(Clone, Debug)]
pub struct SourceSettings {
    /// Registries or mirrors.
    pub choice: SourceChoice,
    /// What is asked of signatures beyond the engine's own rules.
    pub trust: Trust,
    /// Packages in flight.
    pub jobs: usize,
    /// What earlier runs have learned.
    pub cache: CacheSettings,
    /// Where zips are kept beside being hashed.
    pub keep: Option<MirrorDirectory>,
}

/// Where packages come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceChoice {
    /// The origin registries, as for `providers lock`.
    Registry,
    /// What `provider_installation` in the CLI configuration says.
    Config,
    /// One directory.
    Filesystem(PathBuf),
    /// One mirror server.
    Network(String),
}

impl SourceSettings {
    /// What was typed, with defaults where nothing was; `jobs` is known from config files as well.
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
            keep: None,
        }
    }
}

/// OpenTofu's switches for signatures, which count as exactly `true` only (docs/rules/registry.md 6).
fn trust(environment: &Environment) -> Trust {
    let enforced = |name: &str| environment.get(name) == Some("true");
    Trust {
        enforce_validation: enforced("OPENTOFU_ENFORCE_GPG_VALIDATION"),
        enforce_expiration: enforced("OPENTOFU_ENFORCE_GPG_EXPIRATION"),
        registry_hashes: false,
    }
}
