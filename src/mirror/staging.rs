//! A staging directory for files that are not yet complete.
//!
//! ```text
//! PARENT/.NAME.tflock-HOST-PROCESS-RANDOM/     next to DIR = PARENT/NAME, where `init` does not look
//! DIR/.tflock-HOST-PROCESS-RANDOM/             if DIR is a mount point, or PARENT is not writable
//! ```
//!
//! Files can be renamed only within one file system, so a mount point requires the second path. `init` ignores that directory, but
//! fails if a name in it disappears while `init` walks through `DIR`.
//!
//! A process removes its own directory when it exits, and the directories of killed processes when it starts.

use std::path::{Path, PathBuf};
use std::{fs, io};

use tempfile::{Builder, NamedTempFile, TempDir};

use crate::temporary_file::Owner;

/// The name prefix of a staging directory inside the mirror.
const INSIDE: &str = ".tflock";

/// The staging directory of this process, on the file system of the mirror.
#[derive(Debug)]
pub(super) struct Staging {
    /// Declared before `directory`, so that it is released before the directory is removed.
    _claim: Claim,
    directory: TempDir,
}

impl Staging {
    /// Creates a staging directory for the existing mirror `base`, and removes those of killed processes.
    pub(super) fn open(base: &Path, owner: &Owner) -> io::Result<Self> {
        let base = fs::canonicalize(base)?;
        clean(&base, INSIDE, owner);
        let outside = base.parent().zip(base.file_name());
        if let Some((parent, name)) = outside {
            let stem = format!(".{}{INSIDE}", name.to_string_lossy());
            clean(parent, &stem, owner);
            let made = Builder::new()
                .prefix(&owner.prefix(&stem))
                .tempdir_in(parent);
            if let Ok(directory) = made
                && one_file_system(directory.path(), &base)
            {
                return Self::claim(directory);
            }
        }
        let directory = Builder::new()
            .prefix(&owner.prefix(INSIDE))
            .tempdir_in(&base)?;
        Self::claim(directory)
    }

    fn claim(directory: TempDir) -> io::Result<Self> {
        Ok(Self {
            _claim: Claim::new(directory.path())?,
            directory,
        })
    }

    /// Creates a new file, with the permissions that the umask allows.
    pub(super) fn file(&self) -> io::Result<NamedTempFile> {
        builder(0o666).tempfile_in(self.directory.path())
    }

    /// Creates a new directory, with the permissions that the umask allows.
    pub(super) fn directory(&self) -> io::Result<TempDir> {
        builder(0o777).tempdir_in(self.directory.path())
    }

    /// Returns a free path in a new directory, which is removed when the returned `TempDir` is dropped.
    pub(super) fn free_name(&self) -> io::Result<(TempDir, PathBuf)> {
        let directory = self.directory()?;
        let path = directory.path().join("it");
        Ok((directory, path))
    }
}

/// Returns a builder of files and directories with the permissions `mode`, minus the umask.
#[cfg(unix)]
fn builder(mode: u32) -> Builder<'static, 'static> {
    use std::os::unix::fs::PermissionsExt as _;

    let mut builder = Builder::new();
    builder.permissions(fs::Permissions::from_mode(mode));
    builder
}

#[cfg(not(unix))]
fn builder(_mode: u32) -> Builder<'static, 'static> {
    Builder::new()
}

/// Marks a staging directory as in use. Does nothing on Unix, where the process ID in the name of the directory is enough.
#[cfg(unix)]
#[derive(Debug)]
struct Claim;

#[cfg(unix)]
impl Claim {
    #[expect(clippy::unnecessary_wraps, reason = "it can fail on other systems")]
    const fn new(_directory: &Path) -> io::Result<Self> {
        Ok(Self)
    }

    const fn is_released(_directory: &Path) -> bool {
        true
    }
}

/// On other systems, the mark is a file that cannot be removed while its process has it open.
#[cfg(not(unix))]
#[derive(Debug)]
struct Claim {
    _file: fs::File,
}

#[cfg(not(unix))]
impl Claim {
    const NAME: &str = ".claim";

    fn new(directory: &Path) -> io::Result<Self> {
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(windows)]
        std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, 0);
        let file = options.open(directory.join(Self::NAME))?;
        Ok(Self { _file: file })
    }

    /// Whether no process uses the directory any more. Returns `false` if the file does not exist, because then another process
    /// is creating or removing the directory.
    fn is_released(directory: &Path) -> bool {
        fs::remove_file(directory.join(Self::NAME)).is_ok()
    }
}

/// Removes the staging directories of processes that have exited. Errors are ignored; a later run tries again.
fn clean(parent: &Path, stem: &str, owner: &Owner) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let stale = entries.filter(|entry| owner.is_stale(stem, &entry.file_name()));
    for entry in stale.filter(|entry| Claim::is_released(&entry.path())) {
        let _ = fs::remove_dir_all(entry.path());
    }
}

/// Whether files can be renamed from one directory to the other.
#[cfg(unix)]
fn one_file_system(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let device = |path| fs::metadata(path).map(|metadata| metadata.dev());
    matches!((device(one), device(other)), (Ok(one), Ok(other)) if one == other)
        && mount(one) == mount(other)
}

/// Returns the ID of the mount. A file system can be mounted at several paths, and files cannot be renamed between mounts.
#[cfg(target_os = "linux")]
fn mount(path: &Path) -> Option<u64> {
    use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

    let found = statx(CWD, path, AtFlags::empty(), StatxFlags::MNT_ID).ok()?;
    (found.stx_mask & StatxFlags::MNT_ID.bits() != 0).then_some(found.stx_mnt_id)
}

#[cfg(all(unix, not(target_os = "linux")))]
const fn mount(_path: &Path) -> Option<u64> {
    None
}

/// On other systems, a directory and its siblings are nearly always on the same volume. If not, writing fails with an error.
#[cfg(not(unix))]
const fn one_file_system(_one: &Path, _other: &Path) -> bool {
    true
}
