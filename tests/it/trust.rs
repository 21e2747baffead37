//! Which signatures and hashes are accepted: `[signers]` in the config file, and `--trust-registry-hashes`.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use tflock_test_support::{
    DEFAULT_HOSTS, DEFAULT_PLATFORMS, FakeRegistry, Misbehave, ProviderSpec, TestContext,
    TestSigner, multiline, table,
};

use crate::TFLOCK;

const LOCK: &str = "lock --platform linux_amd64";

/// The fingerprint of the key that signs packages by default.
const FIXTURE: &str = include_str!("../../testdata/keys/fingerprint");

/// Starts a registry with acme/anvil, signed by the default key, and acme/rivet, signed by a different one.
fn signed() -> (FakeRegistry, TestContext) {
    let mut registry = FakeRegistry::start();
    registry.publish(ProviderSpec::new("acme/anvil").versions(["1.0.0", "1.1.0"]));
    let rivet = ProviderSpec::new("acme/rivet").signed_by(&TestSigner::generated(3));
    registry.publish(rivet);
    let context = TestContext::new(TFLOCK, &registry);
    context.require("anvil", &[("acme/anvil", "~> 1.0")]);
    context.require("rivet", &[("acme/rivet", "")]);
    (registry, context)
}

#[test]
fn only_pinned_signers_may_sign() {
    let other = "F".repeat(40);
    for [signers, locked] in table(
        r#"
                                                                           | anvil rivet
        "acme/anvil" = ["FIXTURE"]                                         | anvil rivet
        "acme/*" = ["FIXTURE"]                                             | anvil
        "acme/*" = ["OTHER", "FIXTURE"]\n"acme/rivet" = []                 | anvil
        "*/*/*" = []\n"registry.terraform.io/acme/anvil" = ["FIXTURE"]     | anvil
        "acme/anvil" = ["OTHER"]                                           | rivet
        "#,
    ) {
        let (_registry, context) = signed();
        let signers = multiline(signers).replace("FIXTURE", FIXTURE.trim());
        let signers = signers.replace("OTHER", &other);
        context.write(".git/HEAD", "");
        context.write(".tflock.toml", format!("[signers]\n{signers}\n"));
        let code = i32::from(locked != "anvil rivet");
        let outcome = context.run(&format!("{LOCK} -r .")).expect_code(code);
        let mut written = vec!["anvil", "rivet"];
        written.retain(|name| context.lock_file(name).is_some());
        assert_eq!(written.join(" "), locked, "{signers}\n{outcome}");
        if code == 1 {
            outcome.assert_stderr("is signed by key");
            outcome.assert_stderr(".tflock.toml:");
        }
    }
}

/// A version that is published after the start of a run has a signature that is later than the start.
#[test]
fn signatures_are_compared_with_the_clock_when_they_are_verified() {
    let start = || {
        let later = SystemTime::now() + Duration::from_secs(2);
        let spec = ProviderSpec::new("acme/anvil").hosts(DEFAULT_HOSTS);
        let registry = FakeRegistry::with(spec.signed_at("1.0.0", later));
        registry.misbehave(Misbehave::on("*SHA256SUMS.sig").delay(Duration::from_secs(3)));
        let context = TestContext::new(TFLOCK, &registry);
        context.require("a", &[("acme/anvil", "")]);
        (registry, context)
    };
    let (_registry, context) = start();
    context.run(&format!("{LOCK} a")).expect_success();
    for engine in ["terraform", "tofu"] {
        let (_registry, context) = start();
        let lock = ["providers", "lock", "-platform=linux_amd64"];
        if let Some(program) = context.engine(engine, "a", lock) {
            let outcome = program.run().expect_success();
            assert!(!outcome.stdout.contains("expired"), "{outcome}");
        }
    }
}

/// If a key is pinned, every package must have a signature, including packages from mirrors.
#[test]
fn packages_of_mirrors_must_be_signed_by_pinned_signers() {
    let (registry, context) = signed();
    let package = registry.package("acme/anvil", "1.1.0", "linux_amd64");
    let file = &package.filename;
    let package = format!("/registry.terraform.io/files/acme/anvil/1.1.0/{file}");
    let bytes = registry.document(&package).unwrap().body.to_vec();
    let place = format!("mirror/registry.terraform.io/acme/anvil/{file}");
    context.write(&place, bytes);
    let lock = format!("{LOCK} --fs-mirror mirror anvil");
    context.write(".git/HEAD", "");
    context.run(&lock).expect_success();
    let before = context.lock_file("anvil");
    let signers = format!("[signers]\n\"acme/anvil\" = [\"{}\"]\n", FIXTURE.trim());
    context.write(".tflock.toml", signers);
    let outcome = context.run(&lock).expect_code(1);
    outcome.assert_stderr("it is not signed");
    assert_eq!(context.lock_file("anvil"), before);
}

const DOWNLOAD: &str = "/registry.opentofu.org/v1/providers/acme/anvil/1.0.0/download/linux/amd64";

