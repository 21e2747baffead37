//! Reads the central directory: the list of entries at the end of a zip, which is authoritative for its contents.
//!
//! The last end record in the final 65 KiB of the file locates it. The comment of that record must fit into the file. If the record
//! refers to a zip64 end record, the latter is used instead. Offsets are relative to the start of the archive, which is computed from
//! the position and the size of the directory, so any data may precede the archive. If there is a central header at the uncorrected
//! offset, however, offsets are relative to the start of the file. The directory ends at the first record that is not a central header.
//! The number of entries must agree with the end record in its lower 16 bits.

use thiserror::Error;

use crate::package::archive::archive_bytes::{ArchiveBytes, ArchiveReadError, WholeFile};
use crate::package::archive::record::{
    CENTRAL, CENTRAL_BYTES, CentralEntry, END, END_BYTES, END64, END64_BYTES, LOCATOR64,
    LOCATOR64_BYTES, u16_at, u32_at, u64_at,
};
use crate::package::{Limits, PackageError};

/// The number of bytes at the end of the archive that must contain the end record.
const END_WINDOW: u64 = 65 << 10;

/// A fault in the end record or the central directory.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum DirectoryFault {
    #[error("it has no end record")]
    NoEndRecord,
    #[error("its zip64 end record is missing")]
    NoZip64EndRecord,
    /// The position of the central directory is outside the file.
    #[error("its central directory is outside the file")]
    Outside,
    /// The file ends where a central header is expected.
    #[error("its central directory is truncated")]
    CutShort,
    #[error("its end record counts {counted} entries, but its central directory has {found}")]
    Count { counted: u64, found: usize },
}

impl From<DirectoryFault> for ArchiveReadError {
    fn from(fault: DirectoryFault) -> Self {
        Self::Package(PackageError::Directory(fault))
    }
}

/// Reads the entries in order. Their offsets are relative to the start of the file.
pub(crate) fn read_directory(
    archive: &mut impl ArchiveBytes,
    limits: &Limits,
) -> Result<Vec<CentralEntry>, ArchiveReadError> {
    let place = locate(archive)?;
    let mut headers = CentralHeaders::new(archive, place.offset);
    let mut entries = Vec::new();
    while let CentralHeader::Entry(mut entry) = headers.next()? {
        if entries.len() == limits.entries {
            let limit = limits.entries;
            return Err(PackageError::TooManyEntries { limit }.into());
        }
        if headers.read > limits.directory_bytes {
            let limit = limits.directory_bytes;
            return Err(PackageError::DirectoryTooLarge { limit }.into());
        }
        entry.offset = entry.offset.wrapping_add(place.base);
        entries.push(entry);
    }
    let found = entries.len();
    if (found as u64) & 0xffff != place.counted & 0xffff {
        let counted = place.counted;
        return Err(DirectoryFault::Count { counted, found }.into());
    }
    Ok(entries)
}

/// Like [`read_directory`], but for a file.
pub(crate) fn read_file_directory(
    file: &mut WholeFile<'_>,
    limits: &Limits,
) -> Result<Vec<CentralEntry>, PackageError> {
    read_directory(file, limits).map_err(|error| match error {
        ArchiveReadError::Package(error) => error,
        ArchiveReadError::NotKept => unreachable!("a whole file has all bytes"),
    })
}

/// The location of the central directory.
#[derive(Debug)]
struct DirectoryLocation {
    /// The number of entries according to the end record.
    counted: u64,
    /// The offset of the central directory in the archive.
    offset: u64,
    /// The number to add to the offsets of entries, so that they are relative to the start of the file.
    base: i64,
}

/// The values in an end record or a zip64 end record.
#[derive(Debug)]
struct EndRecord {
    counted: u64,
    /// The size of the central directory in bytes.
    size: u64,
    /// The uncorrected offset of the central directory.
    offset: u64,
    /// The offset of the record itself.
    at: u64,
}

fn locate(archive: &mut impl ArchiveBytes) -> Result<DirectoryLocation, ArchiveReadError> {
    let end = find_end(archive)?;
    let (Ok(size), Ok(offset)) = (i64::try_from(end.size), i64::try_from(end.offset)) else {
        return Err(DirectoryFault::Outside.into());
    };
    let at = end.at.cast_signed();
    let mut base = at.wrapping_sub(size).wrapping_sub(offset);
    let start = base.wrapping_add(offset);
    if start < 0 || start.cast_unsigned() >= archive.size() {
        return Err(DirectoryFault::Outside.into());
    }
    if base > 0 && CentralHeaders::new(archive, end.offset).starts_with_entry()? {
        base = 0;
    }
    Ok(DirectoryLocation {
        counted: end.counted,
        offset: base.wrapping_add(offset).cast_unsigned(),
        base,
    })
}

fn find_end(archive: &mut impl ArchiveBytes) -> Result<EndRecord, ArchiveReadError> {
    let size = archive.size();
    // Only the last end record is used, so bytes before the retained end do not matter.
    let start = size.saturating_sub(END_WINDOW).max(archive.start());
    let mut bytes = vec![0; usize::try_from(size - start).unwrap_or_default()];
    archive.read_at(start, &mut bytes)?;
    let Some(at) = find_signature(&bytes) else {
        let is_whole = archive.start() <= size.saturating_sub(END_WINDOW);
        return Err(if is_whole {
            DirectoryFault::NoEndRecord.into()
        } else {
            ArchiveReadError::NotKept
        });
    };
    let record = &bytes[at..];
    let end = EndRecord {
        counted: u64::from(u16_at(record, 10)),
        size: u64::from(u32_at(record, 12)),
        offset: u64::from(u32_at(record, 16)),
        at: start + at as u64,
    };
    // Go compares the size with the maximum of 16 bits instead of 32, and so does this code.
    if end.counted == 0xffff || end.size == 0xffff || end.offset == 0xffff_ffff {
        return Ok(find_end64(archive, end.at)?.unwrap_or(end));
    }
    Ok(end)
}

