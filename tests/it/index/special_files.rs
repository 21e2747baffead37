//! Anything else than a file in the place of a record: it is not followed to a device, does not block and is not replaced.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use tflock_test_support::check_rows;

use super::{IndexFixture, LOCK, start, warnings};

/// Puts something in the place of a record, whose file no longer exists.
type Replace = fn(&IndexFixture, &Path);

fn fifo(_: &IndexFixture, path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

fn link_to_fifo(fixture: &IndexFixture, path: &Path) {
    let target = fixture.base.path().join("fifo");
    fifo(fixture, &target);
    symlink(target, path).unwrap();
}

fn link_to_another_record(fixture: &IndexFixture, path: &Path) {
    symlink(fixture.file("darwin_arm64"), path).unwrap();
}

fn file_as_directory(_: &IndexFixture, path: &Path) {
    let directory = path.parent().unwrap();
    fs::remove_dir(directory).unwrap();
    fs::write(directory, "a file").unwrap();
}

/// What replaces the record, and the cause in the warning. If the cause is empty, no warning is expected.
const ROWS: [(Replace, &str); 9] = [
    (
        |_, path| fs::create_dir(path).unwrap(),
        "it is not a regular file",
    ),
    (fifo, "it is not a regular file"),
    (link_to_fifo, "it is not a regular file"),
    (
        |_, path| symlink("/dev/zero", path).unwrap(),
        "it is not a regular file",
    ),
    (
        |_, path| symlink(path, path).unwrap(),
        "cannot read the file",
    ),
    (
        |fixture, path| symlink(fixture.base.path(), path).unwrap(),
        "it is not a regular file",
    ),
    (
        link_to_another_record,
        "it is the record of another package",
    ),
    (file_as_directory, "cannot read the file"),
    (|_, path| symlink("missing", path).unwrap(), ""),
];

#[test]
fn anything_but_a_record_costs_one_warning_and_a_download() {
    check_rows(ROWS, |(replace, message)| {
        let fixture = start();
        let expected = fixture.fill();
        let path = fixture.file("linux_amd64");
        fs::remove_file(&path).unwrap();
        replace(&fixture, &path);
        let begin = Instant::now();
        let outcome = fixture.expect_lock(&format!("{LOCK} a"), &expected);
        assert!(begin.elapsed() < Duration::from_secs(10), "{outcome}");
        let is_warned = usize::from(!message.is_empty());
        assert_eq!(
            (fixture.downloads(), warnings(&outcome)),
            (1, is_warned),
            "{message}\n{outcome}"
        );
        outcome.assert_stderr(message);
    });
}

#[test]
fn a_push_replaces_nothing() {
    check_rows(ROWS, |(replace, _)| {
        let fixture = start();
        let expected = fixture.fill();
        let path = fixture.file("linux_amd64");
        fs::remove_file(&path).unwrap();
        replace(&fixture, &path);
        let before = fs::symlink_metadata(&path).map(|found| found.file_type());
        let push = fixture
            .context
            .command(&format!("{LOCK} a --index-push"))
            .env("TFLOCK_INDEX", fixture.url())
            .env("TFLOCK_INDEX_SIGNING_KEY", fixture.signer.secret_text());
        let outcome = push.run().expect_success();
        assert!(warnings(&outcome) <= 1, "{outcome}");
        let lock_file = fixture.context.lock_file("a").unwrap();
        assert_eq!(lock_file, expected, "{outcome}");
        let after = fs::symlink_metadata(&path).map(|found| found.file_type());
        assert_eq!(before.ok(), after.ok(), "{outcome}");
    });
}
