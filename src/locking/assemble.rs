//! What is known of a version becomes the new entry of the lock file (docs/rules/lock-file.md 5, docs/reference/options.md).

use std::collections::BTreeSet;

use crate::lockfile::ProviderLock;
use crate::package::Shasums;
use crate::provider::{Digest, Hash, HashScheme, VersionConstraints};

use super::select::Selection;

/// What packages and signed lists of one version say about its hashes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// What is to be recorded: `h1` of the asked platforms, `zh` of the signed lists.
    pub recorded: BTreeSet<Hash>,
    /// `zh` of the zips in the signed lists, and `h1` of packages: proof that a recorded hash is genuine. Lines of the lists
    /// that name no zip, such as manifests, prove nothing.
    pub genuine: BTreeSet<Hash>,
    /// What is known about the `zh` of the version as a whole.
    pub listed: ListedHashes,
}

/// What is known about the `zh` hashes of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListedHashes {
    /// Every `zh` of the signed lists, whatever it belongs to: any other is not genuine.
    All(BTreeSet<Hash>),
    /// Those of the zips that were looked at; others may be those of other platforms.
    OwnZips,
    /// None: no zip was seen.
    Unknown,
}

impl ListedHashes {
    /// What a signed list says, looked at for the zip with this digest.
    pub(super) fn of(shasums: &Shasums, own: Digest) -> Self {
        if shasums.is_readable() {
            Self::All(shasums.zh_hashes(own))
        } else {
            Self::OwnZips
        }
    }

    /// What is known after another package was looked at: the least of both.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::All(mut all), Self::All(more)) => {
                all.extend(more);
                Self::All(all)
            }
            (Self::Unknown, _) | (_, Self::Unknown) => Self::Unknown,
            _ => Self::OwnZips,
        }
    }
}

impl Default for Evidence {
    /// Nothing is known yet, and nothing was unreadable.
    fn default() -> Self {
        Self {
            recorded: BTreeSet::new(),
            genuine: BTreeSet::new(),
            listed: ListedHashes::All(BTreeSet::new()),
        }
    }
}

impl Evidence {
    /// Adds what another package of the same version says.
    pub fn extend(&mut self, other: Self) {
        self.recorded.extend(other.recorded);
        self.genuine.extend(other.genuine);
        let known = std::mem::replace(&mut self.listed, ListedHashes::Unknown);
        self.listed = known.and(other.listed);
    }
}

/// What the hashes that a lock file records for a kept version are worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// At least one is genuine, or there is none that could be.
    Genuine,
    /// None is known so far, but they may be those of platforms that were not looked at: all of them are `h1`, or there is
    /// no list to compare a `zh` with.
    PerhapsOtherPlatforms,
    /// None is genuine.
    Foreign,
}

/// Judges the hashes that are recorded for a kept version. Hashes of unknown schemes can be neither right nor wrong, and
/// neither can a `zh` where no zip was seen.
pub fn judge(old: &BTreeSet<Hash>, evidence: &Evidence) -> Verdict {
    let has = |scheme: HashScheme| old.iter().any(|hash| hash.scheme() == scheme);
    let known = has(HashScheme::H1) || has(HashScheme::Zh);
    if !known || old.iter().any(|hash| evidence.genuine.contains(hash)) {
        return Verdict::Genuine;
    }
    match (&evidence.listed, has(HashScheme::Zh)) {
        (ListedHashes::All(_), true) => Verdict::Foreign,
        (ListedHashes::Unknown, true) => Verdict::Genuine,
        _ => Verdict::PerhapsOtherPlatforms,
    }
}

/// The hashes of a kept version that are certainly not genuine although others beside them are: `zh` that no signed list
/// holds.
pub fn strays(old: &BTreeSet<Hash>, evidence: &Evidence) -> Vec<Hash> {
    let ListedHashes::All(listed) = &evidence.listed else {
        return Vec::new();
    };
    old.iter()
        .filter(|hash| hash.scheme() == HashScheme::Zh && !listed.contains(hash))
        .cloned()
        .collect()
}

