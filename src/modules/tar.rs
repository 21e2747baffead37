//! Unpacks tar archives.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, Read, Seek as _, Write as _};
use std::path::Path;

use tar::{Archive, Entry, EntryType, PaxExtensions};

use super::ArchiveKind;
use super::decompression::{MAX_WINDOW_BYTES, decompress};
use crate::package::{self, Limits, MAX_PATH_BYTES, PackageError};

/// The maximum size, in bytes, of an entry that describes the next entry with a long name and other attributes.
const MAX_DESCRIPTION_BYTES: u64 = 16 * MAX_PATH_BYTES as u64;

#[derive(Debug, thiserror::Error)]
pub(super) enum TarError {
    /// The file is not a tar archive, is not compressed as its name says, or is truncated.
    #[error("it cannot be read")]
    Read(#[source] io::Error),
    /// An entry's name is invalid or points outside the target directory, or the entry cannot be written.
    #[error(transparent)]
    Entry(PackageError),
    /// An entry that describes the next one is longer than 16 times [`MAX_PATH_BYTES`].
    #[error("it has an entry whose name is too long")]
    NameTooLong,
    #[error("it is empty")]
    Empty,
    /// The archive has more entries than [`MAX_ENTRIES`](crate::package::MAX_ENTRIES).
    #[error("it has more entries than the limit of {limit}")]
    TooManyEntries { limit: usize },
    /// The unpacked content exceeds the limit for modules, or the limit for archives of this size.
    #[error("it unpacks to more than {limit} bytes, the limit for an archive of its size")]
    TooLarge { limit: u64 },
    /// The archive can be decompressed only with a large dictionary or window.
    #[error("it needs more than {limit} bytes of memory")]
    TooMuchMemory { limit: u64 },
}

/// Unpacks the archive in `file` into `target`. Raw entries are read, so the limits also apply to entries that contain only a long name.
pub(super) fn unpack(
    mut file: File,
    kind: ArchiveKind,
    target: &Path,
    limits: &Limits,
) -> Result<(), TarError> {
    file.rewind().map_err(TarError::Read)?;
    let size = file.metadata().map_err(TarError::Read)?.len();
    let limit = limits.unpacked_from(size);
    let is_exceeded = Cell::new(false);
    let reader = LimitedReader {
        inner: decompress(kind, file),
        bytes_left: limit,
        is_exceeded: &is_exceeded,
    };
    match unpack_entries(reader, target, limits.entries) {
        // The tar crate wraps the reader's error, so the flag is checked instead.
        Err(_wrapped) if is_exceeded.get() => Err(TarError::TooLarge { limit }),
        Err(TarError::Read(error)) if error.kind() == io::ErrorKind::OutOfMemory => {
            let limit = MAX_WINDOW_BYTES;
            Err(TarError::TooMuchMemory { limit })
        }
        unpacked => unpacked,
    }
}

fn unpack_entries(reader: impl Read, target: &Path, max_entries: usize) -> Result<(), TarError> {
    let mut archive = Archive::new(reader);
    let mut name = None;
    let mut count = 0;
    for entry in archive.entries().map_err(TarError::Read)?.raw(true) {
        count += 1;
        if count > max_entries {
            return Err(TarError::TooManyEntries { limit: max_entries });
        }
        let mut entry = entry.map_err(TarError::Read)?;
        match entry.header().entry_type() {
            EntryType::XGlobalHeader => {}
            EntryType::GNULongLink => drop(read_description(&mut entry)?),
            EntryType::GNULongName => name = Some(long_name(&mut entry)?),
            EntryType::XHeader => name = pax_name(&mut entry)?.or(name),
            _ => {
                let name = name
                    .take()
                    .unwrap_or_else(|| entry.path_bytes().into_owned());
                write_entry(&mut entry, &name, target)?;
            }
        }
    }
    if count == 0 {
        return Err(TarError::Empty);
    }
    Ok(())
}

fn write_entry<R: Read>(
    entry: &mut Entry<'_, R>,
    name: &[u8],
    target: &Path,
) -> Result<(), TarError> {
    let path = package::entry_target(target, name).map_err(TarError::Entry)?;
    let failed = |source| {
        let path = path.clone();
        TarError::Entry(PackageError::Write { path, source })
    };
    let kind = entry.header().entry_type();
    if kind.is_dir() || name.ends_with(b"/") {
        return fs::create_dir_all(&path).map_err(failed);
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).map_err(failed)?;
    }
    let mut file = File::create(&path).map_err(failed)?;
    let mut buffer = [0; 16 << 10];
    loop {
        match entry.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => file.write_all(&buffer[..count]).map_err(failed)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(TarError::Read(error)),
        }
    }
}

/// Reads an entry in the format of GNU tar that contains the name of the next entry.
fn long_name<R: Read>(entry: &mut Entry<'_, R>) -> Result<Vec<u8>, TarError> {
    let mut name = read_description(entry)?;
    let end = name.iter().position(|byte| *byte == 0);
    name.truncate(end.unwrap_or(name.len()));
    Ok(name)
}

/// Reads an entry in the format of POSIX tar that contains attributes of the next entry. Returns the name of that entry, if it is among
/// them.
fn pax_name<R: Read>(entry: &mut Entry<'_, R>) -> Result<Option<Vec<u8>>, TarError> {
    let records = read_description(entry)?;
    let mut name = None;
    for record in PaxExtensions::new(&records) {
        let record = record.map_err(TarError::Read)?;
        if record.key_bytes() == b"path" {
            name = Some(record.value_bytes().to_vec());
        }
    }
    Ok(name)
}

/// Reads the content of an entry that describes the next entry.
fn read_description<R: Read>(entry: &mut Entry<'_, R>) -> Result<Vec<u8>, TarError> {
    if entry.size() > MAX_DESCRIPTION_BYTES {
        return Err(TarError::NameTooLong);
    }
    let mut text = Vec::new();
    entry.read_to_end(&mut text).map_err(TarError::Read)?;
    Ok(text)
}

/// A reader that fails after a given number of bytes.
struct LimitedReader<'a, R> {
    inner: R,
    bytes_left: u64,
    is_exceeded: &'a Cell<bool>,
}

impl<R: Read> Read for LimitedReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        let Some(bytes_left) = self.bytes_left.checked_sub(count as u64) else {
            self.is_exceeded.set(true);
            return Err(io::Error::other("the limit is reached"));
        };
        self.bytes_left = bytes_left;
        Ok(count)
    }
}
