//! The errors of packages and checksum lists.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::package::archive::{DirectoryFault, EntryFault};
use crate::span::Explain;

/// The reason why a package cannot be hashed or unpacked.
#[derive(Debug, Error)]
pub enum PackageError {
    #[error("cannot read the package")]
    Read(#[source] io::Error),
    #[error("cannot read `{}` of the unpacked package", path.display())]
    ReadUnpacked { path: PathBuf, source: io::Error },
    /// An unpacked package contains a symlink to a directory, a pipe or a device.
    #[error("cannot hash `{}` of the unpacked package: it is not a file", path.display())]
    NotAFile { path: PathBuf },
    #[error("cannot write `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot start a thread to hash the package")]
    Thread(#[source] io::Error),
    /// A hashing thread ended without a result.
    #[error("hashing the package stopped unexpectedly")]
    Interrupted,
    /// The end record or the central directory is missing or invalid.
    #[error("package is not a valid zip archive")]
    Directory(#[source] DirectoryFault),
    #[error("package is an empty zip archive")]
    Empty,
    #[error("cannot unpack `{name}` from the package")]
    Entry {
        name: String,
        #[source]
        fault: EntryFault,
    },
    #[error("package has an entry outside its directory: `{name}` contains `..`")]
    ParentInName { name: String },
    #[error("package has an entry that cannot be a file: `{name}` contains a NUL byte")]
    NulInName { name: String },
    /// A file's name contains a line feed, which the `h1` scheme cannot represent.
    #[error("cannot hash the file `{name}`: its name contains a line feed")]
    NewlineInName { name: String },
    /// A path exceeds [`MAX_PATH_BYTES`](crate::package::MAX_PATH_BYTES), or a component exceeds
    /// [`MAX_COMPONENT_BYTES`](crate::package::MAX_COMPONENT_BYTES).
    #[error("package has an entry whose name is too long: `{name}`")]
    NameTooLong { name: String },
    /// A file's name refers to the package's own directory, such as `.`.
    #[error("the package contains a file without a name")]
    FileAtRoot,
    #[error(
        "package has conflicting entries: `{path}` or one of its parents is both a file and a directory"
    )]
    FileAndDirectory {
        /// The path of the second of the two conflicting entries.
        path: String,
    },
    #[error("package has no executable whose name starts with `terraform-provider-{type_name}`")]
    NoExecutable { type_name: String },
    #[error("package has too many entries: the limit is {limit}")]
    TooManyEntries { limit: usize },
    #[error("package has a central directory that is too large: the limit is {limit} bytes")]
    DirectoryTooLarge { limit: u64 },
    /// The content exceeds [`Limits::unpacked_bytes`](crate::package::Limits::unpacked_bytes) or
    /// [`Limits::ratio`](crate::package::Limits::ratio).
    #[error("package of {size} bytes unpacks to {unpacked} bytes; the limit is {limit}")]
    UnpacksTooLarge {
        size: u64,
        unpacked: u64,
        /// The limit for a zip of this size, in bytes.
        limit: u64,
    },
}

impl Explain for PackageError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::NoExecutable { .. } => Some(
                "check the registry or mirror: it may serve the package of a different provider under this name".to_owned(),
            ),
            Self::Entry {
                fault: EntryFault::UnsupportedMethod { .. },
                ..
            } => Some("repack the archive: Terraform and OpenTofu unpack only stored and deflated entries".to_owned()),
            _ => None,
        }
    }
}

/// Compares the `Debug` output, because `io::Error` does not implement `PartialEq`.
impl PartialEq for PackageError {
    fn eq(&self, other: &Self) -> bool {
        format!("{self:?}") == format!("{other:?}")
    }
}

/// The reason why the checksum of a file cannot be read from a checksum list.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ShasumsError {
    #[error(
        "checksum list is too large: it is {size} bytes long; the limit is {}",
        crate::package::MAX_SHASUMS_BYTES
    )]
    TooLarge { size: usize },
    #[error("checksum list has no SHA-256 checksum for `{filename}`")]
    NotListed { filename: String },
    /// The first line that names the file does not begin with 64 hexadecimal digits.
    #[error("checksum list has an invalid SHA-256 checksum for `{filename}`: `{found}`")]
    UnreadableChecksum { filename: String, found: String },
}

impl Explain for ShasumsError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_named() {
        let entries = PackageError::TooManyEntries { limit: 9 };
        let directory = PackageError::DirectoryTooLarge { limit: 9 };
        let list = ShasumsError::TooLarge { size: 2_097_153 };
        let found = [entries.to_string(), directory.to_string(), list.to_string()];
        let expected = [
            "package has too many entries: the limit is 9",
            "package has a central directory that is too large: the limit is 9 bytes",
            "checksum list is too large: it is 2097153 bytes long; the limit is 2097152",
        ];
        assert_eq!(found, expected);
    }
}
