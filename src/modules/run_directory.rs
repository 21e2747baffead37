//! The temporary directory for packages that are not cached.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use tempfile::TempDir;

use super::{ModuleError, disk};

/// A temporary directory that is created for the first package and removed when this value is dropped.
#[derive(Debug, Default)]
pub(super) struct RunDirectory {
    directory: Mutex<Option<TempDir>>,
    count: AtomicUsize,
}

impl RunDirectory {
    /// Returns a new path for a package, without symlinks. Its parent directory exists, but the path itself does not.
    pub(super) fn next_path(&self) -> Result<PathBuf, ModuleError> {
        let lock = self.directory.lock();
        let mut directory = lock.unwrap_or_else(PoisonError::into_inner);
        if directory.is_none() {
            let created = tempfile::Builder::new().prefix("tflock-modules-").tempdir();
            *directory = Some(created.map_err(disk(&tempfile::env::temp_dir()))?);
        }
        let path = directory.as_ref().map_or(Path::new(""), TempDir::path);
        let real = fs::canonicalize(path).map_err(disk(path))?;
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        Ok(real.join(number.to_string()))
    }
}
