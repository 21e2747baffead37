//! A monorepo in one run: the requests, and the written files.

use std::collections::BTreeMap;
use std::fs;
use std::time::SystemTime;

use tflock_test_support::{
    DEFAULT_PLATFORMS, FakeRegistry, ProviderSpec, TestContext, assert_contains,
};

use crate::TFLOCK;
use crate::terragrunt::unknown::UNKNOWN_UNIT;

const PLATFORMS: &str = "linux_amd64,darwin_arm64,windows_amd64";

/// A lock file that `init` wrote on one platform.
const LOCKED_ON_LINUX: &str = "\
# This file is maintained automatically by \"terraform init\".
# Manual edits may be lost in future updates.

provider \"registry.terraform.io/acme/anvil\" {
  version     = \"1.0.0\"
  constraints = \"1.0.0\"
  hashes = [
    \"{h1:acme/anvil:1.0.0:linux_amd64}\",
    \"{zh:acme/anvil:1.0.0:linux_amd64}\",
  ]
}
";

fn directories(count: usize) -> Vec<String> {
    (0..count)
        .map(|number| format!("stacks/{number:03}"))
        .collect()
}

fn modified(context: &TestContext, directories: &[String]) -> BTreeMap<String, SystemTime> {
    let time = |directory: &String| (directory.clone(), context.lock_file_modified(directory));
    directories.iter().map(time).collect()
}

#[test]
fn two_hundred_directories_ask_for_everything_once() {
    let mut registry = FakeRegistry::start();
    let sources = [
        "acme/anvil",
        "acme/bolt",
        "hashicorp/null",
        "registry.example/acme/vise",
    ];
    for source in sources {
        let spec = ProviderSpec::new(source).versions(["1.0.0", "1.1.0"]);
        registry.publish(spec.payload(100_000));
    }
    let context = TestContext::new(TFLOCK, &registry);
    let directories = directories(200);
    for directory in &directories {
        context.require(directory, &sources.map(|source| (source, "~> 1.0")));
    }
    let lock = ["lock", "-r", "--platform", PLATFORMS, "."];
    context.tflock(lock).run().expect_success();

    let log = registry.log();
    for (pattern, paths) in [
        ("*/versions", 4),
        ("*/download/*", 12),
        ("*SHA256SUMS", 4),
        ("*SHA256SUMS.sig", 4),
        ("*.zip", 12),
    ] {
        let counts = log.counts(pattern);
        assert_eq!(counts.len(), paths, "{pattern}: {counts:#?}");
        let is_once = counts.values().all(|&count| count == 1);
        assert!(is_once, "{pattern}: {counts:#?}");
    }
    assert_eq!(log.total(), 36, "no other request is sent");
    let first = context.lock_file(&directories[0]).unwrap();
    for source in ["acme/anvil", "acme/bolt", "hashicorp/null", "acme/vise"] {
        for platform in DEFAULT_PLATFORMS {
            let package = registry.package(source, "1.1.0", platform);
            assert_contains(&first, &package.h1);
            assert_contains(&first, &package.zh);
        }
    }
    for directory in &directories {
        assert_eq!(context.lock_file(directory).unwrap(), first, "{directory}");
    }

    let before = modified(&context, &directories);
    context.tflock(lock).run().expect_success();
    assert_eq!(modified(&context, &directories), before);
}

#[test]
fn bumped_pins_rewrite_every_lock_file_once() {
    let mut registry = FakeRegistry::start();
    registry.publish(ProviderSpec::new("hashicorp/null").versions(["3.1.1", "3.2.1"]));
    let context = TestContext::new(TFLOCK, &registry);
    let directories = directories(50);
    let run = || {
        context
            .tflock(["lock", "-r", "--platform", PLATFORMS, "./"])
            .run()
            .expect_success()
    };
    for (version, other) in [("3.1.1", "3.2.1"), ("3.2.1", "3.1.1")] {
        for directory in &directories {
            context.require(directory, &[("hashicorp/null", version)]);
        }
        run();
        for directory in &directories {
            let locked = context.lock_file(directory).unwrap();
            assert_contains(&locked, &format!("version     = \"{version}\""));
            for platform in DEFAULT_PLATFORMS {
                let kept = &registry.package("hashicorp/null", version, platform).h1;
                let dropped = &registry.package("hashicorp/null", other, platform).h1;
                assert_contains(&locked, kept);
                assert!(!locked.contains(dropped), "{locked}");
            }
        }
        let before = modified(&context, &directories);
        run();
        assert_eq!(modified(&context, &directories), before);
    }
    // An unchanged file is not replaced, so it keeps its permissions.
    let path = context.path("stacks/000/.terraform.lock.hcl");
    let mut permissions = fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).unwrap();
    let before = modified(&context, &directories);
    run();
    assert!(fs::metadata(&path).unwrap().permissions().readonly());
    assert_eq!(modified(&context, &directories), before);
}

