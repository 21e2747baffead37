//! The central directory: the list of entries at the end of a zip, which is the authority on what is in it.
//!
//! It is found from the end record, the last one within the final 65 KiB that has room for its comment. Where that record
//! says so, the zip64 end record takes its place. Offsets are relative to the start of the archive proper, which follows
//! from where the directory ends and how long it says it is; so any data may stand before the archive. If there is a
//! central header where the offset points to without that correction, offsets are absolute. The directory itself is read
//! until something else than a central header comes; how many that were must agree with the end record in 16 bits.

use thiserror::Error;

use crate::package::archive::access::{Access, AccessError};
use crate::package::archive::record::{
    CENTRAL, CENTRAL_BYTES, END, END_BYTES, END64, END64_BYTES, Entry, LOCATOR64, LOCATOR64_BYTES,
    u16_at, u32_at, u64_at,
};
use crate::package::{Limits, PackageError};

/// Where the end record is looked for: this many bytes at the end.
const END_WINDOW: u64 = 65 << 10;

/// What is wrong with the end record or the central directory.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum DirectoryFault {
    /// There is none near the end of the file.
    #[error("it has no end record")]
    NoEndRecord,
    /// The end record names a zip64 end record that is not there.
    #[error("its zip64 end record is missing")]
    NoZip64EndRecord,
    /// The central directory would lie outside of the file.
    #[error("its central directory is outside of the file")]
    Outside,
    /// The file ends where a central header should be.
    #[error("its central directory is cut short")]
    CutShort,
    /// The end record says how many entries there are, and there are others.
    #[error("its end record counts {counted} entries, its central directory has {found}")]
    Count {
        /// As the end record has it.
        counted: u64,
        /// As many were read.
        found: usize,
    },
}

/// Why the central directory could not be read.
#[derive(Debug)]
pub(crate) enum DirectoryError {
    /// It is wrong, too large, or the system failed.
    Package(PackageError),
    /// It needs bytes that were not kept.
    NotKept,
}

impl From<AccessError> for DirectoryError {
    fn from(error: AccessError) -> Self {
        match error {
            AccessError::Io(error) => Self::Package(PackageError::Read(error)),
            AccessError::NotKept => Self::NotKept,
        }
    }
}

impl From<DirectoryFault> for DirectoryError {
    fn from(fault: DirectoryFault) -> Self {
        Self::Package(PackageError::Directory(fault))
    }
}

