//! Unpacks a zip into a directory.
//!
//! The same entries are taken as for hashing. Links are not made: an entry that is one becomes a file with the name of its
//! target in it, as in Terraform and OpenTofu. So nothing that is written here can lead out of the directory.
//!
//! Of a module only the contents matter. The files of a package get the permissions that the archive gives them, whatever
//! the umask, and its directories those of new directories: this is how both tools install it.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufReader, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

use flate2::Decompress;

use crate::package::archive::access::{Access as _, AccessError, WholeFile};
use crate::package::archive::content::{EntryFault, PIECE_BYTES, Sink, UnpackError, copy, inflate};
use crate::package::archive::directory::{DirectoryError, read_directory};
use crate::package::archive::entries::check_size;
use crate::package::archive::record::{DEFLATED, Entry, LOCAL_BYTES, LocalHeader, STORED};
use crate::package::path::{EntryPath, shown};
use crate::package::{Limits, PackageError};

/// Unpacks all entries into `target`, which exists and is empty.
pub fn unpack_archive(file: &File, target: &Path, limits: &Limits) -> Result<(), PackageError> {
    unpack_entries(file, target, limits).map(drop)
}

/// Unpacks a package into `target`, which exists and is empty, as `init` does.
pub fn unpack_package(file: &File, target: &Path, limits: &Limits) -> Result<(), PackageError> {
    // A file that comes twice can only be written again while nothing forbids it, so permissions are set last.
    for (path, mode) in unpack_entries(file, target, limits)? {
        set_mode(&path, mode).map_err(|source| PackageError::Write { path, source })?;
    }
    Ok(())
}

/// The files that were unpacked, with their permissions.
fn unpack_entries(
    file: &File,
    target: &Path,
    limits: &Limits,
) -> Result<BTreeMap<PathBuf, u32>, PackageError> {
    let mut archive = WholeFile::new(file).map_err(PackageError::Read)?;
    let entries = read_directory(&mut archive, limits).map_err(|error| match error {
        DirectoryError::Package(error) => error,
        DirectoryError::NotKept => unreachable!("a whole file has all bytes"),
    })?;
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

/// Unpacks one entry to `path`; whether it is a file.
fn unpack_entry(
    archive: &mut WholeFile<'_>,
    inflater: &mut Decompress,
    entry: &Entry,
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

/// Elsewhere there is one bit, and the tools set it likewise.
#[cfg(not(unix))]
fn set_mode(path: &Path, mode: u32) -> io::Result<()> {
    let mut permissions = fs::metadata(path)?.permissions();
    permissions.set_readonly(mode & 0o200 == 0);
    fs::set_permissions(path, permissions)
}

/// The path of an entry below `target`, never outside.
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

/// Elsewhere names that are no UTF-8 are written as well as can be.
#[cfg(not(unix))]
fn os_path(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

fn unpack(
    archive: &mut WholeFile<'_>,
    inflater: &mut Decompress,
    entry: &Entry,
    sink: &mut FileSink,
) -> Result<(), UnpackError> {
    let start = local_data(archive, entry)?.ok_or(EntryFault::NoLocalHeader)?;
    let length = entry.compressed.cast_signed().max(0).cast_unsigned();
    let data = archive.at(start)?.take(length);
    let mut data = BufReader::with_capacity(PIECE_BYTES / 4, data);
    match entry.method {
        STORED => copy(&mut data, length, sink)?,
        DEFLATED => inflate(&mut data, inflater, sink)?,
        method => return Err(EntryFault::UnsupportedMethod { method }.into()),
    };
    if sink.size != entry.uncompressed {
        return Err(EntryFault::Size.into());
    }
    let is_unknown = entry.crc == 0 && !entry.has_descriptor;
    if sink.crc.clone().finalize() != entry.crc && !is_unknown {
        return Err(EntryFault::Checksum.into());
    }
    Ok(())
}

/// Where the data of an entry begins.
fn local_data(archive: &mut WholeFile<'_>, entry: &Entry) -> Result<Option<u64>, UnpackError> {
    let Ok(offset) = u64::try_from(entry.offset) else {
        return Ok(None);
    };
    let mut record = [0; LOCAL_BYTES];
    let read = archive
        .read_at(offset, &mut record)
        .map_err(|error| match error {
            AccessError::Io(error) => UnpackError::Io(error),
            AccessError::NotKept => unreachable!("a whole file has all bytes"),
        })?;
    let header = LocalHeader::parse(&record).filter(|_| read == LOCAL_BYTES);
    Ok(header.map(|header| offset + header.bytes()))
}

/// Writes content as it is unpacked.
struct FileSink {
    file: File,
    room: Vec<u8>,
    crc: crc32fast::Hasher,
    size: u64,
    /// More content than this is refused.
    most: u64,
    /// Why it could not be written.
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

impl Sink for FileSink {
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
        // What is reported is the failure, and not that the content is incomplete.
        self.file.write_all(piece).map_err(|error| {
            self.failure = Some(error);
            EntryFault::CutShort
        })
    }
}
