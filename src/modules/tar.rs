//! Unpacks gzipped tar archives.

use std::fs::{self, File};
use std::io::{self, Read, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use tar::{Archive, Entry, EntryType, PaxExtensions};

use crate::package::{self, Limits, MAX_PATH_BYTES, PackageError};

/// The most bytes of an entry that describes the next one: a long name and any attributes.
const MAX_DESCRIPTION_BYTES: u64 = 16 * MAX_PATH_BYTES as u64;

#[derive(Debug, thiserror::Error)]
pub enum TarError {
    /// The archive is not a gzipped tar, or is truncated.
    #[error("it cannot be read")]
    Read(#[source] io::Error),
    /// An entry's name leads out of the archive, or is invalid.
    #[error(transparent)]
    Entry(PackageError),
    /// An entry that contains a long name has more than 16 times [`MAX_PATH_BYTES`] bytes.
    #[error("it has an entry whose name is too long")]
    NameTooLong,
    #[error("it is empty")]
    Empty,
    /// The archive has more entries than [`MAX_ENTRIES`](crate::package::MAX_ENTRIES).
    #[error("it has more than {limit} entries, the most that are unpacked")]
    TooManyEntries { limit: usize },
    /// The content exceeds the limit for modules, or for the size of the archive.
    #[error("it unpacks to more than {limit} bytes, the most that are accepted for its size")]
    TooLarge { limit: u64 },
    #[error("cannot write `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// Unpacks the archive in `file` into `target`. The entries are read raw, so that entries which contain only a long name are
/// limited, too.
pub(super) fn unpack(mut file: File, target: &Path, limits: &Limits) -> Result<(), TarError> {
    file.rewind().map_err(TarError::Read)?;
    let size = file.metadata().map_err(TarError::Read)?.len();
    let limit = limits.unpacked_from(size);
    let limited = LimitedReader {
        inner: MultiGzDecoder::new(file),
        bytes_left: limit,
    };
    let mut archive = Archive::new(limited);
    let mut name = None;
    let mut count = 0;
    let entries = archive.entries().map_err(|error| classify(error, limit))?;
    for entry in entries.raw(true) {
        count += 1;
        if count > limits.entries {
            let limit = limits.entries;
            return Err(TarError::TooManyEntries { limit });
        }
        let mut entry = entry.map_err(|error| classify(error, limit))?;
        match entry.header().entry_type() {
            EntryType::XGlobalHeader => {}
            EntryType::GNULongLink => drop(read_description(&mut entry, limit)?),
            EntryType::GNULongName => name = Some(long_name(&mut entry, limit)?),
            EntryType::XHeader => name = pax_name(&mut entry, limit)?.or(name),
            _ => {
                let name = name
                    .take()
                    .unwrap_or_else(|| entry.path_bytes().into_owned());
                write_entry(&mut entry, &name, target, limit)?;
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
    limit: u64,
) -> Result<(), TarError> {
    let path = package::entry_target(target, name).map_err(TarError::Entry)?;
    let failed = |source| TarError::Write {
        path: path.clone(),
        source,
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
            Err(error) => return Err(classify(error, limit)),
        }
    }
}

/// Reads the name of the next entry, as GNU tar writes long names.
fn long_name<R: Read>(entry: &mut Entry<'_, R>, limit: u64) -> Result<Vec<u8>, TarError> {
    let mut name = read_description(entry, limit)?;
    let end = name.iter().position(|byte| *byte == 0);
    name.truncate(end.unwrap_or(name.len()));
    Ok(name)
}

/// Reads the name of the next entry, as POSIX tar writes long names.
fn pax_name<R: Read>(entry: &mut Entry<'_, R>, limit: u64) -> Result<Option<Vec<u8>>, TarError> {
    let records = read_description(entry, limit)?;
    let mut name = None;
    for record in PaxExtensions::new(&records) {
        let record = record.map_err(TarError::Read)?;
        if record.key_bytes() == b"path" {
            name = Some(record.value_bytes().to_vec());
        }
    }
    Ok(name)
}

/// Reads an entry that describes the next one.
fn read_description<R: Read>(entry: &mut Entry<'_, R>, limit: u64) -> Result<Vec<u8>, TarError> {
    if entry.size() > MAX_DESCRIPTION_BYTES {
        return Err(TarError::NameTooLong);
    }
    let mut text = Vec::new();
    match entry.read_to_end(&mut text) {
        Ok(_) => Ok(text),
        Err(error) => Err(classify(error, limit)),
    }
}

/// Limits the bytes that are read. Exceeding the limit is a [`LimitReached`] error.
struct LimitedReader<R> {
    inner: R,
    bytes_left: u64,
}

#[derive(Debug, thiserror::Error)]
#[error("the limit is reached")]
struct LimitReached;

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.bytes_left = self
            .bytes_left
            .checked_sub(count as u64)
            .ok_or_else(|| io::Error::other(LimitReached))?;
        Ok(count)
    }
}

/// Finds a [`LimitReached`] in the chain of causes: the tar crate wraps errors.
fn classify(error: io::Error, limit: u64) -> TarError {
    let mut layer: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(current) = layer {
        if current.is::<LimitReached>() {
            return TarError::TooLarge { limit };
        }
        let wrapped = current
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref);
        layer = match wrapped {
            Some(wrapped) => Some(wrapped),
            None => current.source(),
        };
    }
    TarError::Read(error)
}
