//! `tflock index fill` computes records ahead of time.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tflock::index::SignerKey;
use tflock_test_support::{FakeRegistry, Misbehave, Outcome, ProviderSpec, assert_described};

use super::s3::{S3Server, SECRET_KEY};
use super::{IndexFixture, LOCK, PACKAGES, start, warnings};

/// Runs a command below `tflock index` with the index, a trusted key and a signing key.
pub(super) fn run_index(fixture: &IndexFixture, line: &str) -> Outcome {
    let command = fixture.command(&format!("index {line}"));
    command
        .env("TFLOCK_INDEX_SIGNING_KEY", fixture.signer.secret_text())
        .run()
}

/// Returns a fixture whose directory `a` has a lock file for one platform, and an empty log.
pub(super) fn start_locked() -> IndexFixture {
    let fixture = start();
    let lock = "lock --no-cache --platform linux_amd64 a";
    fixture.context.run(lock).expect_success();
    fixture.registry.log().clear();
    fixture
}

/// Returns the JSON report, checked against its schema.
pub(super) fn report(outcome: &Outcome) -> Value {
    let schema = include_str!("../../../src/run/index/index-1.schema.json");
    let report = outcome.json();
    assert_described(&report, &serde_json::from_str(schema).unwrap());
    report
}

#[test]
fn all_platforms_of_the_locked_versions_are_filled_once() {
    let fixture = start_locked();
    let outcome = run_index(&fixture, "fill").expect_success();
    let host = "registry.terraform.io/acme/anvil";
    outcome.assert_stdout(&format!(
        "added     {host} 1.0.0 (darwin_arm64, linux_amd64)\n{}: 2 packages: 2 added; ",
        fixture.url()
    ));
    assert_eq!((fixture.downloads(), warnings(&outcome)), (2, 0));
    fixture.registry.log().clear();
    let again = run_index(&fixture, "fill -r").expect_success();
    again.assert_stdout_starts(&format!("{}: 2 packages: 2 present; ", fixture.url()));
    assert_eq!(fixture.downloads(), 0);

    fixture.context.remove_lock_file("a");
    fixture
        .command(&format!("{LOCK} a --no-download"))
        .run()
        .expect_success();
    assert_eq!(fixture.downloads(), 0);
}

#[test]
fn a_bucket_is_filled() {
    let (fixture, server) = (start_locked(), S3Server::start());
    let fill = server.command(&fixture, "index fill", SECRET_KEY).run();
    fill.expect_success().assert_stdout("2 packages: 2 added;");
    let expected = {
        fixture.context.remove_lock_file("a");
        fixture.context.run(&format!("{LOCK} a")).expect_success();
        fixture.forget()
    };
    let read = format!("{LOCK} a --no-download");
    let outcome = server.command(&fixture, &read, SECRET_KEY).run();
    outcome.expect_success();
    assert_eq!(fixture.forget(), expected);

    let refused = server
        .command(&fixture, "index fill acme/anvil", "wrong-secret")
        .run();
    let refused = refused.expect_code(1);
    refused.assert_stderr("cannot use the hash index `s3://fleet/team`");
    refused.assert_stderr("the server responded with 403");
    assert!(!refused.stderr.contains("wrong-secret"), "{refused}");
    assert_eq!(fixture.downloads(), 0);
}

/// The columns: the arguments, and what is added.
const SELECTIONS: [(&str, &str); 8] = [
    ("acme/anvil", "2.0.0 (darwin_arm64, linux_amd64)"),
    ("acme/anvil@1.0.0", "1.0.0 (darwin_arm64, linux_amd64)"),
    (
        "acme/anvil@~>1.0",
        "1.0.0 (darwin_arm64, linux_amd64) 1.1.0 (darwin_arm64, linux_amd64)",
    ),
    (
        "acme/anvil@3.0.0-rc1",
        "3.0.0-rc1 (darwin_arm64, linux_amd64)",
    ),
    ("acme/anvil --platform linux_amd64", "2.0.0 (linux_amd64)"),
    (
        "acme/anvil --platform linux_amd64,plan9_mips",
        "2.0.0 (linux_amd64)",
    ),
    ("--path a --platform darwin_arm64", "1.0.0 (darwin_arm64)"),
    ("--ignore-path ^a", ""),
];

