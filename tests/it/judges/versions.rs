//! Compares `provider::Version` with semver: tflock must accept every version that semver accepts, and both must order
//! versions in the same way.

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::Path;

use proptest::prelude::*;
use tflock::provider::Version;
use walkdir::WalkDir;

/// Text that semver accepts, parsed by both crates.
#[derive(Clone, Debug)]
struct Judged {
    text: String,
    judge: semver::Version,
    ours: Version,
}

/// Parses `text` with both crates, or returns `None` if semver rejects it. Fails if tflock's result differs.
fn judged(text: &str) -> Option<Judged> {
    let judge = semver::Version::parse(text).ok()?;
    let ours =
        Version::parse(text).unwrap_or_else(|error| panic!("{error}, but semver accepts it"));
    assert_eq!(ours.to_string(), judge.to_string());
    assert_eq!(
        (ours.major, ours.minor, ours.patch),
        (judge.major, judge.minor, judge.patch)
    );
    assert_eq!(ours.prerelease, judge.pre.as_str());
    assert_eq!(ours.metadata, judge.build.as_str());
    let text = text.to_owned();
    Some(Judged { text, judge, ours })
}

/// A difference from the order of semver. Terraform and OpenTofu agree with tflock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum OrderException {
    /// Two prereleases have a different number of identifiers and are identical up to the last identifier of the
    /// shorter one. The shorter one comes first, whatever its last identifier. In semver, `alpha.1` precedes `rc`.
    ShorterPrereleaseFirst,
}

fn exception(a: &Judged, b: &Judged) -> Option<OrderException> {
    let numbers = |version: &Judged| {
        (
            version.judge.major,
            version.judge.minor,
            version.judge.patch,
        )
    };
    let identifiers = |version: &Judged| -> Vec<String> {
        version.judge.pre.split('.').map(str::to_owned).collect()
    };
    if numbers(a) != numbers(b) || a.judge.pre.is_empty() || b.judge.pre.is_empty() {
        return None;
    }
    let (a, b) = (identifiers(a), identifiers(b));
    let shorter = a.len().min(b.len());
    (a.len() != b.len() && a[..shorter - 1] == b[..shorter - 1])
        .then_some(OrderException::ShorterPrereleaseFirst)
}

/// Returns the order of `a` and `b`, or a description of an unexpected difference.
fn compare(a: &Judged, b: &Judged) -> Result<Ordering, String> {
    let judge = a.judge.cmp_precedence(&b.judge);
    let expected = match exception(a, b) {
        Some(OrderException::ShorterPrereleaseFirst) => {
            let length = |version: &Judged| version.judge.pre.split('.').count();
            length(a).cmp(&length(b))
        }
        None => judge,
    };
    let ours = a.ours.precedence(&b.ours);
    (ours == expected)
        .then_some(ours)
        .ok_or_else(|| format!("{} {ours:?} {}; expected {expected:?}", a.text, b.text))
}

/// Generates versions from a few different parts. semver accepts almost all of them.
fn texts() -> impl Strategy<Value = String> {
    let number = prop_oneof![8 => 0..3_u64, 1 => Just(10), 1 => Just(u64::MAX)];
    let numbers = prop::array::uniform3(number)
        .prop_map(|numbers| numbers.map(|number| number.to_string()).join("."));
    let prerelease =
        "(-(0|1|2|10|a|b|A|rc|-|1-|9a|18446744073709551616)(\\.(0|1|11|a|rc|-)){0,3})?";
    let metadata = "(\\+(0|1|01|b|-)(\\.[0b]){0,1})?";
    (numbers, prerelease, metadata)
        .prop_map(|(numbers, prerelease, metadata)| numbers + &prerelease + &metadata)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn generated_versions_are_ordered_alike(a in texts(), b in texts(), twin in any::<bool>()) {
        // Half of the pairs share their numbers, so that the rules for prereleases and metadata apply.
        let b = match (twin, a.find(['-', '+']), b.find(['-', '+'])) {
            (true, end, Some(rest)) => format!("{}{}", &a[..end.unwrap_or(a.len())], &b[rest..]),
            _ => b,
        };
        let (Some(a), Some(b)) = (judged(&a), judged(&b)) else {
            return Err(TestCaseError::fail("semver rejects a generated version"));
        };
        prop_assert!(compare(&a, &b).is_ok(), "{:?}", compare(&a, &b));
    }

    /// tflock accepts everything that semver accepts.
    #[test]
    fn everything_that_semver_accepts_is_accepted(text in "[0-9v]{1,2}(\\.[0-9]{0,2}){0,3}[-+]?[a0.+_ -]{0,6}") {
        let _ = judged(&text);
    }
}

/// Returns every word in the recorded files that semver accepts.
fn recorded() -> Vec<Judged> {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut words = BTreeSet::new();
    for entry in WalkDir::new(testdata) {
        let entry = entry.unwrap();
        let Ok(text) = std::fs::read_to_string(entry.path()) else {
            continue;
        };
        let is_part = |letter: char| letter.is_ascii_alphanumeric() || "-+.".contains(letter);
        words.extend(text.split(|letter| !is_part(letter)).map(str::to_owned));
    }
    words.iter().filter_map(|word| judged(word)).collect()
}

#[test]
fn recorded_versions_are_ordered_alike() {
    let versions = recorded();
    let pairs = versions
        .iter()
        .flat_map(|a| versions.iter().map(move |b| (a, b)));
    let differences: Vec<String> = pairs.filter_map(|(a, b)| compare(a, b).err()).collect();
    assert!(differences.is_empty(), "{differences:#?}");
    assert!(versions.len() > 50, "{} versions", versions.len());
}

#[test]
fn the_exception_example_shows_its_difference() {
    for (lower, higher) in [("1.1.0-rc", "1.1.0-alpha.1"), ("1.0.0-a.2", "1.0.0-a.1.0")] {
        let (lower, higher) = (judged(lower).unwrap(), judged(higher).unwrap());
        assert_eq!(compare(&lower, &higher), Ok(Ordering::Less));
        assert_eq!(lower.judge.cmp_precedence(&higher.judge), Ordering::Greater);
    }
}

/// SemVer does not define an order of metadata. To sort two otherwise identical releases, tflock compares metadata byte
/// by byte, but semver compares numbers in metadata by value.
#[test]
fn metadata_is_ordered_by_bytes() {
    let [nine, ten] = ["1.0.0+9", "1.0.0+10"].map(|text| judged(text).unwrap());
    assert!(nine.judge < ten.judge && nine.ours > ten.ours);
    assert_eq!(compare(&nine, &ten), Ok(Ordering::Equal));
}

/// Versions that semver rejects but tflock accepts, like Terraform and OpenTofu.
#[test]
fn versions_that_semver_refuses() {
    for (text, reason) in [
        ("1", "missing numbers are zero"),
        ("1.0", "missing numbers are zero"),
        ("01.2.3", "leading zeros are dropped"),
        ("1.0.0-01", "a numeric identifier may begin with a zero"),
        ("1.0.0-.a", "an identifier may be empty"),
        ("1.0.0-a..b", "an identifier may be empty"),
        ("1.0.0-", "a prerelease may be empty"),
        ("1.0.0+", "metadata may be empty"),
    ] {
        assert!(semver::Version::parse(text).is_err(), "{text}: {reason}");
        assert!(Version::parse(text).is_ok(), "{text}: {reason}");
    }
}
