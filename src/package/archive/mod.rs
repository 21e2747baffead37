//! Reads a zip file by its central directory.
//!
//! The rules are those of Go's `archive/zip`, with which Terraform and OpenTofu unpack packages. Central headers are authoritative;
//! local headers only locate the data. Stored and deflated entries are supported. A CRC-32 of 0 is not checked if there is no data
//! descriptor. The encryption flag is ignored. The `zip` crate treats extra fields and local headers differently, so the few
//! records of the format are parsed here.
//!
//! Memory holds only the central directory, a digest per entry, and one piece of content.

pub(crate) mod archive_bytes;
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
