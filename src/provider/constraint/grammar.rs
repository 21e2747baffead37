//! The first parser of constraint strings. As in Terraform and OpenTofu, two parsers must accept a provider constraint, but a module
//! version constraint is parsed only by this one.
//!
//! The string is split at commas, and no piece may be empty. The grammar of a piece is
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
//! where `ws` is ASCII white space (space, tab, CR, LF, FF) and a number must fit in 63 bits.

use crate::provider::error::{ConstraintError, ConstraintProblem, VersionProblem};
use crate::span::Span;

/// The operator and the version of a piece between commas, before they are interpreted.
pub(in crate::provider) struct ScannedPiece<'a> {
    pub(in crate::provider) operator: WrittenOperator,
    pub(in crate::provider) version: ScannedVersion<'a>,
}

/// A version in the grammar of the first parser, with at least one number.
pub(in crate::provider) struct ScannedVersion<'a> {
    pub(in crate::provider) numbers: Vec<u64>,
    pub(in crate::provider) prerelease: &'a str,
    pub(in crate::provider) metadata: &'a str,
}

/// An operator in a constraint string.
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

const MAX_NUMBER: u64 = i64::MAX as u64;

/// The range of the invalid bytes in a constraint string, and the problem with them.
pub(super) type LocatedProblem = (Span, ConstraintProblem);

pub(in crate::provider) fn scan(text: &str) -> Result<Vec<ScannedPiece<'_>>, ConstraintError> {
    pieces(text)
        .map(|piece| scan_piece(text, piece))
        .collect::<Result<_, _>>()
        .map_err(|problem| error(text, problem))
}

/// Parses a version without an operator and without white space.
pub(in crate::provider) fn scan_version(text: &str) -> Result<ScannedVersion<'_>, VersionProblem> {
    let mut parser = PieceParser::new(text, Span::new(0, text.len()));
    let version = parser.version().map_err(|(_, problem)| problem)?;
    if parser.rest().is_empty() {
        Ok(version)
    } else {
        Err(VersionProblem::Unexpected(parser.rest().to_owned()))
    }
}

/// Returns the byte ranges between commas.
pub(super) fn pieces(text: &str) -> impl Iterator<Item = Span> {
    text.split(',').scan(0, |start, piece| {
        let span = Span::new(*start, *start + piece.len());
        *start = span.end + 1;
        Some(span)
    })
}

pub(super) fn error(text: &str, (span, problem): LocatedProblem) -> ConstraintError {
    ConstraintError {
        text: text.to_owned(),
        span,
        problem,
    }
}

fn scan_piece(text: &str, piece: Span) -> Result<ScannedPiece<'_>, LocatedProblem> {
    let mut parser = PieceParser::new(text, piece);
    parser.take(is_space);
    if parser.rest().is_empty() {
        return Err((piece, ConstraintProblem::Empty));
    }
    let (operator, length) = operator(parser.rest()).map_err(|found| {
        let span = Span::new(parser.at, parser.at + found.len());
        (span, unknown(found))
    })?;
    parser.at += length;
    parser.take(is_space);
    if parser.rest().starts_with('v') {
        parser.at += 1;
    }
    let version = parser
        .version()
        .map_err(|(span, problem)| (span, problem.into()))?;
    parser.take(is_space);
    let rest = parser
        .rest()
        .trim_end_matches(|char: char| char.is_ascii_whitespace());
    if rest.is_empty() {
        return Ok(ScannedPiece { operator, version });
    }
    let span = Span::new(parser.at, parser.at + rest.len());
    Err((span, VersionProblem::Unexpected(rest.to_owned()).into()))
}

pub(super) fn unknown(operator: &str) -> ConstraintProblem {
    ConstraintProblem::UnknownOperator(operator.to_owned())
}

/// Parses the operator at the start of `text`. Returns the operator and its length in bytes. No operator means equality. Returns an
/// unknown operator as the error.
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

struct PieceParser<'a> {
    /// The constraint string up to the end of the piece. It includes everything before the piece, so that offsets are valid for the
    /// whole string.
    text: &'a str,
    /// The offset of the next byte.
    at: usize,
}

impl<'a> PieceParser<'a> {
    fn new(text: &'a str, piece: Span) -> Self {
        Self {
            text: &text[..piece.end],
            at: piece.start,
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// Consumes the longest run of bytes that `is_accepted` accepts. `is_accepted` must reject bytes that are not ASCII.
    fn take(&mut self, is_accepted: fn(u8) -> bool) -> &'a str {
        let rest = self.rest();
        let length = rest.bytes().take_while(|byte| is_accepted(*byte)).count();
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

    /// Whether the next byte is `byte` and `is_accepted` accepts the byte after it.
    fn followed_by(&self, byte: u8, is_accepted: fn(u8) -> bool) -> bool {
        matches!(self.rest().as_bytes(), [first, second, ..] if *first == byte && is_accepted(*second))
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

    /// Parses the prerelease, and skips the hyphen before it. A hyphen that is followed by a dot or by the end of the text is
    /// the first character of the prerelease.
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

    /// Parses the metadata without its plus sign.
    fn metadata(&mut self) -> &'a str {
        if !self.followed_by(b'+', is_identifier) {
            return "";
        }
        self.at += 1;
        self.dotted()
    }

    /// Parses `ID* (.ID+)*`.
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
