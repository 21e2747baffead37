//! Hashes from an index replace downloads, and nothing else changes.

use serde_json::Value;
use tflock_test_support::{Document, FakeRegistry, ProviderSpec};

use super::{LOCK, PLATFORMS, start};

#[test]
fn packages_in_the_index_are_not_downloaded() {
    let fixture = start();
    let expected = fixture.fill();
    let outcome = fixture.expect_lock(&format!("{LOCK} a b"), &expected);
    assert_eq!(fixture.downloads(), 0);
    let key = fixture.signer.verifier().name();
    outcome.assert_stdout(&format!(
        "not downloaded: 2 packages, with h1 hashes from the index, signed by {key}\n"
    ));
    assert_eq!(outcome.stderr, "");
}

#[test]
fn json_names_the_key_of_each_hash() {
    let fixture = start();
    fixture.fill();
    let report = fixture
        .command(&format!("{LOCK} a --format json"))
        .run()
        .expect_success()
        .json();
    let key = fixture.signer.verifier().name().to_string();
    assert_eq!(report["summary"]["packages_from_index"], 2);
    let provider = &report["directories"][0]["providers"][0];
    for hash in provider["hashes"]["added"].as_array().unwrap() {
        let is_h1 = hash["hash"].as_str().unwrap().starts_with("h1:");
        let expected = if is_h1 {
            ("index", Value::from(key.clone()))
        } else {
            ("list", Value::Null)
        };
        assert_eq!(
            (hash["from"].as_str().unwrap(), hash["index_key"].clone()),
            expected
        );
    }
    for package in provider["packages"].as_array().unwrap() {
        assert_eq!(package["index_key"], key);
        assert_eq!(package["vouched_by"], "signature");
    }
}

#[test]
fn records_on_a_web_server_are_requested_once_each() {
    let fixture = start();
    let expected = fixture.fill();
    let server = FakeRegistry::start();
    let directory = fixture.directory();
    server.serve_others(move |path| {
        let record = std::fs::read(directory.join(path.strip_prefix("/index/")?)).ok()?;
        Some(Document::octets(record))
    });
    let line = format!("{LOCK} a b --index {}", server.url("/index"));
    fixture.expect_lock(&line, &expected);
    assert_eq!(fixture.downloads(), 0);
    assert_eq!(server.log().total(), PLATFORMS.len());
}

#[test]
fn the_first_index_with_a_record_counts() {
    let fixture = start();
    let expected = fixture.fill();
    let empty = tempfile::tempdir().unwrap();
    let indexes = format!(
        "--index file://{} --index {}",
        empty.path().display(),
        fixture.url()
    );
    let outcome = fixture.expect_lock(&format!("{LOCK} a {indexes}"), &expected);
    assert_eq!(fixture.downloads(), 0);
    assert_eq!(outcome.stderr, "");
}

#[test]
fn verify_compares_with_the_hashes_in_the_index() {
    let fixture = start();
    fixture.fill();
    fixture.command(&format!("{LOCK} a")).run().expect_success();
    let verify = "verify --platform linux_amd64,darwin_arm64 a";
    fixture.command(verify).run().expect_success();
    assert_eq!(fixture.downloads(), 0);
    let foreign = fixture
        .context
        .lock_file("a")
        .unwrap()
        .replace("h1:", "h1:A");
    fixture.context.write_lock_file("a", foreign);
    let outcome = fixture.command(verify).run().expect_code(3);
    outcome.assert_stdout("TFL007");
    outcome.assert_stdout("TFL010");
    assert_eq!(fixture.downloads(), 0);
}

#[test]
fn verify_without_a_cache_reads_no_index() {
    let fixture = start();
    fixture.fill();
    fixture.command(&format!("{LOCK} a")).run().expect_success();
    assert_eq!(fixture.downloads(), 0);
    let verify = "verify --no-cache --platform linux_amd64,darwin_arm64 a";
    let outcome = fixture.command(verify).run().expect_success();
    assert_eq!(fixture.downloads(), 2);
    assert!(!outcome.stdout.contains("index"), "{outcome}");
}

