//! Version constraints of providers: operators, canonical form, and which versions they allow.
//!
//! A set of constraints is kept in the order in which a lock file shows it, and without duplicates, so that equal sets have
//! equal text. Nothing is simplified: contradictions and redundancies stay, as in the engines.

mod grammar;
mod parse;

use std::cmp::Ordering;
use std::fmt;

pub(super) use grammar::{ScannedVersion, WrittenOperator, scan, scan_version};

use super::Version;
use super::error::ConstraintError;
use super::version::{compare_dotted, write_suffixes};

/// What a constraint asks for, in the order that the canonical form gives to constraints on one and the same version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
    /// `=`, or nothing: that very version, metadata included.
    Exact,
    /// `~>` with three numbers: the third may grow.
    PatchPessimistic,
    /// `~>` with one or two numbers: the second may grow.
    MinorPessimistic,
    /// `<=`
    LessOrEqual,
    /// `<`
    Less,
    /// `!=`: all but that very version, metadata included.
    NotEqual,
}

/// One constraint: an operator and the version it is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Constraint {
    /// What is asked.
    pub operator: Operator,
    /// The version in question, unwritten numbers being zero.
    pub boundary: Version,
}

impl Constraint {
    /// Whether the version lies in the range. Prereleases are not special here.
    fn holds(&self, version: &Version) -> bool {
        let order = version.precedence(&self.boundary);
        match self.operator {
            Operator::Greater => order.is_gt(),
            Operator::GreaterOrEqual => order.is_ge(),
            Operator::Exact => *version == self.boundary,
            Operator::PatchPessimistic | Operator::MinorPessimistic => {
                order.is_ge() && self.is_below_ceiling(version)
            }
            Operator::LessOrEqual => order.is_le(),
            Operator::Less => order.is_lt(),
            Operator::NotEqual => *version != self.boundary,
        }
    }

    /// Whether the version is below the first one that a pessimistic constraint excludes. Prereleases of that one are below.
    fn is_below_ceiling(&self, version: &Version) -> bool {
        let Version { major, minor, .. } = self.boundary;
        let ceiling = match self.operator {
            Operator::PatchPessimistic => minor.checked_add(1).map(|minor| (major, minor)),
            _ => major.checked_add(1).map(|major| (major, 0)),
        };
        ceiling.is_none_or(|(major, minor)| {
            let ceiling = Version {
                major,
                minor,
                ..Version::default()
            };
            version.precedence(&ceiling).is_lt()
        })
    }
}

impl PartialOrd for Constraint {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The order of the canonical form: by boundary, its metadata compared like a prerelease but with none first, then by
/// operator.
impl Ord for Constraint {
    fn cmp(&self, other: &Self) -> Ordering {
        let has_metadata = |constraint: &Self| !constraint.boundary.metadata.is_empty();
        self.boundary
            .precedence(&other.boundary)
            .then_with(|| has_metadata(self).cmp(&has_metadata(other)))
            .then_with(|| compare_dotted(&self.boundary.metadata, &other.boundary.metadata))
            .then_with(|| self.operator.cmp(&other.operator))
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operator = match self.operator {
            Operator::Greater => "> ",
            Operator::GreaterOrEqual => ">= ",
            Operator::Exact => "",
            Operator::PatchPessimistic | Operator::MinorPessimistic => "~> ",
            Operator::LessOrEqual => "<= ",
            Operator::Less => "< ",
            Operator::NotEqual => "!= ",
        };
        f.write_str(operator)?;
        if self.operator != Operator::MinorPessimistic {
            return self.boundary.fmt(f);
        }
        // Two numbers are what makes it this operator, even before a prerelease.
        let Version { major, minor, .. } = self.boundary;
        write!(f, "{major}.{minor}")?;
        write_suffixes(f, &self.boundary.prerelease, &self.boundary.metadata)
    }
}

/// All that is asked of a provider's version; by default nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VersionConstraints {
    /// In order and without duplicates. Runs keep thousands of these, most with one element: a tree would take ten times the
    /// memory.
    constraints: Vec<Constraint>,
}

impl VersionConstraints {
    /// Reads the `version` of a required provider or of a `provider` block. The string passes two parsers in turn, as in the
    /// engines, and the first that objects is the one that speaks.
    pub fn parse(text: &str) -> Result<Self, ConstraintError> {
        parse::parse(text)
    }

    /// Reads the `constraints` of a lock file, which must be exactly what [`Display`](fmt::Display) gives. Only the second
    /// parser looks at them. The empty string means no constraints.
    pub fn parse_canonical(text: &str) -> Result<Self, ConstraintError> {
        parse::parse_canonical(text)
    }

    /// Whether nothing is asked.
    pub fn is_empty(&self) -> bool {
        self.constraints.is_empty()
    }

    /// The constraints in canonical order.
    pub fn iter(&self) -> impl Iterator<Item = &Constraint> {
        self.constraints.iter()
    }

    /// Asks for all that `other` asks for as well.
    pub fn merge(&mut self, other: &Self) {
        if self.is_empty() {
            // With no room to spare: a run keeps the constraints of thousands of modules.
            self.constraints.clone_from(&other.constraints);
            return;
        }
        for constraint in &other.constraints {
            if let Err(at) = self.constraints.binary_search(constraint) {
                self.constraints.insert(at, constraint.clone());
            }
        }
    }

    /// Whether a version is acceptable. A prerelease is so only where a constraint names that very version, and `0.0.0`
    /// never is.
    pub fn allows(&self, version: &Version) -> bool {
        !version.is_zero()
            && self
                .constraints
                .iter()
                .all(|constraint| constraint.holds(version))
            && (!version.is_prerelease() || self.exact().any(|exact| exact == version))
    }

    /// The versions that are named by `=` or without an operator.
    pub fn exact(&self) -> impl Iterator<Item = &Version> {
        self.constraints
            .iter()
            .filter(|constraint| constraint.operator == Operator::Exact)
            .map(|constraint| &constraint.boundary)
    }

    /// Whether OpenTofu says, in place of "no release matches", that `0.0.0` is not a valid provider version: when it is the
    /// only version that is named exactly, with or without metadata.
    pub fn names_only_zero(&self) -> bool {
        let mut exact = self.exact();
        exact.next().is_some_and(Version::is_zero_release) && exact.next().is_none()
    }
}

impl fmt::Display for VersionConstraints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, constraint) in self.constraints.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            constraint.fmt(f)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
