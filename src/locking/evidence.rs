//! Determines what packages and signed checksum lists prove about recorded hashes, and builds lock file entries from this evidence
//! (see section 5 of docs/rules/lock-file.md, and docs/reference/options.md).

use std::collections::BTreeSet;

use crate::lockfile::ProviderLock;
use crate::package::Shasums;
use crate::provider::{Digest, Hash, HashScheme, VersionConstraints};

use super::select::Selection;

/// What packages and signed checksum lists prove about the hashes of one version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// The hashes to record: the `h1` hashes of the requested platforms, and the `zh` hashes from the signed lists.
    pub recorded: BTreeSet<Hash>,
    /// The hashes that belong to a package: the `zh` hashes of zips in the signed lists, and the `h1` hashes of packages. Other
    /// files in the lists, such as manifests, are not included.
    pub genuine: BTreeSet<Hash>,
    /// The known `zh` hashes of the version.
    pub listed: ListedHashes,
}

/// The known `zh` hashes of a version, and whether there may be others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListedHashes {
    /// All `zh` hashes in the signed lists, including those of files that are not zips. Any other `zh` hash is invalid.
    Complete(BTreeSet<Hash>),
    /// Only the `zh` hashes of zips that were hashed. Other `zh` hashes may belong to other platforms.
    Incomplete,
    /// No `zh` hash is known, because no zip was hashed.
    Unknown,
}

impl ListedHashes {
    /// Returns the `zh` hashes in a signed list. `own` is the digest of the package for which the list was fetched.
    pub(super) fn new(shasums: &Shasums, own: Digest) -> Self {
        if shasums.is_complete() {
            Self::Complete(shasums.zh_hashes(own))
        } else {
            Self::Incomplete
        }
    }

    /// Merges what is known from two packages of one version. The result is only as complete as the less complete one.
    fn merge(self, other: Self) -> Self {
        match (self, other) {
            (Self::Complete(mut all), Self::Complete(more)) => {
                all.extend(more);
                Self::Complete(all)
            }
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            _ => Self::Incomplete,
        }
    }
}

impl Default for Evidence {
    /// Returns evidence without any hashes. Its list counts as complete, so that `extend` adopts the completeness of the first
    /// package.
    fn default() -> Self {
        Self {
            recorded: BTreeSet::new(),
            genuine: BTreeSet::new(),
            listed: ListedHashes::Complete(BTreeSet::new()),
        }
    }
}

/// The verdict on the hashes that a lock file records for a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// At least one hash belongs to a package, or there is nothing to compare the hashes with.
    Genuine,
    /// No hash is known to belong to a package, but packages of unchecked platforms may still match: all comparable hashes are `h1`,
    /// or there is no complete list to compare `zh` hashes with.
    Undecided,
    /// None of the hashes belongs to a package of the version.
    Foreign,
}

impl Evidence {
    /// Adds the evidence of another package of the same version.
    pub(super) fn extend(&mut self, other: Self) {
        self.recorded.extend(other.recorded);
        self.genuine.extend(other.genuine);
        let listed = std::mem::replace(&mut self.listed, ListedHashes::Unknown);
        self.listed = listed.merge(other.listed);
    }

    /// Judges whether the hashes that a lock file records belong to packages of the version. Ignores hashes of unknown schemes. If no
    /// zip was hashed, `zh` hashes cannot be checked. An entry with `zh` hashes then counts as genuine.
    pub(super) fn judge(&self, hashes: &BTreeSet<Hash>) -> Verdict {
        let has = |scheme: HashScheme| hashes.iter().any(|hash| hash.scheme() == scheme);
        let is_comparable = has(HashScheme::H1) || has(HashScheme::Zh);
        if !is_comparable || hashes.iter().any(|hash| self.genuine.contains(hash)) {
            return Verdict::Genuine;
        }
        match (&self.listed, has(HashScheme::Zh)) {
            (ListedHashes::Complete(_), true) => Verdict::Foreign,
            (ListedHashes::Unknown, true) => Verdict::Genuine,
            _ => Verdict::Undecided,
        }
    }

    /// Returns the `h1` hashes that belong to no package checked so far.
    pub(super) fn unmatched_h1<'a>(
        &self,
        hashes: &'a BTreeSet<Hash>,
    ) -> impl Iterator<Item = &'a Hash> {
        hashes.iter().filter(|hash| {
            hash.scheme() == HashScheme::H1
                && !self.genuine.contains(hash)
                && !self.recorded.contains(hash)
        })
    }

    /// Returns the stray hashes among the recorded `hashes`. A stray hash certainly belongs to no package of the version: it is a
    /// `zh` hash that the complete signed list lacks or, if the packages of all platforms were checked, an `h1` hash that matches
    /// none of them.
    pub(super) fn strays<'a>(
        &self,
        hashes: &'a BTreeSet<Hash>,
        all_platforms_checked: bool,
    ) -> Vec<&'a Hash> {
        let ListedHashes::Complete(listed) = &self.listed else {
            return Vec::new();
        };
        let h1 = self.unmatched_h1(hashes).filter(|_| all_platforms_checked);
        let is_unlisted = |hash: &&Hash| {
            hash.scheme() == HashScheme::Zh
                && !listed.contains(hash)
                && !self.recorded.contains(hash)
        };
        h1.chain(hashes.iter().filter(is_unlisted)).collect()
    }
}

