//! Concurrent processes that use one mirror, and runs that are killed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use tflock_test_support::{
    FakeRegistry, Misbehave, Program, ProviderSpec, TestContext, assert_contains, skip, wait_until,
};

use super::snapshot;
use crate::TFLOCK;

/// The number of runs that are killed, at times spread evenly over the duration of a complete run.
const MOMENTS: u32 = 20;

/// Creates a registry with four providers of considerable size, and one root module that requires all of them.
fn four_providers(platforms: &str) -> (FakeRegistry, TestContext) {
    let mut registry = FakeRegistry::start();
    let names = ["acme/a", "acme/b", "acme/c", "acme/d"];
    for name in names {
        registry.publish(ProviderSpec::new(name).payload(2_000_000));
    }
    let context = TestContext::new(TFLOCK, &registry);
    context.require("all", &names.map(|name| (name, "")));
    let lock = format!("lock --platform {platforms} all");
    context.run(&lock).expect_success();
    (registry, context)
}

#[test]
fn a_killed_run_leaves_complete_packages_and_the_next_run_adds_the_rest() {
    const PLATFORMS: &str = "linux_amd64,darwin_arm64,windows_amd64";
    let (registry, context) = four_providers(PLATFORMS);
    let mirror = format!("mirror --platform {PLATFORMS} mirror all");
    let start = Instant::now();
    context.run(&mirror).expect_success();
    let time = start.elapsed();
    let whole = snapshot(&context.path("mirror"));
    let size = registry.log().bytes("**.zip");

    for layout in ["packed", "unpacked"] {
        let _ = fs::remove_dir_all(context.path("mirror"));
        registry.log().clear();
        for moment in 0..MOMENTS {
            let run = context.command(&format!("{mirror} --layout {layout}"));
            let mut child = run.spawn();
            thread::sleep(time * moment / MOMENTS);
            child.kill().unwrap();
            child.wait().unwrap();
            if layout == "packed" {
                for (name, content) in snapshot(&context.path("mirror")) {
                    let is_zip = Path::new(&name).extension().is_some_and(|end| end == "zip");
                    let is_whole = whole.get(&name) == Some(&content);
                    assert!(!is_zip || is_whole, "{moment}: {name}");
                }
            }
        }
        for options in ["", "--check"] {
            let line = format!("{mirror} --layout {layout} {options}");
            context.run(&line).expect_success();
        }
        assert_eq!(context.list("."), ["all", "mirror"], "nothing else remains");
        // Complete packages are not downloaded again.
        let bytes = registry.log().bytes("**.zip");
        let is_little = bytes < size * u64::from(MOMENTS) / 2;
        assert!(is_little, "{layout}: {bytes} bytes, full run: {size}");
    }
    fs::remove_dir_all(context.path("mirror")).unwrap();
    context.run(&mirror).expect_success();
    assert_eq!(snapshot(&context.path("mirror")), whole);
}

#[test]
#[cfg(unix)]
fn an_interrupted_run_reports_it_and_leaves_nothing_behind() {
    let (registry, context) = four_providers("linux_amd64");
    registry.misbehave(Misbehave::on("**acme/d/**.zip").stall(1000));
    let zip = "mirror/registry.terraform.io/acme/a/terraform-provider-a_1.0.0_linux_amd64.zip";
    for signal in ["INT", "TERM"] {
        let run = context.command("mirror --platform linux_amd64 mirror all");
        let mut child = run.spawn();
        wait_until(|| context.path(zip).exists());
        let process = child.id().to_string();
        assert!(tflock_test_support::send_signal(signal, &process));
        assert_eq!(child.wait().unwrap().code(), Some(130), "{signal}");
        assert_eq!(context.list("."), ["all", "mirror"]);
        fs::remove_dir_all(context.path("mirror")).unwrap();
    }
}

/// Each process adds one version of one provider for one platform. All processes write the same index files.
#[test]
fn concurrent_processes_on_one_directory_lose_no_entries() {
    let mut registry = FakeRegistry::start();
    let versions = ["1.0.0", "1.1.0", "1.2.0", "1.3.0"];
    let platforms = ["linux_amd64", "darwin_arm64", "windows_amd64"];
    let spec = ProviderSpec::new("acme/anvil").versions(versions);
    registry.publish(spec.payload(100_000));
    let context = TestContext::new(TFLOCK, &registry);
    for version in versions {
        context.require(version, &[("acme/anvil", version)]);
    }
    let all = platforms.join(",");
    for line in ["lock -r . --platform", "mirror expected . --platform"] {
        context.run(&format!("{line} {all}")).expect_success();
    }
    for _ in 0..3 {
        let runs = versions.iter().flat_map(|version| {
            platforms.map(|platform| {
                context.command(&format!("mirror --platform {platform} mirror {version}"))
            })
        });
        let children: Vec<_> = runs.map(Program::spawn).collect();
        for mut child in children {
            assert!(child.wait().unwrap().success());
        }
        let [found, expected] = ["mirror", "expected"].map(|name| snapshot(&context.path(name)));
        assert_eq!(found, expected);
        fs::remove_dir_all(context.path("mirror")).unwrap();
    }
}

