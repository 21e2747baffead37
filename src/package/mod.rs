//! What the bytes of a package say: checksum lists, signatures and hashes.

mod error;
mod shasums;

pub use error::ShasumsError;
pub use shasums::{MAX_SHASUMS_BYTES, Shasums};
