//! Walks through the entries of a zip, from its start up to the central directory.

use std::io::{self, Read as _};

use flate2::Decompress;

use crate::package::Limits;
use crate::package::archive::archive_bytes::ArchiveTail;
use crate::package::archive::content::{EntryFault, UnpackError, copy, inflate};
use crate::package::archive::record::{
    DEFLATED, DESCRIPTOR, LOCAL, LOCAL_BYTES, LocalHeader, STORED, u32_at, u64_at, zip64,
};
use crate::package::stream::NeedsFile;
use crate::package::stream::chunk_reader::ChunkReader;
use crate::package::stream::content_queue::PieceSink;

#[derive(Debug)]
pub(super) struct WalkedArchive {
    /// The entries in order, one for each content summary.
    pub(super) entries: Vec<WalkedEntry>,
    pub(super) tail: ArchiveTail,
}

/// An entry according to its local header and its data.
#[derive(Clone, Copy, Debug)]
pub(super) struct WalkedEntry {
    pub(super) offset: u64,
    pub(super) method: u16,
    /// The size of the compressed data in bytes.
    pub(super) compressed: u64,
    /// The CRC-32 in the data descriptor, if there is one.
    pub(super) descriptor: Option<u32>,
}

/// The maximum total size, in bytes, of the end records and the comment that follow the central directory.
const END_BYTES: u64 = 128 << 10;

/// Unpacks all entries into the sink, and retains the data after them.
///
/// Only the total size is limited here, because the compression ratio is unknown until the end.
pub(super) fn walk(
    source: ChunkReader,
    mut sink: PieceSink,
    limits: &Limits,
) -> Result<WalkedArchive, NeedsFile> {
    sink.most = limits.unpacked_bytes;
    let inflater = Decompress::new(false);
    let mut walk = EntryWalker {
        source,
        sink,
        inflater,
        limits,
        entries: Vec::new(),
    };
    while let Some(header) = walk.local_header()? {
        if walk.entries.len() == limits.entries {
            return Err(NeedsFile::TooLarge);
        }
        walk.entry(header)?;
    }
    walk.tail()
}

struct EntryWalker<'a> {
    source: ChunkReader,
    sink: PieceSink,
    inflater: Decompress,
    limits: &'a Limits,
    entries: Vec<WalkedEntry>,
}

impl EntryWalker<'_> {
    /// Reads the next local header. `None` if something else follows.
    fn local_header(&mut self) -> Result<Option<LocalHeader>, NeedsFile> {
        let signature = self.read(4)?;
        if signature != LOCAL.to_le_bytes() {
            self.source.unread(signature);
            return Ok(None);
        }
        let mut record = [0; LOCAL_BYTES];
        record[..4].copy_from_slice(&signature);
        record[4..].copy_from_slice(&self.read_exact(LOCAL_BYTES - 4)?);
        Ok(LocalHeader::parse(&record))
    }

    fn entry(&mut self, header: LocalHeader) -> Result<(), NeedsFile> {
        let offset = self.source.offset() - LOCAL_BYTES as u64;
        self.read_exact(header.name_bytes.into())?;
        let extra = self.read_exact(header.extra_bytes.into())?;
        let taken_before = self.sink.taken;
        let compressed = self.content(header, &extra)?;
        let uncompressed = self.sink.taken - taken_before;
        let descriptor = if header.has_descriptor {
            Some(self.descriptor(compressed, uncompressed)?)
        } else {
            None
        };
        self.sink.end_entry();
        let method = header.method;
        self.entries.push(WalkedEntry {
            offset,
            method,
            compressed,
            descriptor,
        });
        Ok(())
    }

    /// Unpacks the data of an entry, and returns its compressed length.
    fn content(&mut self, header: LocalHeader, extra: &[u8]) -> Result<u64, NeedsFile> {
        match header.method {
            STORED if header.has_descriptor => Err(NeedsFile::StoredWithDescriptor),
            STORED => {
                let numbers = zip64([header.uncompressed, header.compressed, 0], extra);
                let length = numbers
                    .and_then(|numbers| numbers[1])
                    .ok_or(NeedsFile::Unreadable)?;
                let copied = copy(&mut self.source, length, &mut self.sink)
                    .map_err(|error| unpack_error(&error))?;
                if copied == length {
                    Ok(length)
                } else {
                    Err(NeedsFile::Unreadable)
                }
            }
            DEFLATED => inflate(&mut self.source, &mut self.inflater, &mut self.sink)
                .map_err(|error| unpack_error(&error)),
            _ => Err(NeedsFile::Unreadable),
        }
    }

    /// Reads a data descriptor and returns its CRC-32. The signature is optional. The sizes have 4 or 8 bytes each; comparing them
    /// with the known sizes shows which.
    fn descriptor(&mut self, compressed: u64, uncompressed: u64) -> Result<u32, NeedsFile> {
        let mut crc = self.read_exact(4)?;
        if u32_at(&crc, 0) == DESCRIPTOR {
            crc = self.read_exact(4)?;
        }
        let sizes = self.read_exact(8)?;
        let narrow = [compressed, uncompressed].map(|size| size & u64::from(u32::MAX));
        if [u32_at(&sizes, 0), u32_at(&sizes, 4)].map(u64::from) == narrow {
            self.skip_upper_half(uncompressed)?;
        } else if u64_at(&sizes, 0) != compressed || u64_at(&self.read_exact(8)?, 0) != uncompressed
        {
            return Err(NeedsFile::Descriptor);
        }
        Ok(u32_at(&crc, 0))
    }

    /// Skips the second half of the sizes if they have 8 bytes each. For empty content, the first half looks like two 4-byte sizes. The
    /// second half then consists of 8 zeros, and no record begins with zeros.
    fn skip_upper_half(&mut self, uncompressed: u64) -> Result<(), NeedsFile> {
        if uncompressed == 0 {
            let next = self.read(8)?;
            if next != [0; 8] {
                self.source.unread(next);
            }
        }
        Ok(())
    }

    fn tail(mut self) -> Result<WalkedArchive, NeedsFile> {
        let start = self.source.offset();
        let most = self.limits.directory_bytes.saturating_add(END_BYTES);
        let mut bytes = Vec::new();
        let read = (&mut self.source).take(most + 1).read_to_end(&mut bytes);
        if read.map_err(read_error)? as u64 > most {
            return Err(NeedsFile::TooLarge);
        }
        Ok(WalkedArchive {
            entries: self.entries,
            tail: ArchiveTail { bytes, start },
        })
    }

    fn read(&mut self, count: usize) -> Result<Vec<u8>, NeedsFile> {
        self.source.read_up_to(count).map_err(read_error)
    }

    fn read_exact(&mut self, count: usize) -> Result<Vec<u8>, NeedsFile> {
        let bytes = self.read(count)?;
        if bytes.len() == count {
            Ok(bytes)
        } else {
            Err(NeedsFile::Unreadable)
        }
    }
}

/// Reading from a queue never fails.
fn read_error(_: io::Error) -> NeedsFile {
    NeedsFile::Unreadable
}

fn unpack_error(error: &UnpackError) -> NeedsFile {
    match error {
        UnpackError::Fault(EntryFault::Size) => NeedsFile::TooLarge,
        UnpackError::Fault(_) | UnpackError::Io(_) => NeedsFile::Unreadable,
    }
}
