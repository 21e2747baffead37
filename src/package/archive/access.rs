//! Reading at offsets, from a whole file or from the part of one that was kept.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};

/// Why bytes could not be had.
#[derive(Debug)]
pub(crate) enum AccessError {
    /// The system failed.
    Io(io::Error),
    /// They were there and are gone: only the end of the archive was kept.
    NotKept,
}

/// An archive, or what is left of it.
pub(crate) trait Access {
    /// The size of the whole archive.
    fn size(&self) -> u64;

    /// From which offset on bytes can be had.
    fn start(&self) -> u64 {
        0
    }

    /// Fills the buffer from an offset on, as far as the archive goes, and returns how many bytes that were.
    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, AccessError>;
}

/// A file on disk.
#[derive(Debug)]
pub(crate) struct WholeFile<'a> {
    file: &'a File,
    size: u64,
}

impl<'a> WholeFile<'a> {
    /// The file as it is now.
    pub(crate) fn new(file: &'a File) -> io::Result<Self> {
        let size = file.metadata()?.len();
        Ok(Self { file, size })
    }

    /// The file, positioned at an offset.
    pub(crate) fn at(&mut self, offset: u64) -> io::Result<&'a File> {
        self.file.seek(SeekFrom::Start(offset))?;
        Ok(self.file)
    }
}

impl Access for WholeFile<'_> {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, AccessError> {
        if offset >= self.size {
            return Ok(0);
        }
        let mut file = self.at(offset).map_err(AccessError::Io)?;
        let mut filled = 0;
        while filled < buffer.len() {
            match file.read(&mut buffer[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(AccessError::Io(error)),
            }
        }
        Ok(filled)
    }
}

/// The last bytes of an archive of which the rest has passed.
#[derive(Debug)]
pub(crate) struct Tail {
    /// What was kept, up to the end of the archive.
    pub(crate) bytes: Vec<u8>,
    /// The offset of its first byte.
    pub(crate) start: u64,
}

impl Access for Tail {
    fn size(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    fn start(&self) -> u64 {
        self.start
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, AccessError> {
        let Some(from) = offset.checked_sub(self.start) else {
            return Err(AccessError::NotKept);
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

    fn read(access: &mut impl Access, offset: u64, length: usize) -> Option<Vec<u8>> {
        let mut buffer = vec![0; length];
        let count = access.read_at(offset, &mut buffer).ok()?;
        Some(buffer[..count].to_vec())
    }

    #[test]
    fn a_file_and_its_tail_give_the_same_bytes() {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"0123456789").unwrap();
        let mut whole = WholeFile::new(&file).unwrap();
        let mut tail = Tail {
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
