//! Computes the hashes of a package from the entries of its central directory.

use std::collections::BTreeMap;

use crate::package::archive::content::EntryFault;
use crate::package::archive::record::CentralEntry;
use crate::package::entry_path::{EntryPath, shown};
use crate::package::h1::{h1, sha256};
use crate::package::package_tree::PackageTree;
use crate::package::{Limits, PackageError};
use crate::provider::{Digest, Hash};

/// Reads the contents of entries.
pub(crate) trait ContentReader {
    /// An error other than a fault of the entry, such as a failed read.
    type Error: From<PackageError>;

    /// Returns the digest of an entry's content, or the entry's fault.
    fn digest(&mut self, entry: &CentralEntry) -> Result<Result<Digest, EntryFault>, Self::Error>;

    /// Whether there is a local header at an entry's offset.
    fn has_local_header(&mut self, entry: &CentralEntry) -> Result<bool, Self::Error>;
}

/// The two hashes of the files in a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentHashes {
    /// The hash of the unpacked directory, which lock files record.
    pub h1: Hash,
    /// The hash of the zip's entries. Terraform and OpenTofu compare it with known hashes, and network mirrors publish it. `None` if
    /// one of the entries is a directory that cannot be hashed.
    pub zip_h1: Option<Hash>,
}

/// Unpacks the entries in order into a virtual directory, and hashes it.
pub(crate) fn hash_entries<C: ContentReader>(
    entries: &[CentralEntry],
    contents: &mut C,
    archive_size: u64,
    type_name: &str,
    limits: &Limits,
) -> Result<ContentHashes, C::Error> {
    if entries.is_empty() {
        return Err(PackageError::Empty.into());
    }
    check_size(entries, archive_size, limits)?;
    let mut tree = PackageTree::default();
    let mut digests = BTreeMap::new();
    for entry in entries {
        let path = EntryPath::new(&entry.name)?;
        let digest = if entry.is_directory {
            tree.add_directory(&path)?;
            digest_of_directory(entry, contents)?
        } else {
            let digest = contents.digest(entry)?.map_err(|fault| {
                let name = shown(&entry.name);
                PackageError::Entry { name, fault }
            })?;
            tree.add_file(&path, digest)?;
            Some(digest)
        };
        digests.insert(entry.name.as_slice(), digest);
    }
    Ok(ContentHashes {
        h1: tree.hash(type_name)?,
        zip_h1: zip_h1(entries, &digests),
    })
}

/// Checks the total of the sizes in the central directory. If the content of an entry turns out to be larger, reading it fails. Entries
/// whose names end in `/` are ignored, because directories are not unpacked.
pub(crate) fn check_size(
    entries: &[CentralEntry],
    size: u64,
    limits: &Limits,
) -> Result<(), PackageError> {
    let unpacked = entries
        .iter()
        .filter(|entry| !entry.name.ends_with(b"/"))
        .map(|entry| entry.uncompressed)
        .fold(0, u64::saturating_add);
    let limit = limits.unpacked_from(size);
    if unpacked > limit {
        return Err(PackageError::UnpacksTooLarge {
            size,
            unpacked,
            limit,
        });
    }
    Ok(())
}

/// Returns the digest of a directory entry for the hash of the zip's entries. This is the digest of the empty string if the name ends
/// in `/`, and otherwise the digest of the entry's data. `None` if the data cannot be read, which does not prevent unpacking.
fn digest_of_directory<C: ContentReader>(
    entry: &CentralEntry,
    contents: &mut C,
) -> Result<Option<Digest>, C::Error> {
    if !entry.name.ends_with(b"/") {
        return Ok(contents.digest(entry)?.ok());
    }
    let is_readable = contents.has_local_header(entry)? && entry.uncompressed == 0;
    Ok(is_readable.then(|| sha256(b"")))
}

/// Computes the hash of the zip's entries. It includes directories and uses names as stored. A name that occurs several times
/// contributes several lines, each with the digest of the last occurrence. `None` if Terraform and OpenTofu cannot compute it, either.
fn zip_h1(entries: &[CentralEntry], digests: &BTreeMap<&[u8], Option<Digest>>) -> Option<Hash> {
    let mut names: Vec<_> = entries.iter().map(|entry| entry.name.as_slice()).collect();
    names.sort_unstable();
    let mut lines = Vec::with_capacity(names.len());
    for name in names {
        let digest = digests.get(name).copied().flatten()?;
        if name.contains(&b'\n') {
            return None;
        }
        lines.push((name, digest));
    }
    Some(h1(lines))
}
