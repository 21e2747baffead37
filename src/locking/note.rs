//! Warnings about locking a directory.

use crate::code::Code;
use crate::display::quoted;
use crate::package::{Lapse, LapsedPart};
use crate::provider::{Engine, Platform, ProviderAddr, Version};
use crate::span::Explain;

use super::min_age::Undated;

/// Something that the user should know about a directory even though nothing failed. Reported as a warning.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Note {
    #[error(
        "`{address}` is locked but not required by the configuration; it is kept, because the state may still need it \
         (`--prune` removes it)"
    )]
    NotRequired { address: ProviderAddr },
    /// Some recorded hashes are in no signed checksum list, although others are.
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
        "no recorded hash of `{address}` {version} belonged to any of its packages; the correct hashes were added to the recorded ones"
    )]
    ForeignKept {
        address: ProviderAddr,
        version: Version,
    },
    #[error(
        "no recorded hash of `{address}` {version} belonged to any of its packages; the correct hashes replaced the recorded ones"
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
    /// Entries for OpenTofu's registry were added alongside those for Terraform's.
    #[error(
        "the following entries for {} were added: {}; `{} init -lockfile=readonly` rejects the file until the corresponding \
         entries for {} are gone (`--prune` removes them)",
        Engine::Tofu.default_host(), quoted(.of), Engine::Tofu.program(), Engine::Terraform.default_host()
    )]
    Twins {
        /// The added entries.
        of: Vec<ProviderAddr>,
    },
    #[error("nothing was pruned, because not all requirements of the configuration are known")]
    NotPruned,
    /// A message from the registry to users of the provider.
    #[error("message from the registry about `{address}`: {text}")]
    RegistrySays { address: ProviderAddr, text: String },
    #[error("skipped invalid versions of `{address}` that the registry lists: {}", quoted(.versions))]
    InvalidVersions {
        address: ProviderAddr,
        versions: Vec<String>,
    },
    /// Versions that are younger than `--min-age` allows.
    #[error("skipped `{address}` {}: signed less than {days} days ago", joined(.versions))]
    Young {
        address: ProviderAddr,
        /// The skipped versions, from the newest to the oldest.
        versions: Vec<Version>,
        /// The value of `--min-age`, in days.
        days: u64,
    },
    /// A version that `--min-age` skips because its date is unknown.
    #[error("skipped `{address}` {version}: its age is unknown because {why}")]
    AgeUnknown {
        address: ProviderAddr,
        version: Version,
        why: Undated,
    },
    /// A signing key or a signature has expired or is not yet valid, but the engine accepts it.
    #[error(
        "{} the checksum list of `{address}` {version} {}",
        match .lapse.part {
            LapsedPart::Key => "the key that signed",
            LapsedPart::SelfSignature => "the self-signature of the key that signed",
            LapsedPart::Signature => "the signature over",
        },
        .lapse.period
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
    /// Returns the provider that the note is about, or `None` if it is about the whole file.
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
