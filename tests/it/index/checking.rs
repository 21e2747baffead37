//! `tflock index check`, `sign` and `info`.

use std::fs;

use tflock::index::{HashRecord, SignedNote, SignerKey};
use tflock_test_support::Outcome;

use super::filling::{report, run_index, start_locked};
use super::{IndexFixture, LOCK};

/// Returns a fixture with records of both packages and an empty log.
fn start_filled() -> IndexFixture {
    let fixture = start_locked();
    run_index(&fixture, "fill").expect_success();
    fixture.registry.log().clear();
    fixture
}

/// Runs a command below `tflock index` with another signing key.
fn run_with(fixture: &IndexFixture, line: &str, key: &SignerKey) -> Outcome {
    let command = fixture.command(&format!("index {line}"));
    command
        .env("TFLOCK_INDEX_SIGNING_KEY", key.secret_text())
        .run()
}

fn states(outcome: &Outcome) -> Vec<String> {
    let report = report(outcome);
    let packages = report["packages"].as_array().unwrap().iter();
    packages
        .map(|package| package["state"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn check_confirms_true_records() {
    let fixture = start_filled();
    let outcome = run_index(&fixture, "check -v").expect_success();
    outcome.assert_stdout(
        "checked   registry.terraform.io/acme/anvil 1.0.0 (darwin_arm64, linux_amd64)\n",
    );
    assert_eq!(fixture.downloads(), 2);
}

#[test]
fn check_finds_false_missing_and_unsigned_records() {
    let fixture = start_filled();
    let false_record = fixture.false_record("linux_amd64");
    fixture.write_record("linux_amd64", &false_record.sign(&fixture.signer));
    let outcome = run_index(&fixture, "check --format json").expect_code(3);
    assert_eq!(states(&outcome), ["checked", "wrong"]);
    outcome.assert_stderr(
        "cannot confirm the record of `registry.terraform.io/acme/anvil` 1.0.0 for `linux_amd64`",
    );
    outcome.assert_stderr(
        "the hash index has a false record, signed by the trusted key `example.com/index+",
    );
    outcome.assert_stderr(&fixture.key("linux_amd64").path());

    let stranger = SignerKey::generate("stranger").unwrap();
    fixture.write_record("linux_amd64", &false_record.sign(&stranger));
    fs::remove_file(fixture.file("darwin_arm64")).unwrap();
    let outcome = run_index(&fixture, "check --format json").expect_code(3);
    assert_eq!(states(&outcome), ["missing", "unsigned"]);
    for (nonsense, cause) in [
        ("nonsense".to_owned(), "it is not a signed note"),
        (
            fs::read_to_string(fixture.file("linux_amd64"))
                .unwrap()
                .replace("v1", "v2"),
            "",
        ),
    ] {
        fixture.write_record("linux_amd64", &nonsense);
        let outcome = run_index(&fixture, "check").expect_code(3);
        outcome.assert_stderr(cause);
    }
}

/// The digests of the fake packages decide which ones are in a sample.
#[test]
fn a_sample_is_the_same_in_every_run_and_finds_missing_records_of_all() {
    let fixture = start_filled();
    let mut before = 0;
    for percent in ["1", "30", "60", "100"] {
        let run = || {
            fixture.registry.log().clear();
            run_index(&fixture, &format!("check --sample {percent}")).expect_success();
            fixture.downloads()
        };
        let downloads = run();
        assert_eq!(run(), downloads, "{percent}");
        assert!(downloads >= before);
        before = downloads;
    }
    assert_eq!(before, 2);
    fs::remove_file(fixture.file("linux_amd64")).unwrap();
    fs::remove_file(fixture.file("darwin_arm64")).unwrap();
    let outcome = run_index(&fixture, "check --sample 1").expect_code(3);
    outcome.assert_stdout("2 packages: 2 missing;");
}

#[test]
fn a_package_that_cannot_be_downloaded_is_not_confirmed() {
    let fixture = start_filled();
    let rule = tflock_test_support::Misbehave::on(super::PACKAGES).status(404);
    fixture.registry.misbehave(rule);
    let outcome = run_index(&fixture, "check").expect_code(1);
    outcome.assert_stdout("2 packages: 2 failed;");
}

#[test]
fn a_key_is_replaced_without_downloads() {
    let fixture = start_filled();
    let new = SignerKey::generate("example.com/new").unwrap();
    let outcome = run_with(&fixture, "sign", &new).expect_success();
    outcome.assert_stdout("2 packages: 2 signed;");
    let again = run_with(&fixture, "sign", &new).expect_success();
    again.assert_stdout("2 packages: 2 present;");
    assert_eq!(fixture.downloads(), 0);
    let stored = fs::read(fixture.file("linux_amd64")).unwrap();
    let note = SignedNote::parse(&stored).unwrap();
    assert_eq!(note.signers().count(), 2);
    // Both the old and the new key can read the index.
    for key in [&fixture.signer, &new] {
        fixture.context.remove_lock_file("a");
        let key = key.verifier().to_string();
        let lock = fixture.command(&format!("{LOCK} a --no-download"));
        lock.env("TFLOCK_INDEX_KEYS", key).run().expect_success();
    }
}

#[test]
fn only_records_that_a_trusted_key_signed_are_signed() {
    let fixture = start_filled();
    let (stranger, new) = (
        SignerKey::generate("stranger").unwrap(),
        SignerKey::generate("new").unwrap(),
    );
    let false_record = fixture.false_record("linux_amd64").sign(&stranger);
    fixture.write_record("linux_amd64", &false_record);
    fs::remove_file(fixture.file("darwin_arm64")).unwrap();
    let outcome = run_with(&fixture, "sign", &new).expect_success();
    outcome.assert_stdout("2 packages: 1 missing, 1 unsigned;");
    let stored = fs::read_to_string(fixture.file("linux_amd64")).unwrap();
    assert_eq!(stored, false_record.to_string());
}

#[test]
fn a_seventeenth_signature_is_refused() {
    let fixture = start_filled();
    let stored = fs::read(fixture.file("linux_amd64")).unwrap();
    let mut note = SignedNote::parse(&stored).unwrap();
    for number in 0..15 {
        note.add_signature(&SignerKey::generate(&format!("key{number}")).unwrap());
    }
    fixture.write_record("linux_amd64", &note);
    let new = SignerKey::generate("new").unwrap();
    let outcome = run_with(&fixture, "sign", &new).expect_code(1);
    outcome.assert_stderr("the record has the maximum number of signatures");
    let stored = fs::read_to_string(fixture.file("linux_amd64")).unwrap();
    assert_eq!(stored, note.to_string());
    assert!(HashRecord::parse(note.text()).is_ok());
}

#[test]
fn info_names_the_keys_that_signed() {
    let fixture = start_filled();
    let new = SignerKey::generate("example.com/new").unwrap();
    run_with(&fixture, "sign --platform linux_amd64", &new).expect_success();
    let outcome = run_index(&fixture, "info").expect_success();
    outcome.assert_stdout(&format!(
        "signed by {} (2 records)\nsigned by {} (1 record, not trusted)\n{}: 2 packages: 2 present; ",
        fixture.signer.verifier().name(),
        new.verifier().name(),
        fixture.url()
    ));
    let outcome = run_index(&fixture, "info --format json").expect_success();
    let report = report(&outcome);
    assert_eq!(report["signers"][1]["trusted"], false);
    fs::remove_file(fixture.file("linux_amd64")).unwrap();
    // Without a trusted key, signatures are listed, but not verified.
    let info = fixture
        .context
        .command("index info")
        .env("TFLOCK_INDEX", fixture.url())
        .run();
    let info = info.expect_success();
    info.assert_stdout("2 packages: 1 missing, 1 unsigned;");
    info.assert_stdout("(1 record, not trusted)");
    assert_eq!(fixture.downloads(), 0);
}
