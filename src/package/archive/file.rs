//! Hashes a package that lies on disk, from its central directory on.

use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _};

use flate2::Decompress;
use sha2::{Digest as _, Sha256};

use crate::package::archive::access::{Access as _, AccessError, WholeFile};
use crate::package::archive::content::{
    EntryFault, Hasher, PIECE_BYTES, Sink, UnpackError, copy, inflate,
};
use crate::package::archive::directory::{DirectoryError, read_directory};
use crate::package::archive::entries::{ContentHashes, Contents, hash_entries};
use crate::package::archive::record::{
    DEFLATED, DESCRIPTOR, Entry, LOCAL_BYTES, LocalHeader, STORED, u32_at,
};
use crate::package::{Limits, PackageError, PackageHashes};
use crate::provider::Digest;

/// All hashes of a package file.
///
/// `type_name` is the type of the address that the package is to be installed under, which its executable must carry.
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

/// The digest and the size of a file, read from its start.
pub fn digest_of_file(mut file: &File) -> Result<(Digest, u64), PackageError> {
    file.rewind().map_err(PackageError::Read)?;
    let mut sha = Sha256::new();
    let mut piece = vec![0; PIECE_BYTES];
    let mut size = 0;
    loop {
        match file.read(&mut piece) {
            Ok(0) => return Ok((Digest::new(sha.finalize().into()), size)),
            Ok(count) => {
                sha.update(&piece[..count]);
                size += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(PackageError::Read(error)),
        }
    }
}

/// The hashes of what is in a package file. Whoever trusts them has compared [`digest_of_file`] first.
pub fn hash_contents(
    file: &File,
    type_name: &str,
    limits: &Limits,
) -> Result<ContentHashes, PackageError> {
    let mut archive = WholeFile::new(file).map_err(PackageError::Read)?;
    let entries = read_directory(&mut archive, limits).map_err(|error| match error {
        DirectoryError::Package(error) => error,
        DirectoryError::NotKept => unreachable!("a whole file has all bytes"),
    })?;
    let size = archive.size();
    let mut contents = FileContents::new(archive);
    hash_entries(&entries, &mut contents, size, type_name, limits)
}

/// Unpacks entries from where their local headers are.
struct FileContents<'a> {
    archive: WholeFile<'a>,
    inflater: Decompress,
    sink: HashSink,
}

impl<'a> FileContents<'a> {
    fn new(archive: WholeFile<'a>) -> Self {
        let sink = HashSink {
            hasher: Hasher::default(),
            room: vec![0; PIECE_BYTES],
            most: 0,
        };
        Self {
            archive,
            inflater: Decompress::new(false),
            sink,
        }
    }

    /// The local header of an entry and the offset of the data behind it.
    fn local_header(&mut self, entry: &Entry) -> Result<Option<u64>, UnpackError> {
        let Ok(offset) = u64::try_from(entry.offset) else {
            return Ok(None);
        };
        let mut record = [0; LOCAL_BYTES];
        let read = self.read_at(offset, &mut record)?;
        let header = LocalHeader::parse(&record).filter(|_| read == LOCAL_BYTES);
        Ok(header.map(|header| offset + header.bytes()))
    }

    fn read_at(&mut self, offset: u64, buffer: &mut [u8]) -> Result<usize, UnpackError> {
        self.archive
            .read_at(offset, buffer)
            .map_err(|error| match error {
                AccessError::Io(error) => UnpackError::Io(error),
                AccessError::NotKept => unreachable!("a whole file has all bytes"),
            })
    }

    fn unpack(&mut self, entry: &Entry) -> Result<Digest, UnpackError> {
        let start = self.local_header(entry)?.ok_or(EntryFault::NoLocalHeader)?;
        // A length that is negative as a signed number means no data, as in Go.
        let length = entry.compressed.cast_signed().max(0).cast_unsigned();
        let data = self.archive.at(start)?.take(length);
        let mut data = BufReader::with_capacity(PIECE_BYTES / 4, data);
        self.sink.begin(entry.uncompressed);
        match entry.method {
            STORED => copy(&mut data, length, &mut self.sink)?,
            DEFLATED => inflate(&mut data, &mut self.inflater, &mut self.sink)?,
            method => return Err(EntryFault::UnsupportedMethod { method }.into()),
        };
        let content = self.sink.hasher.finish();
        content.check(entry)?;
        if entry.has_descriptor {
            self.check_descriptor(start, entry)?;
        }
        Ok(content.digest)
    }

    /// Compares the CRC-32 in the data descriptor; its sizes can have 4 or 8 bytes and are not read.
    fn check_descriptor(&mut self, start: u64, entry: &Entry) -> Result<(), UnpackError> {
        let end = start
            .cast_signed()
            .wrapping_add(entry.compressed.cast_signed());
        let end = u64::try_from(end).ok().ok_or(EntryFault::Descriptor)?;
        let mut record = [0; 16];
        let read = self.read_at(end, &mut record)?;
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

impl Contents for FileContents<'_> {
    type Error = PackageError;

    fn digest(&mut self, entry: &Entry) -> Result<Result<Digest, EntryFault>, PackageError> {
        match self.unpack(entry) {
            Ok(digest) => Ok(Ok(digest)),
            Err(UnpackError::Fault(fault)) => Ok(Err(fault)),
            Err(UnpackError::Io(error)) => Err(PackageError::Read(error)),
        }
    }

    fn has_local_header(&mut self, entry: &Entry) -> Result<bool, PackageError> {
        match self.local_header(entry) {
            Ok(start) => Ok(start.is_some()),
            Err(UnpackError::Fault(_)) => Ok(false),
            Err(UnpackError::Io(error)) => Err(PackageError::Read(error)),
        }
    }
}

/// Hashes content as it is unpacked.
struct HashSink {
    hasher: Hasher,
    room: Vec<u8>,
    /// More content than this is refused.
    most: u64,
}

impl HashSink {
    fn begin(&mut self, most: u64) {
        self.hasher = Hasher::default();
        self.most = most;
    }
}

impl Sink for HashSink {
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
