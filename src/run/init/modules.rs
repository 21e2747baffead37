//! Clues in the module directories: lock files, files that only OpenTofu reads, version files, and names such as `examples`.

use std::collections::BTreeSet;
use std::path::Path;

use crate::lockfile::{self, FILE_NAME};
use crate::parallel;
use crate::provider::{Engine, HashScheme};
use crate::walk::{WalkOptions, WalkedDirectory, walk};

use super::super::engine::{VERSION_FILES, detect_from_lock};
use super::clues::Clues;

/// Directories with these names usually contain modules that are never applied, or copies of other repositories. Hidden directories
/// such as `.terraform` are skipped anyway.
const IGNORED_NAMES: [&str; 7] = [
    "example",
    "examples",
    "fixtures",
    "node_modules",
    "testdata",
    "third_party",
    "vendor",
];

/// What a lock file reveals about the engine and the platforms.
struct LockFileClue {
    engine: Option<Engine>,
    /// The largest number of `h1` hashes that any provider has: the number of platforms that were hashed.
    hashed_platforms: usize,
}

/// Collects the clues in and below `directory`, an absolute path without symlinks.
pub(super) fn look_at(directory: &Path, clues: &mut Clues) {
    let options = WalkOptions {
        recursive: true,
        ..WalkOptions::default()
    };
    let found = walk(&[directory.to_path_buf()], &options);
    for error in &found.errors {
        clues.add_unread(&error.path, &error.source);
    }
    let locks = parallel::map(&found.directories, read_lock_file);
    for (found, lock) in found.directories.iter().zip(locks) {
        let path = found.path.join(FILE_NAME);
        match lock {
            Ok(Some(lock)) => add_lock_file(&path, &lock, clues),
            Ok(None) => {}
            Err(why) => clues.add_unread(&path, &why),
        }
        if found.has_tofu_files {
            let place = format!("{}/*.tofu", clues.place(&found.path));
            clues.add_engine(Engine::Tofu, &place);
        }
    }
    add_version_files(directory, &found.directories, clues);
    add_ignored_names(directory, &found.directories, clues);
}

fn add_lock_file(path: &Path, lock: &LockFileClue, clues: &mut Clues) {
    let place = clues.place(path);
    if let Some(engine) = lock.engine {
        clues.add_engine(engine, &place);
    }
    let most = clues
        .hashed_platforms
        .as_ref()
        .map_or(0, |(count, _)| *count);
    if lock.hashed_platforms > most {
        clues.hashed_platforms = Some((lock.hashed_platforms, place));
    }
}

/// Reads the lock file of a directory, if it has one. `Err` is the reason why the file cannot be read.
fn read_lock_file(found: &WalkedDirectory) -> Result<Option<LockFileClue>, String> {
    if !found.has_lock_file {
        return Ok(None);
    }
    let path = found.path.join(FILE_NAME);
    let bytes = lockfile::read(&path).map_err(|error| error.to_string())?;
    let Some(bytes) = bytes else {
        return Ok(None);
    };
    let engine = detect_from_lock(&String::from_utf8_lossy(&bytes));
    let parsed = lockfile::parse(&path, &bytes, engine.unwrap_or(Engine::Terraform));
    let parsed = parsed.map_err(|_invalid| "it is not a valid lock file".to_owned())?;
    let counts = parsed.locks.providers.values().map(|lock| {
        let is_h1 = lock
            .hashes
            .iter()
            .filter(|hash| hash.scheme() == HashScheme::H1);
        is_h1.count()
    });
    Ok(Some(LockFileClue {
        engine,
        hashed_platforms: counts.max().unwrap_or_default(),
    }))
}

/// Looks for version files in the module directories and the directories above them, up to `top`.
fn add_version_files(top: &Path, found: &[WalkedDirectory], clues: &mut Clues) {
    let above = found.iter().flat_map(|found| found.path.ancestors());
    let above = above.filter(|path| path.starts_with(top)).chain([top]);
    let directories: BTreeSet<&Path> = above.collect();
    for directory in directories {
        for (name, engine) in VERSION_FILES {
            let path = directory.join(name);
            if path.is_file() {
                let place = clues.place(&path);
                clues.add_engine(engine, &place);
            }
        }
    }
}

/// Adds the names of directories with configurations. A name is ignored only if none of these directories has a lock file.
fn add_ignored_names(top: &Path, found: &[WalkedDirectory], clues: &mut Clues) {
    for name in IGNORED_NAMES {
        let is_below = |found: &&WalkedDirectory| {
            let below = found.path.strip_prefix(top).unwrap_or(&found.path);
            below.iter().any(|part| part == name)
        };
        let below: Vec<&WalkedDirectory> = found.iter().filter(is_below).collect();
        let locked = below.iter().copied().filter(|found| found.has_lock_file);
        let locked: Vec<&WalkedDirectory> = locked.collect();
        for found in &locked {
            let place = clues.place(&found.path);
            clues.add_locked_name(name, &place);
        }
        for found in below.iter().filter(|_| locked.is_empty()) {
            let place = clues.place(&found.path);
            clues.add_ignored_name(name, &place);
        }
    }
}
