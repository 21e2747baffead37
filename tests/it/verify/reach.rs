//! The requests that an audit sends, its results without a network, and its exit codes.

use serde_json::json;
use tflock_test_support::{DEFAULT_HOSTS, FakeRegistry, Misbehave, ProviderSpec, TestContext};

use super::{PLATFORMS, edit, lock, start, verify};
use crate::TFLOCK;
use crate::terragrunt::unknown::UNKNOWN_UNIT;

#[test]
fn a_correct_tree_has_no_findings_and_known_packages_are_not_downloaded() {
    let (registry, context) = start();
    registry.log().clear();
    let outcome = verify(&context, "-r .").expect_success();
    outcome.assert_stdout_starts("1 directory: 1 sound; ");
    assert_eq!(outcome.stdout.lines().count(), 1, "{outcome}");
    // Packages come from the disk cache, but the version list is still requested.
    let requests = |path| registry.log().count("GET", path);
    assert_eq!((requests("*.zip"), requests("*/versions")), (0, 1));

    registry.log().clear();
    verify(&context, "-r --no-cache .").expect_success();
    assert_eq!(requests("*.zip"), 2);
}

#[test]
fn packages_of_other_platforms_are_downloaded_only_for_unexplained_hashes() {
    let (registry, context) = start();
    lock(&context, "windows_amd64");
    registry.log().clear();
    verify(&context, "--no-cache a").expect_success();
    assert_eq!(registry.log().count("GET", "*windows_amd64.zip"), 1);

    let stray = format!("\"h1:{}=\"", "A".repeat(43));
    let hashes = "  hashes = [\n";
    edit(&context, hashes, &format!("{hashes}    {stray},\n"));
    let outcome = verify(&context, "a").expect_code(3);
    outcome.assert_stdout_starts("TFL010 stray-hashes: 1 recorded");
}

#[test]
fn offline_audits_list_what_was_not_checked() {
    let (registry, context) = start();
    registry.log().clear();
    let outcome = verify(&context, "--offline --format json a").expect_success();
    let directory = outcome.json()["directories"][0].clone();
    let registry_only =
        "whether the registry still has version 1.1.0 of `registry.terraform.io/acme/anvil`";
    assert_eq!(directory["unchecked"], json!([registry_only]));
    assert_eq!(directory["status"], "sound");

    let outcome = verify(&context, "--offline --no-cache a").expect_success();
    let expected = "\
not checked: whether the hashes of `registry.terraform.io/acme/anvil` 1.1.0 for darwin_arm64 are recorded
not checked: whether the hashes of `registry.terraform.io/acme/anvil` 1.1.0 for linux_amd64 are recorded
not checked: whether the registry still has version 1.1.0 of `registry.terraform.io/acme/anvil`
1 directory: 1 sound; ";
    assert!(outcome.stdout.starts_with(expected), "{outcome}");
    assert_eq!(registry.log().total(), 0);

    // Constraints can be checked without a network.
    context.require("a", &[("acme/anvil", "~> 2.0")]);
    let outcome = verify(&context, "--offline --no-cache a").expect_code(3);
    assert!(outcome.stdout.starts_with("TFL004 "), "{outcome}");
}

#[test]
fn incomplete_audits_take_precedence_over_findings() {
    let (registry, context) = start();
    let both = [("acme/anvil", "~> 1.0"), ("acme/rivet", "1.0.0")];
    context.require("a", &both);
    registry.misbehave(Misbehave::on("*/acme/anvil/versions").status(500));
    let verify = context.tflock(["verify", "--platform", PLATFORMS, "a"]);
    let outcome = verify.env("TF_REGISTRY_DISCOVERY_RETRY", "1").run();
    let outcome = outcome.expect_code(1);
    outcome.assert_stdout_starts("TFL003 provider-not-locked: ");
    outcome.assert_stdout("1 directory: 1 failed; 1 finding");
    outcome.assert_stderr("error: ");
}

#[test]
fn directories_without_requirements_have_no_finding() {
    let (_registry, context) = start();
    context.write("empty/main.tf", "locals {}\n");
    let outcome = verify(&context, "a empty").expect_success();
    outcome.assert_stdout_starts("2 directories: 1 sound, 1 skipped");
}

/// `verify` accepts everything that `lock` writes from registries and mirrors, under the rules of both tools.
#[test]
fn verify_accepts_what_lock_writes() {
    let mut registry = FakeRegistry::start();
    registry
        .publish(
            ProviderSpec::new("acme/anvil")
                .hosts(DEFAULT_HOSTS)
                .versions(["1.0.0", "1.1.0"]),
        )
        .publish(
            ProviderSpec::new("acme/rivet")
                .hosts(DEFAULT_HOSTS)
                .reporting_packages(),
        )
        .publish(ProviderSpec::new("acme/rare").without("1.0.0", "darwin_arm64"));
    let context = TestContext::new(TFLOCK, &registry);
    let both = [("acme/anvil", "~> 1.0"), ("acme/rivet", "")];
    context
        .require("terraform", &both)
        .require("tofu", &both)
        .require("rare", &[("acme/rare", "")])
        .require("mirrored", &[("acme/anvil", "1.0.0")])
        .write("unit/terragrunt.hcl", UNKNOWN_UNIT);
    for platform in PLATFORMS.split(',') {
        let file = &registry.package("acme/anvil", "1.0.0", platform).filename;
        let path = format!("/registry.terraform.io/files/acme/anvil/1.0.0/{file}");
        let zip = registry.document(&path).unwrap().body.to_vec();
        context.write(
            &format!("mirror/registry.terraform.io/acme/anvil/{file}"),
            zip,
        );
    }
    let rows = [
        ("terraform", ""),
        ("tofu", "--engine tofu"),
        ("rare", "--missing-platform warn"),
        ("mirrored", "--fs-mirror mirror"),
        ("unit", ""),
    ];
    for (directory, options) in rows {
        if directory == "unit" {
            context.write_lock_file("unit", context.lock_file("terraform").unwrap());
        }
        let run = |command: &str| {
            let arguments = [command, "--platform", PLATFORMS, directory].into_iter();
            let arguments = arguments.chain(options.split_whitespace());
            context.tflock(arguments).run().expect_success()
        };
        run("lock");
        let outcome = run("verify");
        outcome.assert_stdout_starts("1 directory: 1 sound; ");
    }
}
