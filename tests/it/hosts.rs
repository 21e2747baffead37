//! `host` blocks that lead elsewhere, as those that Terragrunt leaves for its hooks: what went wrong there is explained, with the
//! place of the block. And trees in which both tools are at home.

use tflock_test_support::{FakeRegistry, Misbehave, ProviderSpec, TestContext};

use crate::TFLOCK;

const LOCK: [&str; 3] = ["lock", "--platform", "linux_amd64"];

/// Where the block that leads to the test registry stands: its label.
const PLACE: &str = "[ROOT]/home/terraform.rc:";

type Spoil = fn(Misbehave) -> Misbehave;

/// What an address answers, and what is said to it.
const ANSWERS: [(&str, Spoil, &str); 7] = [
    (
        "*/versions",
        |rule| rule.status(423),
        "Terragrunt's provider cache server",
    ),
    (
        "*/download/*",
        |rule| rule.status(423),
        "Terragrunt's provider cache server",
    ),
    (
        "*/versions",
        |rule| rule.status(501),
        "a provider cache server that lacks this part of the protocol",
    ),
    (
        "*/download/*",
        |rule| rule.status(501),
        "Look at the `host` blocks of the CLI configuration",
    ),
    (
        "*/versions",
        Misbehave::html,
        "answered with a web page: is it a proxy's or a login page",
    ),
    (
        "*/download/*",
        |rule| rule.html(),
        "answered with a web page",
    ),
    ("*/versions", |rule| rule.status(400), "400 Bad Request"),
];

#[test]
fn answers_of_cache_servers_are_explained_with_the_block_that_leads_there() {
    for (path, spoil, explanation) in ANSWERS {
        let mut registry = FakeRegistry::start();
        registry.publish(ProviderSpec::new("acme/anvil"));
        registry.misbehave(spoil(Misbehave::on(path)));
        let context = TestContext::new(TFLOCK, &registry);
        context.require("a", &[("acme/anvil", "")]);
        let outcome = context.tflock(LOCK).arg("a").run().expect_code(1);
        for part in [explanation, "(configured at ", PLACE, "a/main.tf:3:5"] {
            assert!(outcome.stderr.contains(part), "{path}: {part}\n{outcome}");
        }
        assert_eq!(context.lock_file("a"), None);
    }
}

/// Blocks that cannot lead anywhere.
#[test]
fn blocks_that_lead_nowhere_are_named() {
    let rows = [
        ("{}", "does not offer a provider registry"),
        (
            "{ \"providers.v2\" = \"/v2/\" }",
            "does not support the provider registry protocol `providers.v1`",
        ),
        (
            "{ \"providers.v1\" = \"ftp://h.test/\" }",
            "its scheme is neither http nor https",
        ),
        (
            "{ \"providers.v1\" = \"http://127.0.0.1:1/\" }",
            "cannot connect to the server",
        ),
    ];
    for (services, expected) in rows {
        let context = TestContext::offline(TFLOCK);
        context.set_cli_config(&format!(
            "\nhost \"registry.terraform.io\" {{\n  services = {services}\n}}\n"
        ));
        context.require("a", &[("acme/anvil", "")]);
        let run = context
            .tflock(LOCK)
            .arg("a")
            .env("TF_REGISTRY_DISCOVERY_RETRY", "1");
        let outcome = run.run().expect_code(1);
        for part in [expected, "(configured at [ROOT]/home/terraform.rc:2:6)"] {
            outcome.assert_stderr(part);
        }
    }
}

/// One run over a tree of both tools: each directory has its own default host, header and rules.
#[test]
fn both_tools_in_one_tree() {
    let mut registry = FakeRegistry::start();
    let hosts = ["registry.terraform.io", "registry.opentofu.org"];
    registry.publish(ProviderSpec::new("acme/anvil").hosts(hosts));
    let context = TestContext::new(TFLOCK, &registry);
    context.write(".git/HEAD", "");
    let lock = |tool: &str, entry: &str| {
        format!("# This file is maintained automatically by \"{tool} init\".\n{entry}")
    };
    let files = [
        ("by-header/tofu/.terraform.lock.hcl", lock("tofu", "")),
        (
            "by-header/terraform/.terraform.lock.hcl",
            lock("terraform", ""),
        ),
        (
            "by-address/tofu/.terraform.lock.hcl",
            "provider \"registry.opentofu.org/acme/anvil\" {\n  version = \"1.0.0\"\n}\n"
                .to_owned(),
        ),
        ("by-file/tofu/extra.tofu", String::new()),
        ("by-version-file/.opentofu-version", "1.12.6\n".to_owned()),
        (
            "by-version-file/below/.terraform-version",
            "1.11.4\n".to_owned(),
        ),
    ];
    let expected = [
        ("by-header/tofu", "tofu"),
        ("by-header/terraform", "terraform"),
        ("by-address/tofu", "tofu"),
        ("by-file/tofu", "tofu"),
        ("by-version-file/tofu", "tofu"),
        ("by-version-file/below/terraform", "terraform"),
        // The lock files of the tree do not agree.
        ("by-nothing/terraform", "terraform"),
    ];
    for (directory, _) in expected {
        context.require(directory, &[("acme/anvil", "1.0.0")]);
    }
    for (path, text) in files {
        context.write(path, text);
    }
    context
        .tflock(LOCK)
        .args(["-r", "."])
        .run()
        .expect_success();
    for (directory, tool) in expected {
        let locked = context.lock_file(directory).unwrap();
        let host = if tool == "tofu" { hosts[1] } else { hosts[0] };
        assert!(
            locked.contains(&format!("by \"{tool} init\"")),
            "{directory}\n{locked}"
        );
        assert!(
            locked.contains(&format!("provider \"{host}/acme/anvil\"")),
            "{directory}\n{locked}"
        );
        let other = if tool == "tofu" { hosts[0] } else { hosts[1] };
        assert!(!locked.contains(other), "{directory}\n{locked}");
    }
    assert_eq!(
        registry.log().count("GET", "*/versions"),
        2,
        "each registry is asked once"
    );
    assert_eq!(
        registry.log().count("GET", "*.zip"),
        1,
        "the same package for both"
    );
    context
        .tflock(LOCK)
        .args(["-r", "--check", "."])
        .run()
        .expect_success();
}
