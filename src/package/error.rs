//! The errors of packages and checksum lists.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::package::archive::{DirectoryFault, EntryFault};
use crate::span::Explain;

/// Why a package cannot be hashed or unpacked.
#[derive(Debug, Error)]
pub enum PackageError {
    #[error("cannot read the package")]
    Read(#[source] io::Error),
    #[error("cannot read `{}` of the unpacked package", path.display())]
    ReadUnpacked { path: PathBuf, source: io::Error },
    /// An unpacked package contains a link to a directory, a pipe or a device.
    #[error("cannot hash `{}` of the unpacked package: it is not a file", path.display())]
    NotAFile { path: PathBuf },
    #[error("cannot write `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot start a thread to hash the package")]
    Thread(#[source] io::Error),
    /// A thread for hashing ended without a result.
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
    #[error("package has an entry outside of its directory: `{name}` contains `..`")]
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
    /// A file's name is that of the package's own directory, such as `.`.
    #[error("package has a file without a name")]
    FileAtRoot,
    #[error("package has both a file and a directory at `{path}` or above it")]
    FileAndDirectory {
        /// The path of the later entry.
        path: String,
    },
    /// There is no `terraform-provider-TYPE` at the top level.
    #[error("package has no executable whose name starts with `terraform-provider-{type_name}`")]
    NoExecutable { type_name: String },
    #[error("package has too many entries: at most {limit} are accepted")]
    TooManyEntries { limit: usize },
    #[error(
        "package has a central directory that is too large: at most {limit} bytes are accepted"
    )]
    DirectoryTooLarge { limit: u64 },
    /// The content exceeds [`Limits::unpacked_bytes`](crate::package::Limits::unpacked_bytes) or
    /// [`Limits::ratio`](crate::package::Limits::ratio).
    #[error(
        "package of {size} bytes unpacks to {unpacked} bytes, more than the {limit} that are accepted"
    )]
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
                "check the registry or mirror: it may serve the package of another provider under this name".to_owned(),
            ),
            Self::Entry {
                fault: EntryFault::UnsupportedMethod { .. },
                ..
            } => Some("repack it: Terraform and OpenTofu unpack only stored and deflated entries".to_owned()),
            _ => None,
        }
    }
}

/// Compares the debug texts, because `io::Error` does not implement `PartialEq`.
impl PartialEq for PackageError {
    fn eq(&self, other: &Self) -> bool {
        format!("{self:?}") == format!("{other:?}")
    }
}

/// Why a checksum list has no checksum for a file.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ShasumsError {
    #[error(
        "checksum list is too large: it has {size} bytes, at most {} are accepted",
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
            "package has too many entries: at most 9 are accepted",
            "package has a central directory that is too large: at most 9 bytes are accepted",
            "checksum list is too large: it has 2097153 bytes, at most 2097152 are accepted",
        ];
        assert_eq!(found, expected);
    }
}
