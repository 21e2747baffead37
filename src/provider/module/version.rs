//! Module versions, with any number of components.

use std::cmp::Ordering;
use std::fmt;

use crate::provider::constraint::{ScannedVersion, scan_version};
use crate::provider::error::VersionError;
use crate::provider::version::write_suffixes;

/// The version of a module in a registry or in a manifest. Versions are equal if their canonical texts are equal, including the
/// metadata.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ModuleVersion {
    /// At least three numbers; missing ones are zero.
    pub(super) numbers: Vec<u64>,
    pub(super) prerelease: String,
    metadata: String,
}

const MIN_NUMBERS: usize = 3;

impl ModuleVersion {
    /// Parses a version such as `1.2`, `v1.2.3` or `1.2.3.4-rc.1+x`.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        let error = |problem| VersionError {
            text: text.to_owned(),
            problem,
        };
        let bare = text.strip_prefix('v').unwrap_or(text);
        let scanned = scan_version(bare).map_err(error)?;
        Ok(Self::from_scanned(&scanned))
    }

    pub(super) fn from_scanned(scanned: &ScannedVersion<'_>) -> Self {
        let mut numbers = scanned.numbers.clone();
        numbers.resize(numbers.len().max(MIN_NUMBERS), 0);
        Self {
            numbers,
            prerelease: scanned.prerelease.to_owned(),
            metadata: scanned.metadata.to_owned(),
        }
    }

    pub fn is_prerelease(&self) -> bool {
        !self.prerelease.is_empty()
    }

    /// Compares two versions by age as Terraform and OpenTofu do, ignoring metadata. If one version has fewer numbers, the missing ones
    /// are zero; if the numbers are then equal, so are the versions, regardless of their prereleases.
    ///
    /// With prereleases, the order is not transitive (`rc.1` < `rc.a` < `rc` < `rc.1`), so do not sort by it. Selecting the
    /// newest release is safe.
    pub fn precedence(&self, other: &Self) -> Ordering {
        if self.numbers.len() != other.numbers.len() {
            return compare_padded(&self.numbers, &other.numbers);
        }
        self.numbers
            .cmp(&other.numbers)
            .then_with(|| other.is_prerelease().cmp(&self.is_prerelease()))
            .then_with(|| compare_prereleases(&self.prerelease, &other.prerelease))
    }
}

fn compare_padded(a: &[u64], b: &[u64]) -> Ordering {
    let positions = || 0..a.len().max(b.len());
    let number = |numbers: &[u64], at| numbers.get(at).copied().unwrap_or(0);
    let left = positions().map(|at| number(a, at));
    left.cmp(positions().map(|at| number(b, at)))
}

/// Compares prereleases part by part. Numbers are ordered by value and are below words, which are ordered by bytes. A missing part
/// is below a number and above a word, so `rc` is below `rc.1` and above `rc.a`.
fn compare_prereleases(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a.split('.'), b.split('.'));
    loop {
        let order = match (left.next(), right.next()) {
            (None, None) => return Ordering::Equal,
            (None, Some(part)) => compare_missing(part),
            (Some(part), None) => compare_missing(part).reverse(),
            (Some(one), Some(two)) => compare_parts(one, two),
        };
        if order.is_ne() {
            return order;
        }
    }
}

/// Compares a missing part with `part`.
fn compare_missing(part: &str) -> Ordering {
    if number(part).is_some() {
        Ordering::Less
    } else {
        Ordering::Greater
    }
}

fn compare_parts(one: &str, two: &str) -> Ordering {
    match (number(one), number(two)) {
        // `1` and `01` have equal values, but versions that contain them are not equal, so their texts are compared, too.
        (Some(first), Some(second)) => first.cmp(&second).then_with(|| one.cmp(two)),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => one.cmp(two),
    }
}

fn number(part: &str) -> Option<i64> {
    part.parse().ok()
}

/// Displays the canonical form, which is used in registry requests: at least three numbers, without `v`.
impl fmt::Display for ModuleVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, number) in self.numbers.iter().enumerate() {
            let dot = if index == 0 { "" } else { "." };
            write!(f, "{dot}{number}")?;
        }
        write_suffixes(f, &self.prerelease, &self.metadata)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::VersionProblem;

    fn version(text: &str) -> ModuleVersion {
        ModuleVersion::parse(text).unwrap_or_else(|error| panic!("{error}: {}", error.problem))
    }

    #[test]
    fn versions_have_a_canonical_form() {
        for (text, canonical) in [
            ("1", "1.0.0"),
            ("v1.2", "1.2.0"),
            ("01.2.3", "1.2.3"),
            ("1.2.3.4", "1.2.3.4"),
            ("1.0.0beta1", "1.0.0-beta1"),
            ("1.0.0-beta1", "1.0.0-beta1"),
            ("1.0.0-1a~", "1.0.0-1a~"),
            ("1.0.0--a", "1.0.0--a"),
            ("1.0.0-", "1.0.0--"), // the hyphen itself is the prerelease
            ("1.0.0-.a", "1.0.0--.a"),
            ("1.0.0-a.b+c.d", "1.0.0-a.b+c.d"),
        ] {
            assert_eq!(version(text).to_string(), canonical, "{text}");
        }
        for text in "|v|x| 1|1 |vv1|1.0.0+|1.0.0-a.|9223372036854775808".split('|') {
            assert!(ModuleVersion::parse(text).is_err(), "{text:?}");
        }
        let error = ModuleVersion::parse("v").expect_err("no number");
        assert_eq!(error.problem, VersionProblem::Empty);
        assert_eq!(version("1.0"), version("v1.0.0"));
    }

    #[test]
    fn precedence_follows_the_engines() {
        for (low, high) in [
            ("1.2.3", "1.10.0"),
            ("1.0.0-rc", "1.0.0"),
            ("1.0.0-1", "1.0.0-a"),
            ("1.0.0-2", "1.0.0-11"),
            ("1.0.0-01", "1.0.0-1"),
            ("1.0.0-alpha.1", "1.0.0-rc"), // as in SemVer, unlike providers
            ("1.0.0-rc", "1.0.0-rc.1"),
            ("1.0.0-rc.a", "1.0.0-rc"), // unlike SemVer
            ("1.0.0", "1.0.0.1"),
            ("1.0.0-a", "1.0.0.1-a"),
        ] {
            let (low, high) = (version(low), version(high));
            assert_eq!(low.precedence(&high), Ordering::Less, "{low} < {high}");
            assert_eq!(high.precedence(&low), Ordering::Greater, "{high} > {low}");
        }
        for (one, two) in [
            ("1.0.0+a", "1.0.0+b"),
            ("1.0.0.0", "1.0.0-a"),
            ("1.0.0-a", "v1.0.0-a"),
        ] {
            assert_eq!(version(one).precedence(&version(two)), Ordering::Equal);
            assert_eq!(version(two).precedence(&version(one)), Ordering::Equal);
        }
    }
}
