//! Errors in the content of a lock file, and errors when reading or writing the file.

use std::error::Error;
use std::{fmt, io};

use crate::code::Code;
use crate::provider::{
    AddressError, ConstraintError, Engine, HashError, ProviderAddr, VersionError,
};
use crate::span::{Explain, Place};
use crate::syntax::{EvalProblem, SyntaxProblem};

/// The maximum size of a lock file in bytes. Ten thousand hashes take up less than a megabyte.
pub(super) const MAX_LOCK_FILE_SIZE: u64 = 32 * 1024 * 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// The value or block with the error.
    pub place: Place,
    pub problem: ParseProblem,
}

/// Displays the message of the problem. The position is shown separately.
impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(f)
    }
}

impl Error for ParseError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.problem.source()
    }
}

/// The reason why a lock file cannot be parsed. The messages begin like those of Terraform and OpenTofu.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum ParseProblem {
    #[error(transparent)]
    Syntax(SyntaxProblem),
    #[error("unfinished merge: the lock file has conflict markers")]
    ConflictMarker,
    /// A block other than `provider` and `module`, or a nested block.
    #[error("unsupported block type: `{0}` is not expected here")]
    UnsupportedBlock(String),
    #[error("unsupported argument: `{0}` is not expected here")]
    UnsupportedArgument(String),
    #[error("missing label: a `{0}` block must have one label")]
    MissingLabel(String),
    #[error("extraneous label: a `{0}` block must have only one label")]
    ExtraneousLabel(String),
    #[error("invalid provider source address")]
    InvalidAddress(#[source] AddressError),
    /// The engine never locks this provider.
    #[error("invalid provider source address: {engine} does not lock `{address}`")]
    NotLockable {
        address: ProviderAddr,
        engine: Engine,
    },
    #[error("non-normalized provider source address: it must be written `{0}`")]
    NonNormalizedAddress(ProviderAddr),
    #[error("duplicate provider lock: `{address}` was already locked on line {line}")]
    Duplicate { address: ProviderAddr, line: usize },
    #[error("missing required argument: a provider lock must have a `version`")]
    MissingVersion,
    #[error("invalid provider version number")]
    InvalidVersion(#[source] VersionError),
    #[error("invalid provider version number: it must be written `{0}`")]
    NonCanonicalVersion(String),
    /// The constraints cannot be parsed, or are not in their canonical form.
    #[error("invalid provider version constraints")]
    InvalidConstraints(#[source] ConstraintError),
    #[error("invalid provider hash set: `hashes` must contain at least one hash if it is set")]
    EmptyHashSet,
    #[error("invalid expression: `hashes` must be a list in brackets")]
    NotAList,
    #[error("invalid provider hash string")]
    InvalidHash(#[source] HashError),
    /// A value that cannot be converted to a string.
    #[error("unsuitable value type: expected a string, found {0}")]
    NotAString(&'static str),
    #[error(transparent)]
    Value(EvalProblem),
}

impl Explain for ParseError {
    fn code(&self) -> Code {
        match self.problem {
            ParseProblem::ConflictMarker => Code::LockFileConflict,
            _ => Code::LockFileInvalid,
        }
    }

    fn place(&self) -> Option<&Place> {
        Some(&self.place)
    }

    fn hint(&self) -> Option<String> {
        match &self.problem {
            ParseProblem::ConflictMarker => Some(
                "keep either side of the conflict, or delete the blocks with conflict markers, and run `tflock lock` again".into(),
            ),
            ParseProblem::InvalidAddress(error) => error.hint(),
            _ => None,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum SaveError {
    #[error("cannot use `{}` as a lock file: it is not a regular file", .0.path.display())]
    NotAFile(Place),
    #[error("cannot write the lock file through the symlink `{}`: its target does not exist", .0.path.display())]
    DanglingLink(Place),
    #[error("cannot use `{}` as a lock file: a symlink points outside the repository", .0.path.display())]
    LinkOutside(Place),
    #[error("cannot use `{}` as a lock file: a symlink points into `{directory}`", .place.path.display())]
    LinkInternal {
        place: Place,
        directory: &'static str,
    },
    /// Another process has changed the file, and the new content cannot be computed again.
    #[error("cannot write lock file `{}`: another process has changed it in the meantime", .0.path.display())]
    Changed(Place),
    #[error("cannot write lock file `{}`: another process has locked its directory", .0.path.display())]
    Locked(Place),
    #[error("cannot read lock file `{}`: it is larger than {MAX_LOCK_FILE_SIZE} bytes", .0.path.display())]
    TooLarge(Place),
    #[error("cannot read lock file `{}`", .place.path.display())]
    Read {
        place: Place,
        #[source]
        source: io::Error,
    },
    #[error("cannot write lock file `{}`", .place.path.display())]
    Write {
        place: Place,
        #[source]
        source: io::Error,
    },
}

impl Explain for SaveError {
    fn code(&self) -> Code {
        Code::LockFileAccess
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::NotAFile(place)
            | Self::DanglingLink(place)
            | Self::LinkOutside(place)
            | Self::Changed(place)
            | Self::Locked(place)
            | Self::TooLarge(place)
            | Self::LinkInternal { place, .. }
            | Self::Read { place, .. }
            | Self::Write { place, .. } => Some(place),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::DanglingLink(_) | Self::LinkOutside(_) | Self::LinkInternal { .. } => {
                Some("replace the symlink with a file".into())
            }
            Self::Changed(_) => Some("run the command again".into()),
            Self::Locked(_) => Some(
                "stop the process that holds the lock; a script that runs tflock under `flock` must lock a different file".into(),
            ),
            _ => None,
        }
    }
}