/// Starts a fake of OpenTofu's registry, which reports the hashes of all platforms. `change` modifies these reported hashes.
fn reporting(change: impl FnOnce(&mut Value)) -> (FakeRegistry, TestContext) {
    let mut registry = FakeRegistry::start();
    registry.publish(ProviderSpec::new("acme/anvil").hosts(["registry.opentofu.org"]));
    let packages = DEFAULT_PLATFORMS.map(|platform| {
        let facts = registry.package("acme/anvil", "1.0.0", platform);
        let package = json!({"hashes": [facts.zh, facts.h1], "package_size": facts.size});
        (platform.to_owned(), package)
    });
    let mut packages = Value::Object(packages.into_iter().collect());
    change(&mut packages);
    registry.change_json(DOWNLOAD, |description| description["packages"] = packages);
    let context = TestContext::new(TFLOCK, &registry);
    context.require("a", &[("acme/anvil", "")]);
    (registry, context)
}

/// With the option, tflock writes the same file without downloads, and its report says that the hashes come from the
/// registry.
#[test]
fn reported_hashes_replace_downloads_on_request() {
    let (registry, context) = reporting(|_| {});
    let lock = |options: &str| {
        let line = format!("{LOCK} --engine tofu {options} a");
        context.run(&line).expect_success()
    };
    let outcome = lock("--trust-registry-hashes --no-cache");
    assert_eq!(registry.log().count("GET", "*.zip"), 0);
    let signed = registry.log().count("GET", "*SHA256SUMS*");
    assert_eq!(signed, 2, "the checksum list and its signature");
    for part in [
        "hashes reported by its registry, packages not downloaded",
        "not downloaded: 1 package, locked with the hashes that the registry reports (--trust-registry-hashes)",
    ] {
        outcome.assert_stdout(part);
    }
    let trusting = context.lock_file("a").unwrap();
    for platform in DEFAULT_PLATFORMS {
        let facts = registry.package("acme/anvil", "1.0.0", platform);
        assert!(trusting.contains(&facts.h1) && trusting.contains(&facts.zh));
    }
    context.remove_lock_file("a");
    let outcome = lock("--no-cache");
    assert_eq!(registry.log().count("GET", "*.zip"), 1, "off by default");
    assert!(!outcome.stdout.contains("word of"), "{outcome}");
    assert_eq!(context.lock_file("a").unwrap(), trusting);
}

/// The columns: the name of a change in [`change_report`], the engine, whether OpenTofu must verify signatures, the
/// exit code, and the number of downloaded packages.
const REPORTS: &str = "
    correct                    | tofu      |          | 0 | 0
    nothing                    | tofu      |          | 0 | 1
    no h1 for the platform     | tofu      |          | 0 | 1
    an unsigned zip            | tofu      |          | 1 | 0
    another zip                | tofu      |          | 1 | 0
    signatures are required    | tofu      | enforced | 0 | 1
    Terraform does not read it | terraform |          | 0 | 1
";

fn change_report(name: &str, packages: &mut Value) {
    match name {
        "nothing" => *packages = json!({}),
        "no h1 for the platform" => {
            let hashes = packages["linux_amd64"]["hashes"].as_array_mut();
            hashes.unwrap().truncate(1);
        }
        "an unsigned zip" => {
            let zh = format!("zh:{}", "00".repeat(32));
            packages["darwin_arm64"]["hashes"][0] = json!(zh);
        }
        "another zip" => packages["linux_amd64"]["hashes"][0] = json!("zh:00"),
        _ => {}
    }
}

/// Incomplete reported hashes lead to downloads, incorrect ones to errors.
#[test]
fn incomplete_and_incorrect_reports() {
    for [name, engine, enforced, code, downloads] in table(REPORTS) {
        let (registry, context) = reporting(|packages| change_report(name, packages));
        context.require("a", &[("registry.opentofu.org/acme/anvil", "")]);
        let line = format!("{LOCK} --trust-registry-hashes --engine {engine} a");
        let is_enforced = (!enforced.is_empty()).to_string();
        let lock = context.command(&line);
        let outcome = lock
            .env("OPENTOFU_ENFORCE_GPG_VALIDATION", is_enforced)
            .run();
        let outcome = outcome.expect_code(code.parse().unwrap());
        let fetched = registry.log().count("GET", "*.zip").to_string();
        assert_eq!(fetched, downloads, "{name}\n{outcome}");
        assert_eq!(context.lock_file("a").is_some(), code == "0", "{name}");
    }
}

/// Hashes reported by the registry are cached, so later runs need no request. Runs that require downloads do not use
/// them.
#[test]
fn cached_reports_do_not_replace_downloads() {
    let (registry, context) = reporting(|_| {});
    let lock = |options: &str| {
        registry.log().clear();
        let line = format!("{LOCK} --engine tofu {options} a");
        context.run(&line).expect_success();
        (registry.log().total(), registry.log().count("GET", "*.zip"))
    };
    assert_eq!(lock("--trust-registry-hashes").1, 0);
    assert_eq!(lock("--trust-registry-hashes"), (0, 0));
    assert_eq!(lock("").1, 1);
}
