//! Reads a root module of two files, separated by a NUL, for both engines: declarations, overrides, static evaluation.
//!
//! All inputs use one directory in memory. Otherwise creating and deleting directories on a disk would take most of the
//! time.

#![no_main]

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;
use tflock::config::{ModuleCache, ReadOptions, read_root};
use tflock::provider::Engine;

/// The in-memory file system on Linux.
const MEMORY: &str = "/dev/shm";

static DIRECTORY: LazyLock<TempDir> = LazyLock::new(|| {
    let made = if Path::new(MEMORY).is_dir() {
        tempfile::tempdir_in(MEMORY)
    } else {
        tempfile::tempdir()
    };
    made.expect("a temporary directory")
});

/// Writes a file, or deletes the file of an earlier input if `text` is `None`.
fn place(name: &str, text: Option<&[u8]>) {
    let path = DIRECTORY.path().join(name);
    match text {
        Some(text) => fs::write(path, text).expect("a file"),
        // Ignores the error, because usually the file does not exist.
        None => drop(fs::remove_file(path)),
    }
}

fuzz_target!(|input: &[u8]| {
    let mut texts = input.splitn(2, |byte| *byte == 0);
    let first = texts.next().unwrap_or_default();
    let is_json = first.starts_with(b"{");
    place("main.tf", (!is_json).then_some(first));
    place("main.tf.json", is_json.then_some(first));
    place("main_override.tf", texts.next());
    for engine in [Engine::Terraform, Engine::Tofu] {
        let _ = read_root(DIRECTORY.path(), &ReadOptions::new(engine), &ModuleCache::new(), None);
    }
});
