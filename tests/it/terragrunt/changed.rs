//! `--changed` and `--callers`: a unit depends on all files that it reads.

use tflock_test_support::{git, git_commit_all, table};

use super::UnitRepository;

/// A third unit, which depends on nothing that the others read except `modules/dns`.
const THIRD: &str = r#"
    -- live/c/terragrunt.hcl --
    terraform {
      source = "../../modules//dns"
    }
"#;

/// The changed file, and the units that it concerns.
const ROWS: &str = "
    root.hcl              | live/a live/b
    env.hcl               | live/a live/b
    modules/net/main.tf   | live/a live/b
    modules/dns/main.tf   | live/a live/b live/c
    live/a/terragrunt.hcl | live/a
    live/a/extra.tf       | live/a
    live/root.hcl         | live/a live/b
    other.hcl             |
";

fn units(paths: &[String]) -> String {
    let units = paths.iter().filter(|path| path.starts_with("live/"));
    units.map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// Returns the directories that a run with these arguments processes.
fn processed(repository: &UnitRepository, arguments: &str) -> Vec<String> {
    let line = format!("lock --check --format json {arguments}");
    let document = repository.run(&line).json();
    let directories = document["directories"].as_array().unwrap();
    let path = |directory: &serde_json::Value| directory["path"].as_str().unwrap().to_owned();
    directories.iter().map(path).collect()
}

fn locked() -> UnitRepository {
    let repository = UnitRepository::with(THIRD);
    repository.run("lock -r .").expect_success();
    git_commit_all(&repository.context.work());
    repository
}

#[test]
fn a_changed_file_concerns_the_units_that_read_it() {
    for [file, expected] in table(ROWS) {
        let repository = locked();
        let path = repository.context.path(file);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        repository.context.write(file, text + "\n# changed\n");
        let found = processed(&repository, "--changed=HEAD");
        assert_eq!(units(&found), expected, "{file}");
    }
}

#[test]
fn a_removed_file_concerns_the_units_that_searched_for_it() {
    let repository = UnitRepository::with(
        r#"
        -- live/d/terragrunt.hcl --
        locals {
          own = read_terragrunt_config("own.hcl", {})
        }
        terraform {
          source = "../../modules//dns"
        }
        -- live/d/own.hcl --
        "#,
    );
    repository.run("lock -r .").expect_success();
    git_commit_all(&repository.context.work());
    git(&repository.context.work(), "rm --quiet live/d/own.hcl");
    let found = processed(&repository, "--changed=HEAD");
    assert_eq!(units(&found), "live/d");
}

/// pre-commit passes the names of files.
#[test]
fn the_files_of_a_commit_select_the_units_that_read_them() {
    let repository = locked();
    for [file, expected] in table(ROWS) {
        if !repository.context.path(file).exists() {
            continue;
        }
        let found = processed(&repository, &format!("--callers {file}"));
        assert_eq!(units(&found), expected, "{file}");
    }
}
