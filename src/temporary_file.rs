//! Temporary files, whose names identify the process that writes them: `STEM-HOST-PROCESS-RANDOM`.
//!
//! A file that takes several steps to write is created under a temporary name and then renamed. A process that is killed leaves its
//! temporary file behind. A later run on the same host removes the files of processes that have ended, and leaves the files of
//! running processes alone.

use std::ffi::OsStr;
use std::path::Path;
use std::time::Duration;
use std::{io, thread};

use tempfile::TempPath;

/// The maximum length of the host in a temporary name, in characters. File names are limited to 255 bytes.
const MAX_HOST_LENGTH: usize = 64;

/// The number of times that tflock tries again to rename a file on Windows, and the time between two attempts.
const REFUSALS: usize = 20;
const PAUSE: Duration = Duration::from_millis(10);

/// Renames a complete file to `target`, and replaces an existing file. Windows refuses this while another process reads or replaces
/// the existing file; in that case, tflock tries again.
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

/// Renames a complete file to `target`. Returns false if `target` exists.
pub fn rename_to_free_name(temporary: TempPath, target: &Path) -> io::Result<bool> {
    match temporary.persist_noclobber(target) {
        Ok(()) => Ok(true),
        Err(refused) if refused.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        // Some file systems can neither rename without replacing nor create hard links, so the existence of `target` is checked
        // before the renaming.
        Err(refused) if target.symlink_metadata().is_err() => {
            rename(refused.path, target).map(|()| true)
        }
        Err(refused) => Err(refused.error),
    }
}

/// The process that writes a temporary file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    host: String,
    process: u32,
}

impl Owner {
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

    pub fn current() -> Self {
        Self::new(
            &gethostname::gethostname().to_string_lossy(),
            std::process::id(),
        )
    }

    /// Returns the start of a temporary name of this owner. The caller appends random characters.
    pub fn prefix(&self, stem: &str) -> String {
        format!("{stem}-{}-{}-", self.host, self.process)
    }

    /// Parses the owner from a temporary name with this stem.
    pub fn parse(stem: &str, name: &OsStr) -> Option<Self> {
        let rest = name.to_str()?.strip_prefix(stem)?.strip_prefix('-')?;
        let mut parts = rest.split('-');
        let (host, process) = (parts.next()?, parts.next()?.parse().ok()?);
        let random = parts.next()?;
        (parts.next().is_none() && !random.is_empty()).then(|| Self {
            host: host.to_owned(),
            process,
        })
    }

    /// Returns whether a temporary name with this stem belongs to a process on this host that has ended.
    pub fn is_stale(&self, stem: &str, name: &OsStr) -> bool {
        Self::parse(stem, name).is_some_and(|other| {
            other.host == self.host && other.process != self.process && is_gone(other.process)
        })
    }
}

/// Returns whether no process has this ID. If the system denies permission to signal the process, the process exists.
#[cfg(unix)]
fn is_gone(process: u32) -> bool {
    use rustix::process::{Pid, test_kill_process};

    let process = i32::try_from(process).ok().and_then(Pid::from_raw);
    process.is_none_or(|process| test_kill_process(process) == Err(rustix::io::Errno::SRCH))
}

/// Always returns true on Windows. This is safe: a running process opens its files exclusively, so they cannot be removed.
#[cfg(not(unix))]
const fn is_gone(_process: u32) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_identify_their_owner() {
        let owner = Owner::new("build-7.example", 42);
        let name = owner.prefix(".x") + "x9";
        assert_eq!(name, ".x-build_7.example-42-x9");
        assert_eq!(Owner::parse(".x", OsStr::new(&name)), Some(owner));
        assert_eq!(Owner::parse(".y", OsStr::new(&name)), None);
        assert_eq!(Owner::new(&"é".repeat(99), 1).host, "_".repeat(64));
        let current = Owner::current();
        assert_eq!(
            Owner::parse(".x", OsStr::new(&(current.prefix(".x") + "x"))),
            Some(current)
        );
    }

    #[cfg(unix)]
    #[test]
    fn only_names_of_ended_processes_are_stale() {
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let owner = Owner::new("here", std::process::id());
        for (host, process, expected) in [
            ("here", child.id(), true),
            ("here", 1, false), // a running process, which may belong to a different user
            ("here", owner.process, false),
            ("there", child.id(), false),
        ] {
            let name = Owner::new(host, process).prefix(".x") + "r";
            assert_eq!(owner.is_stale(".x", OsStr::new(&name)), expected, "{name}");
        }
    }
}
