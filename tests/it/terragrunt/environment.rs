//! Environment variables of units and of Terragrunt.

use tflock_test_support::assert_contains;

use super::UnitRepository;

/// A unit whose module is the value of a variable.
const READS: &str = r#"
    -- live/e/terragrunt.hcl --
    terraform {
      source = "../../modules//${get_env("MODULE")}"
    }
"#;

#[test]
fn variables_that_replace_sources_are_ignored_with_a_note() {
    let repository = UnitRepository::new();
    for name in ["TG_SOURCE", "TERRAGRUNT_SOURCE", "TG_SOURCE_MAP"] {
        let program = repository.context.command("lock -r --check .");
        let outcome = program.env(name, "../modules").run();
        let note =
            format!("ignoring `{name}`: lock files are computed for the sources in the units");
        assert_contains(&outcome.stderr, &note);
    }
}

#[test]
fn values_of_the_environment_are_used_but_not_shown() {
    let repository = UnitRepository::with(READS);
    let lock = |value: &str| {
        let program = repository.context.command("lock live/e");
        program.env("MODULE", value).run()
    };
    lock("dns").expect_success();
    assert_eq!(repository.locked("live/e").unwrap(), "rivet 2.0.0");
    let failed = lock("s3cret").expect_code(1);
    assert!(
        !failed
            .to_string()
            .replace(&failed.command, "")
            .contains("s3cret"),
        "{failed}"
    );
}

/// Without the variable, the unit is unknown, too.
#[test]
fn untrusted_units_read_only_allowed_variables() {
    let repository = UnitRepository::with(READS);
    git_commit(&repository);
    for (options, variable, expected) in [
        ("", "dns", true),
        ("--untrusted", "dns", false),
        ("--untrusted --allow-env MODULE", "dns", true),
        ("", "", false),
    ] {
        let line = format!("lock --check --unknown-unit error {options} live/e");
        let mut program = repository.context.command(&line);
        if !variable.is_empty() {
            program = program.env("MODULE", variable);
        }
        let outcome = program.run();
        let code = if expected { 3 } else { 1 };
        assert_eq!(outcome.code, Some(code), "{options} {outcome}");
    }
}

fn git_commit(repository: &UnitRepository) {
    tflock_test_support::git_commit_all(&repository.context.work());
}
