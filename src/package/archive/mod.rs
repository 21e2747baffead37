//! A package as a whole file: a zip that is read by its central directory.
//!
//! The rules are those of Go's `archive/zip`, with which Terraform and OpenTofu unpack packages: central headers count
//! and local ones only say where the data is; stored and deflated entries are known; a CRC-32 of 0 without data
//! descriptor is not compared; the flag of encrypted entries is ignored. The `zip` crate was tried and differs from them
//! in what it takes from extra fields and local headers, so the few records of the format are read here.
//!
//! Nothing is held in memory but the central directory, a digest per entry, and one piece of content.

pub(crate) mod access;
pub(crate) mod content;
pub(crate) mod directory;
pub(crate) mod entries;
mod file;
pub(crate) mod record;
#[cfg(test)]
mod tests;
mod unpack;

pub use content::EntryFault;
pub use directory::DirectoryFault;
pub use entries::ContentHashes;
pub use file::{digest_of_file, hash_archive, hash_contents};
pub(crate) use unpack::entry_target;
pub use unpack::{unpack_archive, unpack_package};