/// Returns the offset of the last end record. `None` if `bytes` contain no end record or its comment is truncated.
fn find_signature(bytes: &[u8]) -> Option<usize> {
    let last = bytes.len().checked_sub(END_BYTES)?;
    let at = (0..=last).rev().find(|at| u32_at(bytes, *at) == END)?;
    let comment = usize::from(u16_at(bytes, at + END_BYTES - 2));
    (at + END_BYTES + comment <= bytes.len()).then_some(at)
}

/// Reads the zip64 end record. `None` if there is no locator directly before the end record.
fn find_end64(
    archive: &mut impl ArchiveBytes,
    end: u64,
) -> Result<Option<EndRecord>, ArchiveReadError> {
    let Some(locator_at) = end.checked_sub(LOCATOR64_BYTES as u64) else {
        return Ok(None);
    };
    let mut locator = [0; LOCATOR64_BYTES];
    archive.read_at(locator_at, &mut locator)?;
    let (disk, at, disks) = (
        u32_at(&locator, 4),
        u64_at(&locator, 8),
        u32_at(&locator, 16),
    );
    if u32_at(&locator, 0) != LOCATOR64 || disk != 0 || disks != 1 || at.cast_signed() < 0 {
        return Ok(None);
    }
    let mut record = [0; END64_BYTES];
    let read = archive.read_at(at, &mut record)?;
    if read < END64_BYTES || u32_at(&record, 0) != END64 {
        return Err(DirectoryFault::NoZip64EndRecord.into());
    }
    Ok(Some(EndRecord {
        counted: u64_at(&record, 32),
        size: u64_at(&record, 40),
        offset: u64_at(&record, 48),
        at,
    }))
}

enum CentralHeader {
    Entry(CentralEntry),
    /// A truncated central header or a different record: the end of the directory.
    Other,
}

/// A reader of central headers.
struct CentralHeaders<'a, A> {
    archive: &'a mut A,
    /// The offset of `buffer` in the archive.
    offset: u64,
    buffer: Vec<u8>,
    /// The number of bytes of `buffer` that have been consumed.
    used: usize,
    /// The total size of all headers so far, in bytes.
    read: u64,
}

/// The number of bytes of the directory to read at once. The longest header has 46 bytes and three fields of 64 KiB.
const READ_BYTES: usize = 256 << 10;

impl<'a, A: ArchiveBytes> CentralHeaders<'a, A> {
    fn new(archive: &'a mut A, offset: u64) -> Self {
        let buffer = Vec::new();
        Self {
            archive,
            offset,
            buffer,
            used: 0,
            read: 0,
        }
    }

    /// Whether the directory starts with a valid central header.
    fn starts_with_entry(&mut self) -> Result<bool, ArchiveReadError> {
        match self.next() {
            Ok(header) => Ok(matches!(header, CentralHeader::Entry(_))),
            Err(ArchiveReadError::Package(PackageError::Directory(_))) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn next(&mut self) -> Result<CentralHeader, ArchiveReadError> {
        let Some(fixed) = self.take(CENTRAL_BYTES)? else {
            return Ok(CentralHeader::Other);
        };
        let mut header = [0; CENTRAL_BYTES];
        header.copy_from_slice(fixed);
        if u32_at(&header, 0) != CENTRAL {
            return Ok(CentralHeader::Other);
        }
        let [name, extra, comment] = [28, 30, 32].map(|at| usize::from(u16_at(&header, at)));
        let Some(fields) = self.take(name + extra + comment)? else {
            return Ok(CentralHeader::Other);
        };
        let entry = CentralEntry::parse(&header, &fields[..name], &fields[name..name + extra]);
        self.read += (CENTRAL_BYTES + name + extra + comment) as u64;
        Ok(entry.map_or(CentralHeader::Other, CentralHeader::Entry))
    }

    /// Takes the next `count` bytes, or returns `None` if fewer are left. The end of the file is an error, because an end record
    /// must follow.
    fn take(&mut self, count: usize) -> Result<Option<&[u8]>, ArchiveReadError> {
        if self.buffer.len() - self.used < count {
            self.fill()?;
        }
        let rest = &self.buffer[self.used..];
        if rest.is_empty() && count > 0 {
            return Err(DirectoryFault::CutShort.into());
        }
        let taken = rest.get(..count);
        self.used += taken.map_or(0, <[u8]>::len);
        Ok(taken)
    }

    /// Refills the buffer, starting at the first unconsumed byte.
    fn fill(&mut self) -> Result<(), ArchiveReadError> {
        self.offset = self.offset.saturating_add(self.used as u64);
        self.used = 0;
        self.buffer.resize(READ_BYTES, 0);
        let count = self.archive.read_at(self.offset, &mut self.buffer)?;
        self.buffer.truncate(count);
        Ok(())
    }
}
