//! Provider version constraints: operators, the canonical form, and which versions the constraints allow.
//!
//! Constraints are stored in lock file order and without duplicates, so that equal constraints have identical text. They are not
//! simplified: contradictions and redundant constraints remain, as in Terraform and OpenTofu.

mod grammar;
mod parse;

use std::cmp::Ordering;
use std::fmt;

pub(super) use grammar::{ScannedVersion, WrittenOperator, scan, scan_version};

use super::Version;
use super::error::ConstraintError;
use super::version::{compare_dotted, write_suffixes};

/// The operator of a constraint. The order of the variants is the canonical order of constraints with the same version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operator {
    Greater,
    GreaterOrEqual,
    /// `=`, or no operator: exactly this version, including its metadata.
    Exact,
    /// `~>` with three numbers: only the third number may be larger.
    PatchPessimistic,
    /// `~>` with one or two numbers: all numbers after the first may be larger.
    MinorPessimistic,
    LessOrEqual,
    Less,
    /// `!=`: every version except exactly this one, including its metadata.
    NotEqual,
}

/// A single constraint, such as `>= 1.2.0`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Constraint {
    pub operator: Operator,
    /// The version after the operator. Missing numbers are zero.
    pub boundary: Version,
}

impl Constraint {
    /// Whether the version is in the range of this constraint. Prereleases are treated like releases.
    fn contains(&self, version: &Version) -> bool {
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

    /// Whether the version is below the first release that a pessimistic constraint excludes. Prereleases of that release are
    /// below it, too.
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

/// The order of the canonical form: by the precedence of the version, by its metadata (compared like prereleases, but empty
/// metadata first), and by operator.
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
        // A third number would turn this into [`Operator::PatchPessimistic`], so it is omitted even if there is a prerelease.
        let Version { major, minor, .. } = self.boundary;
        write!(f, "{major}.{minor}")?;
        write_suffixes(f, &self.boundary.prerelease, &self.boundary.metadata)
    }
}

/// The constraints on a provider's version. The default allows every version.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct VersionConstraints {
    /// Sorted and without duplicates. A run holds thousands of these lists, most with one element: a `BTreeSet` would need ten times
    /// the memory.
    constraints: Vec<Constraint>,
}

impl VersionConstraints {
    /// Parses the `version` of a required provider or of a `provider` block. As in Terraform and OpenTofu, two parsers must accept the
    /// string. The error is that of the first parser that rejects it.
    pub fn parse(text: &str) -> Result<Self, ConstraintError> {
        parse::parse(text)
    }

    /// Parses the `constraints` of a lock file, which must be in the canonical form that [`Display`](fmt::Display) writes. Only the
    /// second parser is used. The empty string means no constraints.
    pub fn parse_canonical(text: &str) -> Result<Self, ConstraintError> {
        parse::parse_canonical(text)
    }

    /// Whether every version is allowed.
    pub fn is_empty(&self) -> bool {
        self.constraints.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Constraint> {
        self.constraints.iter()
    }

    pub fn merge(&mut self, other: &Self) {
        if self.is_empty() {
            // `clone_from` avoids spare capacity. This saves memory, because a run holds the constraints of thousands of modules.
            self.constraints.clone_from(&other.constraints);
            return;
        }
        for constraint in &other.constraints {
            if let Err(at) = self.constraints.binary_search(constraint) {
                self.constraints.insert(at, constraint.clone());
            }
        }
    }

    /// Whether a version satisfies all constraints. A prerelease is allowed only if a constraint names exactly this version, and
    /// `0.0.0` is never allowed.
    pub fn allows(&self, version: &Version) -> bool {
        !version.is_zero()
            && self
                .constraints
                .iter()
                .all(|constraint| constraint.contains(version))
            && (!version.is_prerelease() || self.exact().any(|exact| exact == version))
    }

    /// Returns the versions in constraints with `=` or without an operator.
    pub fn exact(&self) -> impl Iterator<Item = &Version> {
        self.constraints
            .iter()
            .filter(|constraint| constraint.operator == Operator::Exact)
            .map(|constraint| &constraint.boundary)
    }

    /// Whether OpenTofu reports that `0.0.0` is not a valid provider version, instead of "no release matches". This happens if
    /// `0.0.0`, with or without metadata, is the only exact version.
    pub fn names_only_zero(&self) -> bool {
        let mut exact = self.exact();
        exact.next().is_some_and(Version::is_zero_release) && exact.next().is_none()
    }
}

impl FromIterator<Constraint> for VersionConstraints {
    fn from_iter<I: IntoIterator<Item = Constraint>>(constraints: I) -> Self {
        let mut constraints: Vec<_> = constraints.into_iter().collect();
        constraints.sort_unstable();
        constraints.dedup();
        Self { constraints }
    }
}

/// Returns the newest version that the constraints allow. Supported platforms and protocols do not matter.
///
/// If the newest versions differ only in metadata, Terraform and OpenTofu pick one at random. This function picks the one whose
/// metadata is the highest in byte order.
pub fn newest<'a>(
    versions: impl IntoIterator<Item = &'a Version>,
    constraints: &VersionConstraints,
) -> Option<&'a Version> {
    let allowed = |version: &&Version| constraints.allows(version);
    versions.into_iter().filter(allowed).max()
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
