//! A cache that is damaged or owned by another user never fails a run and never changes a lock file.

use std::fs;

use tflock_test_support::{FakeRegistry, TestContext};

use super::{NOTHING, entries, lock, request_counts, start};

/// Locks one directory. Returns the registry, the tree with its cache, and the lock file.
fn locked() -> (FakeRegistry, TestContext, String) {
    let (registry, context) = start();
    context.require("a", &[("acme/anvil", "1.0.0")]);
    lock(&context, "a").expect_success();
    request_counts(&registry);
    let lock_file = context.lock_file("a").unwrap();
    (registry, context, lock_file)
}

/// Removes the lock file and locks the directory again.
fn lock_anew(context: &TestContext) -> tflock_test_support::Outcome {
    context.remove_lock_file("a");
    lock(context, "a").expect_success()
}

/// Changes the bytes of a cache entry. `None` means that the entry is removed.
type DamageEntry = fn(Vec<u8>) -> Option<Vec<u8>>;

#[test]
fn damaged_entries_are_ignored_and_rewritten() {
    let (registry, context, expected) = locked();
    let whole = entries(&context, "");
    assert_eq!(whole.len(), 4, "two packages and two responses");
    let damages: [(&str, DamageEntry); 6] = [
        ("empty", |_| Some(Vec::new())),
        ("cut", |bytes| Some(bytes[..bytes.len() / 2].to_vec())),
        ("flipped", |mut bytes| {
            let middle = bytes.len() * 3 / 4;
            bytes[middle] ^= 1;
            Some(bytes)
        }),
        ("longer", |bytes| Some([bytes, vec![0]].concat())),
        ("something else", |_| Some(b"{\"h1\": \"h1:A=\"}".to_vec())),
        ("gone", |_| None),
    ];
    for (name, damage) in damages {
        for path in &whole {
            match damage(fs::read(path).unwrap()) {
                Some(bytes) => fs::write(path, bytes).unwrap(),
                None => fs::remove_file(path).unwrap(),
            }
            let outcome = lock_anew(&context);
            assert_eq!(outcome.stderr, "", "{name}");
            assert_eq!(context.lock_file("a").as_ref(), Some(&expected), "{name}");
            assert!(request_counts(&registry) != NOTHING, "{name}");
            lock_anew(&context);
            assert_eq!(request_counts(&registry), NOTHING, "{name}: rewritten");
        }
    }
    assert_eq!(entries(&context, ""), whole, "no other file remains");
}

/// Swaps the contents of two valid entries.
#[test]
fn entries_are_not_used_for_other_keys() {
    let (registry, context, expected) = locked();
    for kind in ["hashes", "answers"] {
        let [one, other] = <[_; 2]>::try_from(entries(&context, kind)).unwrap();
        let (bytes, other_bytes) = (fs::read(&one).unwrap(), fs::read(&other).unwrap());
        fs::write(&one, other_bytes).unwrap();
        fs::write(&other, bytes).unwrap();
        lock_anew(&context);
        assert_eq!(context.lock_file("a").as_ref(), Some(&expected));
        assert!(request_counts(&registry) != NOTHING);
    }
}

/// Reading from a named pipe would block forever.
#[cfg(unix)]
#[test]
fn only_regular_files_are_read() {
    let (_registry, context, expected) = locked();
    let path = entries(&context, "answers").remove(0);
    fs::remove_file(&path).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&path).status();
    assert!(made.unwrap().success());
    lock_anew(&context);
    assert_eq!(context.lock_file("a"), Some(expected));
}

#[test]
fn a_cache_that_cannot_be_used_is_a_warning() {
    let (registry, context, expected) = locked();
    let file = context.path("file");
    fs::write(&file, "").unwrap();
    let below = file.join("below");
    for place in [&file, &below] {
        context.remove_lock_file("a");
        let arguments = "lock --platform linux_amd64,darwin_arm64 a";
        let run = || context.command(arguments).env("TFLOCK_CACHE_DIR", place);
        let outcome = run().run().expect_success();
        outcome.assert_stderr("warning: cannot use `");
        outcome.assert_stderr("hint: set `TFLOCK_CACHE_DIR` to a different directory");
        assert_eq!(context.lock_file("a").as_ref(), Some(&expected));
        assert_eq!(request_counts(&registry), [1, 2, 1, 1, 2]);
        let silent = run().arg("--no-cache").run().expect_success();
        assert_eq!(silent.stderr, "");
        request_counts(&registry);
    }
}

/// A cache that cannot be written, for example on a full disk, is still read.
#[test]
fn a_cache_that_cannot_be_written_is_a_warning_at_the_end() {
    let (registry, context, expected) = locked();
    fs::remove_dir_all(context.cache().join("v1/hashes")).unwrap();
    fs::write(context.cache().join("v1/hashes"), "").unwrap();
    let outcome = lock_anew(&context);
    outcome.assert_stderr("warning: cannot write to the cache `");
    assert_eq!(outcome.stderr.matches("warning").count(), 1, "{outcome}");
    assert_eq!(context.lock_file("a"), Some(expected));
    assert_eq!(request_counts(&registry), [1, 2, 1, 1, 2]);
}

#[cfg(unix)]
#[test]
fn a_cache_that_others_can_enter_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;

    let (registry, context, expected) = locked();
    for mode in [0o755, 0o770, 0o777] {
        fs::set_permissions(context.cache(), fs::Permissions::from_mode(mode)).unwrap();
        let before = entries(&context, "");
        let outcome = lock_anew(&context);
        let text = format!(
            "as the cache: its mode is {mode:04o}, but it must be accessible only to its owner"
        );
        outcome.assert_stderr(&text);
        outcome.assert_stderr("chmod 700");
        assert_eq!(context.lock_file("a").as_ref(), Some(&expected));
        assert_eq!(request_counts(&registry), [1, 2, 1, 1, 2]);
        assert_eq!(entries(&context, ""), before);
    }
    fs::set_permissions(context.cache(), fs::Permissions::from_mode(0o700)).unwrap();
    lock_anew(&context);
    assert_eq!(request_counts(&registry), NOTHING);
}

/// Only root can change the owner of a directory. A unit test covers this case for other users.
#[cfg(unix)]
#[test]
fn a_cache_of_another_user_is_not_used() {
    let (registry, context, expected) = locked();
    if std::os::unix::fs::chown(context.cache(), Some(4_321), None).is_err() {
        return;
    }
    let outcome = lock_anew(&context);
    let text = "as the cache: it belongs to the user with the ID 4321";
    outcome.assert_stderr(text);
    assert_eq!(context.lock_file("a"), Some(expected));
    assert_eq!(request_counts(&registry), [1, 2, 1, 1, 2]);
}
