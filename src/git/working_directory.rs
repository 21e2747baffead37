//! The directory that git is started in: an empty one of our own, so that no file of the tree lies where git, a helper or
//! Windows looks first.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::TempDir;

/// An empty directory that only this user can read or write. It is made when it is needed, shared by all clones, and removed
/// with the last.
#[derive(Clone, Debug, Default)]
pub(super) struct WorkingDirectory {
    directory: Arc<Mutex<Option<TempDir>>>,
}

impl WorkingDirectory {
    /// Its path, without links.
    pub(super) fn path(&self) -> io::Result<PathBuf> {
        let directory = self.directory.lock();
        let mut directory = directory.unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = directory.as_ref() {
            return made.path().canonicalize();
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix("tflock-git-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            builder.permissions(std::fs::Permissions::from_mode(0o700));
        }
        let made = builder.tempdir()?;
        directory.insert(made).path().canonicalize()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_share_one_empty_directory_that_goes_with_the_last() {
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
