//! Why a provider of a directory cannot be locked.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::code::Code;
use crate::package::{AuthenticityError, PackageError};
use crate::provider::{Platform, ProviderAddr, Version, VersionConstraints};
use crate::registry::{MirrorHashError, PackagesError, RegistryError};
use crate::span::{Explain, Place};

use super::signers::RefusedSigner;
use super::transfer::TransferError;

/// A provider that cannot be locked.
#[derive(Debug, thiserror::Error)]
#[error("cannot lock `{address}`")]
pub struct LockingError {
    /// Which provider.
    pub address: ProviderAddr,
    /// Where the configuration requires it, or where the lock file records it.
    pub place: Option<Place>,
    /// What is in the way.
    #[source]
    pub problem: Box<LockingProblem>,
}

/// What is in the way of locking a provider.
#[derive(Debug, thiserror::Error)]
pub enum LockingProblem {
    /// The source lists no version that the constraints allow.
    #[error("no available releases match the constraints `{constraints}`")]
    NoMatch {
        /// All constraints of the root module on it.
        constraints: VersionConstraints,
        /// The newest version that the source lists at all.
        newest_listed: Option<Version>,
    },
    /// There are no constraints, and the source lists no release.
    #[error("no releases are available")]
    NoRelease {
        /// The newest version that the source lists at all.
        newest_listed: Option<Version>,
    },
    /// OpenTofu refuses a constraint on exactly this version before it asks (docs/rules/constraints.md 4).
    #[error("0.0.0 is not a valid provider version")]
    ZeroVersion,
    /// The locked version fits, but its source no longer lists it.
    #[error("the locked version {version} is no longer available")]
    VersionGone {
        /// Which provider.
        address: ProviderAddr,
        /// The locked version.
        version: Version,
    },
    /// `--upgrade=ADDR@VERSION` names a version that the source does not list.
    #[error("its registry does not list the version {version} that `--upgrade` names")]
    TargetUnknown {
        /// The version asked for.
        version: Version,
    },
    /// `--upgrade=ADDR@VERSION` names a version that the constraints refuse.
    #[error(
        "the constraints `{constraints}` do not allow the version {version} that `--upgrade` names"
    )]
    TargetNotAllowed {
        /// The version asked for.
        version: Version,
        /// All constraints of the root module on it.
        constraints: VersionConstraints,
    },
    /// The version moves, the old entry holds hashes of several platforms, and nobody said for which to lock.
    #[error(
        "its version moves from {from} to {to}, and the hashes of {count} platforms would be replaced by those of one"
    )]
    PlatformsNotNamed {
        /// The locked version.
        from: Version,
        /// The selected version.
        to: Version,
        /// How many `h1` hashes the old entry has.
        count: usize,
    },
    /// `--min-age` leaves nothing.
    #[error(
        "no version that its constraints allow is known to have been out for {days} days; the newest of them is {newest}"
    )]
    NothingSettled {
        /// The newest version that fits.
        newest: Version,
        /// How long a version must have been out.
        days: u64,
    },
    /// No recorded hash of the kept version is genuine.
    #[error("no hash that the lock file records belongs to a package of version {version}")]
    AllForeign {
        /// The locked version.
        version: Version,
    },
    /// The selected version has no package for an asked platform.
    #[error("version {version} has no package for `{platform}`")]
    PlatformMissing {
        /// The selected version.
        version: Version,
        /// The platform without a package.
        platform: Platform,
        /// The platforms for which the registry says it has one.
        published: BTreeSet<Platform>,
    },
    /// The registry would have to be asked, and must not.
    #[error("{0}, and the network is switched off by `--offline`")]
    Offline(CacheGap),
    /// The registry could not be asked, or answered with an error.
    #[error(transparent)]
    Registry(RegistryError),
    /// What the registry sent cannot be trusted.
    #[error("the package of version {version} for `{platform}` is not to be had")]
    Package {
        /// The selected version.
        version: Version,
        /// The platform.
        platform: Platform,
        /// What went wrong.
        #[source]
        failure: Arc<PackageFailure>,
    },
    /// Nobody signed the package who may, by `[signers]`.
    #[error("the package of version {version} for `{platform}` is not accepted")]
    Signer {
        /// The selected version.
        version: Version,
        /// The platform.
        platform: Platform,
        /// Who may sign, and who did.
        #[source]
        refused: Box<RefusedSigner>,
    },
}

