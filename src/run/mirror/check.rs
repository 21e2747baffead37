//! `--check`: is every package there that a lock file names, as it should be, and does the index say so?
//!
//! Nothing is asked of anybody: what lock files record decides.

use std::collections::BTreeSet;

use crate::mirror::{Layout, MirrorDirectory, MirrorError, StoredPackage};
use crate::provider::{Hash, HashScheme, PackageId};

use super::filler::{has_no_zh, in_lock};

/// What is wrong with a package in the mirror; nothing if all is well.
pub(super) fn check(
    directory: &MirrorDirectory,
    id: &PackageId,
    locked: &BTreeSet<Hash>,
) -> Result<Option<PackageFault>, MirrorError> {
    let damaged = |why: String| Ok(Some(PackageFault::Damaged(why)));
    match directory.inspect(id)? {
        StoredPackage::Missing => Ok(Some(PackageFault::Missing)),
        StoredPackage::Damaged(why) => damaged(why),
        StoredPackage::Files(h1) if locked.is_empty() || locked.contains(&h1) => Ok(None),
        StoredPackage::Files(_) => damaged("the lock file records other hashes".to_owned()),
        StoredPackage::Zip(digest) => {
            let zh = Hash::zh(digest);
            let by_content = || {
                directory
                    .hash_zip(id)
                    .is_ok_and(|all| in_lock(&all, locked))
            };
            let fits = locked.is_empty() || locked.contains(&zh);
            let fits = fits || has_no_zh(locked) && by_content();
            if !fits {
                return damaged("the lock file records other hashes".to_owned());
            }
            Ok(check_index(directory, id, &zh, locked)
                .err()
                .map(PackageFault::NotIndexed))
        }
    }
}

/// What is wrong with a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PackageFault {
    /// It is not there.
    Missing,
    /// Something else is there.
    Damaged(String),
    /// It is there, and the index of the network mirror does not say so.
    NotIndexed(String),
}

/// Whether the index leads to the zip and says nothing wrong about it.
fn check_index(
    directory: &MirrorDirectory,
    id: &PackageId,
    zh: &Hash,
    locked: &BTreeSet<Hash>,
) -> Result<(), String> {
    if directory.layout() == Layout::Unpacked {
        return Ok(());
    }
    let published = directory.published(id)?;
    let known: Vec<&Hash> = published
        .iter()
        .filter(|hash| hash.scheme() != HashScheme::Other)
        .collect();
    let of_zip = || directory.hash_zip(id).ok()?.zip_h1;
    let is_right = |hash: &Hash| {
        hash == zh
            || hash.scheme() == HashScheme::H1
                && (locked.contains(hash) || of_zip().as_ref() == Some(hash))
    };
    if known.is_empty() || !known.into_iter().all(is_right) {
        return Err(format!("`{}.json` has another hash", id.version));
    }
    Ok(())
}