#[test]
fn providers_versions_and_platforms_can_be_chosen() {
    for (arguments, expected) in SELECTIONS {
        let mut fixture = start_locked();
        let spec = ProviderSpec::new("acme/anvil").platforms(super::PLATFORMS);
        fixture
            .registry
            .publish(spec.versions(["1.0.0", "1.1.0", "2.0.0", "3.0.0-rc1"]));
        let outcome = run_index(&fixture, &format!("fill {arguments}")).expect_success();
        let added: Vec<&str> = outcome
            .stdout
            .lines()
            .filter_map(|line| line.strip_prefix("added     registry.terraform.io/acme/anvil "))
            .collect();
        assert_eq!(added.join(" "), expected, "{arguments}\n{outcome}");
    }
}

#[test]
fn without_lock_files_nothing_is_selected() {
    let fixture = start();
    let outcome = run_index(&fixture, "fill").expect_success();
    outcome.assert_stderr("there is no lock file below these paths, so no packages are selected");
    outcome.assert_stderr("hint: create lock files with `tflock lock -r`, or name providers");
    assert_eq!(fixture.registry.log().total(), 0);
}

#[test]
fn a_bad_provider_does_not_stop_the_others() {
    let mut fixture = start_locked();
    let spec = ProviderSpec::new("acme/bolt").platforms(["linux_amd64"]);
    fixture.registry.publish(spec.versions(["1.0.0"]));
    let zip = "*bolt*.zip";
    fixture.registry.misbehave(Misbehave::on(zip).status(404));
    let outcome = run_index(
        &fixture,
        "fill acme/anvil acme/bolt acme/missing acme/bolt@>9 --format json",
    );
    let outcome = outcome.expect_code(1);
    outcome.assert_stderr("cannot find the versions of `registry.terraform.io/acme/missing`");
    outcome.assert_stderr(
        "hint: check the address: without a namespace, `missing` means `hashicorp/missing`",
    );
    outcome.assert_stderr("cannot find a version of `registry.terraform.io/acme/bolt` that the constraints `> 9.0.0` allow");
    outcome.assert_stderr("cannot add the record of `registry.terraform.io/acme/bolt` 1.0.0");
    let report = report(&outcome);
    let packages = report["packages"].as_array().unwrap();
    let states: Vec<_> = packages
        .iter()
        .map(|package| package["state"].as_str().unwrap())
        .collect();
    assert_eq!(states, ["added", "added", "failed"]);
}

#[test]
fn a_record_that_another_key_signed_stays_as_it_is() {
    let fixture = start_locked();
    run_index(&fixture, "fill").expect_success();
    let before = fs::read_to_string(fixture.file("linux_amd64")).unwrap();
    let other = SignerKey::generate("other").unwrap();
    let outcome = fixture
        .command("index fill")
        .env("TFLOCK_INDEX_SIGNING_KEY", other.secret_text())
        .run()
        .expect_success();
    outcome.assert_stdout("2 packages: 2 unsigned;");
    let hint = format!(
        "some records lack a signature by {}; add it with `tflock index sign`",
        other.verifier().name()
    );
    outcome.assert_stdout(&hint);
    assert_eq!(
        fs::read_to_string(fixture.file("linux_amd64")).unwrap(),
        before
    );
    fixture.write_record("linux_amd64", &"nonsense");
    let outcome = run_index(&fixture, "fill").expect_code(1);
    outcome.assert_stdout("1 present, 1 wrong;");
    outcome.assert_stderr("cannot be used");
    outcome.assert_stderr("it is not a signed note");
}

/// An index that fails again and again costs a few requests, not one for each package, and no package is downloaded.
#[test]
fn an_index_that_fails_is_not_used_for_thousands_of_packages() {
    let mut fixture = start();
    let versions: Vec<String> = (0..40).map(|minor| format!("2.{minor}.0")).collect();
    let spec = ProviderSpec::new("acme/bolt").platforms(["linux_amd64"]);
    fixture
        .registry
        .publish(spec.versions(versions.iter().map(String::as_str)));
    fs::remove_dir(fixture.directory()).unwrap();
    let outcome = run_index(&fixture, "fill acme/bolt@~>2.0").expect_code(1);
    outcome.assert_stdout("40 packages: 40 failed;");
    let message = "cannot use the hash index `file://";
    assert_eq!(outcome.stderr.matches(message).count(), 1, "{outcome}");
    assert_eq!(fixture.downloads(), 0);
}

#[test]
fn a_provider_without_signatures_is_skipped() {
    let mut fixture = start();
    let spec = ProviderSpec::new("acme/loose").platforms(["linux_amd64"]);
    let spec = spec.hosts(["registry.opentofu.org"]).advertised([]);
    fixture.registry.publish(spec.versions(["1.0.0"]));
    let outcome = run_index(&fixture, "fill --engine tofu acme/loose").expect_success();
    outcome.assert_stdout("1 package: 1 skipped;");
    assert_eq!(fixture.downloads(), 0);
}

