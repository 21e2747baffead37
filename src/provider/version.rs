//! Provider versions: `MAJOR[.MINOR[.PATCH]][-PRERELEASE][+METADATA]`.
//!
//! Versions are similar to semantic versions. Missing numbers are zero, and leading zeros are ignored. Prerelease and metadata
//! consist of any letters, digits, hyphens and dots. Prereleases are ordered differently from SemVer; see
//! [`Version::precedence`]. The canonical form has three numbers. Registry requests use it, even if the registry lists a
//! different form.

use std::cmp::Ordering;
use std::fmt;

use super::error::{VersionError, VersionProblem};
use crate::span::Span;

/// A version. Versions are equal if all five fields are equal, including the metadata. They are ordered by precedence, and then by
/// the bytes of the metadata.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Version {
    pub major: u64,
    pub minor: u64,
    pub patch: u64,
    /// The text after the hyphen; empty for a release.
    pub prerelease: String,
    /// The text after the plus sign, or empty.
    pub metadata: String,
}

impl Version {
    /// Parses a version in any form: `1.2` is `1.2.0`.
    pub fn parse(text: &str) -> Result<Self, VersionError> {
        match WrittenVersion::parse(text) {
            Ok(written) => Ok(written.version),
            Err((_, problem)) => Err(VersionError {
                text: text.to_owned(),
                problem,
            }),
        }
    }

    pub const fn is_prerelease(&self) -> bool {
        !self.prerelease.is_empty()
    }

    /// Whether this is exactly `0.0.0`, which Terraform and OpenTofu never select.
    pub const fn is_zero(&self) -> bool {
        self.is_zero_release() && self.metadata.is_empty()
    }

    /// Whether this is `0.0.0`, with or without metadata.
    pub(super) const fn is_zero_release(&self) -> bool {
        self.major == 0 && self.minor == 0 && self.patch == 0 && self.prerelease.is_empty()
    }

    /// Compares two versions by age, ignoring metadata. A release is newer than its prereleases, which `compare_dotted` orders.
    pub fn precedence(&self, other: &Self) -> Ordering {
        let numbers = |version: &Self| (version.major, version.minor, version.patch);
        numbers(self)
            .cmp(&numbers(other))
            .then_with(|| other.is_prerelease().cmp(&self.is_prerelease()))
            .then_with(|| compare_dotted(&self.prerelease, &other.prerelease))
    }
}

/// Orders dotted identifiers as Terraform and OpenTofu do, which differs from SemVer.
///
/// Identifiers are compared in pairs. If only one side has more identifiers after the current pair, the other side is lower,
/// regardless of the pair: `rc` is below `alpha.1`. Otherwise, digits are below other text. Digits are ordered by length and
/// then by bytes (`1`, `01`, `02`, `11`), other text by bytes. Only identical strings are equal, and the order is total.
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

/// Writes `-PRERELEASE` and `+METADATA`, unless they are empty.
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

/// A parsed version and the number of its components in the text, on which the meaning of `~>` depends.
pub(super) struct WrittenVersion {
    pub(super) version: Version,
    pub(super) numbers: usize,
}

impl WrittenVersion {
    /// Parses the whole `text`. An error contains the range of the invalid part of `text`.
    pub(super) fn parse(text: &str) -> Result<Self, (Span, VersionProblem)> {
        let mut parser = VersionParser { text, at: 0 };
        let mut version = Version::default();
        let mut numbers = 0;
        for number in [&mut version.major, &mut version.minor, &mut version.patch] {
            *number = parser.number()?;
            numbers += 1;
            if !parser.eat(b'.') {
                break;
            }
            if numbers == 3 {
                let span = parser.rest_from(parser.at - 1);
                return Err((span, VersionProblem::TooManyNumbers));
            }
        }
        let hyphen = parser.eat(b'-');
        if hyphen {
            parser.identifiers().clone_into(&mut version.prerelease);
        }
        // `1.0.0-` means `1.0.0`, but metadata must not follow that hyphen.
        if hyphen == version.is_prerelease() && parser.eat(b'+') {
            parser.identifiers().clone_into(&mut version.metadata);
        }
        if parser.at < text.len() {
            let rest = parser.text[parser.at..].to_owned();
            return Err((
                parser.rest_from(parser.at),
                VersionProblem::Unexpected(rest),
            ));
        }
        Ok(Self { version, numbers })
    }
}

