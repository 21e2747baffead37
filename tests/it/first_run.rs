//! What a new user meets first: a run at the top of a monorepo, and a run without a config file.

use tflock_test_support::{FakeRegistry, ProviderSpec, TestContext, table};

use crate::TFLOCK;

/// Creates a monorepo whose root has no configuration, and a directory without providers.
fn monorepo() -> (FakeRegistry, TestContext) {
    let registry = FakeRegistry::with(ProviderSpec::new("acme/anvil").versions(["1.0.0"]));
    let context = TestContext::new(TFLOCK, &registry);
    context.require("stacks/a", &[("acme/anvil", "1.0.0")]);
    context.write("locals/main.tf", "locals {}\n");
    context.write("tested/main.tftest.hcl", "provider \"anvil\" {}\n");
    context.write("empty/README.md", "");
    (registry, context)
}

const WARNING: &str = "\
warning: no configuration and no lock file in this directory
 --> .

hint: add `-r` to process all directories below it
";

/// Both tools write a lock file without entries into `locals`. `terraform init` writes none into `empty`.
#[test]
fn a_directory_without_configuration_gets_no_lock_file() {
    for [command, summary, created] in table(
        "
        lock                     | 1 directory: 1 skipped   |
        lock .                   | 1 directory: 1 skipped   |
        lock --create always     | 1 directory: 1 skipped   |
        lock --check             | 1 directory: 1 skipped   |
        lock --fail-on-change    | 1 directory: 1 skipped   |
        lock --upgrade           | 1 directory: 1 skipped   |
        verify                   | 1 directory: 1 skipped   |
        list                     | 1 without configuration  |
        lock . empty locals      | 1 created, 2 skipped     | locals
    ",
    ) {
        let (_registry, context) = monorepo();
        let outcome = context.run(command).expect_success();
        outcome.assert_stdout(summary);
        let warning = outcome.stderr.replace(", and 1 more directory", "");
        assert!(warning.starts_with(WARNING), "{command}\n{outcome}");
        for directory in [".", "empty", "locals", "stacks/a"] {
            let has_lock_file = context.lock_file(directory).is_some();
            assert_eq!(
                has_lock_file,
                created == directory,
                "{command}: {directory}"
            );
        }
    }
}

#[test]
fn reports_for_programs_name_the_directory_without_configuration() {
    let (_registry, context) = monorepo();
    let report = |command| {
        let stdout = context.run(command).expect_success().stdout;
        serde_json::from_str::<serde_json::Value>(&stdout).unwrap()
    };
    let json = report("lock --format json");
    assert_eq!(json["directories"][0]["status"], "skipped");
    let diagnostic = &json["directories"][0]["diagnostics"][0];
    assert_eq!(diagnostic["code"], "no-configuration");
    let sarif = report("lock --format sarif");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(result["ruleId"], "no-configuration");
    assert_eq!(result["level"], "warning");
    let github = context.run("lock --format github").expect_success();
    github.assert_stdout("::warning file=.terraform.lock.hcl,title=no-configuration::");
    let list = report("list --format json");
    assert_eq!(list["directories"][0]["role"], "no-configuration");
}

/// A lock file for one platform is incomplete for a team.
#[test]
fn a_lock_file_for_one_platform_leads_to_init() {
    let (_registry, context) = monorepo();
    let platform = tflock::provider::Platform::current();
    let note = format!("locked only for {platform}, the platform of this machine");
    let created = context.run("lock -r").expect_success();
    created.assert_stdout(&format!(
        "{note}: on other platforms, `init` changes the lock files\n\
         to lock for every platform of your team, run `tflock init`, which writes a .tflock.toml, or use --platform\n"
    ));
    let unchanged = context.run("lock -r").expect_success();
    unchanged.assert_stdout(&format!("{note}; request others with --platform\n"));
    let skipped = context.run("lock").expect_success();
    assert!(!skipped.stdout.contains("locked only"), "{skipped}");
    context.run("init").expect_success();
    let configured = context.run("lock -r").expect_success();
    assert!(!configured.stdout.contains("locked only"), "{configured}");
}

/// Hooks pass the names of files, and `-r` visits every directory: neither names a directory without configuration.
#[test]
fn only_a_named_directory_is_reported() {
    let (_registry, context) = monorepo();
    for command in ["lock -r", "lock empty/README.md", "mirror packages ."] {
        let outcome = context.run(command).expect_success();
        assert!(!outcome.stderr.contains("no configuration"), "{outcome}");
        assert_eq!(context.lock_file("empty"), None);
    }
}