/// Reads the entries in their order. Their offsets are those in the file.
pub(crate) fn read_directory(
    archive: &mut impl Access,
    limits: &Limits,
) -> Result<Vec<Entry>, DirectoryError> {
    let place = locate(archive)?;
    let mut headers = Headers::new(archive, place.offset);
    let mut entries = Vec::new();
    while let Header::Entry(mut entry) = headers.next()? {
        if entries.len() == limits.entries {
            let limit = limits.entries;
            return Err(DirectoryError::Package(PackageError::TooManyEntries {
                limit,
            }));
        }
        if headers.read > limits.directory_bytes {
            let limit = limits.directory_bytes;
            return Err(DirectoryError::Package(PackageError::DirectoryTooLarge {
                limit,
            }));
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

/// Where the central directory is.
#[derive(Debug)]
struct Place {
    /// The entries that it has according to the end record.
    counted: u64,
    /// Its offset in the file.
    offset: u64,
    /// What is to be added to the offsets of entries.
    base: i64,
}

/// The numbers of an end record of either kind.
#[derive(Debug)]
struct End {
    counted: u64,
    size: u64,
    offset: u64,
    /// Where the record itself is.
    at: u64,
}

fn locate(archive: &mut impl Access) -> Result<Place, DirectoryError> {
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
    if base > 0 && Headers::new(archive, end.offset).starts_with_entry()? {
        base = 0;
    }
    Ok(Place {
        counted: end.counted,
        offset: base.wrapping_add(offset).cast_unsigned(),
        base,
    })
}

fn find_end(archive: &mut impl Access) -> Result<End, DirectoryError> {
    let size = archive.size();
    // The last one counts, so it does not matter what stands before it and may not be there any more.
    let start = size.saturating_sub(END_WINDOW).max(archive.start());
    let mut bytes = vec![0; usize::try_from(size - start).unwrap_or_default()];
    archive.read_at(start, &mut bytes)?;
    let Some(at) = find_signature(&bytes) else {
        let is_whole = archive.start() <= size.saturating_sub(END_WINDOW);
        let fault = DirectoryError::from(DirectoryFault::NoEndRecord);
        return Err(if is_whole {
            fault
        } else {
            DirectoryError::NotKept
        });
    };
    let record = &bytes[at..];
    let end = End {
        counted: u64::from(u16_at(record, 10)),
        size: u64::from(u32_at(record, 12)),
        offset: u64::from(u32_at(record, 16)),
        at: start + at as u64,
    };
    // The size is compared with 16 bits, not 32: so does Go, and what follows from it is part of the rules.
    if end.counted == 0xffff || end.size == 0xffff || end.offset == 0xffff_ffff {
        return Ok(find_end64(archive, end.at)?.unwrap_or(end));
    }
    Ok(end)
}

/// The last signature behind which there is room for the record and its comment. If the comment of the very last is cut
/// short, none counts.
fn find_signature(bytes: &[u8]) -> Option<usize> {
    let last = bytes.len().checked_sub(END_BYTES)?;
    let at = (0..=last).rev().find(|at| u32_at(bytes, *at) == END)?;
    let comment = usize::from(u16_at(bytes, at + END_BYTES - 2));
    (at + END_BYTES + comment <= bytes.len()).then_some(at)
}

/// The zip64 end record, if there is a locator right before the end record.
fn find_end64(archive: &mut impl Access, end: u64) -> Result<Option<End>, DirectoryError> {
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
    Ok(Some(End {
        counted: u64_at(&record, 32),
        size: u64_at(&record, 40),
        offset: u64_at(&record, 48),
        at,
    }))
}

/// What stands at a place of the central directory.
enum Header {
    Entry(Entry),
    /// Something that is no central header, or one that is cut short: the end of the directory.
    Other,
}

/// Reads central headers one after the other.
struct Headers<'a, A> {
    archive: &'a mut A,
    /// Where `buffer` was read from.
    offset: u64,
    buffer: Vec<u8>,
    /// Bytes of `buffer` that are used up.
    used: usize,
    /// Bytes of all entries so far.
    read: u64,
}

/// How much of the directory is read at a time. The longest header is 46 bytes and three fields of 64 KiB.
const READ_BYTES: usize = 256 << 10;

impl<'a, A: Access> Headers<'a, A> {
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

    /// Whether a proper central header is at the start.
    fn starts_with_entry(&mut self) -> Result<bool, DirectoryError> {
        match self.next() {
            Ok(header) => Ok(matches!(header, Header::Entry(_))),
            Err(DirectoryError::Package(PackageError::Directory(_))) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn next(&mut self) -> Result<Header, DirectoryError> {
        let Some(fixed) = self.take(CENTRAL_BYTES)? else {
            return Ok(Header::Other);
        };
        let mut header = [0; CENTRAL_BYTES];
        header.copy_from_slice(fixed);
        if u32_at(&header, 0) != CENTRAL {
            return Ok(Header::Other);
        }
        let [name, extra, comment] = [28, 30, 32].map(|at| usize::from(u16_at(&header, at)));
        let Some(fields) = self.take(name + extra + comment)? else {
            return Ok(Header::Other);
        };
        let entry = Entry::parse(&header, &fields[..name], &fields[name..name + extra]);
        self.read += (CENTRAL_BYTES + name + extra + comment) as u64;
        Ok(entry.map_or(Header::Other, Header::Entry))
    }

    /// The next bytes, `None` if only some of them are there. That nothing at all is there is another matter: an end
    /// record should be.
    fn take(&mut self, count: usize) -> Result<Option<&[u8]>, DirectoryError> {
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

    /// Makes as many bytes available as one read gives, from the first unused one on.
    fn fill(&mut self) -> Result<(), DirectoryError> {
        self.offset = self.offset.saturating_add(self.used as u64);
        self.used = 0;
        self.buffer.resize(READ_BYTES, 0);
        let count = self.archive.read_at(self.offset, &mut self.buffer)?;
        self.buffer.truncate(count);
        Ok(())
    }
}
