//! Why a package that a lock file names is not in the mirror.

use std::sync::Arc;

use crate::code::Code;
use crate::locking::{PackageFailure, RefusedSigner};
use crate::mirror::MirrorError;
use crate::provider::PackageId;
use crate::span::{Explain, Place};

/// A package that is not in the mirror.
#[derive(Debug, thiserror::Error)]
#[error("cannot keep the package {id}")]
pub(super) struct Missed {
    /// Which package.
    pub(super) id: PackageId,
    /// The entry of the lock file that names its version.
    pub(super) place: Option<Place>,
    /// Why.
    #[source]
    pub(super) problem: MirrorProblem,
}

/// What is in the way of a package.
#[derive(Debug, thiserror::Error)]
pub(super) enum MirrorProblem {
    /// It cannot be had, or not be trusted.
    #[error("it is not to be had")]
    Package(#[source] Arc<PackageFailure>),
    /// It is genuine, and another one than was locked.
    #[error("the lock file records other hashes for this version: `init` would refuse the package")]
    NotLocked,
    /// The lock file has the hash of its zip only, and an unpacked package is compared by another.
    #[error(
        "the lock file records no `h1` for this platform: `init` would refuse the unpacked package"
    )]
    NoFileHash,
    /// `[signers]` does not allow the key that signed it.
    #[error("it is not accepted")]
    Signer(#[source] Box<RefusedSigner>),
    /// It cannot be put where it belongs.
    #[error(transparent)]
    Write(Arc<MirrorError>),
}

impl Explain for Missed {
    fn code(&self) -> Code {
        match self.problem {
            MirrorProblem::Package(_) => Code::Package,
            MirrorProblem::NotLocked | MirrorProblem::NoFileHash => Code::NotLocked,
            MirrorProblem::Signer(_) => Code::SignerRefused,
            MirrorProblem::Write(_) => Code::Mirror,
        }
    }

    fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    fn hint(&self) -> Option<String> {
        let platform = &self.id.platform;
        match &self.problem {
            MirrorProblem::Package(failure) if failure.is_missing_platform() => Some(format!(
                "drop `--platform {platform}`, or keep the rest with `--missing-platform warn`"
            )),
            MirrorProblem::Package(failure) => failure.hint(),
            MirrorProblem::NotLocked => Some(format!(
                "if it was never locked for {platform}, `--lock` adds its hashes; else it was published anew or the lock \
                 file was tampered with, and `tflock lock --mismatch` says what to do"
            )),
            MirrorProblem::NoFileHash => Some("`--lock` adds it".to_owned()),
            MirrorProblem::Signer(refused) => refused.hint(),
            MirrorProblem::Write(error) => error.hint(),
        }
    }
}
