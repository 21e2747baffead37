//! An advisory lock on a directory, so that only one process at a time replaces a lock file there.
//!
//! On Unix, the directory itself is locked (`flock`), so no file appears in the tree. On Windows, tflock opens a file for
//! exclusive use in the directory for temporary files. The file name is derived from the locked directory, and the file is
//! deleted when its last handle is closed. Users with different directories for temporary files do not exclude each other. The
//! operating system releases both kinds of lock when a process is killed.
//!
//! If the file system does not support locks (NFS cannot lock directories), tflock proceeds without one. A change that another
//! machine makes in the ten microseconds or so between comparing and renaming can then be lost.

use std::fs::File;
use std::path::Path;

/// The error if another process holds the lock.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Busy;

/// Tries to lock `directory` without blocking. The lock is held until the returned value is dropped. Returns `None` if the file
/// system does not support locks.
#[cfg(unix)]
pub(super) fn lock_directory(directory: &Path) -> Result<Option<File>, Busy> {
    use rustix::fs::{FlockOperation, flock};
    use rustix::io::Errno;

    let Ok(directory) = File::open(directory) else {
        return Ok(None);
    };
    match flock(&directory, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(Some(directory)),
        Err(Errno::WOULDBLOCK | Errno::INTR) => Err(Busy),
        Err(_unsupported) => Ok(None),
    }
}

#[cfg(windows)]
pub(super) fn lock_directory(directory: &Path) -> Result<Option<File>, Busy> {
    use std::os::windows::fs::OpenOptionsExt as _;

    use sha2::{Digest as _, Sha256};

    /// `FILE_FLAG_DELETE_ON_CLOSE`.
    const DELETE_ON_CLOSE: u32 = 0x0400_0000;
    /// `ERROR_SHARING_VIOLATION`, and `ERROR_ACCESS_DENIED` while the file is being removed.
    const IN_USE: [i32; 2] = [32, 5];

    let Ok(real) = std::fs::canonicalize(directory) else {
        return Ok(None);
    };
    let digest = Sha256::digest(real.as_os_str().as_encoded_bytes());
    let name: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    let opened = std::fs::OpenOptions::new()
        .write(true)
        .create(true)
        .share_mode(0)
        .custom_flags(DELETE_ON_CLOSE)
        .open(std::env::temp_dir().join(format!("tflock-{name}")));
    match opened {
        Ok(file) => Ok(Some(file)),
        Err(error)
            if error
                .raw_os_error()
                .is_some_and(|code| IN_USE.contains(&code)) =>
        {
            Err(Busy)
        }
        Err(_unsupported) => Ok(None),
    }
}

#[cfg(not(any(unix, windows)))]
pub(super) fn lock_directory(_directory: &Path) -> Result<Option<File>, Busy> {
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(any(unix, windows))]
    #[test]
    fn a_directory_is_locked_once_and_no_file_appears_there() {
        let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [here, there] = directories.each_ref().map(tempfile::TempDir::path);
        let first = lock_directory(here).unwrap();
        assert_eq!(lock_directory(here).unwrap_err(), Busy);
        assert!(
            lock_directory(&here.join(".")).is_err(),
            "the same directory, under another name"
        );
        assert!(lock_directory(there).is_ok());
        assert_eq!(std::fs::read_dir(here).unwrap().count(), 0);
        drop(first);
        assert!(lock_directory(here).is_ok());
    }

    /// A missing directory is treated like a file system without locks.
    #[test]
    fn a_directory_without_locks_counts_as_locked() {
        let locks = [0; 2].map(|_| lock_directory(Path::new("/nonexistent")));
        assert!(locks.iter().all(Result::is_ok));
    }
}
