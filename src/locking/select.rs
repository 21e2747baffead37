//! Requirements and existing locks become one version per provider (docs/rules/constraints.md 4, docs/rules/lock-file.md 5).

use crate::provider::{Engine, ProviderAddr, Version, VersionConstraints, newest};
use crate::registry::AvailableVersions;

use super::error::LockingProblem;
use super::policy::VersionTarget;

/// The version selected for one provider of one root module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selection {
    /// The locked version stays.
    Kept(Version),
    /// Nothing was locked before.
    New(Version),
    /// The locked version gives way: it no longer fits, or an upgrade was asked for.
    Moved {
        /// What was locked.
        from: Version,
        /// What is now selected.
        to: Version,
    },
}

impl Selection {
    /// The version that the new lock records.
    pub fn version(&self) -> &Version {
        match self {
            Self::Kept(version) | Self::New(version) | Self::Moved { to: version, .. } => version,
        }
    }
}

/// Refuses constraints that the engine refuses before it asks a registry: OpenTofu names the version 0.0.0 an error where it
/// is the one exact version asked for.
pub fn check_constraints(
    constraints: &VersionConstraints,
    engine: Engine,
) -> Result<(), Box<LockingProblem>> {
    if engine == Engine::Tofu && constraints.names_only_zero() {
        return Err(LockingProblem::ZeroVersion.into());
    }
    Ok(())
}

/// Selects a version of `address` among those that its source lists.
///
/// A locked version that still fits is kept unless `wanted` says otherwise; it must still be listed. Otherwise the newest
/// version that fits is taken. Platforms take no part: a version without a package for an asked platform is an error later,
/// never a reason to try another.
pub fn select(
    address: &ProviderAddr,
    constraints: &VersionConstraints,
    locked: Option<&Version>,
    wanted: VersionTarget<'_>,
    listed: &AvailableVersions,
) -> Result<Selection, Box<LockingProblem>> {
    let target = match (wanted, locked) {
        (VersionTarget::Keep, Some(version)) if constraints.allows(version) => {
            if !lists(listed, version) {
                return Err(Box::new(LockingProblem::VersionGone {
                    address: address.clone(),
                    version: version.clone(),
                }));
            }
            version
        }
        (VersionTarget::To(version), _) => named(constraints, version, listed)?,
        _ => newest(listed.versions(), constraints)
            .ok_or_else(|| nothing_fits(constraints, listed))?,
    };
    let target = target.clone();
    Ok(match locked {
        None => Selection::New(target),
        Some(version) if *version == target => Selection::Kept(target),
        Some(version) => Selection::Moved {
            from: version.clone(),
            to: target,
        },
    })
}

/// The selection that any list of versions would lead to, as long as it has that version: the locked one that is kept, or
/// the only one that the constraints allow.
pub fn foregone(
    constraints: &VersionConstraints,
    locked: Option<&Version>,
    wanted: VersionTarget<'_>,
) -> Option<Selection> {
    if wanted != VersionTarget::Keep {
        return None;
    }
    if let Some(version) = locked.filter(|version| constraints.allows(version)) {
        return Some(Selection::Kept(version.clone()));
    }
    let mut exact = constraints.exact();
    let only = exact.find(|version| constraints.allows(version))?.clone();
    Some(match locked {
        None => Selection::New(only),
        Some(version) => Selection::Moved {
            from: version.clone(),
            to: only,
        },
    })
}

