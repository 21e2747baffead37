//! Selects the version of a provider (see section 4 of docs/rules/constraints.md and section 5 of docs/rules/lock-file.md).

use crate::provider::{Engine, ProviderAddr, Version, VersionConstraints, newest};
use crate::registry::AvailableVersions;

use super::error::LockingProblem;
use super::policy::VersionTarget;

/// The version selected for one provider of one root module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Selection {
    /// The locked version stays.
    Kept(Version),
    /// Nothing was locked before.
    New(Version),
    /// A different version replaces the locked one, because the locked one no longer satisfies the constraints or an upgrade
    /// was requested.
    Moved { from: Version, to: Version },
}

impl Selection {
    /// Returns the version that the new lock file records.
    pub(super) fn version(&self) -> &Version {
        match self {
            Self::Kept(version) | Self::New(version) | Self::Moved { to: version, .. } => version,
        }
    }

    fn new(locked: Option<&Version>, selected: Version) -> Self {
        match locked {
            None => Self::New(selected),
            Some(version) if *version == selected => Self::Kept(selected),
            Some(version) => Self::Moved {
                from: version.clone(),
                to: selected,
            },
        }
    }
}

/// Rejects constraints that the engine rejects without a request: OpenTofu does not accept 0.0.0 as the only exact version.
pub(super) fn check_constraints(
    constraints: &VersionConstraints,
    engine: Engine,
) -> Result<(), Box<LockingProblem>> {
    if engine == Engine::Tofu && constraints.names_only_zero() {
        return Err(LockingProblem::ZeroVersion.into());
    }
    Ok(())
}

/// Selects a version of `address` from those that its source lists.
///
/// Unless `target` says otherwise, a locked version that satisfies the constraints is kept, but it must still be listed.
/// Otherwise, the newest version that satisfies the constraints is selected. Platforms are ignored: a version without a package
/// for a requested platform is an error later, never a reason to select a different version.
pub(super) fn select(
    address: &ProviderAddr,
    constraints: &VersionConstraints,
    locked: Option<&Version>,
    target: VersionTarget<'_>,
    listed: &AvailableVersions,
) -> Result<Selection, Box<LockingProblem>> {
    let selected = match (target, locked) {
        (VersionTarget::Twin(version), _) | (VersionTarget::Keep, Some(version))
            if constraints.allows(version) =>
        {
            if !lists(listed, version) {
                return Err(Box::new(LockingProblem::VersionGone {
                    address: address.clone(),
                    version: version.clone(),
                }));
            }
            version
        }
        (VersionTarget::To(version), _) => {
            check_target(constraints, version, listed)?;
            version
        }
        _ => newest(listed.versions(), constraints)
            .ok_or_else(|| no_version_fits(constraints, listed))?,
    };
    Ok(Selection::new(locked, selected.clone()))
}

/// Returns the selection if it does not depend on the list of versions: the locked version if it is kept, or the only version that
/// the constraints allow. Does not check whether the source still lists that version.
pub(super) fn select_without_list(
    constraints: &VersionConstraints,
    locked: Option<&Version>,
    target: VersionTarget<'_>,
) -> Option<Selection> {
    let locked_or_twin = match target {
        VersionTarget::Keep => locked,
        VersionTarget::Twin(version) => Some(version),
        VersionTarget::Newest | VersionTarget::To(_) => return None,
    };
    let kept = locked_or_twin.filter(|version| constraints.allows(version));
    let mut exact = constraints.exact();
    let selected = match kept {
        Some(version) => version,
        None => exact.find(|version| constraints.allows(version))?,
    };
    Some(Selection::new(locked, selected.clone()))
}

fn no_version_fits(
    constraints: &VersionConstraints,
    listed: &AvailableVersions,
) -> Box<LockingProblem> {
    let newest_listed = listed.versions().max().cloned();
    if constraints.is_empty() {
        return Box::new(LockingProblem::NoRelease { newest_listed });
    }
    Box::new(LockingProblem::NoMatch {
        constraints: constraints.clone(),
        newest_listed,
    })
}

