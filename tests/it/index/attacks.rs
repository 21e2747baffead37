//! Records that do not count: packages are downloaded, the lock file is right, and there is one warning.

use std::fs;

use tflock::index::{HashRecord, SignedNote, SignerKey};
use tflock::provider::Digest;

use super::{IndexFixture, LOCK, start, warnings};

/// Makes the record for linux_amd64 into one that does not count.
type Tamper = fn(&IndexFixture) -> String;

fn stored(fixture: &IndexFixture) -> String {
    fs::read_to_string(fixture.file("linux_amd64")).unwrap()
}

fn signed_by_stranger(fixture: &IndexFixture) -> String {
    let stranger = SignerKey::generate("stranger").unwrap();
    fixture
        .false_record("linux_amd64")
        .sign(&stranger)
        .to_string()
}

fn signed_by_namesake(fixture: &IndexFixture) -> String {
    let name = fixture.signer.verifier().name().name();
    let namesake = SignerKey::generate(name).unwrap();
    fixture
        .false_record("linux_amd64")
        .sign(&namesake)
        .to_string()
}

/// The signature is the trusted key's, but over another text.
fn signature_of_another_text(fixture: &IndexFixture) -> String {
    let claimed = fixture.false_record("linux_amd64").text();
    let stored = stored(fixture);
    let (_, signature) = stored.split_once("\n\n").unwrap();
    format!("{claimed}\n{signature}")
}

fn truncated_signature(fixture: &IndexFixture) -> String {
    stored(fixture).replace("=\n", "\n").trim_end().to_owned() + "\n"
}

fn other_digest(fixture: &IndexFixture) -> String {
    let mut record = fixture.false_record("linux_amd64");
    record.hashes.zh = Digest::new([9; 32]);
    record.sign(&fixture.signer).to_string()
}

fn other_type(fixture: &IndexFixture) -> String {
    let record = fixture.false_record("linux_amd64");
    let record = HashRecord {
        type_name: "rivet".to_owned(),
        ..record
    };
    record.sign(&fixture.signer).to_string()
}

/// A signature of the right form, of which the last bytes are missing.
fn short_signature(fixture: &IndexFixture) -> String {
    let stored = stored(fixture);
    let (note, signature) = stored.trim_end().rsplit_once(' ').unwrap();
    format!("{note} {}\n", &signature[..signature.len() - 8])
}

/// One of the last bytes of the signature differs.
fn changed_signature(fixture: &IndexFixture) -> String {
    let stored = stored(fixture);
    let (note, signature) = stored.trim_end().rsplit_once(' ').unwrap();
    let (start, last) = signature.split_at(signature.len() - 8);
    let changed = if last.starts_with('A') { "B" } else { "A" };
    format!("{note} {start}{changed}{}\n", &last[1..])
}

fn in_format(fixture: &IndexFixture, version: &str) -> String {
    let text = fixture.false_record("linux_amd64").text();
    let text = text.replace("hashes v1", &format!("hashes {version}"));
    SignedNote::sign(text, &fixture.signer).to_string()
}

fn old_version(fixture: &IndexFixture) -> String {
    in_format(fixture, "v0")
}

fn new_version(fixture: &IndexFixture) -> String {
    in_format(fixture, "v2")
}

/// The text has a line that this version does not know.
fn unknown_line(fixture: &IndexFixture) -> String {
    let text = fixture.false_record("linux_amd64").text() + "more h1:x\n";
    SignedNote::sign(text, &fixture.signer).to_string()
}

fn unsigned(fixture: &IndexFixture) -> String {
    fixture.false_record("linux_amd64").text()
}

fn ten_megabytes(_: &IndexFixture) -> String {
    "x".repeat(10 << 20)
}

const ROWS: [(&str, Tamper); 14] = [
    (
        "it is not signed by a trusted key, but by `stranger+",
        signed_by_stranger,
    ),
    (
        "it is not signed by a trusted key, but by `example.com/index+",
        signed_by_namesake,
    ),
    (
        "its signature by the trusted key `example.com/index+",
        signature_of_another_text,
    ),
    ("a signature is invalid", truncated_signature),
    (
        "it is the record of another package: of the zip 0909",
        other_digest,
    ),
    ("it is the record of another package", other_type),
    ("it has the format `tflock package hashes v0`", old_version),
    ("it has the format `tflock package hashes v2`", new_version),
    ("its text does not have the form of a record", unknown_line),
    (
        "its signature by the trusted key `example.com/index+",
        short_signature,
    ),
    (
        "its signature by the trusted key `example.com/index+",
        changed_signature,
    ),
    ("no empty line precedes the signatures", unsigned),
    ("the record is larger than 131072 bytes", ten_megabytes),
    ("no empty line precedes the signatures", |_| String::new()),
];

