//! `tflock cache` prints the directory and its usage, and removes entries.

use std::fs;
use std::path::PathBuf;

use super::{entries, lock, start};

#[test]
fn the_directory_is_printed() {
    let (_registry, context) = start();
    let outcome = context.run("cache dir").expect_success();
    assert_eq!(outcome.stdout, "[ROOT]/cache\n");
    assert_eq!(outcome.stderr, "");
}

#[test]
fn usage_is_printed_and_entries_are_removed() {
    let (_registry, context) = start();
    let run = |arguments: &str| context.run(&format!("cache {arguments}"));
    let empty = run("info").expect_success().stdout;
    let expected = "[ROOT]/cache
  package hashes              0 entries, 0 bytes
  signed checksum lists       0 entries, 0 bytes
  records of a hash index     0 entries, 0 bytes
  modules                     0 entries, 0 bytes
  total                       0 entries, 0 bytes
";
    assert_eq!(empty, expected);

    context.require("a", &[("acme/anvil", "1.0.0")]);
    lock(&context, "a").expect_success();
    let size = |path: &PathBuf| path.metadata().unwrap().len();
    let bytes: u64 = entries(&context, "").iter().map(size).sum();
    let full = run("info").expect_success();
    let total = format!(
        "  total                       4 entries, {}\n",
        kilobytes(bytes)
    );
    full.assert_stdout(&total)
        .assert_stdout("package hashes              2 entries")
        .assert_stdout("signed checksum lists       2 entries");

    // All entries are new except the one whose time is set back, so only that one is removed.
    let old = entries(&context, "answers").remove(0);
    let long_ago = std::time::SystemTime::UNIX_EPOCH;
    let file = fs::File::options().write(true).open(&old).unwrap();
    file.set_modified(long_ago).unwrap();
    let removed = format!("removed 1 entry, {}\n", kilobytes(size(&old)));
    let outcome = run("clean --older-than 1").expect_success();
    assert_eq!(outcome.stdout, removed);
    assert!(!old.exists());

    fs::write(context.cache().join("not-ours"), "").unwrap();
    let outcome = run("clean").expect_success();
    outcome.assert_stdout("removed 3 entries, ");
    assert_eq!(entries(&context, "").len(), 0);
    assert!(context.cache().join("not-ours").exists());
    let nothing = run("clean").expect_success();
    assert_eq!(nothing.stdout, "removed 0 entries, 0 bytes\n");
    run("clean --older-than 0").expect_code(2);
}

/// Formats a size as tflock prints it: `1.2 kB`.
fn kilobytes(bytes: u64) -> String {
    format!("{}.{} kB", bytes / 1000, bytes / 100 % 10)
}

#[cfg(unix)]
#[test]
fn an_unused_cache_is_reported_as_unused() {
    use std::os::unix::fs::PermissionsExt as _;

    let (_registry, context) = start();
    context.require("a", &[("acme/anvil", "1.0.0")]);
    lock(&context, "a").expect_success();
    fs::set_permissions(context.cache(), fs::Permissions::from_mode(0o755)).unwrap();
    let outcome = context.run("cache info").expect_success();
    outcome.assert_stdout("total                       4 entries");
    outcome.assert_stderr("as the cache: its mode is 0755");
}

/// Symlinks that point outside the cache are removed, but their targets are not.
#[cfg(unix)]
#[test]
fn cleaning_follows_no_links() {
    let (_registry, context) = start();
    context.require("a", &[("acme/anvil", "1.0.0")]);
    lock(&context, "a").expect_success();
    context.write("precious/file", "precious");
    let link = context.cache().join("v1/modules");
    std::os::unix::fs::symlink(context.path("precious"), link).unwrap();
    context.run("cache clean").expect_success();
    assert!(!context.cache().join("v1").exists());
    assert_eq!(context.read("precious/file"), "precious");
}