/// The first run stores signed records. They are used only while an index is read with a key that signed them.
#[test]
fn the_disk_cache_keeps_the_signatures() {
    let fixture = start();
    let expected = fixture.fill();
    let line = "lock --platform linux_amd64,darwin_arm64 a";
    fixture.expect_lock(line, &expected);
    assert_eq!(fixture.downloads(), 0);
    std::fs::remove_dir_all(fixture.directory()).unwrap();
    fixture.forget();
    let outcome = fixture.expect_lock(line, &expected);
    assert_eq!(
        fixture.registry.log().total(),
        0,
        "everything is cached\n{outcome}"
    );
    outcome.assert_stdout("not downloaded: 2 packages, with h1 hashes from the index");

    let other = tflock::index::SignerKey::generate("other").unwrap();
    let other = format!("{line} --index-key {}", other.verifier());
    fixture.forget();
    fixture.command(&other).run().expect_success();
    assert_eq!(fixture.downloads(), 2, "another key is trusted");
    fixture.context.run("cache clean").expect_success();
}

#[test]
fn without_an_index_its_cached_records_are_ignored() {
    let fixture = start();
    let expected = fixture.fill();
    let line = "lock --platform linux_amd64,darwin_arm64 a";
    fixture.expect_lock(line, &expected);
    fixture.forget();
    fixture.context.run(line).expect_success();
    assert_eq!(fixture.downloads(), 2);
}

/// OpenTofu accepts lists without a signature from its own registry. An index is not asked for their packages.
#[test]
fn a_list_must_be_signed() {
    let fixture = start();
    let expected = fixture.fill();
    let unsigned = ProviderSpec::new("acme/rivet").platforms(PLATFORMS);
    let mut registry = FakeRegistry::start();
    registry.publish(unsigned.advertised([]).hosts(["registry.opentofu.org"]));
    let context = tflock_test_support::TestContext::new(crate::TFLOCK, &registry);
    context.require("a", &[("acme/rivet", "")]);
    let server = FakeRegistry::start();
    let run = context
        .command("lock --engine tofu --platform linux_amd64 --no-cache a")
        .env("TFLOCK_INDEX", server.url("/"))
        .env("TFLOCK_INDEX_KEYS", fixture.signer.verifier().to_string());
    run.run().expect_success();
    assert_eq!(server.log().total(), 0);
    assert!(expected.contains("h1:"));
}

#[test]
fn no_download_fails_directories_that_need_one() {
    let fixture = start();
    let expected = fixture.fill();
    fixture.expect_lock(&format!("{LOCK} a --no-download"), &expected);
    std::fs::remove_file(fixture.file("linux_amd64")).unwrap();
    fixture.forget();
    let outcome = fixture
        .command(&format!("{LOCK} a --no-download"))
        .run()
        .expect_code(1);
    outcome.assert_stderr("cannot lock `registry.terraform.io/acme/anvil`");
    outcome.assert_stderr("no index has its hashes, and `--no-download` forbids downloading it");
    assert_eq!(
        (fixture.downloads(), fixture.context.lock_file("a")),
        (0, None)
    );
}

#[test]
fn offline_runs_use_indexes_in_directories_only() {
    let fixture = start();
    let expected = fixture.fill();
    let line = "lock --platform linux_amd64,darwin_arm64 a";
    fixture.expect_lock(line, &expected);
    fixture.forget();
    let outcome = fixture.expect_lock(&format!("{line} --offline"), &expected);
    assert_eq!(outcome.stderr, "");
    let web = format!("{line} --offline --index http://127.0.0.1:1/");
    let outcome = fixture.command(&web).run().expect_code(1);
    assert!(!outcome.stderr.contains("index"), "{outcome}");
}
