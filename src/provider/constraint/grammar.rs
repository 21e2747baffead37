//! The first parser of a constraint string, and the only one for the versions of modules.
//!
//! The string is split at commas, and no piece may be empty. Each piece is
//!
//! ```text
//! ws* OPERATOR? ws* v? NUMBER(.NUMBER)* PRERELEASE? METADATA? ws*
//!
//! OPERATOR    =  !=  >  >=  <  <=  ~>
//! PRERELEASE  -DIGIT+ ID* (.ID+)*   or   -? (LETTER|-|~)+ ID* (.ID+)*
//! METADATA    + ID+ (.ID+)*
//! ID          letter, digit, hyphen, tilde
//! ```
//!
//! where white space is ASCII only (space, tab, CR, LF, FF) and a number fits in 63 bits.

use crate::provider::error::{ConstraintError, ConstraintProblem, VersionProblem};
use crate::span::Span;

/// What stands in a piece, before anyone says what it means.
pub(in crate::provider) struct ScannedPiece<'a> {
    pub(in crate::provider) operator: WrittenOperator,
    pub(in crate::provider) version: ScannedVersion<'a>,
}

/// A version as the first parser sees it: any count of numbers, at least one.
pub(in crate::provider) struct ScannedVersion<'a> {
    pub(in crate::provider) numbers: Vec<u64>,
    pub(in crate::provider) prerelease: &'a str,
    pub(in crate::provider) metadata: &'a str,
}

/// An operator as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::provider) enum WrittenOperator {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
    Pessimistic,
}

/// The largest number, that of a signed 64-bit integer.
const MAX_NUMBER: u64 = i64::MAX as u64;

/// Where in the text something is wrong, and what.
pub(super) type Fault = (Span, ConstraintProblem);

/// Reads all pieces.
pub(in crate::provider) fn scan(text: &str) -> Result<Vec<ScannedPiece<'_>>, ConstraintError> {
    pieces(text)
        .map(|piece| scan_piece(text, piece))
        .collect::<Result<_, _>>()
        .map_err(|fault| error(text, fault))
}

/// Reads a version that stands alone, without any white space.
pub(in crate::provider) fn scan_version(text: &str) -> Result<ScannedVersion<'_>, VersionProblem> {
    let mut scanner = Scanner::new(text, Span::new(0, text.len()));
    let version = scanner.version().map_err(|(_, problem)| problem)?;
    if scanner.rest().is_empty() {
        Ok(version)
    } else {
        Err(VersionProblem::Unexpected(scanner.rest().to_owned()))
    }
}

/// The ranges between commas.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Span> {
    text.split(',').scan(0, |start, piece| {
        let span = Span::new(*start, *start + piece.len());
        *start = span.end + 1;
        Some(span)
    })
}

pub(super) fn error(text: &str, (span, problem): Fault) -> ConstraintError {
    ConstraintError {
        text: text.to_owned(),
        span,
        problem,
    }
}

fn scan_piece(text: &str, piece: Span) -> Result<ScannedPiece<'_>, Fault> {
    let mut scanner = Scanner::new(text, piece);
    scanner.take(is_space);
    if scanner.rest().is_empty() {
        return Err((piece, ConstraintProblem::Empty));
    }
    let (operator, length) = operator(scanner.rest()).map_err(|found| {
        (
            Span::new(scanner.at, scanner.at + found.len()),
            unknown(found),
        )
    })?;
    scanner.at += length;
    scanner.take(is_space);
    if scanner.rest().starts_with('v') {
        scanner.at += 1;
    }
    let version = scanner.version().map_err(into_fault)?;
    scanner.take(is_space);
    let rest = scanner
        .rest()
        .trim_end_matches(|char: char| char.is_ascii_whitespace());
    if rest.is_empty() {
        return Ok(ScannedPiece { operator, version });
    }
    let span = Span::new(scanner.at, scanner.at + rest.len());
    Err((span, VersionProblem::Unexpected(rest.to_owned()).into()))
}

