//! The second parser of a constraint string. It determines the meaning of provider constraints.
//!
//! White space around the string and around commas is ignored. Each piece consists of an optional operator, an optional single
//! space, and a version in the syntax of [`Version`](crate::provider::Version). Each parser accepts strings that the other rejects:
//! `v1.0` and four numbers pass only the first, `1.0.0-a..b` only the second.

use std::collections::BTreeSet;

use super::grammar::{self, LocatedProblem, WrittenOperator};
use super::{Constraint, Operator, VersionConstraints};
use crate::provider::error::{ConstraintError, ConstraintProblem};
use crate::provider::version::WrittenVersion;
use crate::span::Span;

/// Parses with both parsers.
pub(super) fn parse(text: &str) -> Result<VersionConstraints, ConstraintError> {
    grammar::scan(text)?;
    parse_pieces(text)
}

/// Parses with the second parser alone, and requires the canonical form.
pub(super) fn parse_canonical(text: &str) -> Result<VersionConstraints, ConstraintError> {
    if text.is_empty() {
        return Ok(VersionConstraints::default());
    }
    let constraints = parse_pieces(text)?;
    let canonical = constraints.to_string();
    if canonical == text {
        return Ok(constraints);
    }
    Err(ConstraintError {
        text: text.to_owned(),
        span: Span::new(0, text.len()),
        problem: ConstraintProblem::NotCanonical { canonical },
    })
}

fn parse_pieces(text: &str) -> Result<VersionConstraints, ConstraintError> {
    let constraints: Result<BTreeSet<_>, _> = grammar::pieces(text)
        .map(|piece| parse_piece(text, trim(text, piece)))
        .collect();
    match constraints {
        Ok(constraints) => Ok(VersionConstraints {
            constraints: constraints.into_iter().collect(),
        }),
        Err(problem) => Err(grammar::error(text, problem)),
    }
}

/// Removes white space at both ends of a piece.
fn trim(text: &str, piece: Span) -> Span {
    let inner = text[piece.start..piece.end].trim();
    let start = piece.end - text[piece.start..piece.end].trim_start().len();
    Span::new(start, start + inner.len())
}

fn parse_piece(text: &str, piece: Span) -> Result<Constraint, LocatedProblem> {
    let piece_text = &text[piece.start..piece.end];
    if piece_text.is_empty() {
        return Err((piece, ConstraintProblem::Empty));
    }
    let (written, length) = grammar::operator(piece_text).map_err(|found| {
        let span = Span::new(piece.start, piece.start + found.len());
        (span, grammar::unknown(found))
    })?;
    let rest = &piece_text[length..];
    let version_text = rest.strip_prefix(' ').unwrap_or(rest);
    if version_text.starts_with(char::is_whitespace) {
        let end = piece.end - version_text.trim_start().len();
        let spaces = Span::new(piece.start + length, end);
        return Err((spaces, ConstraintProblem::Spacing));
    }
    let start = piece.end - version_text.len();
    let version = WrittenVersion::parse(version_text).map_err(|(span, problem)| {
        let span = Span::new(start + span.start, start + span.end);
        (span, problem.into())
    })?;
    Ok(Constraint {
        operator: operator(written, version.numbers),
        boundary: version.version,
    })
}

/// Returns the operator of a constraint. The meaning of `~>` depends on the number of components of the version.
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
