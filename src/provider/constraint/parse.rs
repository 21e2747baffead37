//! The second parser of a constraint string, which gives the constraints of providers their meaning.
//!
//! White space around the string and around commas is dropped. Each piece is an operator or none, then nothing or one single
//! space, then a version in the syntax of [`Version`](crate::provider::Version). Together with the first parser this is
//! stricter than either: `v1.0` and four numbers pass only the first, `1.0.0-a..b` only the second.

use std::collections::BTreeSet;

use super::grammar::{self, Fault, WrittenOperator};
use super::{Constraint, Operator, VersionConstraints};
use crate::provider::error::{ConstraintError, ConstraintProblem};
use crate::provider::version::WrittenVersion;
use crate::span::Span;

/// Both parsers.
pub(super) fn parse(text: &str) -> Result<VersionConstraints, ConstraintError> {
    grammar::scan(text)?;
    meanings(text)
}

/// The second parser alone, for text that must be in canonical form.
pub(super) fn parse_canonical(text: &str) -> Result<VersionConstraints, ConstraintError> {
    if text.is_empty() {
        return Ok(VersionConstraints::default());
    }
    let constraints = meanings(text)?;
    let canonical = constraints.to_string();
    if canonical == text {
        return Ok(constraints);
    }
    let span = Span::new(0, text.len());
    Err(grammar::error(
        text,
        (span, ConstraintProblem::NotCanonical { canonical }),
    ))
}

fn meanings(text: &str) -> Result<VersionConstraints, ConstraintError> {
    let constraints: Result<BTreeSet<_>, _> = grammar::pieces(text)
        .map(|piece| meaning(text, trim(text, piece)))
        .collect();
    match constraints {
        Ok(constraints) => Ok(VersionConstraints {
            constraints: constraints.into_iter().collect(),
        }),
        Err(fault) => Err(grammar::error(text, fault)),
    }
}

/// The piece without white space at its ends.
fn trim(text: &str, piece: Span) -> Span {
    let inner = text[piece.start..piece.end].trim();
    let start = piece.end - text[piece.start..piece.end].trim_start().len();
    Span::new(start, start + inner.len())
}

fn meaning(text: &str, piece: Span) -> Result<Constraint, Fault> {
    let piece_text = &text[piece.start..piece.end];
    if piece_text.is_empty() {
        return Err((piece, ConstraintProblem::Empty));
    }
    let (written, length) = grammar::operator(piece_text).map_err(|found| {
        let span = Span::new(piece.start, piece.start + found.len());
        (span, grammar::unknown(found))
    })?;
    let behind = &piece_text[length..];
    let version_text = behind.strip_prefix(' ').unwrap_or(behind);
    let start = piece.end - version_text.len();
    if version_text.starts_with(char::is_whitespace) {
        let spaces = Span::new(
            piece.start + length,
            piece.end - version_text.trim_start().len(),
        );
        return Err((spaces, ConstraintProblem::Spacing));
    }
    let version = WrittenVersion::parse(version_text).map_err(|(span, problem)| {
        grammar::into_fault((Span::new(start + span.start, start + span.end), problem))
    })?;
    Ok(Constraint {
        operator: operator(written, version.numbers),
        boundary: version.version,
    })
}

/// The meaning of an operator; that of `~>` depends on how many numbers follow it.
fn operator(written: WrittenOperator, numbers: usize) -> Operator {
    match written {
        WrittenOperator::Equal => Operator::Exact,
        WrittenOperator::NotEqual => Operator::NotEqual,
        WrittenOperator::Greater => Operator::Greater,
        WrittenOperator::GreaterOrEqual => Operator::GreaterOrEqual,
        WrittenOperator::Less => Operator::Less,
        WrittenOperator::LessOrEqual => Operator::LessOrEqual,
        WrittenOperator::Pessimistic if numbers == 3 => Operator::PatchPessimistic,
        WrittenOperator::Pessimistic => Operator::MinorPessimistic,
    }
}
