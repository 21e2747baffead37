//! Sources of units. See section 4 of docs/rules/terragrunt.md.

use super::*;

const SIBLING: &str = "module \"s\" {\n source = \"../o\"\n}\n";

#[test]
fn the_source_is_the_root_module() {
    let files = [
        ("modules/m/main.tf", M),
        ("modules/call/main.tf", SIBLING),
        ("modules/o/main.tf", "resource \"o_x\" \"x\" {}\n"),
        ("live/app/u.tf", U),
        ("live/app/m/main.tf", M),
        ("packages/r.git/sub/main.tf", SIBLING),
        ("packages/r.git/o/main.tf", M),
        ("packages/r.git/.h/main.tf", M),
        (
            "packages/r.git/hidden/main.tf",
            "module \"h\" {\n source = \"../.h\"\n}\n",
        ),
        ("packages/system/main.tf", M),
        ("packages/m.zip/main.tf", M),
    ];
    for (source, expected) in [
        ("", "u"),
        (".", "u"),
        ("../../modules/m", "m u"),
        ("../../modules/m/", "m u"),
        ("../../modules//m", "m u"),
        ("../../modules///m", "m u"),
        ("../../modules/m?ref=v1", "m u"),
        ("./m", "m u"),
        ("m", "m u"),
        ("../../modules/m/main.tf", "m u"),
        ("../../modules//call", "o u"),
        ("git::https://h.test/r.git//sub?ref=v1", "m u"),
        ("git::https://h.test/r.git//hidden", "m u"),
        ("tfr://h.test/n/m/system?version=1.0.0", "m u"),
        ("tfr:///n/m/system", "m u"),
        ("https://h.test/m.zip", "m u"),
    ] {
        let found = Repository::new(source, &files).requires();
        assert_eq!(found.as_deref(), Ok(expected), "{source}");
    }
}

#[test]
fn a_single_file_is_a_source() {
    let files = [("modules/m/only.tf", M), ("modules/m/other.tf", U)];
    let found = Repository::new("../../modules/m/only.tf", &files).requires();
    assert_eq!(found.as_deref(), Ok("m"));
}

#[test]
fn sources_that_cannot_be_used_are_errors() {
    let files = [
        ("modules/call/main.tf", SIBLING),
        ("modules/o/main.tf", M),
        ("modules/empty/x", ""),
        ("modules/below/sub/main.tf", M),
        ("packages/r.git/main.tf", M),
    ];
    for (source, expected) in [
        (
            "../../modules/none",
            "live/app/terragrunt.hcl:3: cannot read the source `modules/none`: No such file or directory (os error 2)",
        ),
        (
            "../../modules//none",
            "live/app/terragrunt.hcl:3: cannot read the source `modules/none`: No such file or directory (os error 2)",
        ),
        (
            "../../modules//../x",
            "live/app/terragrunt.hcl:3: invalid source: the subdirectory `../x` points outside the module package",
        ),
        (
            "../../modules/call",
            "modules/call/main.tf:1: the source `../o` of module `s` is not among the files of this root module",
        ),
        (
            "../../modules/empty",
            "live/app/terragrunt.hcl:3: neither the source nor the unit contains a configuration",
        ),
        (
            "tfr://h.test/n/m/system?version=~>1.0",
            "live/app/terragrunt.hcl:3: invalid source: `version` must be an exact version, but it is `~>1.0`",
        ),
        (
            "git::https://user:pw@h.test/none.git//m?ref=v1",
            "live/app/terragrunt.hcl:3: cannot get the source `git::https://h.test/none.git//m?ref=v1`: no such package",
        ),
        (
            "",
            "live/app/terragrunt.hcl:0: neither the source nor the unit contains a configuration",
        ),
    ] {
        let found = Repository::new(source, &files).requires();
        assert_eq!(found, Err(expected.to_owned()), "{source}");
    }
    let only_below = Repository::new("../../modules/below", &files)
        .assemble()
        .unwrap();
    assert!(!only_below.is_configured);
}

#[test]
fn a_source_with_hidden_values_is_not_shown() {
    for (source, expected) in [
        (
            "../secret",
            "cannot read the source of the unit, which depends on `get_env(\"X\")` and is not shown: No such file or directory (os error 2)",
        ),
        (
            "git::https://h.test/secret",
            "cannot get the source of the unit, which depends on `get_env(\"X\")` and is not shown",
        ),
        ("tfr://secret", "invalid source"),
    ] {
        let repository = Repository::new(source, &[]).with(|unit| {
            unit.source.as_mut().unwrap().hidden = Some("`get_env(\"X\")`".to_owned());
        });
        let found = repository.requires().unwrap_err();
        assert_eq!(found, format!("live/app/terragrunt.hcl:3: {expected}"));
    }
}

#[cfg(unix)]
#[test]
fn symlinks_must_stay_in_the_repository() {
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("main.tf"), M).unwrap();
    for (source, is_untrusted, expected) in [
        ("../../inside", false, Ok("m")),
        (
            "../../link",
            false,
            Err("a symlink points outside the repository"),
        ),
        (
            "../..//link",
            false,
            Err("a symlink points outside the repository"),
        ),
        ("OUTSIDE", false, Ok("m")),
        (
            "OUTSIDE",
            true,
            Err("a symlink points outside the repository"),
        ),
    ] {
        let source = source.replace("OUTSIDE", outside.path().to_str().unwrap());
        let mut repository = Repository::new(&source, &[("modules/m/main.tf", M)]);
        repository.options.is_untrusted = is_untrusted;
        let at = |name: &str| repository.tree.path().join(name);
        std::os::unix::fs::symlink(outside.path(), at("link")).unwrap();
        std::os::unix::fs::symlink("modules/m", at("inside")).unwrap();
        match (repository.requires(), expected) {
            (Ok(found), Ok(expected)) => assert_eq!(found, expected),
            (Err(found), Err(expected)) => assert!(found.ends_with(expected), "{found}"),
            (found, expected) => panic!("{source}: {found:?}, {expected:?}"),
        }
    }
}

#[test]
fn the_registry_of_the_environment_is_the_default() {
    let files = [("packages/system/main.tf", M)];
    let mut repository = Repository::new("tfr:///n/m/system", &files);
    let chosen = |repository: &Repository| {
        let root = repository.read().unwrap();
        let (key, chosen) = root.chosen_modules.into_iter().next().unwrap();
        format!("{key}: {} {}", chosen.source, chosen.version)
    };
    assert_eq!(
        chosen(&repository),
        "terraform.source: registry.terraform.io/n/m/system 9.9.9"
    );
    repository.environment.insert(
        "TG_TF_DEFAULT_REGISTRY_HOST".to_owned(),
        EnvironmentValue::Known("h.test".to_owned()),
    );
    assert_eq!(
        chosen(&repository),
        "terraform.source: h.test/n/m/system 9.9.9"
    );
}

#[test]
fn the_source_and_its_modules_are_known() {
    let files = [
        ("modules/m/main.tf", SIBLING),
        ("modules/o/main.tf", M),
        ("live/app/x", ""),
    ];
    let repository = Repository::new("../../modules//m", &files);
    let assembled = repository.assemble().unwrap();
    let below = repository.tree.path().canonicalize().unwrap();
    assert_eq!(assembled.source_directory, Some(below.join("modules/m")));
    let root = repository.read().unwrap();
    assert_eq!(
        Vec::from_iter(root.local_modules),
        [below.join("modules/o")]
    );
}
