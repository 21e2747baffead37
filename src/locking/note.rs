//! Warnings about the lock of a directory.

use crate::code::Code;
use crate::display::quoted;
use crate::package::Lapse;
use crate::provider::{Engine, Platform, ProviderAddr, Version};
use crate::span::Explain;

use super::min_age::Undated;

/// What the user should know about a directory although nothing failed. Reported as a warning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Note {
    #[error(
        "`{address}` is locked but not required by the configuration; it stays, since the state may still need it \
         (`--prune` removes it)"
    )]
    NotRequired { address: ProviderAddr },
    /// Hashes that no signed list contains, beside genuine ones.
    #[error(
        "`{address}` {version} has {count} recorded `zh` {} that its signed checksum list does not contain",
        if *.count == 1 { "hash" } else { "hashes" }
    )]
    StrayHashes {
        address: ProviderAddr,
        version: Version,
        count: usize,
    },
    #[error(
        "no recorded hash of `{address}` {version} was genuine; the genuine ones were added beside them"
    )]
    ForeignKept {
        address: ProviderAddr,
        version: Version,
    },
    #[error(
        "no recorded hash of `{address}` {version} was genuine; the genuine ones replaced them"
    )]
    ForeignReplaced {
        address: ProviderAddr,
        version: Version,
    },
    #[error("`{address}` {version} has no package for `{platform}`")]
    PlatformMissing {
        address: ProviderAddr,
        version: Version,
        platform: Platform,
    },
    /// Entries for OpenTofu's registry were added beside those of Terraform's.
    #[error(
        "entries of {} were added for {}; `{} init -lockfile=readonly` refuses the file until the old entries are gone \
         (`--prune` removes them)",
        Engine::Tofu.default_host(), quoted(.of), Engine::Tofu.program()
    )]
    Twins {
        /// The old entries.
        of: Vec<ProviderAddr>,
    },
    #[error("nothing was pruned, since not all requirements of the configuration are known")]
    NotPruned,
    /// A message of the registry to users of the provider.
    #[error("the registry says of `{address}`: {text}")]
    RegistrySays { address: ProviderAddr, text: String },
    #[error("the registry lists invalid versions of `{address}`: {}; they were skipped", quoted(.versions))]
    InvalidVersions {
        address: ProviderAddr,
        versions: Vec<String>,
    },
    /// Versions that are younger than `--min-age` allows.
    #[error("`{address}` {} skipped: signed less than {days} days ago", joined(.versions))]
    Young {
        address: ProviderAddr,
        /// The newest first.
        versions: Vec<Version>,
        /// The value of `--min-age`.
        days: u64,
    },
    /// A version that `--min-age` skips because its date is unknown.
    #[error("`{address}` {version} skipped: its age is unknown, since {why}")]
    AgeUnknown {
        address: ProviderAddr,
        version: Version,
        why: Undated,
    },
    /// A signing key or a signature has expired, which the engine accepts.
    #[error(
        "{} the checksum list of `{address}` {version} has expired, or is not valid yet",
        match .lapse {
            Lapse::Key => "the key that signed",
            Lapse::Signature => "the signature over",
        }
    )]
    Expired {
        address: ProviderAddr,
        version: Version,
        lapse: Lapse,
    },
}

impl Explain for Note {
    fn code(&self) -> Code {
        match self {
            Self::NotRequired { .. } => Code::NotRequired,
            Self::StrayHashes { .. } => Code::StrayHashes,
            Self::ForeignKept { .. } | Self::ForeignReplaced { .. } => Code::ForeignHashes,
            Self::PlatformMissing { .. } => Code::PlatformMissing,
            Self::Twins { .. } => Code::Twins,
            Self::NotPruned => Code::NotPruned,
            Self::RegistrySays { .. } => Code::RegistryWarning,
            Self::InvalidVersions { .. } => Code::InvalidVersions,
            Self::Expired { .. } => Code::ExpiredSignature,
            Self::Young { .. } => Code::TooYoung,
            Self::AgeUnknown { .. } => Code::AgeUnknown,
        }
    }
}

impl Note {
    /// The provider that the note is about; `None` if it is about the whole file.
    pub fn address(&self) -> Option<&ProviderAddr> {
        match self {
            Self::NotRequired { address }
            | Self::StrayHashes { address, .. }
            | Self::ForeignKept { address, .. }
            | Self::ForeignReplaced { address, .. }
            | Self::PlatformMissing { address, .. }
            | Self::RegistrySays { address, .. }
            | Self::InvalidVersions { address, .. }
            | Self::Young { address, .. }
            | Self::AgeUnknown { address, .. }
            | Self::Expired { address, .. } => Some(address),
            Self::Twins { of } => of.first(),
            Self::NotPruned => None,
        }
    }
}

fn joined(versions: &[Version]) -> String {
    let texts: Vec<String> = versions.iter().map(ToString::to_string).collect();
    texts.join(", ")
}
