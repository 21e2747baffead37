//! Unpacks a zip into a directory.
//!
//! Writes exactly the entries that are hashed. Symlinks are not created: as in Terraform and OpenTofu, a symlink becomes a file that
//! contains the name of its target. Nothing is written outside the directory.
//!
//! For modules, only the contents matter. For provider packages, the files get their permissions from the archive regardless of the
//! umask, and directories have default permissions, as Terraform and OpenTofu install them.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Component, Path, PathBuf};

use flate2::Decompress;

use crate::package::archive::archive_bytes::{ArchiveBytes as _, WholeFile};
use crate::package::archive::content::{
    ContentSink, EntryFault, PIECE_BYTES, UnpackError, check_content,
};
use crate::package::archive::directory::read_file_directory;
use crate::package::archive::entries::check_size;
use crate::package::archive::file::unpack_content;
use crate::package::archive::record::CentralEntry;
use crate::package::entry_path::{EntryPath, shown};
use crate::package::{Limits, PackageError};

/// Unpacks all entries into `target`, which must be an empty directory.
pub fn unpack_archive(file: &File, target: &Path, limits: &Limits) -> Result<(), PackageError> {
    unpack_entries(file, target, limits).map(drop)
}

/// Unpacks a package as `init` does, into `target`, which must be an empty directory.
pub fn unpack_package(file: &File, target: &Path, limits: &Limits) -> Result<(), PackageError> {
    // Permissions are set last, because a file that occurs twice must stay writable until then.
    for (path, mode) in unpack_entries(file, target, limits)? {
        set_mode(&path, mode).map_err(|source| PackageError::Write { path, source })?;
    }
    Ok(())
}

/// Unpacks all entries. Returns the files with their permissions.
fn unpack_entries(
    file: &File,
    target: &Path,
    limits: &Limits,
) -> Result<BTreeMap<PathBuf, u32>, PackageError> {
    let mut archive = WholeFile::new(file).map_err(PackageError::Read)?;
    let entries = read_file_directory(&mut archive, limits)?;
    if entries.is_empty() {
        return Err(PackageError::Empty);
    }
    check_size(&entries, archive.size(), limits)?;
    let mut inflater = Decompress::new(false);
    let mut modes = BTreeMap::new();
    for entry in &entries {
        let path = entry_target(target, &entry.name)?;
        if unpack_entry(&mut archive, &mut inflater, entry, &path)? {
            modes.insert(path, entry.mode);
        }
    }
    Ok(modes)
}

/// Unpacks one entry to `path`. Returns whether it is a file.
fn unpack_entry(
    archive: &mut WholeFile<'_>,
    inflater: &mut Decompress,
    entry: &CentralEntry,
    path: &Path,
) -> Result<bool, PackageError> {
    let failed = |source| PackageError::Write {
        path: path.to_path_buf(),
        source,
    };
    if entry.is_directory {
        fs::create_dir_all(path).map_err(failed)?;
        return Ok(false);
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    let mut sink = FileSink::new(File::create(path).map_err(failed)?, entry.uncompressed);
    let unpacked = unpack(archive, inflater, entry, &mut sink);
    if let Some(source) = sink.failure.take() {
        return Err(failed(source));
    }
    unpacked.map_err(|error| match error {
        UnpackError::Io(error) => PackageError::Read(error),
        UnpackError::Fault(fault) => PackageError::Entry {
            name: shown(&entry.name),
            fault,
        },
    })?;
    Ok(true)
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    fs::set_permissions(path, fs::Permissions::from_mode(mode))
}

/// Sets the read-only flag, as Terraform and OpenTofu do on Windows.
#[cfg(not(unix))]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    let mut permissions = fs::metadata(path)?.permissions();
    permissions.set_readonly(mode & 0o200 == 0);
    fs::set_permissions(path, permissions)
}

/// Returns the path of an entry, which is always below `target`.
pub(crate) fn entry_target(target: &Path, name: &[u8]) -> Result<PathBuf, PackageError> {
    let path = EntryPath::new(name)?;
    let relative = os_path(path.as_bytes());
    let mut components = relative.components();
    if !components.all(|component| matches!(component, Component::Normal(_))) {
        return Err(PackageError::ParentInName { name: shown(name) });
    }
    Ok(target.join(relative))
}

#[cfg(unix)]
fn os_path(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;

    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

/// Replaces invalid UTF-8, which Windows cannot represent in names.
#[cfg(not(unix))]
fn os_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

fn unpack(
    archive: &mut WholeFile<'_>,
    inflater: &mut Decompress,
    entry: &CentralEntry,
    sink: &mut FileSink,
) -> Result<(), UnpackError> {
    unpack_content(archive, inflater, entry, sink)?;
    Ok(check_content(
        entry,
        sink.size,
        sink.crc.clone().finalize(),
    )?)
}

/// Writes content while it is unpacked.
struct FileSink {
    file: File,
    room: Vec<u8>,
    crc: crc32fast::Hasher,
    size: u64,
    /// The maximum size of the content in bytes.
    most: u64,
    /// The error of a failed write.
    failure: Option<io::Error>,
}

impl FileSink {
    fn new(file: File, most: u64) -> Self {
        Self {
            file,
            room: vec![0; PIECE_BYTES],
            crc: crc32fast::Hasher::new(),
            size: 0,
            most,
            failure: None,
        }
    }
}

impl ContentSink for FileSink {
    fn room(&mut self) -> &mut [u8] {
        &mut self.room
    }

    fn take(&mut self, count: usize) -> Result<(), EntryFault> {
        let piece = &self.room[..count];
        self.size += count as u64;
        if self.size > self.most {
            return Err(EntryFault::Size);
        }
        self.crc.update(piece);
        // The caller reports `failure` instead of this fault.
        self.file.write_all(piece).map_err(|error| {
            self.failure = Some(error);
            EntryFault::CutShort
        })
    }
}
