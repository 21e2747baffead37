//! From the front of a zip through its entries to the part that is no entry any more.

use std::io::{self, Read as _};

use flate2::Decompress;

use crate::package::Limits;
use crate::package::archive::access::Tail;
use crate::package::archive::content::{EntryFault, UnpackError, copy, inflate};
use crate::package::archive::record::{
    DEFLATED, DESCRIPTOR, LOCAL, LOCAL_BYTES, LocalHeader, STORED, u32_at, u64_at, zip64,
};
use crate::package::stream::NeedsFile;
use crate::package::stream::pieces::PieceSink;
use crate::package::stream::source::Source;

/// What was walked through.
#[derive(Debug)]
pub(super) struct Walked {
    /// The entries in their order, one for each summary of content.
    pub(super) entries: Vec<WalkedEntry>,
    /// All that came after them.
    pub(super) tail: Tail,
}

/// An entry as the local header has it and as its data turned out.
#[derive(Clone, Copy, Debug)]
pub(super) struct WalkedEntry {
    /// Where its local header is.
    pub(super) offset: u64,
    /// The compression method.
    pub(super) method: u16,
    /// Bytes of data.
    pub(super) compressed: u64,
    /// The CRC-32 of the data descriptor, if there is one.
    pub(super) descriptor: Option<u32>,
}

/// What the end of an archive may have beside the central directory: end records and a comment.
const END_BYTES: u64 = 128 << 10;

/// Unpacks entry after entry into the sink, and keeps what follows them.
///
/// The ratio of the whole is not known before the end, and so only the total is limited here.
pub(super) fn walk(
    source: Source,
    mut sink: PieceSink,
    limits: &Limits,
) -> Result<Walked, NeedsFile> {
    sink.most = limits.unpacked_bytes;
    let inflater = Decompress::new(false);
    let mut walk = Walk {
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

struct Walk<'a> {
    source: Source,
    sink: PieceSink,
    inflater: Decompress,
    limits: &'a Limits,
    entries: Vec<WalkedEntry>,
}

impl Walk<'_> {
    /// The next local header; `None` if something else follows.
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
        let taken_before = self.sink.taken();
        let compressed = self.content(header, &extra)?;
        let uncompressed = self.sink.taken() - taken_before;
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

    /// Unpacks the data and returns its length.
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

    /// Reads a data descriptor and returns its CRC-32. Its sizes have 4 or 8 bytes, and nothing says how many, but they are
    /// known by now. The signature may be missing.
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

    /// For empty content the first 8 bytes of wide sizes look like narrow ones. 8 zeros follow, which no record begins with.
    fn skip_upper_half(&mut self, uncompressed: u64) -> Result<(), NeedsFile> {
        if uncompressed == 0 {
            let next = self.read(8)?;
            if next != [0; 8] {
                self.source.unread(next);
            }
        }
        Ok(())
    }

    fn tail(mut self) -> Result<Walked, NeedsFile> {
        let start = self.source.offset();
        let most = self.limits.directory_bytes.saturating_add(END_BYTES);
        let mut bytes = Vec::new();
        let read = (&mut self.source).take(most + 1).read_to_end(&mut bytes);
        if read.map_err(read_error)? as u64 > most {
            return Err(NeedsFile::TooLarge);
        }
        Ok(Walked {
            entries: self.entries,
            tail: Tail { bytes, start },
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

/// Reading from a queue does not fail.
fn read_error(_: io::Error) -> NeedsFile {
    NeedsFile::Unreadable
}

fn unpack_error(error: &UnpackError) -> NeedsFile {
    match error {
        UnpackError::Fault(EntryFault::Size) => NeedsFile::TooLarge,
        UnpackError::Fault(_) | UnpackError::Io(_) => NeedsFile::Unreadable,
    }
}
