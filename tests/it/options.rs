//! What each option of `tflock lock` changes in lock files.

use tflock_test_support::{
    FakeRegistry, Outcome, ProviderSpec, TestContext, assert_contains, table,
};

use crate::TFLOCK;

/// Starts a registry with two providers, and creates an empty tree.
fn start() -> (FakeRegistry, TestContext) {
    let mut registry = FakeRegistry::start();
    let versions = ["1.0.0", "1.1.0", "2.0.0"];
    let rare = ProviderSpec::new("acme/rivet")
        .versions(versions)
        .without("2.0.0", "windows_amd64");
    registry
        .publish(ProviderSpec::new("acme/anvil").versions(versions))
        .publish(rare);
    let context = TestContext::new(TFLOCK, &registry);
    (registry, context)
}

/// Runs `tflock lock` for linux_amd64 with these options and paths, separated by spaces.
fn lock(context: &TestContext, options: &str) -> Outcome {
    context.run(&format!("lock --platform linux_amd64 {options}"))
}

/// Returns the versions in a lock file, in the file's order: `anvil 1.0.0, rivet 1.1.0`.
fn versions(context: &TestContext, directory: &str) -> String {
    let Some(text) = context.lock_file(directory) else {
        return "no file".to_owned();
    };
    let mut found = Vec::new();
    let mut name = "";
    for line in text.lines() {
        if let Some(address) = line.strip_prefix("provider \"") {
            name = address.trim_end_matches("\" {").rsplit('/').next().unwrap();
        }
        if let Some(rest) = line.trim_start().strip_prefix("version") {
            found.push(format!("{name} {}", rest.split('"').nth(1).unwrap()));
        }
    }
    found.join(", ")
}

#[test]
fn versions_are_kept_without_an_upgrade_option() {
    let both = [("acme/anvil", ">= 1.0.0"), ("acme/rivet", "~> 1.0")];
    for [options, expected] in table(
        "
             | anvil 1.0.0, rivet 1.0.0
            --upgrade | anvil 2.0.0, rivet 1.1.0
            --upgrade=acme/anvil | anvil 2.0.0, rivet 1.0.0
            --upgrade=acme/anvil@1.1.0 | anvil 1.1.0, rivet 1.0.0
            --upgrade=acme/anvil@1.1.0 --upgrade=acme/rivet | anvil 1.1.0, rivet 1.1.0
            --upgrade --provider acme/rivet | anvil 1.0.0, rivet 1.1.0
        ",
    ) {
        let (_registry, context) = start();
        context.require("a", &[("acme/anvil", "1.0.0"), ("acme/rivet", "1.0.0")]);
        lock(&context, "a").expect_success();
        context.require("a", &both);
        lock(&context, &format!("{options} a")).expect_success();
        assert_eq!(versions(&context, "a"), expected, "{options}");
    }
}

#[test]
fn a_provider_that_stores_the_state_is_upgraded_only_by_name() {
    for [options, expected] in table(
        "
            --upgrade | anvil 1.0.0, rivet 1.1.0
            --upgrade=acme/anvil | anvil 2.0.0, rivet 1.0.0
        ",
    ) {
        let (_registry, context) = start();
        context.require("a", &[("acme/anvil", "1.0.0"), ("acme/rivet", "1.0.0")]);
        lock(&context, "a").expect_success();
        context.require("a", &[("acme/anvil", ">= 1.0.0"), ("acme/rivet", "~> 1.0")]);
        let store = "terraform {\n state_store \"anvil_fs\" {\n provider \"anvil\" {}\n }\n}\n";
        context.write("a/state.tf", store);
        lock(&context, &format!("{options} a")).expect_success();
        assert_eq!(versions(&context, "a"), expected, "{options}");
    }
}

#[test]
fn an_upgrade_to_a_version_that_is_not_allowed_fails() {
    let (_registry, context) = start();
    context.require("a", &[("acme/anvil", "~> 1.0")]);
    lock(&context, "a").expect_success();
    let before = context.lock_file("a");
    lock(&context, "--upgrade=acme/anvil@2.0.0 a").expect_code(1);
    lock(&context, "--upgrade=acme/anvil@9.9.9 a").expect_code(1);
    assert_eq!(context.lock_file("a"), before);
}

