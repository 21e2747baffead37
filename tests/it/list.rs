//! `tflock list`: its output in each format, and its requests.

use serde_json::json;
use tflock_test_support::{
    DEFAULT_HOSTS, FakeRegistry, Misbehave, ProviderSpec, Response, TestContext,
};

use crate::TFLOCK;

/// Creates a repository with every kind of directory.
pub(super) fn site() -> (FakeRegistry, TestContext) {
    let mut registry = FakeRegistry::start();
    let anvil = ["1.0.0", "1.1.0", "2.0.0", "3.0.0-rc1"];
    registry.publish(
        ProviderSpec::new("acme/anvil")
            .hosts(DEFAULT_HOSTS)
            .versions(anvil),
    );
    registry.publish(ProviderSpec::new("acme/bolt").hosts(DEFAULT_HOSTS));
    registry.publish(ProviderSpec::new("registry.example/acme/vise"));
    let context = TestContext::new(TFLOCK, &registry);
    context.write(".git/HEAD", "ref: refs/heads/main\n");
    context.require(
        "stacks/locked",
        &[("acme/anvil", "~> 1.0"), ("acme/bolt", "")],
    );
    let lock = |source: &str, version: &str| {
        format!("provider \"{source}\" {{\n  version = \"{version}\"\n  hashes = [\"h1:x\"]\n}}\n")
    };
    let locked = [
        lock("registry.terraform.io/acme/anvil", "1.0.0"),
        lock("registry.terraform.io/acme/rivet", "1.0.0"),
    ];
    context.write_lock_file("stacks/locked", locked.concat());
    context.require("stacks/new", &[("registry.example/acme/vise", ">= 0.5")]);
    let calls = "module \"net\" {\n  source = \"../../modules/net\"\n}\n";
    context.write("stacks/new/calls.tf", calls);
    context.write("stacks/tofu/main.tofu", calls);
    context.require("modules/net", &[("acme/anvil", "")]);
    context.write("modules/values/main.tf", "output \"x\" {\n  value = 1\n}\n");
    context.write_lock_file(
        "units/only",
        lock("registry.terraform.io/acme/anvil", "2.0.0"),
    );
    context.require("old/attic", &[("acme/anvil", "")]);
    (registry, context)
}

const LIST: [&str; 4] = ["list", "-r", "--ignore-path", "^old/"];

#[test]
fn text_has_a_line_per_directory_and_provider() {
    let (_registry, context) = site();
    let outcome = context.tflock(LIST).run().expect_success();
    let expected = "\
DIRECTORY                     CONSTRAINTS  LOCKED  ALLOWED  NEWEST
modules/net                   module called by stacks/new and 1 more directory
  acme/anvil                  -            -       2.0.0    2.0.0
modules/values                not a root: it requires no providers
old/attic                     ignored: `--ignore-path` or `ignore-paths` matches it
stacks/locked                 root: it has a lock file; terraform, by its lock file
  acme/anvil                  ~> 1.0       1.0.0   1.1.0    2.0.0
  acme/bolt                   -            -       1.0.0    1.0.0
  acme/rivet                  -            1.0.0   -        -  (not required)
stacks/new                    root: it requires providers, and no module calls it; terraform, like all lock files in the tree
  registry.example/acme/vise  >= 0.5.0     -       1.0.0    1.0.0
  acme/anvil                  -            -       2.0.0    2.0.0
stacks/tofu                   root: it requires providers, and no module calls it; tofu, by its .tofu files
  acme/anvil                  -            -       2.0.0    2.0.0
units/only                    root: it has a lock file but no configuration; terraform, by its lock file
  acme/anvil                  -            2.0.0   2.0.0    2.0.0
4 roots, 1 module, 1 without providers, 1 ignored, 1 version outdated
";
    assert_eq!(outcome.stdout, expected);
    let warning = "warning: registry `registry.terraform.io` has no provider";
    assert!(outcome.stderr.starts_with(warning), "{outcome}");
}

#[test]
fn one_request_is_sent_per_provider() {
    let (registry, context) = site();
    context.tflock(LIST).run().expect_success();
    for (path, count) in registry.log().counts("*") {
        let is_list = path.ends_with("/versions") || path.ends_with("/terraform.json");
        assert!(is_list && count == 1, "{path}: {count}");
    }
}

