//! Version constraints that Terragrunt's provider cache server writes to lock files (see section 9 of docs/rules/terragrunt.md).
//!
//! The server writes the lock file of a unit before `init`, and `init` keeps the constraints. They can differ from those of the
//! configuration in two ways:
//!
//! - If the unit has a source, the server reads only the unit's own files, and writes the selected version as an exact constraint.
//! - If the unit has no source, the server completes each version to three numbers: `~> 1.0` becomes `~> 1.0.0`, which excludes
//!   1.1.0.

use crate::provider::{Constraint, Operator, Version, VersionConstraints};

/// Whether the `recorded` constraints differ from those that the configuration `required` in one of these two ways. `version` is the
/// locked version.
pub(super) fn has_server_constraints(
    recorded: &VersionConstraints,
    required: &VersionConstraints,
    version: &Version,
) -> bool {
    let is_required = |constraint: &Constraint| required.iter().any(|one| one == constraint);
    let is_completed = |constraint: &Constraint| {
        constraint.operator == Operator::PatchPessimistic
            && is_required(&Constraint {
                operator: Operator::MinorPessimistic,
                boundary: constraint.boundary.clone(),
            })
    };
    let unexpected: Vec<&Constraint> = recorded.iter().filter(|one| !is_required(one)).collect();
    let is_version = matches!(&unexpected[..], [Constraint { operator: Operator::Exact, boundary }] if boundary == version);
    let is_alone = recorded.iter().count() == 1;
    !unexpected.is_empty() && (is_version && is_alone || unexpected.into_iter().all(is_completed))
}

/// Returns the constraints before the server completed them: `~> 1.0` for `~> 1.0.0`. `None` unless the locked version proves the
/// change, which is the case if the recorded constraints exclude it and the original ones allow it.
pub(super) fn without_completion(
    recorded: &VersionConstraints,
    version: &Version,
) -> Option<VersionConstraints> {
    let original: VersionConstraints = recorded
        .iter()
        .map(|constraint| match constraint.operator {
            Operator::PatchPessimistic if constraint.boundary.patch == 0 => Constraint {
                operator: Operator::MinorPessimistic,
                boundary: constraint.boundary.clone(),
            },
            _ => constraint.clone(),
        })
        .collect();
    (!recorded.allows(version) && original.allows(version)).then_some(original)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constraints(text: &str) -> VersionConstraints {
        VersionConstraints::parse_canonical(text).unwrap()
    }

    fn version(text: &str) -> Version {
        Version::parse(text).unwrap()
    }

    #[test]
    fn constraints_of_the_server_are_recognized() {
        for (recorded, required, locked, expected) in [
            ("~> 1.0.0", "~> 1.0", "1.1.0", true),
            ("~> 1.0.0, < 3.0.0", "~> 1.0, < 3.0.0", "1.1.0", true),
            // The server does not know the constraints of called modules.
            ("~> 1.0.0", "~> 1.0, >= 1.0.2", "1.1.0", true),
            ("1.1.0", "~> 1.0", "1.1.0", true),
            ("1.1.0", "", "1.1.0", true),
            // A user changed the constraint.
            ("1.0.0", "~> 1.0", "1.1.0", false),
            ("~> 1.0", "~> 1.0.0", "1.0.3", false),
            ("~> 1.2.0", "~> 1.0", "1.2.1", false),
            ("~> 1.0", ">= 1.0.0", "1.1.0", false),
            ("~> 1.0", "~> 1.0, >= 1.0.2", "1.1.0", false),
            ("~> 1.0", "~> 1.0", "1.1.0", false),
        ] {
            let (recorded, required) = (constraints(recorded), constraints(required));
            let found = has_server_constraints(&recorded, &required, &version(locked));
            assert_eq!(found, expected, "{recorded} | {required} | {locked}");
        }
    }

    #[test]
    fn the_original_constraints_follow_from_the_locked_version() {
        for (recorded, locked, expected) in [
            ("~> 1.0.0", "1.1.0", Some("~> 1.0")),
            (">= 1.0.0, ~> 1.0.0", "1.1.0", Some(">= 1.0.0, ~> 1.0")),
            // The recorded constraints allow the version.
            ("~> 1.0.0", "1.0.4", None),
            ("~> 1.1.0", "1.1.0", None),
            ("1.1.0", "1.1.0", None),
            // The original ones do not allow it either.
            ("~> 1.0.1", "1.1.0", None),
            ("~> 1.0.0", "2.0.0", None),
        ] {
            let found = without_completion(&constraints(recorded), &version(locked));
            let found = found.map(|original| original.to_string());
            assert_eq!(found.as_deref(), expected, "{recorded} {locked}");
        }
    }
}
