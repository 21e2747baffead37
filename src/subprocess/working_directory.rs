//! The directory in which programs start. It is empty: programs, their helpers and Windows look for files in the working directory, and
//! files in the tree may come from an attacker.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::TempDir;

/// An empty directory that only this user can read or write. It is created on first use, shared by all clones of this value, and
/// removed when the last clone is dropped.
#[derive(Clone, Debug, Default)]
pub(super) struct WorkingDirectory {
    directory: Arc<Mutex<Option<TempDir>>>,
}

impl WorkingDirectory {
    /// Returns the path of the directory, without symlinks.
    pub(super) fn path(&self) -> io::Result<PathBuf> {
        let lock = self.directory.lock();
        let mut directory = lock.unwrap_or_else(PoisonError::into_inner);
        if let Some(created) = directory.as_ref() {
            return created.path().canonicalize();
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix("tflock-run-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(std::fs::Permissions::from_mode(0o700));
        }
        let created = builder.tempdir()?;
        directory.insert(created).path().canonicalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_one_empty_directory_until_the_last_is_dropped() {
        let first = WorkingDirectory::default();
        let second = first.clone();
        let path = first.path().unwrap();
        assert_eq!(second.path().unwrap(), path);
        assert_eq!(path.read_dir().unwrap().count(), 0);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        }
        drop(first);
        assert!(path.exists());
        drop(second);
        assert!(!path.exists());
    }
}