#[test]
fn an_unrequired_entry_is_kept_until_it_is_pruned() {
    let (_registry, context) = start();
    context.require("a", &[("acme/anvil", "1.0.0"), ("acme/rivet", "1.0.0")]);
    lock(&context, "a").expect_success();
    context.require("a", &[("acme/anvil", "1.0.0")]);
    let outcome = lock(&context, "a").expect_success();
    outcome.assert_stderr("acme/rivet");
    assert_eq!(versions(&context, "a"), "anvil 1.0.0, rivet 1.0.0");
    lock(&context, "--prune a").expect_success();
    assert_eq!(versions(&context, "a"), "anvil 1.0.0");
}

#[test]
fn a_check_writes_nothing_and_reports_changes_by_its_exit_code() {
    let (_registry, context) = start();
    context.require("a", &[("acme/anvil", "1.0.0")]);
    lock(&context, "--check a").expect_code(3);
    assert_eq!(versions(&context, "a"), "no file");
    lock(&context, "a").expect_success();
    lock(&context, "--check a").expect_code(0);

    let before = context.lock_file("a");
    context.require("a", &[("acme/anvil", "1.1.0")]);
    let outcome = lock(&context, "--check --diff a").expect_code(3);
    for line in ["-  version     = \"1.0.0\"", "+  version     = \"1.1.0\""] {
        outcome.assert_stdout(line);
    }
    assert_eq!(context.lock_file("a"), before);

    context.write("b/main.tf", "terraform {");
    lock(&context, "--check a b").expect_code(1);
}

#[test]
fn missing_lock_files_are_created_where_they_belong() {
    for [options, expected] in table(
        "
        -r .                          | fresh locked
        -r --create never .           | locked
        -r --create always .          | fresh locked nothing/too nothing
        fresh nothing                 | fresh nothing
        --create never fresh          |
        fresh/main.tf nothing/main.tf | fresh
        ",
    ) {
        let (_registry, context) = start();
        context.require("fresh", &[("acme/anvil", "1.0.0")]);
        context.require("locked", &[("acme/anvil", "1.0.0")]);
        if options.starts_with("-r") {
            context.write_lock_file("locked", "");
        }
        context.require(".hidden/module", &[("acme/anvil", "1.0.0")]);
        context.require("fresh/.terraform/modules/m", &[("acme/anvil", "1.0.0")]);
        context.write("nothing/main.tf", "locals {}\n");
        context.write("nothing/too/outputs.tf", "output \"x\" {\n  value = 1\n}\n");
        lock(&context, options).expect_success();
        let mut found = vec!["fresh", "locked", "nothing/too", "nothing"];
        found.retain(|directory| context.lock_file(directory).is_some());
        assert_eq!(found.join(" "), expected, "{options}");
        for skipped in [".hidden/module", "fresh/.terraform/modules/m"] {
            assert_eq!(context.lock_file(skipped), None, "{options}: {skipped}");
        }
    }
}

#[test]
fn a_called_module_gets_no_lock_file() {
    let (_registry, context) = start();
    context.require("module", &[("acme/anvil", "~> 1.0")]);
    let call = "module \"m\" {\n  source = \"../module\"\n}\n";
    context.write("root/main.tf", call);
    lock(&context, "-r .").expect_success();
    assert_eq!(versions(&context, "root"), "anvil 1.1.0");
    assert_eq!(versions(&context, "module"), "no file");
    lock(&context, "module").expect_success();
    assert_eq!(
        versions(&context, "module"),
        "anvil 1.1.0",
        "named directories are locked"
    );
}

/// A module does not become a root module because its caller cannot be read.
#[test]
fn a_module_called_by_an_invalid_directory_gets_no_lock_file() {
    for mistake in [
        "terraform {\n  required_providers {\n    anvil = { source = \"acme/anvil\", version = \"1.x.y\" }\n  }\n}\n",
        "resource \"a\" {}\n",
        "locals {\n",
        "terraform {\n  required_providers {\n    anvil = { source = \"acme\" }\n  }\n}\n",
    ] {
        let (_registry, context) = start();
        context.require("module", &[("acme/anvil", "~> 1.0")]);
        let call = "module \"m\" {\n  source = \"../module\"\n}\n";
        context.write(".git/HEAD", "ref: refs/heads/main\n");
        context
            .write("root/main.tf", call)
            .write("root/mistake.tf", mistake);
        lock(&context, "-r .").expect_code(1);
        assert_eq!(versions(&context, "module"), "no file", "{mistake}");
    }
}

