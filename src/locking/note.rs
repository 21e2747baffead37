//! What the user should know about a directory although nothing failed.

use std::fmt;

use crate::package::Lapse;
use crate::provider::{Engine, Platform, ProviderAddr, Version};

use super::min_age::Undated;

/// What the user should know about a directory although nothing failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// An entry of the lock file that the configuration no longer requires.
    NotRequired {
        /// The entry.
        address: ProviderAddr,
    },
    /// Hashes that no signed list holds, beside genuine ones.
    StrayHashes {
        /// The entry.
        address: ProviderAddr,
        /// Its version.
        version: Version,
        /// How many.
        count: usize,
    },
    /// Not one recorded hash was genuine; the right ones were added beside them.
    ForeignKept {
        /// The entry.
        address: ProviderAddr,
        /// Its version.
        version: Version,
    },
    /// Not one recorded hash was genuine; the right ones replaced them.
    ForeignReplaced {
        /// The entry.
        address: ProviderAddr,
        /// Its version.
        version: Version,
    },
    /// The selected version has no package for an asked platform.
    PlatformMissing {
        /// Which provider.
        address: ProviderAddr,
        /// The selected version.
        version: Version,
        /// The platform.
        platform: Platform,
    },
    /// OpenTofu's twins of entries that Terraform made.
    Twins {
        /// The entries that have twins now.
        of: Vec<ProviderAddr>,
    },
    /// Requirements could not be read completely, so nothing was pruned.
    NotPruned,
    /// What the registry wants users of the provider to know.
    RegistrySays {
        /// Which provider.
        address: ProviderAddr,
        /// Its words.
        text: String,
    },
    /// Listed texts that are no versions were skipped.
    InvalidVersions {
        /// Which provider.
        address: ProviderAddr,
        /// The texts.
        versions: Vec<String>,
    },
    /// Versions that `--min-age` passes over.
    Young {
        /// Which provider.
        address: ProviderAddr,
        /// The newest first.
        versions: Vec<Version>,
        /// How long a version must have been out.
        days: u64,
    },
    /// A version that `--min-age` passes over, since nobody says how long it has been out.
    AgeUnknown {
        /// Which provider.
        address: ProviderAddr,
        /// Which version.
        version: Version,
        /// Why not.
        why: Undated,
    },
    /// A provider's signing key or signature has expired, which the engine accepts.
    Expired {
        /// Which provider.
        address: ProviderAddr,
        /// Which version.
        version: Version,
        /// What has expired.
        lapse: Lapse,
    },
}

impl Note {
    /// What kind of note it is, for programs that read reports: a stable name in kebab case.
    pub fn code(&self) -> &'static str {
        match self {
            Self::NotRequired { .. } => "not-required",
            Self::StrayHashes { .. } => "stray-hashes",
            Self::ForeignKept { .. } | Self::ForeignReplaced { .. } => "foreign-hashes",
            Self::PlatformMissing { .. } => "platform-missing",
            Self::Twins { .. } => "twins",
            Self::NotPruned => "not-pruned",
            Self::RegistrySays { .. } => "registry-warning",
            Self::InvalidVersions { .. } => "invalid-versions",
            Self::Expired { .. } => "expired-signature",
            Self::Young { .. } => "too-young",
            Self::AgeUnknown { .. } => "age-unknown",
        }
    }

    /// The provider it is about, if it is about one.
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

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotRequired { address } => write!(
                f,
                "`{address}` is locked but not required by the configuration; it stays, since the state may still need it \
                 (`--prune` removes it)"
            ),
            Self::StrayHashes {
                address,
                version,
                count,
            } => {
                let hashes = if *count == 1 { "hash" } else { "hashes" };
                write!(
                    f,
                    "`{address}` {version} has {count} recorded `zh` {hashes} that its signed checksum list does not hold"
                )
            }
            Self::ForeignKept { address, version } => write!(
                f,
                "no recorded hash of `{address}` {version} was genuine; the right ones were added beside them"
            ),
            Self::ForeignReplaced { address, version } => write!(
                f,
                "no recorded hash of `{address}` {version} was genuine; the right ones replaced them"
            ),
            Self::PlatformMissing {
                address,
                version,
                platform,
            } => write!(f, "`{address}` {version} has no package for `{platform}`"),
            Self::Twins { of } => {
                write!(
                    f,
                    "entries of {} were added for {}; `{} init -lockfile=readonly` refuses the file until the old entries are \
                     gone (`--prune` removes them)",
                    Engine::Tofu.default_host(),
                    quoted(of),
                    Engine::Tofu.program(),
                )
            }
            Self::NotPruned => write!(
                f,
                "nothing was pruned, since not all requirements of the configuration are known"
            ),
            Self::Young {
                address,
                versions,
                days,
            } => {
                let versions: Vec<String> = versions.iter().map(ToString::to_string).collect();
                let versions = versions.join(", ");
                write!(
                    f,
                    "`{address}` {versions} passed over: signed less than {days} days ago"
                )
            }
            Self::AgeUnknown {
                address,
                version,
                why,
            } => write!(
                f,
                "`{address}` {version} passed over: it cannot be known how long it has been out, since {why}"
            ),
            Self::RegistrySays { address, text } => {
                write!(f, "the registry says of `{address}`: {text}")
            }
            Self::InvalidVersions { address, versions } => write!(
                f,
                "the registry lists {} as versions of `{address}`, which are none; they were skipped",
                quoted(versions)
            ),
            Self::Expired {
                address,
                version,
                lapse,
            } => {
                let what = match lapse {
                    Lapse::Key => "the key that signed",
                    Lapse::Signature => "the signature over",
                };
                write!(
                    f,
                    "{what} the checksum list of `{address}` {version} has expired, or is not valid yet"
                )
            }
        }
    }
}

/// Each in backticks, with commas between.
fn quoted(items: &[impl fmt::Display]) -> String {
    let quoted: Vec<String> = items.iter().map(|item| format!("`{item}`")).collect();
    quoted.join(", ")
}
