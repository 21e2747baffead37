//! The errors that prevent a provider from being locked.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::code::Code;
use crate::display::quoted;
use crate::package::{AuthenticityError, PackageError};
use crate::provider::{Platform, ProviderAddr, Version, VersionConstraints};
use crate::registry::{MirrorHashError, PackagesError, RegistryError};
use crate::span::{Explain, Place};

use super::package_index::FalseRecord;
use super::signers::RefusedSigner;
use super::transfer::TransferError;

/// The error for a provider that cannot be locked.
#[derive(Debug, thiserror::Error)]
#[error("cannot lock `{address}`")]
pub struct LockingError {
    pub address: ProviderAddr,
    /// Where the configuration requires the provider, or where the lock file records it.
    pub place: Option<Place>,
    #[source]
    pub problem: Box<LockingProblem>,
}

/// The reason why a provider cannot be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockingProblem {
    /// The source lists no version that the constraints allow.
    #[error("no available releases match the constraints `{constraints}`")]
    NoMatch {
        constraints: VersionConstraints,
        newest_listed: Option<Version>,
    },
    #[error("no releases are available")]
    NoRelease { newest_listed: Option<Version> },
    /// OpenTofu rejects 0.0.0 as the only exact version, without sending a request (see section 4 of docs/rules/constraints.md).
    #[error("0.0.0 is not a valid provider version")]
    ZeroVersion,
    #[error("the locked version {version} is no longer available")]
    VersionGone {
        address: ProviderAddr,
        version: Version,
    },
    #[error("its registry does not list version {version}, which `--upgrade` requests")]
    TargetUnknown { version: Version },
    #[error(
        "the constraints `{constraints}` do not allow version {version}, which `--upgrade` requests"
    )]
    TargetNotAllowed {
        version: Version,
        constraints: VersionConstraints,
    },
    /// The version changes and the old entry has hashes of several platforms, but no platform was requested.
    #[error(
        "its version changes from {from} to {to}, which would replace the hashes of {count} platforms with those of only one"
    )]
    PlatformsNotNamed {
        from: Version,
        to: Version,
        count: usize,
    },
    /// No version that satisfies the constraints is old enough for `--min-age`.
    #[error(
        "no version that its constraints allow is known to have been published at least {days} days ago; the newest one is {newest}"
    )]
    NothingOldEnough { newest: Version, days: u64 },
    #[error("none of the hashes in the lock file match a package of version {version}")]
    AllForeign { version: Version },
    #[error("version {version} has no package for `{platform}`")]
    PlatformMissing {
        version: Version,
        platform: Platform,
        published: BTreeSet<Platform>,
    },
    #[error("{0}, but `--offline` forbids network access")]
    Offline(CacheGap),
    #[error(transparent)]
    Registry(RegistryError),
    #[error("the package of version {version} for `{platform}` cannot be downloaded or verified")]
    Package {
        version: Version,
        platform: Platform,
        #[source]
        failure: Arc<PackageFailure>,
    },
    #[error("the package of version {version} for `{platform}` is not accepted")]
    Signer {
        version: Version,
        platform: Platform,
        #[source]
        refused: Box<RefusedSigner>,
    },
}

impl Explain for LockingError {
    /// The message quotes only valid addresses and constraints.
    fn quotes_file(&self) -> bool {
        false
    }

    fn code(&self) -> Code {
        self.problem.code()
    }

    fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    fn hint(&self) -> Option<String> {
        self.problem.hint()
    }
}

impl LockingProblem {
    fn code(&self) -> Code {
        match self {
            Self::NoMatch { .. } | Self::NoRelease { .. } => Code::NoMatchingVersion,
            Self::ZeroVersion => Code::InvalidConstraint,
            Self::VersionGone { .. } => Code::VersionGone,
            Self::TargetUnknown { .. } | Self::TargetNotAllowed { .. } => Code::UpgradeTarget,
            Self::PlatformsNotNamed { .. } => Code::PlatformsNotNamed,
            Self::AllForeign { .. } => Code::ForeignHashes,
            Self::NothingOldEnough { .. } => Code::TooYoung,
            Self::PlatformMissing { .. } => Code::PlatformMissing,
            Self::Offline(_) => Code::Offline,
            Self::Registry(_) => Code::Registry,
            Self::Package { failure, .. } => failure.code(),
            Self::Signer { .. } => Code::SignerRefused,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::NoMatch { newest_listed, .. } | Self::NoRelease { newest_listed } => newest_listed
                .as_ref()
                .map(|newest| format!("the newest version that its registry lists is {newest}")),
            Self::ZeroVersion => Some("require a later version, or drop the constraint".to_owned()),
            Self::VersionGone { address, .. } => Some(format!(
                "use `--upgrade={address}` to move to the newest version that the constraints allow"
            )),
            Self::PlatformsNotNamed { .. } => Some(
                "request every platform of the lock file, as in `--platform linux_amd64,darwin_arm64`"
                    .to_owned(),
            ),
            Self::NothingOldEnough { newest, .. } => Some(format!(
                "use `--upgrade=ADDR@{newest}` to select that version regardless of its age"
            )),
            Self::AllForeign { .. } => Some(
                "find out whether the packages were uploaded again or the lock file was tampered with; then use \
                 `--mismatch replace` to record only the correct hashes, or `--mismatch add` to keep the old ones as well"
                    .to_owned(),
            ),
            Self::PlatformMissing {
                platform,
                published,
                ..
            } => Some(missing_platform_hint(platform, published)),
            Self::Offline(_) => Some("run the command once without `--offline`".to_owned()),
            Self::Registry(error) => error.hint(),
            Self::Package { failure, .. } => failure.hint(),
            Self::Signer { refused, .. } => refused.hint(),
            Self::TargetUnknown { .. } | Self::TargetNotAllowed { .. } => None,
        }
    }
}

