//! `host` blocks that redirect a host, such as those of Terragrunt: errors explain the cause and name the block. This
//! file also tests trees that contain root modules of both tools.

use tflock_test_support::{
    DEFAULT_HOSTS, FakeRegistry, Misbehave, ProviderSpec, TestContext, assert_contains, table,
};

use crate::TFLOCK;

const LOCK: &str = "lock --platform linux_amd64";

/// The location of the block that redirects to the test registry.
const PLACE: &str = "[ROOT]/home/terraform.rc:";

/// The columns: a path, the response to requests for it, and the expected explanation.
const ANSWERS: &str = "
    */versions   | status=423 | Terragrunt's provider cache server
    */download/* | status=423 | Terragrunt's provider cache server
    */versions   | status=501 | a provider cache server lacks parts of the protocol
    */download/* | status=501 | whether a `host` block of the CLI configuration names it
    */versions   | html       | correct the address, or find out whether
    */download/* | html       | the server sent a web page
    */versions   | status=400 | 400 Bad Request
";

#[test]
fn errors_of_cache_servers_name_their_host_block() {
    for [path, rule, explanation] in table(ANSWERS) {
        let registry = FakeRegistry::with(ProviderSpec::new("acme/anvil"));
        registry.misbehave(Misbehave::on(path).rule(rule));
        let context = TestContext::new(TFLOCK, &registry);
        context.require("a", &[("acme/anvil", "")]);
        let outcome = context.command(LOCK).arg("a").run().expect_code(1);
        for part in [explanation, "(configured at ", PLACE, "a/main.tf:3:5"] {
            outcome.assert_stderr(part);
        }
        assert_eq!(context.lock_file("a"), None);
    }
}

/// Errors name `host` blocks that have invalid targets.
#[test]
fn host_blocks_without_a_usable_target_are_named() {
    for [services, expected] in table(
        r#"
        {}                                          | does not offer a provider registry
        { "providers.v2" = "/v2/" }                 | does not support the provider registry protocol `providers.v1`
        { "providers.v1" = "ftp://h.test/" }        | its scheme is neither http nor https
        { "providers.v1" = "http://127.0.0.1:1/" }  | cannot connect to the server
        "#,
    ) {
        let context = TestContext::offline(TFLOCK);
        context.set_cli_config(&format!(
            "\nhost \"registry.terraform.io\" {{\n  services = {services}\n}}\n"
        ));
        context.require("a", &[("acme/anvil", "")]);
        let run = context.command(LOCK).arg("a");
        let run = run.env("TF_REGISTRY_DISCOVERY_RETRY", "1");
        let outcome = run.run().expect_code(1);
        for part in [expected, "(configured at [ROOT]/home/terraform.rc:2:6)"] {
            outcome.assert_stderr(part);
        }
    }
}

/// In a run over a tree with both tools, each directory has its own default host, header and rules.
#[test]
fn both_tools_in_one_tree() {
    let mut registry = FakeRegistry::start();
    registry.publish(ProviderSpec::new("acme/anvil").hosts(DEFAULT_HOSTS));
    let context = TestContext::new(TFLOCK, &registry);
    context.write(".git/HEAD", "");
    context.write_tree(
        r#"
        -- by-header/tofu/.terraform.lock.hcl --
        # This file is maintained automatically by "tofu init".
        -- by-header/terraform/.terraform.lock.hcl --
        # This file is maintained automatically by "terraform init".
        -- by-address/tofu/.terraform.lock.hcl --
        provider "registry.opentofu.org/acme/anvil" {
          version = "1.0.0"
        }
        -- by-file/tofu/extra.tofu --
        -- by-version-file/.opentofu-version --
        1.12.6
        -- by-version-file/below/.terraform-version --
        1.11.4
        "#,
    );
    let expected = [
        ("by-header/tofu", "tofu"),
        ("by-header/terraform", "terraform"),
        ("by-address/tofu", "tofu"),
        ("by-file/tofu", "tofu"),
        ("by-version-file/tofu", "tofu"),
        ("by-version-file/below/terraform", "terraform"),
        // The lock files in the tree disagree on the engine.
        ("by-nothing/terraform", "terraform"),
    ];
    for (directory, _) in expected {
        context.require(directory, &[("acme/anvil", "1.0.0")]);
    }
    context.run(&format!("{LOCK} -r .")).expect_success();
    for (directory, tool) in expected {
        let locked = context.lock_file(directory).unwrap();
        let host = if tool == "tofu" {
            DEFAULT_HOSTS[1]
        } else {
            DEFAULT_HOSTS[0]
        };
        assert_contains(&locked, &format!("by \"{tool} init\""));
        assert_contains(&locked, &format!("provider \"{host}/acme/anvil\""));
        let other = if tool == "tofu" {
            DEFAULT_HOSTS[0]
        } else {
            DEFAULT_HOSTS[1]
        };
        assert!(!locked.contains(other), "{directory}\n{locked}");
    }
    let requests = |pattern| registry.log().count("GET", pattern);
    assert_eq!(requests("*/versions"), 2, "one request to each registry");
    assert_eq!(requests("*.zip"), 1, "both use the same package");
    context
        .run(&format!("{LOCK} -r --check ."))
        .expect_success();
}
