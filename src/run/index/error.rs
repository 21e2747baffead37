//! Why a record of a package cannot be added, checked or signed.

use std::sync::Arc;

use crate::code::Code;
use crate::index::{IndexAddress, IndexError, RecordError, advise_removal};
use crate::locking::{FalseRecord, PackageFailure};
use crate::provider::{PackageId, ProviderAddr, Version, VersionConstraints};
use crate::registry::RegistryError;
use crate::span::Explain;

/// The index cannot be opened, read or written.
#[derive(Debug, thiserror::Error)]
pub(super) enum IndexAccessError {
    #[error("cannot use the hash index `{address}`")]
    Use {
        address: IndexAddress,
        source: IndexError,
    },
    #[error("cannot write to the hash index `{address}`")]
    Write {
        address: IndexAddress,
        source: IndexError,
    },
}

impl Explain for IndexAccessError {
    fn code(&self) -> Code {
        Code::Index
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Use { source, .. } => source.hint(),
            Self::Write { source, .. } => source.write_hint(),
        }
    }
}

/// A selected provider or version has no packages.
#[derive(Debug, thiserror::Error)]
pub(super) enum SelectionError {
    #[error("cannot find the versions of `{provider}`")]
    Versions {
        provider: ProviderAddr,
        source: RegistryError,
    },
    #[error("cannot find a version of `{provider}` that the constraints `{constraints}` allow")]
    NoVersion {
        provider: ProviderAddr,
        constraints: VersionConstraints,
    },
    #[error("cannot find the platforms of `{provider}` {version}: its registry lists none")]
    NoPlatforms {
        provider: ProviderAddr,
        version: Version,
    },
}

impl Explain for SelectionError {
    fn code(&self) -> Code {
        match self {
            Self::Versions { .. } => Code::Registry,
            Self::NoVersion { .. } => Code::NoMatchingVersion,
            Self::NoPlatforms { .. } => Code::PlatformMissing,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Versions {
                provider,
                source: RegistryError::UnknownProvider { .. },
            } => Some(format!(
                "check the address: without a namespace, `{name}` means `hashicorp/{name}`",
                name = provider.type_name
            )),
            Self::Versions { source, .. } => source.hint(),
            Self::NoVersion { .. } => None,
            Self::NoPlatforms { .. } => Some("name the platforms with `--platform`".to_owned()),
        }
    }
}

/// The record of one package cannot be processed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {verb} the record {id}")]
pub(super) struct RecordTaskError {
    pub(super) verb: &'static str,
    pub(super) id: PackageId,
    #[source]
    pub(super) problem: RecordProblem,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum RecordProblem {
    #[error("the package cannot be downloaded or verified")]
    Package(#[source] Arc<PackageFailure>),
    #[error(transparent)]
    Access(Box<IndexAccessError>),
    #[error("the stored record `{path}` cannot be used")]
    Invalid { path: String, source: RecordError },
    #[error(transparent)]
    False(FalseRecord),
    #[error("the record has the maximum number of signatures")]
    Full,
}

impl Explain for RecordTaskError {
    fn code(&self) -> Code {
        match &self.problem {
            RecordProblem::Package(failure) => failure.code(),
            _ => Code::Index,
        }
    }

    fn hint(&self) -> Option<String> {
        match &self.problem {
            RecordProblem::Package(failure) => failure.hint(),
            RecordProblem::Access(error) => error.hint(),
            RecordProblem::Invalid { .. } => Some(
                "find out who wrote it; then remove it from the index, and add it again with `tflock index fill`"
                    .to_owned(),
            ),
            RecordProblem::False(record) => Some(advise_removal(&record.path)),
            RecordProblem::Full => Some(
                "remove the record from the index, and add it again with `tflock index fill`"
                    .to_owned(),
            ),
        }
    }
}
