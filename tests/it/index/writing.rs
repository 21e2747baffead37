//! `--index-push` adds records for what the run computed from bytes.

use std::fs;

use super::{IndexFixture, LOCK, start, warnings};

fn push(fixture: &IndexFixture, line: &str) -> tflock_test_support::Outcome {
    let command = fixture.context.command(&format!("{line} --index-push"));
    let command = command.env("TFLOCK_INDEX", fixture.url());
    command
        .env("TFLOCK_INDEX_SIGNING_KEY", fixture.signer.secret_text())
        .run()
}

fn records(fixture: &IndexFixture) -> usize {
    let all = walkdir::WalkDir::new(fixture.directory()).into_iter();
    all.filter(|entry| entry.as_ref().unwrap().file_type().is_file())
        .count()
}

#[test]
fn lock_verify_and_mirror_add_records() {
    let lines = [
        LOCK.to_owned() + " a",
        "verify --no-cache --platform linux_amd64,darwin_arm64 a".to_owned(),
        "mirror --no-cache --platform linux_amd64,darwin_arm64 --lock ../mirror a".to_owned(),
    ];
    for line in lines {
        let fixture = start();
        if line.starts_with("verify") {
            fixture.context.run(&format!("{LOCK} a")).expect_success();
        }
        let outcome = push(&fixture, &line).expect_success();
        assert_eq!(
            (records(&fixture), warnings(&outcome)),
            (2, 0),
            "{line}\n{outcome}"
        );
        let outcome = push(&fixture, &format!("{LOCK} b")).expect_success();
        assert!(
            !outcome.stdout.contains("added"),
            "they exist already\n{outcome}"
        );
        assert_eq!(records(&fixture), 2);
    }
}

/// A package whose hashes are in the disk cache was computed by an earlier run.
#[test]
fn hashes_from_the_disk_cache_or_an_index_are_not_added() {
    let fixture = start();
    let cached = "lock --platform linux_amd64 a";
    fixture.context.run(cached).expect_success();
    fixture.context.remove_lock_file("a");
    push(&fixture, cached).expect_success();
    assert_eq!(records(&fixture), 0);

    let fixture = start();
    fixture.fill();
    let own = tempfile::tempdir().unwrap();
    let line = format!(
        "{LOCK} a --index-push --index file://{} --index {}",
        own.path().display(),
        fixture.url()
    );
    let command = fixture.command(&line);
    let outcome = command
        .env("TFLOCK_INDEX_SIGNING_KEY", fixture.signer.secret_text())
        .run();
    outcome.expect_success();
    assert_eq!(fixture.downloads(), 0);
    assert_eq!(fs::read_dir(own.path()).unwrap().count(), 0);
}

#[test]
fn an_existing_record_is_not_replaced() {
    let fixture = start();
    fixture.fill();
    fixture.write_record("linux_amd64", &"something else");
    let outcome = push(&fixture, &format!("{LOCK} a")).expect_success();
    assert_eq!(warnings(&outcome), 0, "{outcome}");
    let stored = fs::read_to_string(fixture.file("linux_amd64")).unwrap();
    assert_eq!(stored, "something else");
}

#[cfg(unix)]
#[test]
fn an_index_that_cannot_be_written_costs_one_warning() {
    let fixture = start();
    fs::remove_dir(fixture.directory()).unwrap();
    fs::write(fixture.directory(), "a file").unwrap();
    let outcome = push(&fixture, &format!("{LOCK} a")).expect_success();
    outcome.assert_stderr("cannot write to the hash index `file://");
    assert_eq!(warnings(&outcome), 1, "{outcome}");
    assert!(fixture.context.lock_file("a").is_some());
}
