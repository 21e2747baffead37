//! Random access to the bytes of an archive in a file, or of the end of an archive that is retained in memory after a download.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

use thiserror::Error;

use crate::package::PackageError;
use crate::package::archive::record::{CentralEntry, LOCAL_BYTES, LocalHeader};

/// The reason why an archive cannot be read.
#[derive(Debug, Error)]
pub(crate) enum ArchiveReadError {
    /// The archive is invalid or too large, or the file cannot be read.
    #[error(transparent)]
    Package(#[from] PackageError),
    #[error("the bytes are before the retained end of the archive")]
    NotKept,
}

/// An archive, or its retained end ([`ArchiveTail`]).
pub(crate) trait ArchiveBytes {
    /// The size of the whole archive in bytes.
    fn size(&self) -> u64;

    /// The offset of the first byte that can be read.
    fn start(&self) -> u64 {
        0
    }

    /// Fills the buffer with bytes from an offset. Returns the number of bytes read, which is less than the length of the buffer only
    /// at the end of the archive.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, ArchiveReadError>;
}

#[derive(Debug)]
pub(crate) struct WholeFile<'a> {
    file: &'a File,
    size: u64,
}

impl<'a> WholeFile<'a> {
    /// Wraps a file and records its current size.
    pub(crate) fn new(file: &'a File) -> io::Result<Self> {
        let size = file.metadata()?.len();
        Ok(Self { file, size })
    }

    /// Returns the offset of an entry's data. `None` if there is no local header at the entry's offset.
    pub(crate) fn data_offset(&mut self, entry: &CentralEntry) -> io::Result<Option<u64>> {
        let Ok(offset) = u64::try_from(entry.offset) else {
            return Ok(None);
        };
        let mut record = [0; LOCAL_BYTES];
        let read = self.read_bytes(offset, &mut record)?;
        let header = LocalHeader::parse(&record).filter(|_| read == LOCAL_BYTES);
        Ok(header.map(|header| offset + header.bytes()))
    }

    /// Like [`ArchiveBytes::read_at`].
    pub(crate) fn read_bytes(&mut self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        if offset >= self.size {
            return Ok(0);
        }
        let mut file = self.at(offset)?;
        let mut filled = 0;
        while filled < buffer.len() {
            match file.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(filled)
    }

    pub(crate) fn at(&mut self, offset: u64) -> io::Result<&'a File> {
        self.file.seek(SeekFrom::Start(offset))?;
        Ok(self.file)
    }
}

impl ArchiveBytes for WholeFile<'_> {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, ArchiveReadError> {
        self.read_bytes(offset, buffer)
            .map_err(|error| PackageError::Read(error).into())
    }
}

/// The retained end of a downloaded archive. It starts after the data of the last entry and contains the central directory.
#[derive(Debug)]
pub(crate) struct ArchiveTail {
    pub(crate) bytes: Vec<u8>,
    /// The offset of the first retained byte in the archive.
    pub(crate) start: u64,
}

impl ArchiveBytes for ArchiveTail {
    fn size(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    fn start(&self) -> u64 {
        self.start
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, ArchiveReadError> {
        let Some(from) = offset.checked_sub(self.start) else {
            return Err(ArchiveReadError::NotKept);
        };
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        let kept = self.bytes.get(from..).unwrap_or_default();
        let count = kept.len().min(buffer.len());
        buffer[..count].copy_from_slice(&kept[..count]);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn read(access: &mut impl ArchiveBytes, offset: u64, length: usize) -> Option<Vec<u8>> {
        let mut buffer = vec![0; length];
        let count = access.read_at(offset, &mut buffer).ok()?;
        Some(buffer[..count].to_vec())
    }

    #[test]
    fn a_file_and_its_tail_give_the_same_bytes() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let mut whole = WholeFile::new(&file).unwrap();
        let mut tail = ArchiveTail {
            bytes: b"56789".to_vec(),
            start: 5,
        };
        assert_eq!((whole.size(), tail.size()), (10, 10));
        for (offset, length, expected) in [
            (5, 2, &b"56"[..]),
            (7, 3, b"789"),
            (7, 9, b"789"),
            (10, 1, b""),
            (99, 1, b""),
            (u64::MAX, 1, b""),
        ] {
            assert_eq!(read(&mut whole, offset, length).as_deref(), Some(expected));
            assert_eq!(read(&mut tail, offset, length).as_deref(), Some(expected));
        }
        assert_eq!(read(&mut whole, 4, 2).as_deref(), Some(&b"45"[..]));
        assert_eq!(read(&mut tail, 4, 2), None);
    }
}
