//! Reads a root module of two files, separated by a NUL, for both engines: declarations, overrides, static evaluation.
//! Also evaluates the same text as a Terragrunt unit and its parent, and assembles the unit.
//!
//! All inputs use one directory in memory. Otherwise creating and deleting directories on a disk would take most of the
//! time.

#![no_main]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;
use tflock::config::{ModuleCache, ReadOptions, read_root};
use tflock::provider::Engine;
use tflock::terragrunt::{
    Assembly, AssemblyContext, UnitOptions, UnitOutcome, UnitReader, assemble,
};

/// The in-memory file system on Linux.
const MEMORY: &str = "/dev/shm";

static DIRECTORY: LazyLock<TempDir> = LazyLock::new(|| {
    let made = if Path::new(MEMORY).is_dir() {
        tempfile::tempdir_in(MEMORY)
    } else {
        tempfile::tempdir()
    };
    let made = made.expect("a temporary directory");
    for directory in ["unit", ".git"] {
        fs::create_dir(made.path().join(directory)).expect("a directory");
    }
    made
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
    let second = texts.next();
    place("main_override.tf", second);
    place("unit/terragrunt.hcl", (!is_json).then_some(first));
    place("unit/terragrunt.hcl.json", is_json.then_some(first));
    place("root.hcl", second);
    let options = UnitOptions {
        working_directory: DIRECTORY.path().to_path_buf(),
        ..UnitOptions::default()
    };
    let unit = UnitReader::new(options, Arc::default()).read(&DIRECTORY.path().join("unit"));
    for engine in [Engine::Terraform, Engine::Tofu] {
        // Without this, sources could be any directories of the machine.
        let options = ReadOptions {
            is_untrusted: true,
            ..ReadOptions::new(engine)
        };
        let _ = read_root(DIRECTORY.path(), &options, &ModuleCache::new(), None);
        let Ok(UnitOutcome::Known(unit)) = &unit else {
            continue;
        };
        let context = AssemblyContext {
            options: &options,
            environment: &BTreeMap::new(),
            fetcher: None,
        };
        if let Ok(Assembly::Known(assembled)) = assemble(unit, context) {
            let _ = assembled.read(&ModuleCache::new(), None);
        }
    }
});