#[test]
fn a_platform_is_added_to_a_kept_version_and_to_a_lock_without_configuration() {
    let mut registry = FakeRegistry::start();
    registry.publish(ProviderSpec::new("acme/anvil").versions(["1.0.0", "1.1.0"]));
    let context = TestContext::new(TFLOCK, &registry);
    let before = registry.fill(LOCKED_ON_LINUX);
    context
        .require("stack", &[("acme/anvil", "1.0.0")])
        .write_lock_file("stack", &before);
    context
        .write("unit/terragrunt.hcl", UNKNOWN_UNIT)
        .write_lock_file("unit", &before);
    context
        .run("lock -r --platform darwin_arm64 .")
        .expect_success();
    for directory in ["stack", "unit"] {
        let locked = context.lock_file(directory).unwrap();
        for hash in [
            "{h1:acme/anvil:1.0.0:linux_amd64}",
            "{h1:acme/anvil:1.0.0:darwin_arm64}",
            "{zh:acme/anvil:1.0.0:windows_amd64}",
            "{zh:manifest}",
        ] {
            assert_contains(&locked, &registry.fill(hash));
        }
        assert!(!locked.contains(&registry.fill("{h1:acme/anvil:1.0.0:windows_amd64}")));
    }
}

#[test]
fn failing_directories_do_not_stop_others() {
    let registry = FakeRegistry::with(ProviderSpec::new("acme/anvil").versions(["1.0.0"]));
    let context = TestContext::new(TFLOCK, &registry);
    for number in 0..6 {
        context.require(&format!("good/{number}"), &[("acme/anvil", "~> 1.0")]);
    }
    let foreign = LOCKED_ON_LINUX
        .replace(
            "{h1:acme/anvil:1.0.0:linux_amd64}",
            &format!("h1:{}=", "A".repeat(43)),
        )
        .replace(
            "{zh:acme/anvil:1.0.0:linux_amd64}",
            &format!("zh:{}", "0".repeat(64)),
        );
    let invalid = LOCKED_ON_LINUX.replace("version     = \"1.0.0\"", "version     = \"1.0\"");
    context.write(
        "bad/syntax/main.tf",
        "terraform {\n  required_providers {\n    anvil = {{\n  }\n}\n",
    );
    context.require("bad/unknown", &[("acme/missing", "1.0.0")]);
    context
        .require("bad/invalid", &[("acme/anvil", "1.0.0")])
        .write_lock_file("bad/invalid", &invalid);
    context
        .require("bad/foreign", &[("acme/anvil", "1.0.0")])
        .write_lock_file("bad/foreign", &foreign);

    let outcome = context
        .tflock(["lock", "-r", "--platform", PLATFORMS, "."])
        .run()
        .expect_code(1);
    for place in [
        "bad/syntax/main.tf:4",
        "bad/unknown/main.tf:3",
        "bad/invalid/.terraform.lock.hcl:5",
        "bad/foreign",
        "acme/missing",
    ] {
        let message = outcome.stderr.replace('\\', "/");
        assert!(message.contains(place), "{place}\n{outcome}");
    }
    assert_eq!(outcome.stderr.matches("error: ").count(), 4, "{outcome}");
    for number in 0..6 {
        let lock_file = context.lock_file(&format!("good/{number}"));
        assert!(lock_file.is_some(), "{outcome}");
    }
    assert_eq!(context.lock_file("bad/syntax"), None);
    assert_eq!(context.lock_file("bad/unknown"), None);
    assert_eq!(context.lock_file("bad/invalid").unwrap(), invalid);
    assert_eq!(context.lock_file("bad/foreign").unwrap(), foreign);
}
