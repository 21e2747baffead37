//! Archives: from the web to a temporary file, checked, and unpacked into a directory.
//!
//! What becomes of entries is what becomes of them in the tools: directories and regular files are made; links and devices of a
//! tar become empty files, those of a zip files with the target's name in them. Names cannot lead out of the directory.

use std::fs::{self, File};
use std::io::{self, Read, Seek as _, Write as _};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use tar::{Archive, Entry, EntryType, PaxExtensions};

use crate::package::{self, Limits, MAX_PATH_BYTES};
use crate::redacted_url::RedactedUrl;
use crate::registry::Download;

use super::address::ArchiveKind;
use super::checksum::Checksum;
use super::error::{ModuleError, TarError};

/// The largest archive that is fetched. Modules are text; the largest repositories of modules have some ten megabytes.
pub const MAX_ARCHIVE_BYTES: u64 = 512 << 20;

/// The most that an archive unpacks to, whatever its size.
const MAX_UNPACKED_BYTES: u64 = 2 << 30;

/// The limits for what is in an archive; entries and ratio are as for providers.
fn limits() -> Limits {
    Limits {
        unpacked_bytes: MAX_UNPACKED_BYTES,
        ..Limits::default()
    }
}

/// Writes an archive that arrives into a file without a name in `directory`.
pub(super) async fn save(
    download: &mut Download,
    directory: &Path,
    address: &RedactedUrl,
) -> Result<File, ModuleError> {
    let failed = |source| ModuleError::Disk {
        path: directory.to_path_buf(),
        source,
    };
    let mut file = tempfile::tempfile_in(directory).map_err(failed)?;
    let mut received = 0;
    while let Some(piece) = download.chunk().await? {
        received += piece.len() as u64;
        if received > MAX_ARCHIVE_BYTES {
            return Err(ModuleError::ArchiveTooLarge {
                address: address.clone(),
                limit: MAX_ARCHIVE_BYTES,
            });
        }
        file.write_all(&piece).map_err(failed)?;
    }
    Ok(file)
}

/// Checks an archive and unpacks it into `target`, which is made.
pub(super) fn unpack(
    mut file: File,
    kind: ArchiveKind,
    checksum: Option<&Checksum>,
    target: &Path,
    address: &RedactedUrl,
) -> Result<(), ModuleError> {
    let failed = |source| ModuleError::Disk {
        path: target.to_path_buf(),
        source,
    };
    if let Some(expected) = checksum {
        let found = expected.of_file(&mut file).map_err(failed)?;
        if found != *expected {
            return Err(ModuleError::Checksum {
                address: address.clone(),
                expected: expected.to_string(),
                found: found.to_string(),
            });
        }
    }
    fs::create_dir(target).map_err(failed)?;
    match kind {
        ArchiveKind::Zip => {
            package::unpack_archive(&file, target, &limits()).map_err(|source| ModuleError::Zip {
                address: address.clone(),
                source,
            })
        }
        ArchiveKind::TarGz => {
            unpack_tar(file, target, &limits()).map_err(|source| ModuleError::Tar {
                address: address.clone(),
                source,
            })
        }
    }
}

/// Entries are taken raw, so that the names which a tar puts in entries of their own can be limited too.
fn unpack_tar(mut file: File, target: &Path, limits: &Limits) -> Result<(), TarError> {
    file.rewind().map_err(TarError::Read)?;
    let size = file.metadata().map_err(TarError::Read)?.len();
    let limit = limits.unpacked_from(size);
    let limited = Limited {
        inner: MultiGzDecoder::new(file),
        rest: limit,
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
            EntryType::GNULongLink => drop(text(&mut entry, limit)?),
            EntryType::GNULongName => name = Some(long_name(&mut entry, limit)?),
            EntryType::XHeader => name = pax_name(&mut entry, limit)?.or(name),
            _ => {
                let name = name.take();
                let name = name.unwrap_or_else(|| entry.path_bytes().into_owned());
                place(&mut entry, &name, target, limit)?;
            }
        }
    }
    if count == 0 {
        return Err(TarError::Empty);
    }
    Ok(())
}

/// Writes one entry below `target`.
fn place<R: Read>(
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
    let mut piece = [0; 16 << 10];
    loop {
        match entry.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(count) => file.write_all(&piece[..count]).map_err(failed)?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(classify(error, limit)),
        }
    }
}

/// The name of the next entry, as GNU tar writes long ones.
fn long_name<R: Read>(entry: &mut Entry<'_, R>, limit: u64) -> Result<Vec<u8>, TarError> {
    let mut name = text(entry, limit)?;
    let end = name.iter().position(|byte| *byte == 0);
    name.truncate(end.unwrap_or(name.len()));
    Ok(name)
}

/// The name of the next entry, as POSIX tar writes long ones.
fn pax_name<R: Read>(entry: &mut Entry<'_, R>, limit: u64) -> Result<Option<Vec<u8>>, TarError> {
    let records = text(entry, limit)?;
    let mut name = None;
    for record in PaxExtensions::new(&records) {
        let record = record.map_err(TarError::Read)?;
        if record.key_bytes() == b"path" {
            name = Some(record.value_bytes().to_vec());
        }
    }
    Ok(name)
}

/// The most bytes of an entry that describes the next one: its name, and whatever attributes an archiver adds.
const MAX_DESCRIPTION_BYTES: u64 = 16 * MAX_PATH_BYTES as u64;

fn text<R: Read>(entry: &mut Entry<'_, R>, limit: u64) -> Result<Vec<u8>, TarError> {
    if entry.size() > MAX_DESCRIPTION_BYTES {
        return Err(TarError::NameTooLong);
    }
    let mut text = Vec::new();
    let read = entry.read_to_end(&mut text);
    read.map_err(|error| classify(error, limit))?;
    Ok(text)
}

/// Reads no more than a number of bytes; the next one is an error that [`classify`] knows.
struct Limited<R> {
    inner: R,
    rest: u64,
}

/// What a reader says that has given all it may.
#[derive(Debug, thiserror::Error)]
#[error("the limit is reached")]
struct LimitReached;

impl<R: Read> Read for Limited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.rest = self
            .rest
            .checked_sub(count as u64)
            .ok_or_else(|| io::Error::other(LimitReached))?;
        Ok(count)
    }
}

/// The tar crate wraps errors in its own, so the whole chain is looked at.
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
