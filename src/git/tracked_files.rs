//! Determines which files git tracks.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::repository::Repository;
use super::settings::GitSettings;
use crate::access::find_repository;

/// The files that git tracks, listed once per repository.
#[derive(Debug)]
pub struct TrackedFiles {
    settings: GitSettings,
    by_repository: Mutex<BTreeMap<PathBuf, BTreeSet<PathBuf>>>,
}

impl TrackedFiles {
    /// Creates a value that lists the files of a repository when they are first needed.
    pub fn new(settings: GitSettings) -> Self {
        Self {
            settings,
            by_repository: Mutex::default(),
        }
    }

    /// Whether git tracks the file at `path`, which is absolute and without symlinks. False if `path` is not in a repository.
    pub fn contains(&self, path: &Path) -> io::Result<bool> {
        let Some(top) = path.parent().and_then(find_repository) else {
            return Ok(false);
        };
        let lock = self.by_repository.lock();
        let mut by_repository = lock.unwrap_or_else(PoisonError::into_inner);
        if let Some(files) = by_repository.get(top) {
            return Ok(files.contains(path));
        }
        let files = Repository::open(&self.settings, top)
            .and_then(|repository| repository.paths("ls-files", &["-z", "--cached"]))
            .map_err(io::Error::other)?;
        let is_tracked = files.contains(path);
        by_repository.insert(top.to_path_buf(), files);
        Ok(is_tracked)
    }
}