#[test]
fn records_that_do_not_count_cost_one_warning_and_a_download() {
    for (message, tamper) in ROWS {
        let fixture = start();
        let expected = fixture.fill();
        let record = tamper(&fixture);
        fixture.write_record("linux_amd64", &record);
        let outcome = fixture.expect_lock(&format!("{LOCK} a"), &expected);
        assert_eq!(
            (fixture.downloads(), warnings(&outcome)),
            (1, 1),
            "{outcome}"
        );
        outcome.assert_stderr(&format!("cannot read the hash index `{}`", fixture.url()));
        outcome.assert_stderr(message);
    }
}

#[test]
fn an_unknown_signature_beside_a_trusted_one_is_ignored() {
    let fixture = start();
    let expected = fixture.fill();
    let mut note = SignedNote::parse(stored(&fixture).as_bytes()).unwrap();
    note.add_signature(&SignerKey::generate("stranger").unwrap());
    fixture.write_record("linux_amd64", &note);
    let outcome = fixture.expect_lock(&format!("{LOCK} a"), &expected);
    assert_eq!(
        (fixture.downloads(), warnings(&outcome)),
        (0, 0),
        "{outcome}"
    );
}

/// The list decides which zip is meant. A record for the old zip is about a path that is never requested again.
#[test]
fn a_version_that_is_published_again_needs_new_records() {
    let mut fixture = start();
    let old = fixture.fill();
    let spec = tflock_test_support::ProviderSpec::new("acme/anvil").platforms(super::PLATFORMS);
    fixture
        .registry
        .publish(spec.versions(["1.0.0"]).seed("again"));
    let outcome = fixture.command(&format!("{LOCK} a")).run().expect_success();
    assert_eq!(
        (fixture.downloads(), warnings(&outcome)),
        (2, 0),
        "{outcome}"
    );
    let new = fixture.context.lock_file("a").unwrap();
    assert_ne!(old, new);
}

#[test]
fn an_audit_finds_a_false_record() {
    let fixture = start();
    let expected = fixture.fill();
    let audited = format!("{LOCK} a b --index-audit 100");
    let outcome = fixture.expect_lock(&audited, &expected);
    assert_eq!(fixture.downloads(), 2, "{outcome}");
    assert!(!outcome.stdout.contains("not downloaded"), "{outcome}");

    fixture.forget();
    fixture.context.remove_lock_file("b");
    let record = fixture.false_record("linux_amd64").sign(&fixture.signer);
    fixture.write_record("linux_amd64", &record);
    let outcome = fixture.command(&audited).run().expect_code(1);
    outcome.assert_stderr(
        "the hash index has a false record, signed by the trusted key `example.com/index+",
    );
    outcome.assert_stderr(&fixture.key("linux_amd64").path());
    for directory in ["a", "b"] {
        assert_eq!(fixture.context.lock_file(directory), None, "{outcome}");
    }
    // Without an audit, the user believes the key.
    fixture.command(&format!("{LOCK} a")).run().expect_success();
}

/// The record's size contradicts the size that OpenTofu's registry reports.
#[test]
fn a_record_that_contradicts_the_registry_is_not_used() {
    let fixture = start();
    let mut registry = tflock_test_support::FakeRegistry::start();
    let spec = tflock_test_support::ProviderSpec::new("acme/anvil").platforms(["linux_amd64"]);
    registry.publish(spec.reporting_packages().hosts(["registry.opentofu.org"]));
    let context = tflock_test_support::TestContext::new(crate::TFLOCK, &registry);
    context.require("a", &[("acme/anvil", "")]);
    let with_index = |line: &str| {
        let command = context.command(line).env("TFLOCK_INDEX", fixture.url());
        let command = command.env("TFLOCK_INDEX_SIGNING_KEY", fixture.signer.secret_text());
        command.env("TFLOCK_INDEX_KEYS", fixture.signer.verifier().to_string())
    };
    let line = "lock --engine tofu --platform linux_amd64 --no-cache a";
    with_index(&format!("{line} --index-push"))
        .run()
        .expect_success();
    let mut records = Vec::new();
    for entry in walkdir::WalkDir::new(fixture.directory()) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            records.push(entry.into_path());
        }
    }
    let [path] = records.as_slice() else {
        panic!("{records:?}")
    };
    let stored = fs::read(path).unwrap();
    let note = SignedNote::parse(&stored).unwrap();
    let mut record = HashRecord::parse(note.text()).unwrap();
    record.hashes.size += 1;
    fs::write(path, record.sign(&fixture.signer).to_string()).unwrap();
    let expected = context.lock_file("a");
    context.remove_lock_file("a");
    registry.log().clear();
    let outcome = with_index(line).run().expect_success();
    assert_eq!(context.lock_file("a"), expected);
    assert_eq!(registry.log().count("GET", "*.zip"), 1);
    assert_eq!(warnings(&outcome), 1, "{outcome}");
    let signer = fixture.signer.verifier().name();
    outcome.assert_stderr(&format!(
        "a record of the hash index, signed by the trusted key `{signer}`, contradicts the registry"
    ));
    outcome.assert_stderr("bytes long, but the registry reported");
    outcome.assert_stderr(&format!("remove the record `{}`", record.key().path()));
}