/// The new entry. Old hashes stay with a kept version unless they are to be replaced; with any other version they go.
pub fn assemble(
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

    fn hashes(texts: &[&str]) -> BTreeSet<Hash> {
        texts
            .iter()
            .map(|text| Hash::parse(text).unwrap())
            .collect()
    }

    /// A version whose list has the zips `a` and `b` and the manifest `m`; `a` was looked at.
    fn evidence() -> Evidence {
        Evidence {
            recorded: hashes(&["h1:a", "zh:a", "zh:b", "zh:m"]),
            genuine: hashes(&["h1:a", "zh:a", "zh:b"]),
            listed: ListedHashes::All(hashes(&["zh:a", "zh:b", "zh:m"])),
        }
    }

    #[test]
    fn one_genuine_hash_is_enough() {
        let rows: [(&[&str], Verdict); 9] = [
            (&[], Verdict::Genuine),
            (&["h1:a"], Verdict::Genuine),
            (&["zh:b"], Verdict::Genuine),
            (&["h1:x", "zh:x", "zh:b"], Verdict::Genuine),
            // Nothing can be said about schemes that nobody knows.
            (&["h7:x"], Verdict::Genuine),
            (&["h7:x", "zh:x"], Verdict::Foreign),
            // A manifest is the same in many versions.
            (&["zh:m"], Verdict::Foreign),
            (&["h1:x"], Verdict::PerhapsOtherPlatforms),
            (&["h1:x", "zh:x"], Verdict::Foreign),
        ];
        for (old, expected) in rows {
            assert_eq!(judge(&hashes(old), &evidence()), expected, "{old:?}");
        }
    }

    #[test]
    fn without_a_readable_list_a_zh_may_be_that_of_another_platform() {
        let mut unreadable = evidence();
        unreadable.listed = ListedHashes::OwnZips;
        let old = hashes(&["zh:x"]);
        assert_eq!(judge(&old, &unreadable), Verdict::PerhapsOtherPlatforms);
        assert_eq!(strays(&old, &unreadable), []);
    }

    #[test]
    fn where_no_zip_was_seen_a_zh_is_neither_right_nor_wrong() {
        let unpacked = Evidence {
            recorded: hashes(&["h1:a"]),
            genuine: hashes(&["h1:a"]),
            listed: ListedHashes::Unknown,
        };
        let rows: [(&[&str], Verdict); 3] = [
            (&["zh:x"], Verdict::Genuine),
            (&["h1:x", "zh:x"], Verdict::Genuine),
            (&["h1:x"], Verdict::PerhapsOtherPlatforms),
        ];
        for (old, expected) in rows {
            assert_eq!(judge(&hashes(old), &unpacked), expected, "{old:?}");
        }
    }

    #[test]
    fn strays_are_zh_that_no_list_holds() {
        let old = hashes(&["h1:x", "h7:x", "zh:a", "zh:m", "zh:x"]);
        let stray: Vec<Hash> = hashes(&["zh:x"]).into_iter().collect();
        assert_eq!(strays(&old, &evidence()), stray);
    }

    #[test]
    fn lists_add_up_and_one_unreadable_list_leaves_nothing_certain() {
        let mut all = Evidence::default();
        all.extend(evidence());
        assert_eq!(all, evidence());
        all.extend(Evidence {
            listed: ListedHashes::OwnZips,
            recorded: hashes(&["h1:c", "zh:c"]),
            genuine: hashes(&["h1:c", "zh:c"]),
        });
        assert_eq!(all.listed, ListedHashes::OwnZips);
        assert!(all.recorded.contains(&Hash::parse("h1:c").unwrap()));
    }

    #[test]
    fn old_hashes_stay_with_a_kept_version_only() {
        let version = Version::parse("1.0.0").unwrap();
        let next = Version::parse("1.1.0").unwrap();
        let old = ProviderLock {
            version: version.clone(),
            constraints: VersionConstraints::parse("~> 1.0").unwrap(),
            hashes: hashes(&["h1:x", "h7:x"]),
        };
        let made = |selection: &Selection, replace: bool| {
            let none = VersionConstraints::default();
            assemble(none, selection, Some(&old), &evidence(), replace)
        };
        let both = hashes(&["h1:a", "h1:x", "h7:x", "zh:a", "zh:b", "zh:m"]);
        let kept = made(&Selection::Kept(version.clone()), false);
        assert_eq!((kept.hashes, kept.constraints.is_empty()), (both, true));
        let replaced = made(&Selection::Kept(version.clone()), true);
        assert_eq!(replaced.hashes, evidence().recorded);
        let moved = Selection::Moved {
            from: version,
            to: next.clone(),
        };
        let moved = made(&moved, false);
        assert_eq!((moved.version, moved.hashes), (next, evidence().recorded));
    }
}
