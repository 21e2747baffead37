//! Temporary files next to lock files.
//!
//! A lock file is written under a temporary name in its own directory and then renamed. The name contains its [`Owner`],
//!
//! ```text
//! .terraform.lock.hcl.tflock-HOST-PROCESS-RANDOM
//! ```
//!
//! so that a later run can remove the files of killed processes.

use std::path::{Path, PathBuf};
use std::{fs, io};

use crate::temporary_file::Owner;

/// The prefix of the names of temporary lock files.
pub(super) const STEM: &str = ".terraform.lock.hcl.tflock";

/// Removes the temporary files in `directory` whose processes ran on the host of `owner` and have ended. Returns the removed
/// files.
pub fn clean_stale(directory: &Path, owner: &Owner) -> io::Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let stale = owner.is_stale(STEM, &entry.file_name());
        if stale && entry.file_type()?.is_file() && remove(&entry.path())? {
            removed.push(entry.path());
        }
    }
    removed.sort();
    Ok(removed)
}

/// Removes a file. Returns `false` if another process has removed it, or if it is still in use.
fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        // On Windows, a file cannot be removed while its owner is still writing it (`create` in `save`).
        Err(_) if cfg!(windows) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use super::*;

    #[test]
    fn other_names_have_no_owner() {
        let is_temporary = |name: &str| Owner::parse(STEM, OsStr::new(name)).is_some();
        assert!(is_temporary(".terraform.lock.hcl.tflock-h-1-x"));
        for name in [
            ".terraform.lock.hcl",
            ".terraform.lock.hcl12345",
            ".terraform.lock.hcl.tflock-",
            ".terraform.lock.hcl.tflock-h-1",
            ".terraform.lock.hcl.tflock-h-1-",
            ".terraform.lock.hcl.tflock-h-x-y",
            ".terraform.lock.hcl.tflock-h-1-x-y",
            "x.terraform.lock.hcl.tflock-h-1-x",
        ] {
            assert!(!is_temporary(name), "{name}");
        }
    }

    #[cfg(unix)]
    fn ended_process() -> u32 {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    #[cfg(unix)]
    #[test]
    fn only_files_of_ended_processes_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let owner = Owner::new("here", std::process::id());
        let gone = ended_process();
        let name = |host, process| Owner::new(host, process).prefix(STEM) + "x";
        let stale = directory.path().join(name("here", gone));
        let kept = [
            name("here", 1),                  // a running process, perhaps of another user
            name("here", std::process::id()), // this process
            name("there", gone),              // another host
            ".terraform.lock.hcl".to_owned(), // not a temporary file
            format!(".terraform.lock.hcl{gone}"),
        ];
        for file in &kept {
            fs::write(directory.path().join(file), "").unwrap();
        }
        let nested = directory.path().join(name("here", gone) + "y");
        fs::create_dir(&nested).unwrap();
        fs::write(&stale, "").unwrap();
        assert_eq!(
            clean_stale(directory.path(), &owner).unwrap(),
            std::slice::from_ref(&stale)
        );
        assert!(!stale.exists() && nested.exists());
        assert!(kept.iter().all(|file| directory.path().join(file).exists()));
        assert_eq!(
            clean_stale(directory.path(), &owner).unwrap(),
            <[PathBuf; 0]>::default()
        );
        assert!(clean_stale(&directory.path().join("missing"), &owner).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn files_that_another_run_removed_are_ignored() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("x");
        fs::write(&file, "").unwrap();
        assert!(remove(&file).unwrap());
        assert!(!remove(&file).unwrap());
        assert!(
            remove(directory.path()).is_err(),
            "a directory is not removed silently"
        );
    }
}
