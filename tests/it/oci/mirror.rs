//! Versions and packages of mirrors, and what is recorded.

use tflock_test_support::{Misbehave, ProviderSpec, TestContext};

use super::{ANVIL, OciSite};
use crate::TFLOCK;

const LINUX: &str = "--platform linux_amd64";

#[test]
fn the_hash_of_the_zip_is_recorded_beside_that_of_the_files() {
    for is_configured in [false, true] {
        let site = OciSite::start();
        site.configure("");
        let options = "--platform linux_amd64 --platform darwin_arm64";
        let lock = if is_configured {
            site.lock_configured(options)
        } else {
            site.lock(options)
        };
        lock.run().expect_success();
        let mut hashes = Vec::new();
        for platform in ["linux_amd64", "darwin_arm64"] {
            let facts = site.facts("1.1.0", platform);
            hashes.extend([facts.h1.clone(), facts.zh.clone()]);
        }
        hashes.sort();
        let lines: Vec<_> = hashes
            .iter()
            .map(|hash| format!("    \"{hash}\",\n"))
            .collect();
        let lines = lines.concat();
        let expected = format!(
            "provider \"registry.opentofu.org/acme/anvil\" {{\n  version = \"1.1.0\"\n  hashes = [\n{lines}  ]\n}}\n"
        );
        let found = site.context.lock_file("a").unwrap();
        assert!(found.ends_with(&expected), "{found}");
    }
}

#[test]
fn a_run_requests_each_document_once_and_a_second_one_no_package() {
    let site = OciSite::start();
    site.lock(LINUX).run().expect_success();
    let expected = [
        "GET tags/list 200",
        "GET manifests/1.1.0 200",
        "GET manifests/sha256 200",
        "GET blobs/sha256 200",
    ];
    assert_eq!(site.requests(), expected);
    // The hashes of the zip are in the disk cache, but only the registry can say which zip belongs to the version.
    site.lock(LINUX).run().expect_success();
    assert_eq!(site.requests(), expected[..3]);
}

#[test]
fn tags_are_versions() {
    // tags (the repository has these and the default versions), constraint, locked version
    for (versions, constraint, expected) in [
        (&["1.0.0", "1.2.0+build.5"][..], "", "1.2.0+build.5"),
        (&["1.0.0", "2.0.0-beta1"], "", "1.0.0"),
        (&["1.0.0", "2.0.0-beta1"], "2.0.0-beta1", "2.0.0-beta1"),
    ] {
        let site =
            OciSite::with(&ProviderSpec::new("acme/anvil").versions(versions.iter().copied()));
        for other in ["latest", "v9.0.0", "sha256-0123.sig", "9"] {
            site.registry.put_index(ANVIL, other, &[]);
        }
        site.registry.set_page_size(2);
        let constraint = if constraint.is_empty() {
            "< 9"
        } else {
            constraint
        };
        site.context.require("a", &[("acme/anvil", constraint)]);
        site.lock(LINUX).run().expect_success();
        let lock = site.context.lock_file("a").unwrap();
        assert!(lock.contains(&format!("= \"{expected}\"\n")), "{lock}");
    }
}

#[test]
fn a_short_tag_is_listed_but_its_version_is_not_found() {
    let site = OciSite::start();
    site.registry.put_index(ANVIL, "9.0", &[]);
    let outcome = site.lock(LINUX).run().expect_code(1);
    outcome.assert_stderr("cannot look up the package of `registry.opentofu.org/acme/anvil` 9.0.0");
    outcome.assert_stderr("404 Not Found");
}

#[test]
fn missing_repositories_and_platforms() {
    let site = OciSite::start();
    site.context.require("a", &[("acme/bolt", "")]);
    let outcome = site.lock(LINUX).run().expect_code(1);
    outcome.assert_stderr("/mirror/acme/bolt` does not exist, so it does not have provider `registry.opentofu.org/acme/bolt`");
    site.context.require("a", &[("acme/anvil", "")]);
    let outcome = site.lock("--platform freebsd_arm").run().expect_code(1);
    outcome.assert_stderr("version 1.1.0 has no package for `freebsd_arm`");
    site.context.require("a", &[("acme/Anvil_x", "")]);
    site.lock(LINUX).run().expect_code(1);
}