/// Data that the disk cache lacks, so that a request is required.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CacheGap {
    /// The list of versions. It is required because no locked version satisfies the constraints, or an upgrade was requested.
    #[error("only its registry can list its versions")]
    Version,
    #[error("the cache does not have version {version} for {}", quoted(.platforms))]
    Packages {
        version: Version,
        platforms: Vec<Platform>,
    },
    /// A newer checksum list: the cached packages match none of the recorded hashes, or `[signers]` does not allow the signer of the
    /// cached list.
    #[error("the cached packages of version {version} do not match the lock file or `[signers]`")]
    Proof { version: Version },
}

fn missing_platform_hint(platform: &Platform, published: &BTreeSet<Platform>) -> String {
    let ways = format!(
        "drop `{platform}` from `--platform` or `platforms`, or lock the available platforms with `--missing-platform warn`"
    );
    let published: Vec<String> = published.iter().map(ToString::to_string).collect();
    match published.as_slice() {
        [] => ways,
        [one] => format!("this version is published only for {one}; {ways}"),
        [most @ .., last] => format!(
            "this version is published for {} and {last}; {ways}",
            most.join(", ")
        ),
    }
}

/// The reason why a package cannot be downloaded or verified.
#[derive(Debug, thiserror::Error)]
pub enum PackageFailure {
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// The signature is invalid, or a checksum does not match.
    #[error(transparent)]
    Authenticity(#[from] AuthenticityError),
    /// The hashes that the registry reports for all packages (OpenTofu's `packages`) cannot be parsed.
    #[error(transparent)]
    Reported(#[from] PackagesError),
    #[error(transparent)]
    Transfer(#[from] TransferError),
    #[error(transparent)]
    Mirror(#[from] MirrorHashError),
    /// A package in a filesystem mirror cannot be hashed.
    #[error("cannot hash `{}`", path.display())]
    Local { path: PathBuf, source: PackageError },
    /// An audit found a false record in a hash index.
    #[error(transparent)]
    FalseRecord(#[from] FalseRecord),
}

impl PackageFailure {
    /// Whether no request was sent because of `--offline`.
    pub fn is_offline(&self) -> bool {
        match self {
            Self::Registry(error) | Self::Transfer(TransferError::Download(error)) => {
                error.is_offline()
            }
            _ => false,
        }
    }

    /// Whether this failure fails the directory even if the package is not required, such as a package for another platform.
    pub(super) const fn is_fatal(&self) -> bool {
        matches!(
            self,
            Self::FalseRecord(_) | Self::Transfer(TransferError::Forbidden)
        )
    }

    /// Whether the source has no package of the version for the platform.
    pub fn is_missing_platform(&self) -> bool {
        matches!(self, Self::Registry(RegistryError::NoPackage { .. }))
    }
}

impl Explain for PackageFailure {
    fn code(&self) -> Code {
        match self {
            Self::Registry(_) | Self::Transfer(TransferError::Download(_)) => Code::Registry,
            Self::Transfer(TransferError::TemporaryFile(_)) => Code::TemporaryFile,
            Self::Transfer(TransferError::Forbidden) => Code::NoDownload,
            Self::FalseRecord(_) => Code::Index,
            Self::Authenticity(_)
            | Self::Reported(_)
            | Self::Mirror(_)
            | Self::Transfer(TransferError::OtherDigest { .. } | TransferError::Package(_))
            | Self::Local { .. } => Code::UntrustedPackage,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Registry(error) | Self::Transfer(TransferError::Download(error)) => error.hint(),
            Self::Authenticity(error) => error.hint(),
            Self::Transfer(TransferError::Package(error)) | Self::Local { source: error, .. } => {
                error.hint()
            }
            Self::Transfer(TransferError::Forbidden) => Some(
                "add the package to the index, or run the command once without `--no-download`"
                    .to_owned(),
            ),
            Self::FalseRecord(record) => Some(format!(
                "stop trusting the key, and find out who has it; no hash from this record was used, but other records of the key \
                 may be false, too: this record is at `{}`",
                record.path
            )),
            Self::Transfer(_) | Self::Reported(_) | Self::Mirror(_) => None,
        }
    }
}