#[test]
fn paths_are_ignored_by_an_unanchored_expression() {
    let (_registry, context) = start();
    for directory in ["a/x", "a/y", "b/x"] {
        context.require(directory, &[("acme/anvil", "1.0.0")]);
    }
    lock(&context, "-r -i a/x -i ^b .").expect_success();
    let found = ["a/x", "a/y", "b/x"].map(|directory| context.lock_file(directory).is_some());
    // Patterns are matched with the path `b/x`, not `./b/x`.
    assert_eq!(found, [false, true, false]);
    lock(&context, "-r -i ( .").expect_code(2);
}

#[test]
fn a_missing_platform_is_an_error_with_a_hint() {
    let (registry, context) = start();
    context.require("a", &[("acme/rivet", "2.0.0")]);
    let outcome = lock(&context, "--platform windows_amd64 a").expect_code(1);
    outcome.assert_stderr("--missing-platform warn");
    assert_eq!(context.lock_file("a"), None);
    let options = "--platform windows_amd64 --missing-platform warn a";
    lock(&context, options).expect_success();
    let linux = registry.package("acme/rivet", "2.0.0", "linux_amd64");
    assert_contains(&context.lock_file("a").unwrap(), &linux.h1);
    context.require("b", &[("acme/rivet", "2.0.0")]);
    let only = "lock --platform windows_amd64 --missing-platform warn b";
    context.run(only).expect_code(1);
}

#[test]
fn a_defaulted_platform_never_costs_the_hashes_of_others() {
    let (_registry, context) = start();
    context.require("a", &[("acme/anvil", "1.0.0")]);
    lock(&context, "--platform darwin_arm64 a").expect_success();
    let before = context.lock_file("a");
    context.require("a", &[("acme/anvil", "1.1.0")]);
    let outcome = context.run("lock a").expect_code(1);
    outcome.assert_stderr("platforms");
    assert_eq!(context.lock_file("a"), before);
}

#[test]
fn foreign_hashes_fail_their_directory_by_default() {
    let foreign = format!("\"h1:{}=\"", "A".repeat(43));
    for (mismatch, code, kept, right) in [
        ("error", 1, true, false),
        ("add", 0, true, true),
        ("replace", 0, false, true),
    ] {
        let (registry, context) = start();
        context.require("a", &[("acme/anvil", "1.0.0")]);
        let text = format!(
            "provider \"registry.terraform.io/acme/anvil\" {{\n  version = \"1.0.0\"\n  hashes = [{foreign}]\n}}\n"
        );
        context.write_lock_file("a", text);
        lock(&context, &format!("--mismatch {mismatch} a")).expect_code(code);
        let locked = context.lock_file("a").unwrap();
        assert_eq!(locked.contains(&foreign), kept, "{mismatch}\n{locked}");
        let genuine = &registry.package("acme/anvil", "1.0.0", "linux_amd64").h1;
        assert_eq!(locked.contains(genuine), right, "{mismatch}\n{locked}");
    }
}

#[test]
fn the_engine_determines_header_and_default_host() {
    for [file, options, header, host] in table(
        "
            main.tf   |               | terraform init | registry.terraform.io
            main.tofu |               | tofu init      | registry.opentofu.org
            main.tf   | --engine tofu | tofu init      | registry.opentofu.org
        ",
    ) {
        let registry = FakeRegistry::with(ProviderSpec::new("acme/anvil").hosts([host]));
        let context = TestContext::new(TFLOCK, &registry);
        context.require("a", &[("acme/anvil", "")]);
        std::fs::rename(
            context.path("a/main.tf"),
            context.path(&format!("a/{file}")),
        )
        .unwrap();
        lock(&context, &format!("{options} a")).expect_success();
        let locked = context.lock_file("a").unwrap();
        assert_contains(&locked, header);
        assert_contains(&locked, host);
    }
}

#[test]
fn the_last_value_of_a_variable_applies() {
    let (_registry, context) = start();
    let call = "variable \"v\" {\n const = true\n}\nmodule \"m\" {\n source = \"./${var.v}\"\n}\n";
    context.write("root/main.tf", call);
    for (name, version) in [("a", "1.0.0"), ("b", "1.1.0"), ("c", "2.0.0")] {
        context.require(&format!("root/{name}"), &[("acme/anvil", version)]);
        context.write(&format!("root/{name}.tfvars"), format!("v = \"{name}\"\n"));
    }
    for [options, expected] in table(
        "
            --var v=a --var-file b.tfvars | anvil 1.1.0
            --var-file b.tfvars --var v=a | anvil 1.0.0
            --var-file b.tfvars --var v=a --var-file c.tfvars | anvil 2.0.0
            --var v=a --var-file b.tfvars --var v=c | anvil 2.0.0
            --var v=a --var=v=b | anvil 1.1.0
            --var-file=b.tfvars --var-file a.tfvars | anvil 1.0.0
        ",
    ) {
        lock(&context, &format!("{options} root")).expect_success();
        assert_eq!(versions(&context, "root"), expected, "{options}");
    }
    let space = context.tflock(["lock", "--var", "v =a", "root"]).run();
    let message = "expected NAME=VALUE, without a space before `=`";
    assert_contains(&space.expect_code(2).stderr, message);
}