/// The versions of all methods count. A package comes from the first method, but a tag that does not exist is an error.
#[test]
fn a_directory_and_a_mirror_together() {
    for (methods, platform, expected) in [
        (
            ["oci", "directory"],
            "linux_amd64",
            "manifests/2.0.0` failed",
        ),
        (["directory", "oci"], "linux_amd64", "locked"),
        (["directory", "oci"], "linux_arm", "manifests/2.0.0` failed"),
    ] {
        let site = OciSite::start();
        let packages = site.context.path("packages");
        let package = packages.join("registry.opentofu.org/acme/anvil/2.0.0/linux_amd64");
        std::fs::create_dir_all(&package).unwrap();
        std::fs::write(package.join("terraform-provider-anvil"), "x").unwrap();
        let template = format!("{}/mirror/${{namespace}}/${{type}}", site.registry.host());
        let blocks = methods.map(|method| match method {
            "oci" => format!(
                "oci_mirror {{\n repository_template = \"{template}\"\n include = [\"acme/*\"]\n}}\n"
            ),
            _ => format!("filesystem_mirror {{\n path = \"{}\"\n}}\n", packages.display()),
        });
        let installation = format!("provider_installation {{\n{}}}\n", blocks.concat());
        site.context.set_cli_config(&installation);
        let outcome = site
            .lock_configured(&format!("--platform {platform}"))
            .run();
        let is_locked = expected == "locked";
        assert_eq!(
            site.context.lock_file("a").is_some(),
            is_locked,
            "{methods:?} {outcome}"
        );
        assert!(
            is_locked || outcome.stderr.contains(expected),
            "{methods:?} {outcome}"
        );
    }
}

#[test]
fn terraform_has_no_oci_mirrors() {
    let site = OciSite::start();
    site.configure("oci_credentials \"x y\" {}");
    let template = format!("{}/mirror/{{namespace}}/{{type}}", site.registry.host());
    let lock = format!("lock --engine terraform --oci-mirror {template} {LINUX} a");
    let outcome = site.command(&lock).run().expect_code(1);
    outcome.assert_stderr("Terraform cannot install providers from OCI registries");
    let outcome = site
        .command(&format!(
            "lock --engine terraform --source config {LINUX} a"
        ))
        .run();
    let outcome = outcome.expect_code(1);
    outcome.assert_stderr(
        "Terraform has no installation method `oci_mirror`\n --> [ROOT]/home/terraform.rc:2:3",
    );
    assert!(!outcome.stderr.contains("oci_credentials"), "{outcome}");
    assert_eq!(site.requests(), [""; 0]);
}

#[test]
fn templates_of_the_command_line() {
    let context = TestContext::offline(TFLOCK);
    context.require("a", &[("acme/anvil", "")]);
    for (template, expected) in [
        (
            "h.test/{type",
            "error: cannot use `--oci-mirror`: a brace is unmatched",
        ),
        (
            "h.test/{+type}",
            "error: cannot use `--oci-mirror`: `{+type}` is not a variable",
        ),
        (
            "https://h.test/{type}",
            "cannot determine the OCI repository of provider `registry.opentofu.org/acme/anvil`: `https:` is not a valid registry",
        ),
        (
            "{type}",
            "`anvil` has no repository name after the registry",
        ),
    ] {
        let outcome = context.run(&format!("lock --engine tofu --oci-mirror {template} a"));
        outcome.assert_stderr(expected);
    }
}

#[test]
fn an_interrupted_download_is_resumed() {
    let site = OciSite::start();
    site.registry
        .misbehave(Misbehave::on("*/blobs/*").times(1).cut(200));
    site.lock(LINUX).run().expect_success();
    let hits = site.registry.log().hits();
    let ranges: Vec<_> = hits
        .iter()
        .filter_map(|hit| hit.request.header("range"))
        .collect();
    assert_eq!(ranges.len(), 1);
    assert_eq!(ranges[0], "bytes=200-");
}
