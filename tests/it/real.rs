//! Tests that run only if `TFLOCK_REAL_PACKAGE` names a directory with the unpacked hashicorp/aws 5.100.0 for
//! linux_amd64. A test zips, signs and serves it. The result must be the `h1` hash found in public lock files.

use std::env;

use tflock_test_support::{FakeRegistry, ProviderSpec, TestContext, assert_contains, skip};

use crate::TFLOCK;

/// The hash of this package in public lock files.
const H1: &str = "h1:edXOJWE4ORX8Fm+dpVpICzMZJat4AX0VRCAy/xkcOc0=";

#[test]
fn the_real_aws_provider_has_the_public_hash_and_starts() {
    let Some(directory) = env::var_os("TFLOCK_REAL_PACKAGE") else {
        skip("TFLOCK_REAL_PACKAGE does not name an unpacked hashicorp/aws 5.100.0");
        return;
    };
    let mut registry = FakeRegistry::start();
    let spec = ProviderSpec::new("hashicorp/aws")
        .versions(["5.100.0"])
        .platforms(["linux_amd64"]);
    registry.publish(spec.directory(directory));
    let context = TestContext::new(TFLOCK, &registry);
    context.require(".", &[("hashicorp/aws", "~> 5.0")]);
    context
        .run("lock --platform linux_amd64 .")
        .expect_success();
    let locked = context.lock_file(".").unwrap();
    assert!(locked.contains(&format!("    \"{H1}\",\n")), "{locked}");

    let Some(init) = context.terraform(".", ["init", "-no-color"]) else {
        return;
    };
    let data = context.path(".terraform");
    init.env("TF_DATA_DIR", &data).run().expect_success();
    assert_eq!(context.lock_file(".").unwrap(), locked);
    let schema = context
        .terraform(".", ["providers", "schema", "-json"])
        .unwrap();
    let schema = schema.env("TF_DATA_DIR", &data).run().expect_success();
    assert!(schema.stdout.contains("\"aws_instance\""));
}

/// The package is unpacked in a filesystem mirror. The last component of its path may be a symlink.
#[test]
#[cfg(unix)]
fn the_real_aws_provider_in_a_filesystem_mirror() {
    let Some(directory) = env::var_os("TFLOCK_REAL_PACKAGE") else {
        skip("TFLOCK_REAL_PACKAGE does not name an unpacked hashicorp/aws 5.100.0");
        return;
    };
    let context = TestContext::offline(TFLOCK);
    let package = "mirror/registry.terraform.io/hashicorp/aws/5.100.0/linux_amd64";
    let link = context.path(package);
    std::fs::create_dir_all(link.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(directory, link).unwrap();
    for name in ["tflock", "terraform"] {
        context.require(name, &[("hashicorp/aws", "~> 5.0")]);
    }
    let options = "lock --platform linux_amd64 --fs-mirror mirror tflock";
    context.run(options).expect_success();
    let locked = context.lock_file("tflock").unwrap();
    assert_contains(&locked, &format!("  hashes = [\n    \"{H1}\",\n  ]\n"));

    let arguments = [
        "providers",
        "lock",
        "-platform=linux_amd64",
        "-fs-mirror=../mirror",
    ];
    if let Some(terraform) = context.terraform("terraform", arguments) {
        terraform.run().expect_success();
        assert_eq!(context.lock_file("terraform").unwrap(), locked);
    }
}