#[test]
fn usage_errors_have_their_own_exit_code() {
    let (_registry, context) = start();
    for options in [
        "--no-such-option .",
        "--platform linux .",
        "no-such-directory",
        "--create often .",
        "--fs-mirror a --net-mirror https://b .",
    ] {
        lock(&context, options).expect_code(2);
    }
}

#[test]
fn usage_errors_have_suggestions() {
    let (_registry, context) = start();
    context.require(".", &[("acme/anvil", "1.0.0")]);
    for [options, expected] in table(
        "
            --upgrade acme/anvil             | hint: if `acme/anvil` is the value of `--upgrade`, write `--upgrade=acme/anvil`
            hashicorp/aws                    | hint: if `hashicorp/aws` is a provider, use `--provider hashicorp/aws`
            --changed main                   | hint: if `main` is the value of `--changed`, write `--changed=main`
            --provider anvil                 | hint: did you mean `registry.terraform.io/acme/anvil`?
            --upgrade=acme/bolt              | hint: run `tflock list` to see which directories require which providers
            --net-mirror http://mirror.test/ | error: cannot use `--net-mirror`: it does not begin with `https://`
            --fs-mirror nowhere              | error: cannot search `nowhere` for providers
            --platform linux-amd64           | hint: did you mean `linux_amd64`?
        ",
    ) {
        let outcome = lock(&context, options).expect_code(2);
        outcome.assert_stderr(expected);
    }
}

/// For git hooks: the files are written, and the exit code reports new and changed ones.
#[test]
fn a_written_change_can_be_reported_as_a_failure() {
    let mut registry = FakeRegistry::start();
    registry.publish(ProviderSpec::new("acme/anvil").versions(["1.0.0", "1.1.0"]));
    let context = TestContext::new(TFLOCK, &registry);
    let lock = "lock --fail-on-change --platform linux_amd64 a";
    for (constraint, code) in [("1.0.0", 3), ("1.0.0", 0), ("1.1.0", 3), ("1.1.0", 0)] {
        context.require("a", &[("acme/anvil", constraint)]);
        context.run(lock).expect_code(code);
        let text = context.lock_file("a").unwrap();
        assert!(text.contains(&format!("\"{constraint}\"")), "{text}");
    }
    context.require("a", &[("acme/anvil", "9.0.0")]);
    context.run(lock).expect_code(1);
    context.command(lock).arg("--check").run().expect_code(2);
}

/// Every entry of `.pre-commit-hooks.yaml` is a valid command. Each is run with its own options and one file.
#[test]
fn the_hooks_of_pre_commit_are_valid_commands() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/.pre-commit-hooks.yaml");
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.lines().map(str::trim);
    let entries = lines.filter_map(|line| line.strip_prefix("entry: tflock "));
    let entries: Vec<&str> = entries.collect();
    assert_eq!(entries.len(), 4);
    let context = TestContext::offline(TFLOCK);
    context.write("a/main.tf", "locals {}\n");
    for entry in entries {
        let arguments = entry.split(' ').chain(["a/main.tf"]);
        context.tflock(arguments).run().expect_success();
    }
}

/// A common mistake: a resource's provider is not in the default namespace, but its module does not declare the source. The hint
/// also fits a wrong source.
#[test]
fn an_unknown_provider_is_explained() {
    let (_registry, context) = start();
    context.write("a/main.tf", "resource \"anvil_block\" \"b\" {\n}\n");
    context.require("b", &[("hashicorp/anvil", "")]);
    context.require("c", &[("acne/anvil", "")]);
    for directory in ["a", "b", "c"] {
        let outcome = lock(&context, directory).expect_code(1);
        let expected = "\
hint: check the `source` in `required_providers` of the same module: without a namespace, `anvil` means `hashicorp/anvil`
";
        outcome.assert_stderr(expected);
    }
}
