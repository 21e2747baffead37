//! Temporary names: whose they are, and which of them nobody will miss.
//!
//! What is written in several steps is made under a temporary name and renamed. A process that is killed in between leaves
//! that name behind. It says which host and process it belongs to,
//!
//! ```text
//! STEM-HOST-PROCESS-RANDOM
//! ```
//!
//! so that a later run can remove what belongs to processes that are gone, on this host, and leave alone what others are
//! writing.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;
use std::{io, thread};

use tempfile::TempPath;

/// More of a host's name than this is not needed to tell hosts apart; file names are limited to 255 bytes.
const MAX_HOST_LENGTH: usize = 64;

/// How often a name is asked for again, and after how long: more than a few processes on one file have to wait for each other.
const REFUSALS: usize = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// Gives a finished file its name. Windows refuses that while another process replaces or reads the file of that name, and a
/// moment later it does not.
pub fn rename(mut temporary: TempPath, target: &Path) -> io::Result<()> {
    for _ in 0..REFUSALS {
        match temporary.persist(target) {
            Err(refused)
                if cfg!(windows) && refused.error.kind() == io::ErrorKind::PermissionDenied =>
            {
                temporary = refused.path;
                thread::sleep(PAUSE);
            }
            done => return Ok(done?),
        }
    }
    Ok(temporary.persist(target)?)
}

/// Gives a finished file a name that no file has yet; false if one has.
pub fn rename_to_free_name(temporary: TempPath, target: &Path) -> io::Result<bool> {
    match temporary.persist_noclobber(target) {
        Ok(()) => Ok(true),
        Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        // Some file systems can do neither that nor hard links, so looking has to do.
        Err(refused) if target.symlink_metadata().is_err() => {
            rename(refused.path, target).map(|()| true)
        }
        Err(refused) => Err(refused.error),
    }
}

/// A process that writes.
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
    pub fn prefix(&self, stem: &str) -> String {
        format!("{stem}-{}-{}-", self.host, self.process)
    }

    /// The owner that a temporary name with this stem tells.
    pub fn of(stem: &str, name: &OsStr) -> Option<Self> {
        let rest = name.to_str()?.strip_prefix(stem)?.strip_prefix('-')?;
        let mut parts = rest.split('-');
        let (host, process) = (parts.next()?, parts.next()?.parse().ok()?);
        let random = parts.next()?;
        (parts.next().is_none() && !random.is_empty()).then(|| Self {
            host: host.to_owned(),
            process,
        })
    }

    /// Whether a name with this stem is left over from a process of this host that is gone.
    pub fn outlived(&self, stem: &str, name: &OsStr) -> bool {
        Self::of(stem, name).is_some_and(|other| {
            other.host == self.host && other.process != self.process && is_gone(other.process)
        })
    }
}

/// Whether no process has this number. A process that may not be asked exists.
#[cfg(unix)]
fn is_gone(process: u32) -> bool {
    use rustix::process::{Pid, test_kill_process};

    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    process.is_none_or(|process| test_kill_process(process) == Err(rustix::io::Errno::SRCH))
}

/// Elsewhere a process cannot be asked for safely, and need not be: files of living owners cannot be removed, because they
/// are opened for one process alone.
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
        let name = owner.prefix(".x") + "x9";
        assert_eq!(name, ".x-build_7.example-42-x9");
        assert_eq!(Owner::of(".x", OsStr::new(&name)), Some(owner));
        assert_eq!(Owner::of(".y", OsStr::new(&name)), None);
        assert_eq!(Owner::new(&"é".repeat(99), 1).host, "_".repeat(64));
        let current = Owner::current();
        assert_eq!(
            Owner::of(".x", OsStr::new(&(current.prefix(".x") + "x"))),
            Some(current)
        );
    }

    #[cfg(unix)]
    #[test]
    fn only_what_processes_left_that_are_gone_is_outlived() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let owner = Owner::new("here", std::process::id());
        for (host, process, expected) in [
            ("here", child.id(), true),
            ("here", 1, false), // runs, though perhaps as another user
            ("here", owner.process, false),
            ("there", child.id(), false),
        ] {
            let name = Owner::new(host, process).prefix(".x") + "r";
            assert_eq!(owner.outlived(".x", OsStr::new(&name)), expected, "{name}");
        }
    }
}
