//! One process after the other replaces the lock files of a directory.
//!
//! On Unix the directory itself is locked (`flock`), so nothing appears in the tree. On Windows a file in the directory for
//! temporary files stands for it, which is named after the directory, opened by one process alone, and removed with its last
//! handle; users with another such directory do not wait for each other. The system releases both when a process is killed.
//!
//! Where the file system cannot lock (NFS locks no directories), a turn is taken without: then a change that another machine
//! makes between comparison and renaming can be lost. That is some ten microseconds.

use std::fs::File;
use std::path::Path;

/// The right to replace lock files in one directory, until it is dropped.
#[derive(Debug)]
pub(super) struct Turn {
    /// `None` if the system has no such lock.
    _lock: Option<File>,
}

/// It is the turn of another process.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Busy;

impl Turn {
    /// Takes the turn without waiting.
    pub(super) fn take(directory: &Path) -> Result<Self, Busy> {
        lock(directory).map(|lock| Self { _lock: lock })
    }
}

#[cfg(unix)]
fn lock(directory: &Path) -> Result<Option<File>, Busy> {
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
fn lock(directory: &Path) -> Result<Option<File>, Busy> {
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
fn lock(_directory: &Path) -> Result<Option<File>, Busy> {
    Ok(None)
}

#[cfg(all(test, any(unix, windows)))]
mod tests {
    use super::*;

    #[test]
    fn one_after_the_other_in_a_directory_and_nothing_appears_there() {
        let directories = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let [here, there] = directories.each_ref().map(tempfile::TempDir::path);
        let first = Turn::take(here).unwrap();
        assert_eq!(Turn::take(here).unwrap_err(), Busy);
        assert!(Turn::take(&here.join(".")).is_err(), "by another name");
        assert!(Turn::take(there).is_ok());
        assert_eq!(std::fs::read_dir(here).unwrap().count(), 0);
        drop(first);
        assert!(Turn::take(here).is_ok());
    }

    /// As on a file system that cannot lock.
    #[test]
    fn a_directory_that_cannot_be_locked_is_written_to_all_the_same() {
        let turns = [0; 2].map(|_| Turn::take(Path::new("/nonexistent")));
        assert!(turns.iter().all(Result::is_ok));
    }
}
