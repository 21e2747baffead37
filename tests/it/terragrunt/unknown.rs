//! Units whose requirements are unknown.

use tflock_test_support::assert_contains;

use super::UnitRepository;

/// The file of a unit whose source is known only to a command.
pub(crate) const UNKNOWN_UNIT: &str = "terraform {\n  source = run_cmd(\"find-source\")\n}\n";

/// A unit whose module is known only to a command.
const UNKNOWN: &str = r#"
    -- live/d/terragrunt.hcl --
    terraform {
      source = "../../modules//${run_cmd("touch", "EXECUTED")}"
    }
"#;

#[test]
fn an_unknown_unit_gets_no_lock_file_and_a_warning() {
    let repository = UnitRepository::with(UNKNOWN);
    let outcome = repository.run("lock live/d").expect_success();
    assert_contains(
        &outcome.stderr,
        "warning: cannot determine what the unit requires",
    );
    assert_contains(&outcome.stderr, "run_cmd");
    assert_contains(&outcome.stderr, "--> live/d/terragrunt.hcl:2");
    assert_eq!(repository.locked("live/d"), None);
    assert!(!repository.context.path("live/d/EXECUTED").exists());

    let strict = repository.run("lock --unknown-unit error live/d");
    let strict = strict.expect_code(1);
    assert_contains(
        &strict.stderr,
        "error: cannot determine what the unit requires",
    );
    repository.context.write(
        ".tflock.toml",
        "unknown-unit = \"error\"\nplatforms = [\"linux_amd64\"]\n",
    );
    repository.run("lock live/d").expect_code(1);
    repository
        .run("lock --unknown-unit warn live/d")
        .expect_success();
}

/// Hashes are completed, and nothing else changes.
#[test]
fn an_unknown_unit_keeps_the_entries_of_its_lock_file() {
    let repository = UnitRepository::with(UNKNOWN);
    repository
        .context
        .require("old", &[("acme/anvil", "~> 1.0")]);
    repository.run("lock old").expect_success();
    let locked = repository.context.lock_file("old").unwrap();
    repository.context.write_lock_file("live/d", locked);
    let line = "lock --upgrade --prune --platform linux_amd64,darwin_arm64 live/d";
    repository.run(line).expect_success();
    assert_eq!(repository.locked("live/d").unwrap(), "anvil 1.1.0");
    let text = repository.context.lock_file("live/d").unwrap();
    assert_eq!(text.matches("\"h1:").count(), 2, "{text}");
}

/// The locked version shows what the provider cache server made of the constraints.
#[test]
fn an_unknown_unit_with_constraints_of_the_cache_server_keeps_its_version() {
    let repository = UnitRepository::with(UNKNOWN);
    repository
        .context
        .require("old", &[("acme/anvil", "~> 1.0")]);
    repository.run("lock old").expect_success();
    let locked = repository.context.lock_file("old").unwrap();
    let wrong = locked.replace("\"~> 1.0\"", "\"~> 1.0.0\"");
    repository.context.write_lock_file("live/d", wrong);
    let flagged = repository.run("verify live/d").expect_code(3);
    assert_contains(&flagged.stdout, "TFL016 cache-server-constraints");
    repository.run("lock live/d").expect_success();
    assert_eq!(repository.context.lock_file("live/d").unwrap(), locked);
}

#[test]
fn hooks_before_init_are_mentioned_once() {
    let repository = UnitRepository::new();
    let hook = "terraform {\n  before_hook \"h\" {\n    commands = [\"init\"]\n    execute  = [\"touch\", \"EXECUTED\"]\n  }\n}\n";
    let root = repository.context.read("root.hcl");
    repository.context.write("root.hcl", root + hook);
    let outcome = repository.run("lock -r .").expect_success();
    let warning = "warning: ignoring a hook that runs before `init`";
    assert_eq!(outcome.stderr.matches(warning).count(), 1, "{outcome}");
    assert_contains(&outcome.stderr, "--> root.hcl:");
    assert_eq!(repository.locked("live/a").as_deref(), Some(super::LOCKED));
}

#[test]
fn missing_files_that_a_hook_may_write_make_a_unit_unknown() {
    let hook = |kind: &str, command: &str| {
        format!(
            "terraform {{\n  {kind} \"h\" {{\n    commands = [\"{command}\"]\n    execute  = [\"cp\", \"x\", \".\"]\n  }}\n}}\n"
        )
    };
    let cases = [
        (
            "before_hook",
            "init",
            "./m",
            0,
            "a missing module depends on a hook",
        ),
        ("before_hook", "apply", "./m", 1, "is not among the files"),
        ("before_hook", "init", "../m", 1, "is not among the files"),
        (
            "after_hook",
            "init-from-module",
            "",
            0,
            "there is no file, depends on a hook",
        ),
        (
            "after_hook",
            "init",
            "",
            1,
            "neither the source nor the unit",
        ),
    ];
    for (kind, command, module, code, message) in cases {
        let repository = UnitRepository::new();
        let unit = hook(kind, command);
        repository.context.write("live/h/terragrunt.hcl", unit);
        if !module.is_empty() {
            let call = format!("module \"m\" {{\n  source = \"{module}\"\n}}\n");
            repository.context.write("live/h/main.tf", call);
        }
        let outcome = repository.run("lock live/h").expect_code(code);
        assert_contains(&outcome.stderr, message);
        if code == 0 {
            let hint = "does not run the hook at live/h/terragrunt.hcl:2:3: commit the files";
            assert_contains(&outcome.stderr, hint);
        }
        assert_eq!(repository.locked("live/h"), None);
    }
}
