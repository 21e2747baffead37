//! A zip writer. Its packages have the same format as those of goreleaser, which uses Go's `archive/zip`.
//!
//! Every entry is deflated and followed by a data descriptor with a signature. Every entry has the extended timestamp
//! field with a fixed time. The archive is written sequentially, so it may be larger than memory. Format: APPNOTE.TXT
//! 4.3.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::write::DeflateEncoder;
use sha2::{Digest as _, Sha256};

use crate::hash::{h1, to_hex};

/// 2024-01-01 00:00:00 as an MS-DOS date and time. All entries have this timestamp.
const DOS_STAMP: u32 = 0x5821_0000;

/// The same time in Unix seconds.
const UNIX_STAMP: u32 = 1_704_067_200;

/// The hashes and the size of an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArchiveFacts {
    /// The SHA-256 digest of the archive in lower-case hexadecimal digits.
    pub sha256: String,
    /// The `h1:` hash of the files in the archive.
    pub h1: String,
    /// The length of the archive in bytes.
    pub size: u64,
}

/// A writer that counts an archive's bytes and computes their digest.
pub struct ArchiveWriter<W: Write> {
    out: Tee<W>,
    central: Vec<u8>,
    files: BTreeMap<Vec<u8>, String>,
}

impl<W: Write> ArchiveWriter<W> {
    /// Creates a writer that writes the archive to `out`.
    pub fn new(out: W) -> Self {
        let out = Tee {
            inner: out,
            hasher: Sha256::new(),
            size: 0,
        };
        Self {
            out,
            central: Vec::new(),
            files: BTreeMap::new(),
        }
    }

    /// Adds a file with the Unix permissions `mode`.
    ///
    /// # Errors
    ///
    /// If `content` cannot be read or the archive cannot be written.
    pub fn file(&mut self, name: &str, mode: u32, content: impl Read) -> io::Result<()> {
        let offset = narrow(self.out.size);
        let shared = shared_header(name);
        self.out.write_all(b"PK\x03\x04")?;
        self.out.write_all(&shared.start)?;
        self.out.write_all(&[0; 12])?;
        self.out.write_all(&shared.lengths)?;
        self.out.write_all(&shared.end)?;

        let before = self.out.size;
        let (digest, crc, unpacked) = deflate(content, &mut self.out)?;
        let sizes = [crc, narrow(self.out.size - before), narrow(unpacked)];
        self.out.write_all(b"PK\x07\x08")?;
        self.out.write_all(&words(&sizes))?;

        self.central.extend_from_slice(b"PK\x01\x02\x14\x03");
        self.central.extend_from_slice(&shared.start);
        self.central.extend_from_slice(&words(&sizes));
        self.central.extend_from_slice(&shared.lengths);
        self.central.extend_from_slice(&[0; 6]);
        self.central
            .extend_from_slice(&words(&[(0o100_000 | mode) << 16, offset]));
        self.central.extend_from_slice(&shared.end);
        self.files.insert(name.as_bytes().to_vec(), digest);
        Ok(())
    }

    /// Writes the central directory and returns the hashes and the size of the archive.
    ///
    /// # Errors
    ///
    /// If the archive cannot be written.
    pub fn finish(mut self) -> io::Result<(ArchiveFacts, W)> {
        let start = narrow(self.out.size);
        let count = u16::try_from(self.files.len()).expect("test packages have few files");
        self.out.write_all(&self.central)?;
        self.out.write_all(b"PK\x05\x06\0\0\0\0")?;
        self.out
            .write_all(&[count.to_le_bytes(), count.to_le_bytes()].concat())?;
        self.out
            .write_all(&words(&[narrow(self.central.len() as u64), start]))?;
        self.out.write_all(&[0; 2])?;
        self.out.flush()?;
        let sha256 = to_hex(&self.out.hasher.finalize());
        let archive = ArchiveFacts {
            sha256,
            h1: h1(&self.files),
            size: self.out.size,
        };
        Ok((archive, self.out.inner))
    }
}

/// The fields that the local and central headers of an entry share.
struct SharedHeader {
    /// The required version, the flags (data descriptor; UTF-8 for non-ASCII names), the method and the time.
    start: Vec<u8>,
    /// The lengths of the name and the extra field.
    lengths: Vec<u8>,
    /// The name and the extra field.
    end: Vec<u8>,
}

fn shared_header(name: &str) -> SharedHeader {
    let flags: u16 = if name.is_ascii() { 0x0008 } else { 0x0808 };
    let mut start = Vec::from(20_u16.to_le_bytes());
    start.extend_from_slice(&flags.to_le_bytes());
    start.extend_from_slice(&8_u16.to_le_bytes());
    start.extend_from_slice(&DOS_STAMP.to_le_bytes());
    let mut extra = Vec::from(*b"UT\x05\0\x01");
    extra.extend_from_slice(&UNIX_STAMP.to_le_bytes());
    let name_length = u16::try_from(name.len()).expect("test names are short");
    let mut lengths = Vec::from(name_length.to_le_bytes());
    lengths.extend_from_slice(&9_u16.to_le_bytes());
    let end = [name.as_bytes(), &extra].concat();
    SharedHeader {
        start,
        lengths,
        end,
    }
}

/// Deflates `content` into `out`. Returns the hexadecimal SHA-256 digest, the CRC-32 and the length of `content`.
fn deflate(mut content: impl Read, out: &mut impl Write) -> io::Result<(String, u32, u64)> {
    let mut encoder = DeflateEncoder::new(out, Compression::default());
    let (mut hasher, mut crc, mut size) = (Sha256::new(), crc32fast::Hasher::new(), 0);
    let mut buffer = vec![0; 256 * 1024];
    loop {
        let count = content.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        let piece = &buffer[..count];
        hasher.update(piece);
        crc.update(piece);
        size += count as u64;
        encoder.write_all(piece)?;
    }
    encoder.finish()?;
    Ok((to_hex(&hasher.finalize()), crc.finalize(), size))
}

/// A writer that counts the bytes it passes on and computes their digest.
struct Tee<W> {
    inner: W,
    hasher: Sha256,
    size: u64,
}

impl<W: Write> Write for Tee<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.hasher.update(&bytes[..count]);
        self.size += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

fn narrow(size: u64) -> u32 {
    u32::try_from(size).expect("test packages stay under 4 GiB")
}

fn words(values: &[u32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}