impl Explain for LockingError {
    /// It quotes nothing but addresses and constraints that were read without error.
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
            Self::NothingSettled { .. } => Code::TooYoung,
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
            Self::ZeroVersion => Some("ask for a later version, or drop the constraint".to_owned()),
            Self::VersionGone { address, .. } => Some(format!(
                "`--upgrade={address}` moves to the newest version that the constraints allow"
            )),
            Self::PlatformsNotNamed { .. } => Some(
                "name every platform that the lock file is for, as in `--platform linux_amd64,darwin_arm64`"
                    .to_owned(),
            ),
            Self::NothingSettled { newest, .. } => Some(format!(
                "`--upgrade=ADDR@{newest}` takes that version whatever its age"
            )),
            Self::AllForeign { .. } => Some(
                "either the packages were published anew or the lock file was tampered with; once you know which, \
                 `--mismatch replace` records only the right hashes, and `--mismatch add` keeps the old ones beside them"
                    .to_owned(),
            ),
            Self::PlatformMissing {
                platform,
                published,
                ..
            } => Some(missing_platform_hint(platform, published)),
            Self::Offline(_) => Some("run it once without `--offline`".to_owned()),
            Self::Registry(error) => error.hint(),
            Self::Package { failure, .. } => failure.hint(),
            Self::Signer { refused, .. } => refused.hint(),
            Self::TargetUnknown { .. } | Self::TargetNotAllowed { .. } => None,
        }
    }
}

/// What the disk cache lacks, so that a registry has to be asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheGap {
    /// The list of versions: the constraints allow several, and none of them is locked, or another one is wanted.
    Version,
    /// Packages.
    Packages {
        /// Of which version.
        version: Version,
        /// For which platforms.
        platforms: Vec<Platform>,
    },
    /// What would show that the recorded hashes, or the signer, are what they should be.
    Proof {
        /// Of which version.
        version: Version,
    },
}

impl fmt::Display for CacheGap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Version => write!(f, "only its registry can say which versions there are"),
            Self::Packages { version, platforms } => {
                let platforms: Vec<_> = platforms.iter().map(|name| format!("`{name}`")).collect();
                write!(
                    f,
                    "the cache does not have version {version} for {}",
                    platforms.join(", ")
                )
            }
            Self::Proof { version } => write!(
                f,
                "what the cache has of version {version} does not match the lock file or the pinned signers"
            ),
        }
    }
}

fn missing_platform_hint(platform: &Platform, published: &BTreeSet<Platform>) -> String {
    let ways =
        format!("drop `--platform {platform}`, or record the rest with `--missing-platform warn`");
    let published: Vec<String> = published.iter().map(ToString::to_string).collect();
    match published.as_slice() {
        [] => ways,
        [one] => format!("published for {one} only; {ways}"),
        [most @ .., last] => format!("published for {} and {last}; {ways}", most.join(", ")),
    }
}

/// Why a package is not to be had, or not to be trusted.
#[derive(Debug, thiserror::Error)]
pub enum PackageFailure {
    /// The source could not be asked, or answered with an error.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// What the registry says does not hold: the signature, a checksum.
    #[error(transparent)]
    Authenticity(#[from] AuthenticityError),
    /// OpenTofu's report on all packages cannot be read.
    #[error(transparent)]
    Reported(#[from] PackagesError),
    /// The package could not be hashed.
    #[error(transparent)]
    Transfer(#[from] TransferError),
    /// The package is not what its mirror says.
    #[error(transparent)]
    Mirror(#[from] MirrorHashError),
    /// The package in a filesystem mirror has no hash.
    #[error("cannot hash `{}`", path.display())]
    Local {
        /// The zip, or the directory.
        path: PathBuf,
        /// Why.
        source: PackageError,
    },
}

impl PackageFailure {
    /// Whether nobody was asked, since `--offline` switches the network off.
    pub fn is_offline(&self) -> bool {
        match self {
            Self::Registry(error) | Self::Transfer(TransferError::Download(error)) => {
                error.is_offline()
            }
            _ => false,
        }
    }

    /// Whether the source says that the version has no package for the platform.
    pub fn is_missing_platform(&self) -> bool {
        matches!(self, Self::Registry(RegistryError::NoPackage { .. }))
    }
}

impl Explain for PackageFailure {
    fn code(&self) -> Code {
        match self {
            Self::Registry(_) | Self::Transfer(TransferError::Download(_)) => Code::Registry,
            Self::Transfer(TransferError::TemporaryFile(_)) => Code::TemporaryFile,
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
            Self::Transfer(_) | Self::Reported(_) | Self::Mirror(_) => None,
        }
    }
}