fn nothing_fits(
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

/// The version that `--upgrade=ADDR@VERSION` names, if the constraints allow it and the source has it.
fn named<'a>(
    constraints: &VersionConstraints,
    version: &'a Version,
    listed: &AvailableVersions,
) -> Result<&'a Version, Box<LockingProblem>> {
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
    Ok(version)
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

    fn outcome(asked: &str, locked: Option<&str>, wanted: VersionTarget<'_>) -> String {
        let address = ProviderAddr::parse("acme/anvil", Engine::Terraform).unwrap();
        let locked = locked.map(version);
        let on_offer = listed(&["1.0.0", "1.1.0", "2.0.0-rc1", "2.0.0"]);
        match select(
            &address,
            &constraints(asked),
            locked.as_ref(),
            wanted,
            &on_offer,
        ) {
            Ok(selection) => told(&selection),
            Err(problem) => problem.to_string(),
        }
    }

    fn told(selection: &Selection) -> String {
        match selection {
            Selection::Kept(version) => format!("kept {version}"),
            Selection::New(version) => format!("new {version}"),
            Selection::Moved { from, to } => format!("{from} -> {to}"),
        }
    }

    #[test]
    fn a_locked_version_that_fits_is_kept_and_any_other_gives_way() {
        let (old, gone) = (version("1.0.0"), version("1.0.5"));
        let rows = [
            ("", None, VersionTarget::Keep, "new 2.0.0"),
            ("~> 1.0", None, VersionTarget::Keep, "new 1.1.0"),
            ("~> 1.0", Some("1.0.0"), VersionTarget::Keep, "kept 1.0.0"),
            (
                "~> 1.0",
                Some("1.0.0"),
                VersionTarget::Newest,
                "1.0.0 -> 1.1.0",
            ),
            ("~> 1.0", Some("1.1.0"), VersionTarget::Newest, "kept 1.1.0"),
            (
                "~> 2.0",
                Some("1.0.0"),
                VersionTarget::Keep,
                "1.0.0 -> 2.0.0",
            ),
            // Nothing allows 0.0.0, not even the absence of constraints.
            ("", Some("0.0.0"), VersionTarget::Keep, "0.0.0 -> 2.0.0"),
            // A pin that goes back is followed as well.
            (
                "1.0.0",
                Some("2.0.0"),
                VersionTarget::Keep,
                "2.0.0 -> 1.0.0",
            ),
            (
                "~> 1.0",
                Some("1.1.0"),
                VersionTarget::To(&old),
                "1.1.0 -> 1.0.0",
            ),
            (
                "~> 1.0",
                Some("1.0.5"),
                VersionTarget::Keep,
                "the locked version 1.0.5 is no longer available",
            ),
            // What is gone does not matter once it no longer fits.
            (
                "~> 2.0",
                Some("1.0.5"),
                VersionTarget::Keep,
                "1.0.5 -> 2.0.0",
            ),
            (
                "~> 1.0",
                None,
                VersionTarget::To(&gone),
                "its registry does not list the version 1.0.5 that `--upgrade` names",
            ),
            (
                "~> 2.0",
                None,
                VersionTarget::To(&old),
                "the constraints `~> 2.0` do not allow the version 1.0.0 that `--upgrade` names",
            ),
            (
                "> 2.0",
                None,
                VersionTarget::Keep,
                "no available releases match the constraints `> 2.0.0`",
            ),
        ];
        for (asked, locked, wanted, expected) in rows {
            assert_eq!(
                outcome(asked, locked, wanted),
                expected,
                "{asked} {locked:?}"
            );
        }
    }

    #[test]
    fn a_provider_without_releases_is_no_matter_of_constraints() {
        let address = ProviderAddr::parse("acme/anvil", Engine::Terraform).unwrap();
        let only_beta = listed(&["1.0.0-beta"]);
        let problem = select(
            &address,
            &constraints(""),
            None,
            VersionTarget::Keep,
            &only_beta,
        );
        assert_eq!(
            problem.unwrap_err().to_string(),
            "no releases are available"
        );
    }

    #[test]
    fn platforms_and_protocols_take_no_part() {
        let address = ProviderAddr::parse("acme/anvil", Engine::Terraform).unwrap();
        let mut on_offer = listed(&["1.0.0", "1.1.0"]);
        let platform = |text| Platform::parse(text).unwrap();
        on_offer.versions[0].platforms = [platform("linux_amd64")].into();
        on_offer.versions[1].platforms = [platform("plan9_mips")].into();
        on_offer.versions[1].protocols = vec!["4.0".to_owned()];
        let selected = select(
            &address,
            &constraints(""),
            None,
            VersionTarget::Keep,
            &on_offer,
        );
        assert_eq!(selected.unwrap(), Selection::New(version("1.1.0")));
    }

    #[test]
    fn only_opentofu_refuses_the_zero_version_by_name() {
        let zero = constraints("0.0.0");
        assert!(check_constraints(&zero, Engine::Terraform).is_ok());
        assert!(check_constraints(&zero, Engine::Tofu).is_err());
        assert!(check_constraints(&constraints("<= 0.0.0"), Engine::Tofu).is_ok());
    }

    #[test]
    fn some_selections_need_no_list() {
        let named = version("1.0.0");
        let rows = [
            ("", None, VersionTarget::Keep, None),
            ("", Some("1.1.0"), VersionTarget::Keep, Some("kept 1.1.0")),
            ("~> 1.0", None, VersionTarget::Keep, None),
            (
                "~> 1.0",
                Some("1.1.0"),
                VersionTarget::Keep,
                Some("kept 1.1.0"),
            ),
            ("~> 1.0", Some("1.1.0"), VersionTarget::Newest, None),
            ("~> 1.0", Some("1.1.0"), VersionTarget::To(&named), None),
            ("~> 2.0", Some("1.1.0"), VersionTarget::Keep, None),
            ("1.1.0", None, VersionTarget::Keep, Some("new 1.1.0")),
            (
                "= 1.1.0, >= 1.0",
                None,
                VersionTarget::Keep,
                Some("new 1.1.0"),
            ),
            ("= 1.1", None, VersionTarget::Keep, Some("new 1.1.0")),
            (
                "2.0.0-rc1",
                None,
                VersionTarget::Keep,
                Some("new 2.0.0-rc1"),
            ),
            (
                "1.1.0",
                Some("1.0.0"),
                VersionTarget::Keep,
                Some("1.0.0 -> 1.1.0"),
            ),
            ("1.1.0", None, VersionTarget::Newest, None),
            // Nothing fits, which the list of versions helps to say.
            ("1.1.0, < 1.0", None, VersionTarget::Keep, None),
            ("1.1.0, 1.0.0", None, VersionTarget::Keep, None),
            ("0.0.0", None, VersionTarget::Keep, None),
        ];
        for (asked, locked, wanted, expected) in rows {
            let locked = locked.map(version);
            let found = foregone(&constraints(asked), locked.as_ref(), wanted);
            let told = found.as_ref().map(told);
            assert_eq!(told.as_deref(), expected, "{asked} {locked:?}");
            if let Some(found) = found {
                let address = ProviderAddr::parse("acme/anvil", Engine::Terraform).unwrap();
                let on_offer = listed(&["1.0.0", "1.1.0", "2.0.0-rc1", "2.0.0"]);
                let selected = select(
                    &address,
                    &constraints(asked),
                    locked.as_ref(),
                    wanted,
                    &on_offer,
                );
                assert_eq!(selected.ok(), Some(found), "{asked}");
            }
        }
    }
}