struct VersionParser<'a> {
    text: &'a str,
    /// The offset of the next byte.
    at: usize,
}

impl<'a> VersionParser<'a> {
    /// Parses a decimal number of up to 64 bits.
    fn number(&mut self) -> Result<u64, (Span, VersionProblem)> {
        let digits = self.take(|byte| byte.is_ascii_digit());
        if digits.is_empty() {
            return Err(self.no_number());
        }
        let span = Span::new(self.at - digits.len(), self.at);
        digits
            .parse()
            .map_err(|_overflow| (span, VersionProblem::NumberTooLarge(digits.to_owned())))
    }

    /// Parses any number of letters, digits, hyphens and dots.
    fn identifiers(&mut self) -> &'a str {
        self.take(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'.')
    }

    fn take(&mut self, is_accepted: impl Fn(u8) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let length = rest.bytes().take_while(|byte| is_accepted(*byte)).count();
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
            ("07.0", "7.0.0"),
            ("9.0", "9.0.0"),
            ("1.0.0-", "1.0.0"),
            ("1.0.0+", "1.0.0"),
            ("1.0.0-a+", "1.0.0-a"),
            ("1.0.0-.a", "1.0.0-.a"),
            ("1.0.0-a..b", "1.0.0-a..b"),
            ("1.1.0-01", "1.1.0-01"),
            ("1.0.0-RC.1+Build-2", "1.0.0-RC.1+Build-2"),
            ("1-a", "1.0.0-a"),
            ("1.2+a", "1.2.0+a"),
            ("18446744073709551615.0.0", "18446744073709551615.0.0"),
            ("0.0.0", "0.0.0"),
        ] {
            assert_eq!(version(text).to_string(), canonical, "{text}");
        }
    }

    #[test]
    fn invalid_versions_are_errors() {
        use VersionProblem::{Empty, NoNumber, NumberTooLarge, Prefix, TooManyNumbers, Unexpected};
        let too_large = |number: &str| NumberTooLarge(number.into());
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
            ("18446744073709551616", too_large("18446744073709551616")), // crashes both engines
            (
                "1.0.99999999999999999999",
                too_large("99999999999999999999"),
            ),
        ] {
            let error = Version::parse(text).expect_err(text);
            assert_eq!(error.problem, problem, "{text:?}");
        }
    }

    #[test]
    fn errors_have_the_version_and_the_cause() {
        let error = Version::parse("v1").expect_err("a prefix");
        assert_eq!(error.to_string(), "cannot read version `v1`");
        assert_eq!(error.hint().as_deref(), Some("omit the `v`"));
        let error = Version::parse("1.").expect_err("no number");
        assert_eq!(error.problem.to_string(), "a number is missing at the end");
        assert_eq!(Version::parse("1.é").expect_err("no number").hint(), None);
    }

    #[test]
    fn precedence_follows_the_engines() {
        let ascending = "0.9.0 1.0.0-1 1.0.0-01 1.0.0-02 1.0.0-11 1.0.0-A 1.0.0-a 1.0.0-a-b 1.0.0-a.1 1.0.0-a.b 1.0.0 1.0.1 \
                         1.1.0-rc 1.1.0-alpha.1 1.1.0 1.2.0 1.10.0 2.0.0";
        let versions: Vec<Version> = ascending.split(' ').map(version).collect();
        for pair in versions.windows(2) {
            let (low, high) = (&pair[0], &pair[1]);
            assert_eq!(low.precedence(high), Ordering::Less, "{low} < {high}");
            assert!(low < high);
        }
    }

    #[test]
    fn metadata_affects_order_and_equality_but_not_precedence() {
        let (plain, a, b) = (version("1.0.0"), version("1.0.0+a"), version("1.0.0+b"));
        assert_eq!(a.precedence(&b), Ordering::Equal);
        assert_eq!(plain.precedence(&b), Ordering::Equal);
        assert!(plain < a && a < b);
        assert_ne!(plain, a);
    }

    #[test]
    fn only_exactly_zero_is_zero() {
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
        fn a_displayed_version_parses_to_itself(text in "[0-9]{1,3}(\\.[0-9]{1,3}){0,2}(-[a-z0-9.-]{1,4})?(\\+[a-z0-9.-]{0,4})?") {
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
