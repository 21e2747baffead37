//! Provider versions: `MAJOR[.MINOR[.PATCH]][-PRERELEASE][+METADATA]`.
//!
//! Close to semantic versions, but not the same. Missing numbers are zero and leading zeros are dropped; prerelease and
//! metadata are any letters, digits, hyphens and dots. Precedence departs from SemVer in one point, see
//! [`Version::precedence`]. The canonical form has all three numbers; registries are asked for it, whatever their list said.

use std::cmp::Ordering;
use std::fmt;

use super::error::{VersionError, VersionProblem};
use crate::span::Span;

/// A version. Two versions are equal when all five fields are, metadata included; the order is the precedence and, where
/// that says nothing, the metadata by bytes with none lowest.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Version {
    /// The first number.
    pub major: u64,
    /// The second number.
    pub minor: u64,
    /// The third number.
    pub patch: u64,
    /// What follows the hyphen; empty for a release.
    pub prerelease: String,
    /// What follows the plus sign; empty if there is none.
    pub metadata: String,
}

impl Version {
    /// Reads a version, canonical or not: `1.2` is `1.2.0`.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        match WrittenVersion::parse(text) {
            Ok(written) => Ok(written.version),
            Err((_, problem)) => Err(VersionError {
                text: text.to_owned(),
                problem,
            }),
        }
    }

    /// Whether this is a prerelease.
    pub const fn is_prerelease(&self) -> bool {
        !self.prerelease.is_empty()
    }

    /// Whether this is exactly `0.0.0`, which no engine ever selects.
    pub const fn is_zero(&self) -> bool {
        self.is_zero_release() && self.metadata.is_empty()
    }

    /// Whether this is `0.0.0`, with or without metadata.
    pub(super) const fn is_zero_release(&self) -> bool {
        self.major == 0 && self.minor == 0 && self.patch == 0 && self.prerelease.is_empty()
    }

    /// Which of two versions is newer. Metadata takes no part; a release is above its prereleases, which compare as in
    /// `compare_dotted`.
    pub fn precedence(&self, other: &Self) -> Ordering {
        let numbers = |version: &Self| (version.major, version.minor, version.patch);
        numbers(self)
            .cmp(&numbers(other))
            .then_with(|| other.is_prerelease().cmp(&self.is_prerelease()))
            .then_with(|| compare_dotted(&self.prerelease, &other.prerelease))
    }
}

/// Orders dotted identifiers as the engines do, which is not SemVer's way.
///
/// While walking along, the side that has no further part is lower, before the identifier at hand is looked at: `rc` is below
/// `alpha.1`. Where both or neither go on: digits below anything else, digits by length and then by bytes (`1`, `01`, `02`,
/// `11`), others by bytes. Only identical strings are equal, and the order is total.
pub(super) fn compare_dotted(a: &str, b: &str) -> Ordering {
    let keys = |text| {
        let mut parts = str::split(text, '.').peekable();
        std::iter::from_fn(move || {
            let part: &str = parts.next()?;
            let digits = part.bytes().all(|byte| byte.is_ascii_digit());
            let length = if digits { part.len() } else { 0 };
            Some((parts.peek().is_some(), !digits, length, part))
        })
    };
    keys(a).cmp(keys(b))
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        self.precedence(other)
            .then_with(|| self.metadata.cmp(&other.metadata))
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        write_suffixes(f, &self.prerelease, &self.metadata)
    }
}

/// Writes `-PRERELEASE` and `+METADATA`, each unless it is empty.
pub(super) fn write_suffixes(
    f: &mut fmt::Formatter<'_>,
    prerelease: &str,
    metadata: &str,
) -> fmt::Result {
    for (sign, text) in [('-', prerelease), ('+', metadata)] {
        if !text.is_empty() {
            write!(f, "{sign}{text}")?;
        }
    }
    Ok(())
}

/// A version together with how many of its numbers were written, which decides what `~>` means.
pub(super) struct WrittenVersion {
    pub(super) version: Version,
    pub(super) numbers: usize,
}

