//! Compares two versions of a lock file, provider by provider.

use std::collections::{BTreeMap, BTreeSet};

use super::{Locks, ProviderLock};
use crate::provider::{Hash, ProviderAddr, Version, VersionConstraints};

/// The differences between the contents of two lock files. Comments, order and header are not compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LockChanges {
    /// By address, in the order of the file.
    pub providers: BTreeMap<ProviderAddr, Change>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Only the new lock file has the entry.
    Added(ProviderLock),
    /// Only the old lock file has the entry.
    Removed(ProviderLock),
    /// Both have the entry, with differences.
    Updated(Update),
}

/// The differences between two entries of one provider.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Update {
    /// The old and the new version, if they differ.
    pub version: Option<(Version, Version)>,
    /// The old and the new constraints, if they differ.
    pub constraints: Option<(VersionConstraints, VersionConstraints)>,
    pub hashes_added: BTreeSet<Hash>,
    pub hashes_removed: BTreeSet<Hash>,
}

impl LockChanges {
    pub fn between(old: &Locks, new: &Locks) -> Self {
        let mut providers = BTreeMap::new();
        for (address, lock) in &old.providers {
            let change = match new.providers.get(address) {
                None => Change::Removed(lock.clone()),
                Some(same) if same == lock => continue,
                Some(other) => Change::Updated(Update::between(lock, other)),
            };
            providers.insert(address.clone(), change);
        }
        for (address, lock) in &new.providers {
            if !old.providers.contains_key(address) {
                providers.insert(address.clone(), Change::Added(lock.clone()));
            }
        }
        Self { providers }
    }

    /// Whether the contents are identical.
    pub fn is_empty(&self) -> bool {
        self.providers.is_empty()
    }
}

impl Update {
    fn between(old: &ProviderLock, new: &ProviderLock) -> Self {
        Self {
            version: differing(&old.version, &new.version),
            constraints: differing(&old.constraints, &new.constraints),
            hashes_added: new.hashes.difference(&old.hashes).cloned().collect(),
            hashes_removed: old.hashes.difference(&new.hashes).cloned().collect(),
        }
    }
}

fn differing<T: Clone + PartialEq>(old: &T, new: &T) -> Option<(T, T)> {
    (old != new).then(|| (old.clone(), new.clone()))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{address, locks};
    use super::*;

    fn hashes(text: &str) -> BTreeSet<Hash> {
        text.split_whitespace()
            .map(|hash| Hash::parse(hash).unwrap())
            .collect()
    }

    #[test]
    fn each_provider_has_its_change() {
        let old = locks(&[
            ("acme/gone", "1.0.0", "", "h1:a"),
            ("acme/same", "1.0.0", "~> 1.0", "h1:a"),
            ("acme/moved", "1.0.0", "", "h1:a zh:a zh:b"),
            ("acme/asked", "1.0.0", ">= 1.0.0", "h1:a"),
        ]);
        let new = locks(&[
            ("acme/same", "1.0.0", "~> 1.0", "h1:a"),
            ("acme/moved", "1.1.0", "", "zh:b zh:c"),
            ("acme/asked", "1.0.0", "", "h1:a"),
            ("acme/new", "2.0.0", "", ""),
        ]);
        let changes = LockChanges::between(&old, &new);
        let moved = Update {
            version: Some((
                Version::parse("1.0.0").unwrap(),
                Version::parse("1.1.0").unwrap(),
            )),
            hashes_added: hashes("zh:c"),
            hashes_removed: hashes("h1:a zh:a"),
            ..Update::default()
        };
        let asked = Update {
            constraints: Some((
                VersionConstraints::parse(">= 1").unwrap(),
                VersionConstraints::default(),
            )),
            ..Update::default()
        };
        let expected = BTreeMap::from([
            (address("acme/asked"), Change::Updated(asked)),
            (
                address("acme/gone"),
                Change::Removed(old.providers[&address("acme/gone")].clone()),
            ),
            (address("acme/moved"), Change::Updated(moved)),
            (
                address("acme/new"),
                Change::Added(new.providers[&address("acme/new")].clone()),
            ),
        ]);
        assert_eq!(changes.providers, expected);
        assert!(!changes.is_empty());
        assert!(LockChanges::between(&new, &new).is_empty());
    }
}
