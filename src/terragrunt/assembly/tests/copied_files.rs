//! The files of a unit, and which files are copied. See sections 5 and 9 of docs/rules/terragrunt.md.

use super::*;

const E: &str = "resource \"e_x\" \"x\" {}\n";

fn globs(list: &[&str]) -> Vec<String> {
    list.iter().map(|glob| (*glob).to_owned()).collect()
}

#[test]
fn globs_select_the_files_that_are_copied() {
    let call = "module \"s\" {\n source = \"./.s\"\n}\n";
    for (files, included, excluded, expected) in [
        (
            &[("live/app/extra.tf", E)][..],
            &[][..],
            &["extra.tf"][..],
            "m",
        ),
        (&[("modules/m/extra.tf", E)], &[], &["extra.tf"], "m"),
        (
            &[("modules/m/extra.tf", E)],
            &["extra.tf"],
            &["extra.tf"],
            "m",
        ),
        (
            &[("modules/m/e.x.tf", E), ("live/app/f.x.tf", E)],
            &[],
            &["*.x.tf"],
            "m",
        ),
        (&[("modules/m/extra.tf", E)], &[], &["/extra.tf"], "m"),
        (
            &[("modules/m/extra.tf", E)],
            &[],
            &["{x,./extra}.tf"],
            "e m",
        ),
        (&[("modules/m/extra.tf", E)], &[], &["{x,extra}.tf"], "m"),
        (
            &[("modules/m/extra.tf", E)],
            &[],
            &["?xtra.tf", "[e]xtra.tf"],
            "e m",
        ),
        // Globs are expanded to existing paths and compared as text.
        (
            &[("modules/m/extra.tf", E), ("modules/m/ex/a.tf", E)],
            &[],
            &["ex"],
            "m",
        ),
        (&[("modules/m/extra.tf", E)], &[], &["ex"], "e m"),
        (
            &[("modules/m/a.tf", call), ("modules/m/.s/a.tf", E)],
            &[".s/**"],
            &[],
            "e m",
        ),
        (
            &[("modules/m/a.tf", call), ("live/app/.s/a.tf", E)],
            &[".s"],
            &[],
            "e m",
        ),
        (&[("live/app/deep/er/a.tf", E)], &[], &["**/er"], "m"),
        (&[("live/app/.hidden.tf", E)], &["**"], &[], "m"),
    ] {
        let all: Vec<_> = files
            .iter()
            .copied()
            .chain([("modules/m/main.tf", M)])
            .collect();
        let repository = Repository::new("../../modules/m", &all).with(|unit| {
            unit.included_in_copy = globs(included);
            unit.excluded_from_copy = globs(excluded);
        });
        assert_eq!(repository.requires().as_deref(), Ok(expected), "{files:?}");
    }
}

#[test]
fn hidden_files_and_those_of_fetched_packages() {
    let call = "module \"s\" {\n source = \"./.s\"\n}\n";
    let missing = "is not among the files of this root module";
    for (source, files, expected) in [
        (
            "../../modules/m",
            &[("modules/m/a.tf", call), ("modules/m/.s/a.tf", E)][..],
            Err(missing),
        ),
        (
            "../../modules/m",
            &[("modules/m/a.tf", call), ("live/app/.s/a.tf", E)],
            Err(missing),
        ),
        (
            "git::https://h.test/r.git",
            &[("packages/r.git/a.tf", call), ("packages/r.git/.s/a.tf", E)],
            Ok("e"),
        ),
        (
            "git::https://h.test/r.git",
            &[("packages/r.git/extra.tf", E), ("packages/r.git/a.tf", M)],
            Ok("e m"),
        ),
    ] {
        let repository = Repository::new(source, files).with(|unit| {
            unit.excluded_from_copy = globs(&["extra.tf"]);
        });
        match (repository.requires(), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "{files:?}"),
            (Err(found), Err(expected)) => assert!(found.ends_with(expected), "{found}"),
            (found, expected) => panic!("{files:?}: {found:?}, {expected:?}"),
        }
    }
}

#[test]
fn the_lock_file_of_the_unit_or_of_the_source_takes_part() {
    const LOCK: &str = ".terraform.lock.hcl";
    let own = "live/app/.terraform.lock.hcl";
    for (source, files, excluded, expected) in [
        (
            "../../modules/m",
            &[own, "modules/m/.terraform.lock.hcl"][..],
            &[][..],
            Some(own),
        ),
        (
            "../../modules/m",
            &["modules/m/.terraform.lock.hcl"],
            &[],
            Some("modules/m/.terraform.lock.hcl"),
        ),
        (
            "../../modules//m",
            &["modules/m/.terraform.lock.hcl"],
            &[],
            Some("modules/m/.terraform.lock.hcl"),
        ),
        (
            "../../modules//m",
            &["modules/.terraform.lock.hcl", "live/.terraform.lock.hcl"],
            &[],
            None,
        ),
        ("../../modules/m", &[own], &[LOCK], None),
        (
            "git::https://h.test/r.git",
            &["packages/r.git/.terraform.lock.hcl"],
            &[LOCK],
            Some("packages/r.git/.terraform.lock.hcl"),
        ),
        ("", &[own], &[], Some(own)),
    ] {
        let fixed = [
            ("modules/m/main.tf", M),
            ("packages/r.git/main.tf", M),
            ("live/app/main.tf", U),
        ];
        let locks = files.iter().map(|path| (*path, ""));
        let files: Vec<_> = fixed.into_iter().chain(locks).collect();
        let repository = Repository::new(source, &files).with(|unit| {
            unit.excluded_from_copy = globs(excluded);
        });
        let found = repository.assemble().unwrap().lock_file;
        let expected = expected.map(|path| repository.tree.path().join(path));
        assert_eq!(found, expected, "{source}: {files:?}");
    }
}