impl WrittenVersion {
    /// Reads all of `text`. An error comes with the piece of `text` that is at fault.
    pub(super) fn parse(text: &str) -> Result<Self, (Span, VersionProblem)> {
        let mut reader = Reader { text, at: 0 };
        let mut version = Version::default();
        let mut numbers = 0;
        for number in [&mut version.major, &mut version.minor, &mut version.patch] {
            *number = reader.number()?;
            numbers += 1;
            if !reader.eat(b'.') {
                break;
            }
            if numbers == 3 {
                return Err((
                    reader.rest_from(reader.at - 1),
                    VersionProblem::TooManyNumbers,
                ));
            }
        }
        let hyphen = reader.eat(b'-');
        if hyphen {
            reader.identifiers().clone_into(&mut version.prerelease);
        }
        // `1.0.0-` is read as `1.0.0`, but nothing may follow that hyphen.
        if hyphen == version.is_prerelease() && reader.eat(b'+') {
            reader.identifiers().clone_into(&mut version.metadata);
        }
        if reader.at < text.len() {
            return Err(reader.unexpected());
        }
        Ok(Self { version, numbers })
    }
}

/// Walks along a version.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    /// One decimal number of up to 64 bits.
    fn number(&mut self) -> Result<u64, (Span, VersionProblem)> {
        let digits = self.take(|byte| byte.is_ascii_digit());
        if digits.is_empty() {
            return Err(self.no_number());
        }
        let span = Span::new(self.at - digits.len(), self.at);
        // Nothing but digits: the only error left is one of size.
        digits
            .parse()
            .ok()
            .ok_or_else(|| (span, VersionProblem::NumberTooLarge(digits.to_owned())))
    }

    /// Letters, digits, hyphens and dots, possibly none.
    fn identifiers(&mut self) -> &'a str {
        self.take(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.')
    }

    fn take(&mut self, wanted: impl Fn(u8) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let length = rest.bytes().take_while(|byte| wanted(*byte)).count();
        self.at += length;
        &rest[..length]
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.text.as_bytes().get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn rest_from(&self, start: usize) -> Span {
        Span::new(start, self.text.len())
    }

    /// Why no number stands here.
    fn no_number(&self) -> (Span, VersionProblem) {
        let rest = &self.text[self.at..];
        let problem = if rest.is_empty() && self.at == 0 {
            VersionProblem::Empty
        } else if self.at == 0 && rest.starts_with(['v', 'V']) {
            VersionProblem::Prefix
        } else {
            VersionProblem::NoNumber(rest.to_owned())
        };
        let start = if rest.is_empty() {
            self.at.saturating_sub(1)
        } else {
            self.at
        };
        (self.rest_from(start), problem)
    }

    fn unexpected(&self) -> (Span, VersionProblem) {
        let rest = self.text[self.at..].to_owned();
        (self.rest_from(self.at), VersionProblem::Unexpected(rest))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::span::Explain;

    fn version(text: &str) -> Version {
        Version::parse(text).unwrap_or_else(|error| panic!("{error}: {}", error.problem))
    }

    #[test]
    fn versions_have_a_canonical_form() {
        for (text, canonical) in [
            ("1.2.3", "1.2.3"),
            ("1.2", "1.2.0"),
            ("1", "1.0.0"),
            ("07.0", "7.0.0"), // leading zeros are dropped
            ("9.0", "9.0.0"),
            ("1.0.0-", "1.0.0"),
            ("1.0.0+", "1.0.0"),
            ("1.0.0-a+", "1.0.0-a"),
            ("1.0.0-.a", "1.0.0-.a"),
            ("1.0.0-a..b", "1.0.0-a..b"),
            ("1.1.0-01", "1.1.0-01"),
            ("1.0.0-RC.1+Build-2", "1.0.0-RC.1+Build-2"), // case is kept
            ("1-a", "1.0.0-a"),
            ("1.2+a", "1.2.0+a"),
            ("18446744073709551615.0.0", "18446744073709551615.0.0"),
            ("0.0.0", "0.0.0"),
        ] {
            assert_eq!(version(text).to_string(), canonical, "{text}");
        }
    }

    #[test]
    fn what_is_no_version() {
        use VersionProblem::{Empty, NoNumber, NumberTooLarge, Prefix, TooManyNumbers, Unexpected};
        for (text, problem) in [
            ("", Empty),
            ("v1.0.0", Prefix),
            ("V1", Prefix),
            ("1.2.3.4", TooManyNumbers),
            ("1.2.3.", TooManyNumbers),
            ("*", NoNumber("*".into())),
            ("x", NoNumber("x".into())),
            ("1.*", NoNumber("*".into())),
            ("1.X", NoNumber("X".into())),
            ("1.", NoNumber(String::new())),
            ("= 1.0.0", NoNumber("= 1.0.0".into())),
            (" 1.0.0", NoNumber(" 1.0.0".into())),
            ("1.0.0 ", Unexpected(" ".into())),
            ("1.0.0_a", Unexpected("_a".into())),
            ("1.0.0-é", Unexpected("é".into())),
            ("1.0.0-+a", Unexpected("+a".into())),
            ("1.0.0-a+b+c", Unexpected("+c".into())),
            ("1.0.0-a~b", Unexpected("~b".into())),
            (
                "18446744073709551616",
                NumberTooLarge("18446744073709551616".into()),
            ), // crashes both engines
            (
                "1.0.99999999999999999999",
                NumberTooLarge("99999999999999999999".into()),
            ),
        ] {
            assert_eq!(
                Version::parse(text).expect_err(text).problem,
                problem,
                "{text:?}"
            );
        }
    }

    #[test]
    fn errors_name_the_version_and_the_cause() {
        let error = Version::parse("v1").expect_err("a prefix");
        assert_eq!(error.to_string(), "cannot read version `v1`");
        assert_eq!(error.hint().as_deref(), Some("leave out the `v`"));
        assert_eq!(
            Version::parse("1.")
                .expect_err("no number")
                .problem
                .to_string(),
            "a number is missing at the end"
        );
        assert_eq!(Version::parse("1.é").expect_err("no number").hint(), None);
    }

    #[test]
    fn precedence_follows_the_engines() {
        let ascending = [
            "0.9.0",
            "1.0.0-1",
            "1.0.0-01",
            "1.0.0-02",
            "1.0.0-11",
            "1.0.0-A",
            "1.0.0-a",
            "1.0.0-a-b",
            "1.0.0-a.1",
            "1.0.0-a.b",
            "1.0.0",
            "1.0.1",
            "1.1.0-rc",
            "1.1.0-alpha.1",
            "1.1.0",
            "1.2.0",
            "1.10.0",
            "2.0.0",
        ]
        .map(version);
        for pair in ascending.windows(2) {
            assert_eq!(
                pair[0].precedence(&pair[1]),
                Ordering::Less,
                "{} < {}",
                pair[0],
                pair[1]
            );
            assert!(pair[0] < pair[1]);
        }
    }

    #[test]
    fn metadata_decides_only_the_order_and_equality() {
        let (plain, a, b) = (version("1.0.0"), version("1.0.0+a"), version("1.0.0+b"));
        assert_eq!(a.precedence(&b), Ordering::Equal);
        assert_eq!(plain.precedence(&b), Ordering::Equal);
        assert!(plain < a && a < b);
        assert_ne!(plain, a);
    }

    #[test]
    fn zero_is_zero_without_anything_else() {
        assert!(version("0.0.0").is_zero());
        for text in ["0.0.0+x", "0.0.0-x", "0.0.1", "0.1.0", "1.0.0"] {
            assert!(!version(text).is_zero(), "{text}");
        }
    }

    fn any_version() -> impl Strategy<Value = Version> {
        "[0-2](\\.[0-2]){0,2}(-[ab01.-]{0,4})?".prop_map(|text| version(&text))
    }

    proptest! {
        #[test]
        fn a_shown_version_reads_as_itself(text in "[0-9]{1,3}(\\.[0-9]{1,3}){0,2}(-[a-z0-9.-]{1,4})?(\\+[a-z0-9.-]{0,4})?") {
            let parsed = version(&text);
            prop_assert_eq!(&version(&parsed.to_string()), &parsed);
        }

        #[test]
        fn the_order_is_total(a in any_version(), b in any_version(), c in any_version()) {
            prop_assert_eq!(a.precedence(&b), b.precedence(&a).reverse());
            prop_assert_eq!(a.precedence(&b) == Ordering::Equal, a == b);
            if a <= b && b <= c {
                prop_assert!(a <= c);
            }
        }
    }
}
