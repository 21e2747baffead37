//! Where files are made before they appear in the mirror.
//!
//! ```text
//! PARENT/.NAME.tflock-HOST-PROCESS-RANDOM/     beside DIR = PARENT/NAME, where no reader of DIR looks
//! DIR/.tflock-HOST-PROCESS-RANDOM/             where DIR is the root of a file system, or PARENT cannot be written
//! ```
//!
//! A rename moves a file only within one file system, so the second place is for mount points. Readers ignore it, but one
//! that walks through `DIR` at the very moment in which a name in it disappears fails.
//!
//! A process removes its own directory at its end, and those that killed processes have left at its beginning.

use std::path::{Path, PathBuf};
use std::{fs, io};

use tempfile::{Builder, NamedTempFile, TempDir};

use crate::owner::Owner;

/// What names inside of the mirror start with.
const INSIDE: &str = ".tflock";

/// A directory of this process on the file system of the mirror.
#[derive(Debug)]
pub(super) struct Staging {
    /// Closed before the directory is removed.
    _claim: Claim,
    directory: TempDir,
}

impl Staging {
    /// Makes the directory for `base`, which exists, and removes what was left by others.
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

    /// A new file, with the permissions of any other.
    pub(super) fn file(&self) -> io::Result<NamedTempFile> {
        builder(0o666).tempfile_in(self.directory.path())
    }

    /// A new directory, with the permissions of any other.
    pub(super) fn directory(&self) -> io::Result<TempDir> {
        builder(0o777).tempdir_in(self.directory.path())
    }

    /// A name that nothing has yet.
    pub(super) fn free_name(&self) -> io::Result<(TempDir, PathBuf)> {
        let directory = self.directory()?;
        let path = directory.path().join("it");
        Ok((directory, path))
    }
}

/// Makes files and directories with these permissions, as far as the umask lets them.
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

/// Says that a process still uses a directory. On Unix its name says which process that is, and the system whether it runs.
#[cfg(unix)]
#[derive(Debug)]
struct Claim;

#[cfg(unix)]
impl Claim {
    #[expect(clippy::unnecessary_wraps, reason = "elsewhere it can fail")]
    const fn new(_directory: &Path) -> io::Result<Self> {
        Ok(Self)
    }

    const fn is_released(_directory: &Path) -> bool {
        true
    }
}

/// Elsewhere it is a file that nobody can remove while its process has it open.
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

    /// A directory without the file is being made or removed by somebody.
    fn is_released(directory: &Path) -> bool {
        fs::remove_file(directory.join(Self::NAME)).is_ok()
    }
}

/// Removes the staging directories of processes that are gone. What cannot be removed stays for a later run.
fn clean(parent: &Path, stem: &str, owner: &Owner) {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let stale = entries.filter(|entry| owner.outlived(stem, &entry.file_name()));
    for entry in stale.filter(|entry| Claim::is_released(&entry.path())) {
        let _ = fs::remove_dir_all(entry.path());
    }
}

/// Whether a rename can lead from one directory to the other.
#[cfg(unix)]
fn one_file_system(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let device = |path| fs::metadata(path).map(|metadata| metadata.dev());
    matches!((device(one), device(other)), (Ok(one), Ok(other)) if one == other)
        && mount(one) == mount(other)
}

/// A directory can be mounted elsewhere in its own file system, and renames do not cross that either.
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

/// Elsewhere a directory and what stands beside it are nearly always on one volume; where they are not, writing says so.
#[cfg(not(unix))]
const fn one_file_system(_one: &Path, _other: &Path) -> bool {
    true
}
