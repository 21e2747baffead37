//! Parsed lock files. Each distinct content is parsed only once, because most lock files in a monorepo are identical.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use crate::lockfile::{self, LockFile, Locks, ParseError};
use crate::parallel::lock;
use crate::provider::Engine;
use crate::span::Place;

/// The lock files parsed so far, shared by all threads.
#[derive(Default)]
pub(super) struct LockFiles {
    known: Mutex<ParsedLockFiles>,
}

/// Parsed lock files by content and by the engine whose rules were applied to it.
type ParsedLockFiles = HashMap<(Engine, Arc<[u8]>), Arc<ParsedLockFile>>;

struct ParsedLockFile {
    bytes: Arc<[u8]>,
    locks: Arc<Locks>,
    /// The parsed file without its locks. Its positions refer to the first file that had this content.
    rest: LockFile,
}

/// The content of a lock file, its locks, and the parsed file without its locks.
type ReadLockFile = (Arc<[u8]>, Arc<Locks>, LockFile);

impl LockFiles {
    /// Parses the content of the lock file at `path`. Errors are not remembered, so each invalid file reports its own errors.
    pub(super) fn read(
        &self,
        path: &Path,
        bytes: Vec<u8>,
        engine: Engine,
    ) -> Result<ReadLockFile, Vec<ParseError>> {
        let key = (engine, Arc::from(bytes));
        if let Some(known) = lock(&self.known).get(&key) {
            return Ok(known.at(path));
        }
        let mut rest = lockfile::parse(path, &key.1, engine)?;
        let shared = Arc::new(ParsedLockFile {
            bytes: Arc::clone(&key.1),
            locks: Arc::new(std::mem::take(&mut rest.locks)),
            rest,
        });
        let read = shared.at(path);
        lock(&self.known).insert(key, shared);
        Ok(read)
    }
}

impl ParsedLockFile {
    /// Returns the parsed file. All its positions refer to the file at `path`.
    fn at(&self, path: &Path) -> ReadLockFile {
        let mut rest = self.rest.clone();
        let modules = rest.modules.as_mut().map(|modules| &mut modules.first);
        let places = rest.places.values_mut().chain(modules);
        places.for_each(|place: &mut Place| place.path = path.to_path_buf());
        (Arc::clone(&self.bytes), Arc::clone(&self.locks), rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identical_files_are_parsed_once_and_keep_their_places() {
        let files = LockFiles::default();
        let text = "provider \"registry.terraform.io/a/b\" {\n  version = \"1.0.0\"\n}\nmodule \"m\" {\n}\n";
        let read =
            |path: &str, text: &str| files.read(Path::new(path), text.into(), Engine::Terraform);
        let (bytes, locks, first) = read("a/x", text).unwrap();
        let (same_bytes, same_locks, second) = read("b/x", text).unwrap();
        assert!(Arc::ptr_eq(&bytes, &same_bytes) && Arc::ptr_eq(&locks, &same_locks));
        let places = |file: &LockFile| {
            let modules = file.modules.as_ref().map(|modules| &modules.first);
            let places = file.places.values().chain(modules);
            places
                .map(ToString::to_string)
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(places(&first), "a/x:1:1 a/x:4:1");
        assert_eq!(places(&second), "b/x:1:1 b/x:4:1");
        assert!(read("a/x", "provider {").is_err() && read("b/x", "provider {").is_err());
        let (_, other, _) = read("a/x", "").unwrap();
        assert!(other.providers.is_empty());
    }
}