#[test]
fn json_has_a_version_and_every_fact() {
    let (_registry, context) = site();
    let arguments = LIST.into_iter().chain(["--format", "json"]);
    let outcome = context.tflock(arguments).run().expect_success();
    let document = outcome.json();
    assert_eq!(document["version"], json!(1));
    let directories = document["directories"].as_array().unwrap();
    let find = |path: &str| {
        let mut found = directories.iter().filter(|entry| entry["path"] == path);
        found.next().unwrap().clone()
    };
    let provider = |address: &str, facts: [Option<&str>; 4], state: &str| {
        let [constraints, locked, newest_allowed, newest] = facts;
        json!({
            "address": address, "constraints": constraints, "locked": locked,
            "newest_allowed": newest_allowed, "newest": newest, "state": state,
        })
    };
    let locked = [
        provider(
            "registry.terraform.io/acme/anvil",
            [Some("~> 1.0"), Some("1.0.0"), Some("1.1.0"), Some("2.0.0")],
            "outdated",
        ),
        provider(
            "registry.terraform.io/acme/bolt",
            [None, None, Some("1.0.0"), Some("1.0.0")],
            "not-locked",
        ),
        provider(
            "registry.terraform.io/acme/rivet",
            [None, Some("1.0.0"), None, None],
            "not-required",
        ),
    ];
    let expected = json!({
        "path": "stacks/locked", "role": "root", "reason": "lock-file",
        "engine": "terraform", "engine_reason": "lock-file", "providers": locked,
    });
    assert_eq!(find("stacks/locked"), expected);
    let net = find("modules/net");
    assert_eq!(net["role"], "module");
    assert_eq!(net["called_by"], "stacks/new");
    assert_eq!(net["other_callers"], 1);
    assert_eq!(find("stacks/new")["reason"], "not-called");
    assert_eq!(find("stacks/tofu")["engine_reason"], "tofu-files");
    assert_eq!(find("units/only")["reason"], "lock-file-only");
    assert_eq!(find("units/only")["providers"][0]["state"], "current");
    assert_eq!(find("modules/values")["role"], "no-provider");
    assert_eq!(find("old/attic")["role"], "ignored");
}

#[test]
fn markdown_is_one_table() {
    let (_registry, context) = site();
    let arguments = "list --format markdown stacks/locked modules/values";
    let outcome = context.run(arguments).expect_success();
    let expected = "\
| directory | what it is | provider | constraints | locked | newest allowed | newest |
| --- | --- | --- | --- | --- | --- | --- |
| `modules/values` | root: it is named on the command line |  |  |  |  |  |
| `stacks/locked` | root: it has a lock file | `acme/anvil` | `~> 1.0` | `1.0.0` | `1.1.0` | `2.0.0` |
| `stacks/locked` | root: it has a lock file | `acme/bolt` |  |  | `1.0.0` | `1.0.0` |
| `stacks/locked` | root: it has a lock file | `acme/rivet` |  | `1.0.0` |  |  |
";
    assert_eq!(outcome.stdout, expected);
}

#[test]
fn a_locked_version_may_be_out_of_range() {
    let (_registry, context) = site();
    context.require("stacks/locked", &[("acme/anvil", ">= 2.0")]);
    let outcome = context.run("list stacks/locked");
    let outcome = outcome.expect_success();
    let expected =
        "acme/anvil   >= 2.0.0     1.0.0   2.0.0    2.0.0  (locked version out of range)";
    outcome.assert_stdout(expected);
}

#[test]
fn failures_to_read_and_request_are_reported() {
    let (registry, context) = site();
    let gone = Misbehave::on("*/acme/anvil/versions").respond(Response::status(503));
    registry.misbehave(gone);
    context.write("stacks/broken/main.tf", "module \"x\" {\n");
    let list = context.command("list -r stacks");
    let outcome = list.env("TF_REGISTRY_DISCOVERY_RETRY", "1").run();
    let outcome = outcome.expect_code(1);
    for expected in [
        "stacks/broken                 could not be read\n",
        "  acme/anvil                  ~> 1.0       1.0.0   -        -\n",
        "  acme/bolt                   -            -       1.0.0    1.0.0\n",
    ] {
        outcome.assert_stdout(expected);
    }
    outcome.assert_stderr("stacks/broken/main.tf:1:");
    outcome.assert_stderr("503");
}

#[test]
fn offline_no_request_is_sent() {
    let (registry, context) = site();
    let arguments = LIST.into_iter().chain(["--offline"]);
    let outcome = context.tflock(arguments).run().expect_success();
    let expected = "  acme/anvil                  ~> 1.0       1.0.0   -        -\n";
    outcome.assert_stdout(expected);
    assert!(outcome.stderr.is_empty(), "{outcome}");
    assert!(registry.log().hits().is_empty());
}