/// Several `init` processes read a mirror while tflock adds and removes packages.
#[test]
fn init_reads_while_tflock_writes() {
    let (registry, context) = four_providers("linux_amd64");
    let mut registry = registry;
    registry.publish(ProviderSpec::new("acme/other").versions(["1.0.0", "2.0.0"]));
    for version in ["1.0.0", "2.0.0"] {
        context.require(&format!("other/{version}"), &[("acme/other", version)]);
    }
    let lock = "lock -r --platform linux_amd64 other";
    context.run(lock).expect_success();
    let fill = "mirror --platform linux_amd64 --cli-config rc mirror all";
    context.run(fill).expect_success();
    let directories: Vec<String> = (0..4).map(|number| format!("reader/{number}")).collect();
    for directory in &directories {
        context.copy(&context.path("all"), directory);
    }
    registry.log().clear();
    let start = |directory: &String| {
        let init = context.terraform(directory, ["init", "-no-color"])?;
        Some(init.env("TF_CLI_CONFIG_FILE", context.path("rc")).spawn())
    };
    let readers: Vec<_> = directories.iter().filter_map(start).collect();
    for round in 0..6 {
        let other = format!("other/{}.0.0", round % 2 + 1);
        let run = format!("mirror --platform linux_amd64 --prune mirror all {other}");
        context.run(&run).expect_success();
    }
    for mut reader in readers {
        assert!(reader.wait().unwrap().success());
    }
    let locked = context.lock_file("all");
    for directory in &directories {
        assert_eq!(context.lock_file(directory), locked);
    }
    let allowed = registry.log().counts("**acme/other/**");
    let all = registry.log().total();
    // Only tflock sends requests, and only for the new provider.
    assert_eq!(allowed.values().sum::<usize>(), all);
}

/// Tests the real hashicorp/aws 5.100.0 if `TFLOCK_REAL_PACKAGE` names a directory with its files.
#[test]
fn the_real_aws_provider_is_unpacked_as_it_was() {
    let Some(directory) = std::env::var_os("TFLOCK_REAL_PACKAGE").map(PathBuf::from) else {
        skip("TFLOCK_REAL_PACKAGE does not name an unpacked hashicorp/aws 5.100.0");
        return;
    };
    let mut registry = FakeRegistry::start();
    let spec = ProviderSpec::new("hashicorp/aws")
        .versions(["5.100.0"])
        .platforms(["linux_amd64"]);
    registry.publish(spec.directory(&directory));
    let context = TestContext::new(TFLOCK, &registry);
    context.require("a", &[("hashicorp/aws", "5.100.0")]);
    let run = "mirror --lock --layout unpacked --cli-config rc --platform linux_amd64 mirror a";
    context.run(run).expect_success();
    let unpacked = "mirror/registry.terraform.io/hashicorp/aws/5.100.0/linux_amd64";
    let contents = |files: BTreeMap<String, String>| -> BTreeMap<String, String> {
        let without_mode = |text: String| text.split_once(' ').map(|(_, text)| text.to_owned());
        let files = files.into_iter();
        files
            .filter_map(|(name, text)| Some((name, without_mode(text)?)))
            .collect()
    };
    // Modes are not compared, because the test's archive makes every file executable.
    let found = contents(snapshot(&context.path(unpacked)));
    assert_eq!(found, contents(snapshot(&directory)));
    let locked = context.lock_file("a").unwrap();
    assert_contains(&locked, "h1:edXOJWE4ORX8Fm+dpVpICzMZJat4AX0VRCAy/xkcOc0=");
    registry.log().clear();
    let Some(init) = context.terraform("a", ["init", "-no-color"]) else {
        return;
    };
    let (data, rc) = (context.path("a/.terraform"), context.path("rc"));
    let init = init
        .env("TF_DATA_DIR", &data)
        .env("TF_CLI_CONFIG_FILE", &rc);
    init.run().expect_success();
    let schema = context
        .terraform("a", ["providers", "schema", "-json"])
        .unwrap();
    let schema = schema
        .env("TF_DATA_DIR", &data)
        .env("TF_CLI_CONFIG_FILE", &rc);
    let schema = schema.run().expect_success();
    assert!(schema.stdout.contains("\"aws_instance\""));
    assert_eq!(context.lock_file("a").unwrap(), locked);
    assert_eq!(registry.log().total(), 0);
}