pub(super) fn into_fault((span, problem): (Span, VersionProblem)) -> Fault {
    (span, problem.into())
}

pub(super) fn unknown(operator: &str) -> ConstraintProblem {
    ConstraintProblem::UnknownOperator(operator.to_owned())
}

/// The operator at the start of `text` with its length; none means equality. The error is what stands there instead.
pub(super) fn operator(text: &str) -> Result<(WrittenOperator, usize), &str> {
    let length = text
        .find(|char| !"=!<>~^|".contains(char))
        .unwrap_or(text.len());
    let operator = match &text[..length] {
        "" | "=" => WrittenOperator::Equal,
        "!=" => WrittenOperator::NotEqual,
        ">" => WrittenOperator::Greater,
        ">=" => WrittenOperator::GreaterOrEqual,
        "<" => WrittenOperator::Less,
        "<=" => WrittenOperator::LessOrEqual,
        "~>" => WrittenOperator::Pessimistic,
        unknown => return Err(unknown),
    };
    Ok((operator, length))
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n' | 0x0c)
}

fn is_identifier(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'~')
}

/// Walks along a piece.
struct Scanner<'a> {
    /// The text up to the end of the piece, so that offsets are those of the whole text.
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str, piece: Span) -> Self {
        Self {
            text: &text[..piece.end],
            at: piece.start,
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Steps over the bytes that are wanted, all of them ASCII.
    fn take(&mut self, wanted: fn(u8) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.bytes().take_while(|byte| wanted(*byte)).count();
        self.at += length;
        &rest[..length]
    }

    fn version(&mut self) -> Result<ScannedVersion<'a>, (Span, VersionProblem)> {
        let mut numbers = vec![self.number()?];
        while self.followed_by(b'.', |byte| byte.is_ascii_digit()) {
            self.at += 1;
            numbers.push(self.number()?);
        }
        let prerelease = self.prerelease();
        let metadata = self.metadata();
        Ok(ScannedVersion {
            numbers,
            prerelease,
            metadata,
        })
    }

    /// Whether `byte` stands here and something wanted right behind it.
    fn followed_by(&self, byte: u8, wanted: fn(u8) -> bool) -> bool {
        matches!(self.rest().as_bytes(), [first, second, ..] if *first == byte && wanted(*second))
    }

    fn number(&mut self) -> Result<u64, (Span, VersionProblem)> {
        let start = self.at;
        let digits = self.take(|byte| byte.is_ascii_digit());
        if digits.is_empty() {
            return Err((Span::new(start, self.text.len()), no_number(self.rest())));
        }
        match digits.parse() {
            Ok(number) if number <= MAX_NUMBER => Ok(number),
            _ => Err((
                Span::new(start, self.at),
                VersionProblem::NumberTooLarge(digits.to_owned()),
            )),
        }
    }

    /// The prerelease without the hyphen that introduces it. A hyphen with nothing but a dot or the end behind it introduces
    /// nothing: it is itself the first character.
    fn prerelease(&mut self) -> &'a str {
        if !self
            .rest()
            .starts_with(|char: char| char.is_ascii_alphabetic() || "-~".contains(char))
        {
            return "";
        }
        if self.followed_by(b'-', is_identifier) {
            self.at += 1;
        }
        self.dotted()
    }

    /// The metadata without its plus sign.
    fn metadata(&mut self) -> &'a str {
        if !self.followed_by(b'+', is_identifier) {
            return "";
        }
        self.at += 1;
        self.dotted()
    }

    /// `ID* (.ID+)*`
    fn dotted(&mut self) -> &'a str {
        let start = self.at;
        self.take(is_identifier);
        while self.followed_by(b'.', is_identifier) {
            self.at += 1;
            self.take(is_identifier);
        }
        &self.text[start..self.at]
    }
}

fn no_number(found: &str) -> VersionProblem {
    let found = found.trim_end_matches(|char: char| char.is_ascii_whitespace());
    if found.is_empty() {
        VersionProblem::Empty
    } else {
        VersionProblem::NoNumber(found.to_owned())
    }
}
