//! Why a package that a lock file names is not in the mirror.

use std::sync::Arc;

use crate::code::Code;
use crate::locking::{PackageFailure, RefusedSigner};
use crate::mirror::MirrorError;
use crate::provider::PackageId;
use crate::registry::RegistryError;
use crate::span::{Explain, Place};

/// A package could not be stored in the mirror.
#[derive(Debug, thiserror::Error)]
#[error("cannot store the package {id} in the mirror")]
pub(super) struct StoreError {
    pub(super) id: PackageId,
    /// The lock file entry that names the version of the package.
    pub(super) place: Option<Place>,
    #[source]
    pub(super) problem: MirrorProblem,
}

#[derive(Clone, Debug, thiserror::Error)]
pub(super) enum MirrorProblem {
    #[error("it cannot be downloaded or verified")]
    Package(#[source] Arc<PackageFailure>),
    /// The package has been verified, but the lock file records none of its hashes.
    #[error(
        "the lock file records different hashes for this version: `init` would reject the package"
    )]
    NotLocked,
    /// The lock file records only the digest of the zip, but `init` compares an unpacked package by its `h1`.
    #[error(
        "the lock file records no `h1` for this platform: `init` would reject the unpacked package"
    )]
    NoFileHash,
    /// OpenTofu compares a package from an OCI registry by the digest of the zip only.
    #[error(
        "the lock file records no `zh` hash: `init` would reject a package from an OCI registry"
    )]
    NoZipHash,
    #[error("`[signers]` in `.tflock.toml` does not allow this package")]
    Signer(#[source] Box<RefusedSigner>),
    /// The mirror cannot be read or written.
    #[error(transparent)]
    Write(Arc<MirrorError>),
    /// The OCI registry of the mirror cannot be read or written.
    #[error(transparent)]
    Registry(Arc<RegistryError>),
}

impl From<MirrorError> for MirrorProblem {
    fn from(error: MirrorError) -> Self {
        Self::Write(Arc::new(error))
    }
}

impl Explain for StoreError {
    fn code(&self) -> Code {
        match &self.problem {
            MirrorProblem::Package(_) => Code::Package,
            MirrorProblem::NotLocked | MirrorProblem::NoFileHash | MirrorProblem::NoZipHash => {
                Code::NotLocked
            }
            MirrorProblem::Signer(_) => Code::SignerRefused,
            MirrorProblem::Write(_) => Code::Mirror,
            MirrorProblem::Registry(error) => error.code(),
        }
    }

    fn place(&self) -> Option<&Place> {
        self.place.as_ref()
    }

    fn hint(&self) -> Option<String> {
        let platform = &self.id.platform;
        match &self.problem {
            MirrorProblem::Package(failure) if failure.is_missing_platform() => Some(format!(
                "drop `{platform}` from `--platform` or `platforms`, or store the other packages with `--missing-platform warn`"
            )),
            MirrorProblem::Package(failure) => failure.hint(),
            MirrorProblem::NotLocked => Some(format!(
                "if the version was never locked for {platform}, add its hashes with `--lock`; otherwise it was published \
                 again or the lock file was tampered with: see `tflock lock --mismatch`"
            )),
            MirrorProblem::NoFileHash => Some("add the `h1` hash with `--lock`".to_owned()),
            MirrorProblem::NoZipHash => Some(
                "lock the directory with `tflock lock --engine tofu` from the registry of the provider: the registry names the \
                 digests of all zips"
                    .to_owned(),
            ),
            MirrorProblem::Signer(refused) => refused.hint(),
            MirrorProblem::Write(error) => error.hint(),
            MirrorProblem::Registry(error) => error.hint(),
        }
    }
}