/// Checks the version requested with `--upgrade=ADDR@VERSION`.
fn check_target(
    constraints: &VersionConstraints,
    version: &Version,
    listed: &AvailableVersions,
) -> Result<(), Box<LockingProblem>> {
    if !lists(listed, version) {
        return Err(Box::new(LockingProblem::TargetUnknown {
            version: version.clone(),
        }));
    }
    if !constraints.allows(version) {
        return Err(Box::new(LockingProblem::TargetNotAllowed {
            version: version.clone(),
            constraints: constraints.clone(),
        }));
    }
    Ok(())
}

fn lists(listed: &AvailableVersions, version: &Version) -> bool {
    listed.versions().any(|other| other == version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provider::Platform;
    use crate::registry::AvailableVersion;

    fn version(text: &str) -> Version {
        Version::parse(text).unwrap()
    }

    fn listed(texts: &[&str]) -> AvailableVersions {
        let versions = texts.iter().map(|text| AvailableVersion {
            version: version(text),
            protocols: Vec::new(),
            platforms: std::collections::BTreeSet::new(),
        });
        AvailableVersions {
            versions: versions.collect(),
            ..AvailableVersions::default()
        }
    }

    fn constraints(text: &str) -> VersionConstraints {
        match text {
            "" => VersionConstraints::default(),
            text => VersionConstraints::parse(text).unwrap(),
        }
    }

    /// A row `CONSTRAINTS | LOCKED | TARGET | EXPECTED`. TARGET is `keep`, `newest` or a version.
    struct Row<'a> {
        constraints: VersionConstraints,
        locked: Option<Version>,
        target: &'a str,
        named: Option<Version>,
        expected: &'a str,
    }

    impl<'a> Row<'a> {
        fn parse(row: &'a str) -> Self {
            let columns: Vec<&str> = row.split('|').map(str::trim).collect();
            let [constraint, locked, target, expected] = columns[..] else {
                panic!("{row}");
            };
            Self {
                constraints: constraints(constraint),
                locked: (!locked.is_empty()).then(|| version(locked)),
                target,
                named: Version::parse(target).ok(),
                expected,
            }
        }

        fn target(&self) -> VersionTarget<'_> {
            match (self.target, &self.named) {
                ("keep", _) => VersionTarget::Keep,
                ("newest", _) => VersionTarget::Newest,
                (_, version) => VersionTarget::To(version.as_ref().unwrap()),
            }
        }

        fn select(&self) -> Result<Selection, Box<LockingProblem>> {
            let address = ProviderAddr::parse("acme/anvil", Engine::Terraform).unwrap();
            let listed = listed(&["1.0.0", "1.1.0", "2.0.0-rc1", "2.0.0"]);
            let locked = self.locked.as_ref();
            select(&address, &self.constraints, locked, self.target(), &listed)
        }
    }

    fn describe(selection: &Selection) -> String {
        match selection {
            Selection::Kept(version) => format!("kept {version}"),
            Selection::New(version) => format!("new {version}"),
            Selection::Moved { from, to } => format!("{from} -> {to}"),
        }
    }

    #[test]
    fn a_locked_version_is_kept_if_it_satisfies_the_constraints() {
        // Version 0.0.0 is never kept, even without constraints. A constraint on an older version causes a downgrade. A
        // withdrawn version does not matter if it no longer satisfies the constraints.
        let rows = "\
               |       | keep   | new 2.0.0
        ~> 1.0 |       | keep   | new 1.1.0
        ~> 1.0 | 1.0.0 | keep   | kept 1.0.0
        ~> 1.0 | 1.0.0 | newest | 1.0.0 -> 1.1.0
        ~> 1.0 | 1.1.0 | newest | kept 1.1.0
        ~> 2.0 | 1.0.0 | keep   | 1.0.0 -> 2.0.0
               | 0.0.0 | keep   | 0.0.0 -> 2.0.0
        1.0.0  | 2.0.0 | keep   | 2.0.0 -> 1.0.0
        ~> 1.0 | 1.1.0 | 1.0.0  | 1.1.0 -> 1.0.0
        ~> 1.0 | 1.0.5 | keep   | the locked version 1.0.5 is no longer available
        ~> 2.0 | 1.0.5 | keep   | 1.0.5 -> 2.0.0
        ~> 1.0 |       | 1.0.5  | its registry does not list version 1.0.5, which `--upgrade` requests
        ~> 2.0 |       | 1.0.0  | the constraints `~> 2.0` do not allow version 1.0.0, which `--upgrade` requests
        > 2.0  |       | keep   | no available releases match the constraints `> 2.0.0`";
        for row in rows.lines() {
            let case = Row::parse(row);
            let found = match case.select() {
                Ok(selection) => describe(&selection),
                Err(problem) => problem.to_string(),
            };
            assert_eq!(found, case.expected, "{row}");
        }
    }

    #[test]
    fn without_releases_the_error_does_not_blame_the_constraints() {
        let address = ProviderAddr::parse("acme/anvil", Engine::Terraform).unwrap();
        let listed = listed(&["1.0.0-beta"]);
        let target = VersionTarget::Keep;
        let problem = select(&address, &constraints(""), None, target, &listed).unwrap_err();
        assert_eq!(problem.to_string(), "no releases are available");
    }

    #[test]
    fn platforms_and_protocols_are_ignored() {
        let address = ProviderAddr::parse("acme/anvil", Engine::Terraform).unwrap();
        let mut listed = listed(&["1.0.0", "1.1.0"]);
        let platform = |text| Platform::parse(text).unwrap();
        listed.versions[0].platforms = [platform("linux_amd64")].into();
        listed.versions[1].platforms = [platform("plan9_mips")].into();
        listed.versions[1].protocols = vec!["4.0".to_owned()];
        let selected = select(
            &address,
            &constraints(""),
            None,
            VersionTarget::Keep,
            &listed,
        );
        assert_eq!(selected.unwrap(), Selection::New(version("1.1.0")));
    }

    #[test]
    fn only_opentofu_refuses_the_zero_version() {
        let zero = constraints("0.0.0");
        assert!(check_constraints(&zero, Engine::Terraform).is_ok());
        assert!(check_constraints(&zero, Engine::Tofu).is_err());
        assert!(check_constraints(&constraints("<= 0.0.0"), Engine::Tofu).is_ok());
    }

    #[test]
    fn some_versions_are_selected_without_a_list() {
        // In the last three rows, no version satisfies the constraints. The list is still required, because the error names the
        // newest listed version.
        let rows = "\
                       |       | keep   | -
                       | 1.1.0 | keep   | kept 1.1.0
        ~> 1.0         |       | keep   | -
        ~> 1.0         | 1.1.0 | keep   | kept 1.1.0
        ~> 1.0         | 1.1.0 | newest | -
        ~> 1.0         | 1.1.0 | 1.0.0  | -
        ~> 2.0         | 1.1.0 | keep   | -
        1.1.0          |       | keep   | new 1.1.0
        = 1.1.0, >= 1.0 |      | keep   | new 1.1.0
        = 1.1          |       | keep   | new 1.1.0
        2.0.0-rc1      |       | keep   | new 2.0.0-rc1
        1.1.0          | 1.0.0 | keep   | 1.0.0 -> 1.1.0
        1.1.0          |       | newest | -
        1.1.0, < 1.0   |       | keep   | -
        1.1.0, 1.0.0   |       | keep   | -
        0.0.0          |       | keep   | -";
        for row in rows.lines() {
            let case = Row::parse(row);
            let found = select_without_list(&case.constraints, case.locked.as_ref(), case.target());
            let described = found.as_ref().map(describe);
            assert_eq!(described.as_deref().unwrap_or("-"), case.expected, "{row}");
            if let Some(found) = found {
                assert_eq!(case.select().ok(), Some(found), "{row}");
            }
        }
    }
}
