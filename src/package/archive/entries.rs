//! From the entries of the central directory to the hashes of the package, whichever way their contents are read.

use std::collections::BTreeMap;

use crate::package::archive::content::EntryFault;
use crate::package::archive::record::Entry;
use crate::package::h1::{h1, sha256};
use crate::package::path::{EntryPath, shown};
use crate::package::tree::Tree;
use crate::package::{Limits, PackageError};
use crate::provider::{Digest, Hash};

/// Gives the contents of entries.
pub(crate) trait Contents {
    /// What ends the work apart from a fault of the entry.
    type Error: From<PackageError>;

    /// The digest of an entry's content, or what is wrong with it.
    fn digest(&mut self, entry: &Entry) -> Result<Result<Digest, EntryFault>, Self::Error>;

    /// Whether an entry has a local header where it should be.
    fn has_local_header(&mut self, entry: &Entry) -> Result<bool, Self::Error>;
}

/// The two hashes that the tools take of the files in a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentHashes {
    /// Of the unpacked directory: what lock files record.
    pub h1: Hash,
    /// Of the entries as they are: what the tools compare with hashes that are already known, and what network mirrors
    /// publish. `None` where a directory among the entries cannot be hashed.
    pub zip_h1: Option<Hash>,
}

/// Unpacks the entries in their order into a virtual directory and hashes it.
pub(crate) fn hash_entries<C: Contents>(
    entries: &[Entry],
    contents: &mut C,
    archive_size: u64,
    type_name: &str,
    limits: &Limits,
) -> Result<ContentHashes, C::Error> {
    if entries.is_empty() {
        return Err(PackageError::Empty.into());
    }
    check_size(entries, archive_size, limits)?;
    let mut tree = Tree::default();
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

/// The sizes are as the central directory has them: contents that turn out longer are refused where they are read. What
/// entries with the name of a directory say of their size is not looked at, as they are not unpacked.
pub(crate) fn check_size(
    entries: &[Entry],
    size: u64,
    limits: &Limits,
) -> Result<(), PackageError> {
    let unpacked = entries.iter().filter(|entry| !entry.name.ends_with(b"/"));
    let sizes = unpacked.map(|entry| entry.uncompressed);
    let unpacked = sizes.fold(0, u64::saturating_add);
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

/// What the zip-based hash takes for a directory: nothing if its name says what it is, else its data like a file's. `None`
/// where that cannot be read, which does not keep anyone from unpacking the directory.
fn digest_of_directory<C: Contents>(
    entry: &Entry,
    contents: &mut C,
) -> Result<Option<Digest>, C::Error> {
    if !entry.name.ends_with(b"/") {
        return Ok(contents.digest(entry)?.ok());
    }
    let is_readable = contents.has_local_header(entry)? && entry.uncompressed == 0;
    Ok(is_readable.then(|| sha256(b"")))
}

/// The hash of the zip's entries: directories included, names as stored, an entry for each time that a name occurs, but
/// each with the content of the last of them. `None` where the tools could not compute it either.
fn zip_h1(entries: &[Entry], digests: &BTreeMap<&[u8], Option<Digest>>) -> Option<Hash> {
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
