//! What can be wrong with a package, its checksum list or its signature.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::package::archive::{DirectoryFault, EntryFault};
use crate::span::Explain;

/// Why a package has no hash.
#[derive(Debug, Error)]
pub enum PackageError {
    /// The file could not be read.
    #[error("cannot read the package")]
    Read(#[source] io::Error),
    /// A file or directory of an unpacked package could not be read.
    #[error("cannot read `{}` of the unpacked package", path.display())]
    ReadUnpacked {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// Something in an unpacked package is no file: a link to a directory, a pipe, a device.
    #[error("cannot hash `{}` of the unpacked package: it is not a file", path.display())]
    NotAFile {
        /// What is no file.
        path: PathBuf,
    },
    /// A file of the archive could not be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// A thread that hashes could not be started.
    #[error("cannot start a thread to hash the package")]
    Thread(#[source] io::Error),
    /// A thread that hashes ended without a result.
    #[error("hashing the package stopped unexpectedly")]
    Interrupted,
    /// The end record or the central directory is missing or wrong.
    #[error("package is not a valid zip archive")]
    Directory(#[source] DirectoryFault),
    /// The archive has no entries.
    #[error("package is an empty zip archive")]
    Empty,
    /// The data of an entry is missing or wrong.
    #[error("cannot unpack `{name}` from the package")]
    Entry {
        /// The entry.
        name: String,
        /// What is wrong.
        #[source]
        fault: EntryFault,
    },
    /// An entry's name has a component `..`.
    #[error("package has an entry outside of its directory: `{name}` contains `..`")]
    ParentInName {
        /// The entry.
        name: String,
    },
    /// An entry's name has a NUL byte.
    #[error("package has an entry that cannot be a file: `{name}` contains a NUL byte")]
    NulInName {
        /// The entry.
        name: String,
    },
    /// A file's name has a line feed, which the `h1` scheme cannot express.
    #[error("cannot hash the file `{name}`: its name contains a line feed")]
    NewlineInName {
        /// The file.
        name: String,
    },
    /// A path of more than [`MAX_PATH_BYTES`](crate::package::MAX_PATH_BYTES), or a component of more than
    /// [`MAX_COMPONENT_BYTES`](crate::package::MAX_COMPONENT_BYTES).
    #[error("package has an entry whose name is too long: `{name}`")]
    NameTooLong {
        /// The entry.
        name: String,
    },
    /// A file's name means the directory of the package itself.
    #[error("package has a file without a name")]
    FileAtRoot,
    /// A path is that of a file and of a directory.
    #[error("package has both a file and a directory at `{path}` or above it")]
    FileAndDirectory {
        /// The path of the later of both.
        path: String,
    },
    /// There is no `terraform-provider-TYPE` at the top level.
    #[error("package has no executable whose name starts with `terraform-provider-{type_name}`")]
    NoExecutable {
        /// The type of the provider's address.
        type_name: String,
    },
    /// More entries than [`Limits::entries`](crate::package::Limits::entries).
    #[error("package has more than {limit} entries, the most that are read")]
    TooManyEntries {
        /// The limit.
        limit: usize,
    },
    /// A central directory of more than [`Limits::directory_bytes`](crate::package::Limits::directory_bytes).
    #[error("package has a central directory of more than {limit} bytes, the most that are read")]
    DirectoryTooLarge {
        /// The limit.
        limit: u64,
    },
    /// More content than [`Limits::unpacked_bytes`](crate::package::Limits::unpacked_bytes) or
    /// [`Limits::ratio`](crate::package::Limits::ratio) allow.
    #[error(
        "package of {size} bytes unpacks to {unpacked} bytes, more than the {limit} that are accepted"
    )]
    UnpacksTooLarge {
        /// Size of the zip.
        size: u64,
        /// What the entries say they unpack to.
        unpacked: u64,
        /// The limit for a zip of this size.
        limit: u64,
    },
}

impl Explain for PackageError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::NoExecutable { .. } => Some(
                "the package may be that of another provider: the registry or mirror serves it under this name".to_owned(),
            ),
            Self::Entry {
                fault: EntryFault::UnsupportedMethod { .. },
                ..
            } => Some("Terraform and OpenTofu unpack stored and deflated entries only".to_owned()),
            _ => None,
        }
    }
}

/// Errors are compared by what they say: the wrapped i/o errors have no equality of their own.
impl PartialEq for PackageError {
    fn eq(&self, other: &Self) -> bool {
        format!("{self:?}") == format!("{other:?}")
    }
}

/// Why a checksum list gives no checksum.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ShasumsError {
    /// The list is larger than [`MAX_SHASUMS_BYTES`](crate::package::MAX_SHASUMS_BYTES).
    #[error(
        "checksum list of {size} bytes is too large, {} are accepted",
        crate::package::MAX_SHASUMS_BYTES
    )]
    TooLarge {
        /// Its size in bytes.
        size: usize,
    },
    /// No line names the file.
    #[error("checksum list has no SHA-256 checksum for `{filename}`")]
    NotListed {
        /// The file.
        filename: String,
    },
    /// The first line that names the file does not begin with 64 hex digits.
    #[error("checksum list has an invalid SHA-256 checksum for `{filename}`: `{found}`")]
    UnreadableChecksum {
        /// The file.
        filename: String,
        /// What stands in place of the checksum.
        found: String,
    },
}

impl Explain for ShasumsError {}
