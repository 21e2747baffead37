//! Implements `tflock mirror --check`: compares the packages in the mirror and its index with the lock files, without requests.

use std::collections::BTreeSet;

use crate::mirror::{Layout, MirrorDirectory, MirrorError, StoredPackage};
use crate::provider::{Hash, HashScheme, PackageId};

use super::filler::{has_no_zh, in_lock};

/// Checks one package in the mirror. `None` means that the package is intact and that the index lists it correctly.
pub(super) fn check(
    directory: &MirrorDirectory,
    id: &PackageId,
    locked: &BTreeSet<Hash>,
) -> Result<Option<PackageFault>, MirrorError> {
    match directory.inspect(id)? {
        StoredPackage::Missing => Ok(Some(PackageFault::Missing)),
        StoredPackage::Damaged(why) => Ok(Some(PackageFault::Damaged(why))),
        StoredPackage::Files(h1) if locked.is_empty() || locked.contains(&h1) => Ok(None),
        StoredPackage::Files(_) => Ok(Some(PackageFault::other_hashes())),
        StoredPackage::Zip(digest) => {
            let zh = Hash::zh(digest);
            let matches_content = || {
                directory
                    .hash_zip(id)
                    .is_ok_and(|hashes| in_lock(&hashes, locked))
            };
            let is_locked =
                locked.is_empty() || locked.contains(&zh) || has_no_zh(locked) && matches_content();
            if !is_locked {
                return Ok(Some(PackageFault::other_hashes()));
            }
            Ok(check_index(directory, id, &zh, locked)
                .err()
                .map(PackageFault::NotIndexed))
        }
    }
}

/// A fault of a package in the mirror.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum PackageFault {
    Missing,
    /// The content is incorrect, for this reason.
    Damaged(String),
    /// The package is intact, but the index of the network mirror does not list it correctly, for this reason.
    NotIndexed(String),
}

impl PackageFault {
    /// Returns the fault of a package whose hashes differ from those in the lock file.
    pub(super) fn other_hashes() -> Self {
        Self::Damaged("the lock file records different hashes".to_owned())
    }

    /// Returns the word that reports use for the fault, and the reason.
    pub(super) const fn describe(&self) -> (&'static str, Option<&String>) {
        match self {
            Self::Missing => ("missing", None),
            Self::Damaged(why) => ("damaged", Some(why)),
            Self::NotIndexed(why) => ("unlisted", Some(why)),
        }
    }
}

/// Checks that the index lists the zip and publishes only correct hashes for it.
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
    let computed_h1 = || directory.hash_zip(id).ok()?.zip_h1;
    let is_right = |hash: &Hash| {
        hash == zh
            || hash.scheme() == HashScheme::H1
                && (locked.contains(hash) || computed_h1().as_ref() == Some(hash))
    };
    if known.is_empty() || !known.into_iter().all(is_right) {
        return Err(format!("`{}.json` has a different hash", id.version));
    }
    Ok(())
}