/// Builds the new entry of a provider. The old hashes are kept if the version is kept and `replace` is not set.
pub(super) fn assemble(
    constraints: VersionConstraints,
    selection: &Selection,
    old: Option<&ProviderLock>,
    evidence: &Evidence,
    replace: bool,
) -> ProviderLock {
    let mut hashes = evidence.recorded.clone();
    let keeps_old = matches!(selection, Selection::Kept(_)) && !replace;
    if let Some(old) = old.filter(|_| keeps_old) {
        hashes.extend(old.hashes.iter().cloned());
    }
    ProviderLock {
        version: selection.version().clone(),
        constraints,
        hashes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Version;

    /// Parses hashes separated by spaces.
    fn hashes(texts: &str) -> BTreeSet<Hash> {
        let parse = |text| Hash::parse(text).unwrap();
        texts.split_whitespace().map(parse).collect()
    }

    /// Evidence for a version whose list contains the zips `a` and `b` and the manifest `m`. Only the zip `a` was hashed.
    fn evidence() -> Evidence {
        Evidence {
            recorded: hashes("h1:a zh:a zh:b zh:m"),
            genuine: hashes("h1:a zh:a zh:b"),
            listed: ListedHashes::Complete(hashes("zh:a zh:b zh:m")),
        }
    }

    #[test]
    fn one_genuine_hash_is_enough() {
        let rows = [
            ("", Verdict::Genuine),
            ("h1:a", Verdict::Genuine),
            ("zh:b", Verdict::Genuine),
            ("h1:x zh:x zh:b", Verdict::Genuine),
            ("h7:x", Verdict::Genuine), // an unknown scheme proves nothing
            ("h7:x zh:x", Verdict::Foreign),
            ("zh:m", Verdict::Foreign), // many versions can share a manifest
            ("h1:x", Verdict::Undecided),
            ("h1:x zh:x", Verdict::Foreign),
        ];
        for (old, expected) in rows {
            assert_eq!(evidence().judge(&hashes(old)), expected, "{old}");
        }
    }

    #[test]
    fn without_a_readable_list_a_zh_may_belong_to_another_platform() {
        let unreadable = Evidence {
            listed: ListedHashes::Incomplete,
            ..evidence()
        };
        let old = hashes("zh:x");
        assert_eq!(unreadable.judge(&old), Verdict::Undecided);
        assert!(unreadable.strays(&old, true).is_empty());
    }

    #[test]
    fn if_no_zip_was_hashed_a_zh_is_neither_right_nor_wrong() {
        let unpacked = Evidence {
            recorded: hashes("h1:a"),
            genuine: hashes("h1:a"),
            listed: ListedHashes::Unknown,
        };
        let rows = [
            ("zh:x", Verdict::Genuine),
            ("h1:x zh:x", Verdict::Genuine),
            ("h1:x", Verdict::Undecided),
        ];
        for (old, expected) in rows {
            assert_eq!(unpacked.judge(&hashes(old)), expected, "{old}");
        }
    }

    #[test]
    fn strays_are_missing_from_the_list_or_from_all_packages() {
        let old = hashes("h1:a h1:x h7:x zh:a zh:m zh:x");
        let rows = [(false, "zh:x"), (true, "h1:x zh:x")];
        for (all_platforms_checked, expected) in rows {
            let evidence = evidence();
            let strays = evidence.strays(&old, all_platforms_checked);
            assert_eq!(strays, hashes(expected).iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn lists_add_up_and_one_unreadable_list_leaves_nothing_certain() {
        let mut all = Evidence::default();
        all.extend(evidence());
        assert_eq!(all, evidence());
        all.extend(Evidence {
            listed: ListedHashes::Incomplete,
            recorded: hashes("h1:c zh:c"),
            genuine: hashes("h1:c zh:c"),
        });
        assert_eq!(all.listed, ListedHashes::Incomplete);
        assert!(all.recorded.contains(&Hash::parse("h1:c").unwrap()));
    }

    #[test]
    fn old_hashes_stay_with_a_kept_version_only() {
        let version = Version::parse("1.0.0").unwrap();
        let next = Version::parse("1.1.0").unwrap();
        let old = ProviderLock {
            version: version.clone(),
            constraints: VersionConstraints::parse("~> 1.0").unwrap(),
            hashes: hashes("h1:x h7:x"),
        };
        let assemble = |selection: &Selection, replace: bool| {
            let none = VersionConstraints::default();
            assemble(none, selection, Some(&old), &evidence(), replace)
        };
        let both = hashes("h1:a h1:x h7:x zh:a zh:b zh:m");
        let kept = assemble(&Selection::Kept(version.clone()), false);
        assert_eq!((kept.hashes, kept.constraints.is_empty()), (both, true));
        let replaced = assemble(&Selection::Kept(version.clone()), true);
        assert_eq!(replaced.hashes, evidence().recorded);
        let selection = Selection::Moved {
            from: version,
            to: next.clone(),
        };
        let moved = assemble(&selection, false);
        assert_eq!((moved.version, moved.hashes), (next, evidence().recorded));
    }
}
