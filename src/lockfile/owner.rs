//! Temporary files beside lock files: whose they are, and which of them nobody will miss.
//!
//! A lock file is written under a temporary name in its own directory and renamed. A process that is killed in between leaves
//! that file behind. The name says which host and process it belongs to,
//!
//! ```text
//! .terraform.lock.hcl.tflock-HOST-PROCESS-RANDOM
//! ```
//!
//! so that a later run can remove those of processes that are gone, on this host, and leave alone what others are writing.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// What all temporary names start with.
const PREFIX: &str = ".terraform.lock.hcl.tflock-";

/// More of a host's name than this is not needed to tell hosts apart; file names are limited to 255 bytes.
const MAX_HOST_LENGTH: usize = 64;

/// The process that writes lock files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    host: String,
    process: u32,
}

impl Owner {
    /// A process of some host.
    pub fn new(host: &str, process: u32) -> Self {
        let plain = |char: char| {
            if char.is_ascii_alphanumeric() || char == '.' {
                char
            } else {
                '_'
            }
        };
        Self {
            host: host.chars().map(plain).take(MAX_HOST_LENGTH).collect(),
            process,
        }
    }

    /// This process.
    pub fn current() -> Self {
        Self::new(
            &gethostname::gethostname().to_string_lossy(),
            std::process::id(),
        )
    }

    /// What a temporary name of this owner starts with; something random is to follow.
    pub(super) fn prefix(&self) -> String {
        format!("{PREFIX}{}-{}-", self.host, self.process)
    }

    /// The owner that a temporary name tells.
    fn of(name: &OsStr) -> Option<Self> {
        let mut parts = name.to_str()?.strip_prefix(PREFIX)?.split('-');
        let (host, process) = (parts.next()?, parts.next()?.parse().ok()?);
        let random = parts.next()?;
        (parts.next().is_none() && !random.is_empty()).then(|| Self {
            host: host.to_owned(),
            process,
        })
    }
}

/// Whether a file name is that of a lock file being written.
pub fn is_temporary(name: &OsStr) -> bool {
    Owner::of(name).is_some()
}

/// Removes the temporary files in a directory that belong to processes of `owner`'s host that are gone. Returns what was
/// removed.
pub fn clean_stale(directory: &Path, owner: &Owner) -> io::Result<Vec<PathBuf>> {
    let mut removed = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let stale = Owner::of(&entry.file_name()).is_some_and(|other| {
            other.host == owner.host && other.process != owner.process && is_gone(other.process)
        });
        if stale && entry.file_type()?.is_file() && remove(&entry.path())? {
            removed.push(entry.path());
        }
    }
    removed.sort();
    Ok(removed)
}

/// Removes a file; false if another run was faster, or if it is in use after all.
fn remove(path: &Path) -> io::Result<bool> {
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        // Windows: the owner holds it open, see `save`.
        Err(_) if cfg!(windows) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Whether no process has this number. A process that may not be asked exists.
#[cfg(unix)]
fn is_gone(process: u32) -> bool {
    use rustix::process::{Pid, test_kill_process};

    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    process.is_none_or(|process| test_kill_process(process) == Err(rustix::io::Errno::SRCH))
}

/// Elsewhere a process cannot be asked for safely, and need not be: files of living owners cannot be removed, because `save`
/// opens them for itself alone.
#[cfg(not(unix))]
const fn is_gone(_process: u32) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_their_owner() {
        let owner = Owner::new("build-7.example", 42);
        let name = owner.prefix() + "x9";
        assert_eq!(name, ".terraform.lock.hcl.tflock-build_7.example-42-x9");
        assert_eq!(Owner::of(OsStr::new(&name)), Some(owner));
        assert_eq!(Owner::new(&"é".repeat(99), 1).host, "_".repeat(64));
        let current = Owner::current();
        assert_eq!(
            Owner::of(OsStr::new(&(current.prefix() + "x"))),
            Some(current)
        );
    }

    #[test]
    fn other_names_belong_to_nobody() {
        assert!(is_temporary(OsStr::new(".terraform.lock.hcl.tflock-h-1-x")));
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
            assert!(!is_temporary(OsStr::new(name)), "{name}");
        }
    }

    /// The number of a process that has ended.
    #[cfg(unix)]
    fn ended() -> u32 {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        child.id()
    }

    #[cfg(unix)]
    #[test]
    fn only_files_of_processes_that_are_gone_are_removed() {
        let directory = tempfile::tempdir().unwrap();
        let owner = Owner::new("here", std::process::id());
        let gone = ended();
        let name = |host, process| Owner::new(host, process).prefix() + "x";
        let stale = directory.path().join(name("here", gone));
        let kept = [
            name("here", 1),                  // runs, though perhaps as another user
            name("here", owner.process),      // our own
            name("there", gone),              // another host
            ".terraform.lock.hcl".to_owned(), // no temporary file
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
    fn another_run_may_be_faster() {
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
