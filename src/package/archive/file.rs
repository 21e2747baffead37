//! Hashes a package in a file by means of its central directory.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _};

use flate2::Decompress;
use sha2::{Digest as _, Sha256};

use crate::package::archive::archive_bytes::{ArchiveBytes as _, WholeFile};
use crate::package::archive::content::{
    ContentHasher, ContentSink, EntryFault, PIECE_BYTES, UnpackError, check_content, copy, inflate,
};
use crate::package::archive::directory::read_file_directory;
use crate::package::archive::entries::{ContentHashes, ContentReader, hash_entries};
use crate::package::archive::record::{CentralEntry, DEFLATED, DESCRIPTOR, STORED, u32_at};
use crate::package::{Limits, PackageError, PackageHashes};
use crate::provider::Digest;

/// Computes all hashes of a package file. `type_name` is the type in the provider's address, which the name of the executable must
/// contain.
pub fn hash_archive(
    file: &File,
    type_name: &str,
    limits: &Limits,
) -> Result<PackageHashes, PackageError> {
    let (zh, size) = digest_of_file(file)?;
    let ContentHashes { h1, zip_h1 } = hash_contents(file, type_name, limits)?;
    Ok(PackageHashes {
        zh,
        h1,
        zip_h1,
        size,
    })
}

/// Computes the digest of a whole file. Also returns the size of the file in bytes.
pub fn digest_of_file(mut file: &File) -> Result<(Digest, u64), PackageError> {
    file.rewind().map_err(PackageError::Read)?;
    let mut sha = Sha256::new();
    let mut buffer = vec![0; PIECE_BYTES];
    let mut size = 0;
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok((Digest::new(sha.finalize().into()), size)),
            Ok(count) => {
                sha.update(&buffer[..count]);
                size += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(PackageError::Read(error)),
        }
    }
}

/// Computes the hashes of a package's contents. Callers must also compare the digest of the file ([`digest_of_file`]) before they trust
/// these hashes.
pub fn hash_contents(
    file: &File,
    type_name: &str,
    limits: &Limits,
) -> Result<ContentHashes, PackageError> {
    let mut archive = WholeFile::new(file).map_err(PackageError::Read)?;
    let entries = read_file_directory(&mut archive, limits)?;
    let size = archive.size();
    let mut contents = FileContents::new(archive);
    hash_entries(&entries, &mut contents, size, type_name, limits)
}

/// Unpacks the content of an entry into a sink, and returns the offset of the entry's data.
pub(super) fn unpack_content(
    archive: &mut WholeFile<'_>,
    inflater: &mut Decompress,
    entry: &CentralEntry,
    sink: &mut impl ContentSink,
) -> Result<u64, UnpackError> {
    let start = archive.data_offset(entry)?;
    let start = start.ok_or(EntryFault::NoLocalHeader)?;
    // As in Go, a length that would be negative as a signed number means that there is no data.
    let length = entry.compressed.cast_signed().max(0).cast_unsigned();
    let data = archive.at(start)?.take(length);
    let mut data = BufReader::with_capacity(PIECE_BYTES / 4, data);
    match entry.method {
        STORED => copy(&mut data, length, sink)?,
        DEFLATED => inflate(&mut data, inflater, sink)?,
        method => return Err(EntryFault::UnsupportedMethod { method }.into()),
    };
    Ok(start)
}

/// Unpacks entries at the offsets of their local headers.
struct FileContents<'a> {
    archive: WholeFile<'a>,
    inflater: Decompress,
    sink: HashSink,
}

impl<'a> FileContents<'a> {
    fn new(archive: WholeFile<'a>) -> Self {
        let sink = HashSink {
            hasher: ContentHasher::default(),
            room: vec![0; PIECE_BYTES],
            most: 0,
        };
        Self {
            archive,
            inflater: Decompress::new(false),
            sink,
        }
    }

    fn unpack(&mut self, entry: &CentralEntry) -> Result<Digest, UnpackError> {
        self.sink.begin(entry.uncompressed);
        let start = unpack_content(&mut self.archive, &mut self.inflater, entry, &mut self.sink)?;
        let content = self.sink.hasher.finish();
        check_content(entry, content.size, content.crc)?;
        if entry.has_descriptor {
            self.check_descriptor(start, entry)?;
        }
        Ok(content.digest)
    }

    /// Checks the CRC-32 in the data descriptor. The sizes in it, which have 4 or 8 bytes each, are ignored.
    fn check_descriptor(&mut self, start: u64, entry: &CentralEntry) -> Result<(), UnpackError> {
        let end = start
            .cast_signed()
            .wrapping_add(entry.compressed.cast_signed());
        let end = u64::try_from(end).ok().ok_or(EntryFault::Descriptor)?;
        let mut record = [0; 16];
        let read = self.archive.read_bytes(end, &mut record)?;
        let crc_at = if u32_at(&record, 0) == DESCRIPTOR {
            4
        } else {
            0
        };
        if read < crc_at + 12 || u32_at(&record, crc_at) != entry.crc {
            return Err(EntryFault::Descriptor.into());
        }
        Ok(())
    }
}

impl ContentReader for FileContents<'_> {
    type Error = PackageError;

    fn digest(&mut self, entry: &CentralEntry) -> Result<Result<Digest, EntryFault>, PackageError> {
        match self.unpack(entry) {
            Ok(digest) => Ok(Ok(digest)),
            Err(UnpackError::Fault(fault)) => Ok(Err(fault)),
            Err(UnpackError::Io(error)) => Err(PackageError::Read(error)),
        }
    }

    fn has_local_header(&mut self, entry: &CentralEntry) -> Result<bool, PackageError> {
        let offset = self.archive.data_offset(entry);
        Ok(offset.map_err(PackageError::Read)?.is_some())
    }
}

/// Hashes content while it is unpacked.
struct HashSink {
    hasher: ContentHasher,
    room: Vec<u8>,
    /// The maximum size of the content in bytes.
    most: u64,
}

impl HashSink {
    fn begin(&mut self, most: u64) {
        self.hasher = ContentHasher::default();
        self.most = most;
    }
}

impl ContentSink for HashSink {
    fn room(&mut self) -> &mut [u8] {
        &mut self.room
    }

    fn take(&mut self, count: usize) -> Result<(), EntryFault> {
        self.hasher.update(&self.room[..count]);
        if self.hasher.size() > self.most {
            return Err(EntryFault::Size);
        }
        Ok(())
    }
}
