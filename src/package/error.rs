//! What can be wrong with a package's checksum list.

use thiserror::Error;

use crate::span::Explain;

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
