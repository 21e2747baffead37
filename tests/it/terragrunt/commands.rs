//! Commands treat a unit like a root module.

use serde_json::json;
use tflock_test_support::assert_contains;

use super::{LOCKED, UnitRepository};

#[test]
fn lock_files_follow_the_module_and_the_parents() {
    let repository = UnitRepository::new();
    repository.run("lock -r .").expect_success();
    let again = repository.run("lock -r .").expect_success();
    assert_contains(&again.stdout, "4 directories: 2 unchanged, 2 skipped");

    let context = &repository.context;
    context.write("modules/dns/main.tf", "");
    context.require("modules/net", &[("acme/anvil", ">= 1.0")]);
    repository.run("lock -r .").expect_success();
    assert_eq!(repository.locked("live/a").unwrap(), LOCKED);
    let text = context.lock_file("live/a").unwrap();
    assert_contains(&text, "constraints = \">= 1.0.0\"");

    repository
        .run("lock -r --upgrade --prune .")
        .expect_success();
    let upgraded = "anvil 2.0.0, bolt 2.0.0";
    assert_eq!(repository.locked("live/a").unwrap(), upgraded);
}

#[test]
fn verify_and_list_know_what_a_unit_requires() {
    let repository = UnitRepository::new();
    let missing = repository.run("verify -r .").expect_code(3);
    assert_contains(&missing.stdout, "TFL001 no-lock-file");
    repository.run("lock -r .").expect_success();
    repository.run("verify -r .").expect_success();
    repository
        .context
        .write("env.hcl", "locals {\n  name = \"rivet\"\n}\n");
    let outdated = repository.run("verify -r .").expect_code(3);
    assert_contains(&outdated.stdout, "TFL006 entry-not-required");

    let list = repository.run("list -r --format json .").expect_success();
    let document = list.json();
    let directories = document["directories"].as_array().unwrap();
    let find = |path: &str| directories.iter().find(|found| found["path"] == path);
    let unit = find("live/a").unwrap();
    assert_eq!(unit["role"], "root", "{document:#}");
    assert_eq!(unit["providers"].as_array().unwrap().len(), 3);
    let module = find("modules/net").unwrap();
    assert_eq!(module["role"], "module");
    assert_eq!(module["called_by"], json!("live/a"));
}

#[test]
fn list_says_why_a_unit_is_not_a_root() {
    let repository = UnitRepository::with(
        r#"
        -- old/terragrunt.hcl --
        inputs = {}
        -- old/main.tf --
        provider "bolt" {}
        -- old/c/terragrunt.hcl --
        include {
          path = find_in_parent_folders()
        }
        terraform {
          source = "../../modules//dns"
        }
        -- catalog/dns/terragrunt.hcl --
        terraform {
          source = "../../modules//${values.module}"
        }
        -- live/x/terragrunt.hcl --
        terraform {
          source = run_cmd("find-source")
        }
        "#,
    );
    let list = repository.run("list -r --format json .").expect_success();
    let document = list.json();
    let directories = document["directories"].as_array().unwrap();
    for (path, role) in [
        ("old", "parent"),
        ("catalog/dns", "template"),
        ("live/x", "unknown"),
    ] {
        let found = directories.iter().find(|found| found["path"] == path);
        assert_eq!(found.unwrap()["role"], role, "{document:#}");
    }
    let text = repository.run("list -r .").expect_success();
    assert_contains(&text.stdout, "1 parent, 1 template, 1 unknown");
}

/// The lock file beside the module takes part if the unit has none.
#[test]
fn the_lock_file_of_the_module_is_taken_over() {
    let repository = UnitRepository::new();
    repository
        .context
        .require("old", &[("acme/anvil", "1.0.0")]);
    repository.run("lock old").expect_success();
    let locked = repository.context.lock_file("old").unwrap();
    repository.context.write_lock_file("modules/net", locked);
    repository.run("lock live/a").expect_success();
    let expected = "anvil 1.0.0, bolt 2.0.0, rivet 2.0.0";
    assert_eq!(repository.locked("live/a").unwrap(), expected);
}

#[test]
fn the_engine_is_the_one_that_terragrunt_runs() {
    let repository = UnitRepository::with(
        r#"
        -- live/tofu/terragrunt.hcl --
        terraform_binary = "/usr/bin/tofu"
        terraform {
          source = "../../modules//dns"
        }
        "#,
    );
    let engine = |line: &str, variables: &[(&str, &str)]| {
        let line = format!("list --offline --format json {line}");
        let mut program = repository.context.command(&line).env("PATH", "");
        for (name, value) in variables {
            program = program.env(name, value);
        }
        let document = program.run().expect_success().json();
        let directory = &document["directories"][0];
        let text = |key: &str| directory[key].as_str().unwrap().to_owned();
        [text("engine"), text("engine_reason")].join(" ")
    };
    let terraform = [("TG_TF_PATH", "/opt/terraform")];
    assert_eq!(engine("live/tofu", &[]), "tofu unit");
    assert_eq!(engine("live/tofu", &terraform), "terraform unit");
    let asked = engine("--engine tofu live/tofu", &terraform);
    assert_eq!(asked, "tofu asked");
    assert_eq!(engine("live/a", &[]), "terraform default");
    repository.context.write("bin/tofu", "");
    let installed = repository.context.path("bin");
    let path = installed.to_str().unwrap();
    assert_eq!(engine("live/a", &[("PATH", path)]), "tofu installed");
    assert_eq!(
        engine("modules/dns", &[("PATH", path)]),
        "terraform default"
    );
}

#[test]
fn errors_of_a_unit_name_their_line() {
    let repository = UnitRepository::with(
        "
        -- live/a/terragrunt.hcl --
        terraform {
          source = \"../../modules//nope\"
        }
        ",
    );
    let failed = repository.run("lock -r .").expect_code(1);
    assert_contains(&failed.stderr, "--> live/a/terragrunt.hcl:2");
    assert_eq!(repository.locked("live/b").unwrap(), LOCKED);
}