/// The columns: the arguments, the signing key, and the message. `KEY` stands for a signing key.
const REFUSED: [(&str, &str, &str); 8] = [
    (
        "fill",
        "",
        "cannot use `tflock index fill`: `TFLOCK_INDEX_SIGNING_KEY` is not set",
    ),
    (
        "sign",
        "",
        "cannot use `tflock index sign`: `TFLOCK_INDEX_SIGNING_KEY` is not set",
    ),
    (
        "fill --index https://h.test/",
        "KEY",
        "cannot use `tflock index fill`: tflock cannot write to a web server",
    ),
    ("fill a/b/c/d", "KEY", "invalid value in `a/b/c/d`"),
    (
        "fill acme/anvil@x",
        "KEY",
        "invalid value in `acme/anvil@x`",
    ),
    (
        "fill --platform linux",
        "KEY",
        "invalid value in `--platform linux`",
    ),
    ("fill acme/anvil --path a", "KEY", "cannot be used with"),
    ("check --sample 0", "", "invalid value '0'"),
];

#[test]
fn invalid_arguments_are_refused() {
    let fixture = start();
    let secret = fixture.signer.secret_text();
    for (arguments, signing_key, message) in REFUSED {
        let signing_key = signing_key.replace("KEY", &secret);
        let command = fixture.command(&format!("index {arguments}"));
        let command = command.env("TFLOCK_INDEX_SIGNING_KEY", signing_key);
        command.run().expect_code(2).assert_stderr(message);
    }
    let own = [("fill", "no index is set"), ("info", "no index is set")];
    for (command, message) in own {
        let run = fixture.context.command(&format!("index {command}"));
        let run = run.env("TFLOCK_INDEX_SIGNING_KEY", &secret).run();
        let message = format!("cannot use `tflock index {command}`: {message}");
        run.expect_code(2).assert_stderr(&message);
    }
    for command in ["check", "sign"] {
        let run = fixture.context.command(&format!("index {command}"));
        let run = run.env("TFLOCK_INDEX_SIGNING_KEY", &secret);
        let run = run.env("TFLOCK_INDEX", fixture.url()).run();
        let message = format!("cannot use `tflock index {command}`: no key is trusted");
        run.expect_code(2).assert_stderr(&message);
    }
    assert_eq!(fixture.registry.log().total(), 0);
}

const VERSIONS: u32 = 100;

/// The number of runs that are killed.
const KILLS: u32 = 10;

const JOBS: u32 = 4;

/// The most packages in flight at each kill: those that are downloaded, and those whose records are being written.
const IN_FLIGHT: u32 = 2 * JOBS;

#[test]
fn a_killed_run_is_continued() {
    let versions: Vec<String> = (0..VERSIONS).map(|minor| format!("1.{minor}.0")).collect();
    let spec = ProviderSpec::new("acme/anvil").platforms(super::PLATFORMS);
    let spec = spec
        .payload(200_000)
        .versions(versions.iter().map(String::as_str));
    let fixture = IndexFixture {
        registry: FakeRegistry::with(spec),
        ..start()
    };
    let context = tflock_test_support::TestContext::new(crate::TFLOCK, &fixture.registry);
    let fixture = IndexFixture { context, ..fixture };
    let line = format!("index fill --jobs {JOBS} acme/anvil@~>1.0");
    let command = || {
        let secret = fixture.signer.secret_text();
        fixture
            .command(&line)
            .env("TFLOCK_INDEX_SIGNING_KEY", secret)
    };
    // The duration of a whole run, with an index of its own.
    let (other, begin) = (tempfile::tempdir().unwrap(), Instant::now());
    let whole = command().env("TFLOCK_INDEX", format!("file://{}", other.path().display()));
    whole.run().expect_success();
    let whole = begin.elapsed();
    fixture.registry.log().clear();
    for _ in 0..KILLS {
        let mut child = command().spawn();
        thread::sleep(whole / 4 + Duration::from_millis(20));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    command().run().expect_success();
    let downloads = fixture.registry.log().count("GET", PACKAGES);
    let packages = usize::try_from(2 * VERSIONS).unwrap();
    let most = packages + usize::try_from(KILLS * IN_FLIGHT).unwrap();
    assert!((packages..=most).contains(&downloads), "{downloads}");
    let info = run_index(&fixture, "info acme/anvil@~>1.0").expect_success();
    info.assert_stdout(&format!("{packages} packages: {packages} present;"));
}
