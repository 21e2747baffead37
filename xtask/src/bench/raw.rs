//! Raw operations that serve as lower bounds: inflating one deflate stream, and hashing bytes.
//!
//! They process the largest entry of a package, which is the executable.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom, Write as _};
use std::path::Path;

use flate2::read::DeflateDecoder;
use sha2::{Digest, Sha256};

/// The number of bytes per read, the same as in tflock.
const PIECE: usize = 256 << 10;

/// Inflates the executable.
pub(crate) fn inflate(path: &Path) {
    let mut file = File::open(path).expect("the package exists");
    let data = Entry::largest(&mut file).data(file);
    let mut decoder = DeflateDecoder::new(BufReader::with_capacity(64 << 10, data));
    let mut piece = vec![0; PIECE];
    let mut total = 0;
    loop {
        match decoder.read(&mut piece).expect("a valid package") {
            0 => break,
            count => total += count as u64,
        }
    }
    println!("{total} bytes");
}

/// Hashes the package.
pub(crate) fn sha256(path: &Path) {
    let mut file = File::open(path).expect("the file exists");
    let mut piece = vec![0; PIECE];
    let mut sha = Sha256::new();
    loop {
        match file.read(&mut piece).expect("a readable file") {
            0 => break,
            count => sha.update(&piece[..count]),
        }
    }
    print(sha);
}

/// Hashes as many bytes as the executable has. Uses the same block of data each time, to measure SHA-256 with input that is in the
/// processor's cache.
pub(crate) fn sha256_of_content(path: &Path) {
    let mut file = File::open(path).expect("the package exists");
    let mut left = Entry::largest(&mut file).size;
    let piece = vec![0x5a; PIECE];
    let mut sha = Sha256::new();
    while left > 0 {
        let count = usize::try_from(left).map_or(PIECE, |left| left.min(PIECE));
        sha.update(&piece[..count]);
        left -= count as u64;
    }
    print(sha);
}

fn print(sha: Sha256) {
    let digest = sha.finalize();
    println!("{:02x}{:02x}...", digest[0], digest[1]);
}

/// Writes the executable's deflate stream as a gzip file, for programs that cannot read zips.
pub(crate) fn extract_deflate(zip: &Path, target: &Path) {
    let mut file = File::open(zip).expect("the package exists");
    let entry = Entry::largest(&mut file);
    let (crc, size) = (entry.crc, entry.size);
    let mut gzip = File::create(target).expect("a temporary directory");
    let header = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    gzip.write_all(&header).expect("a temporary directory");
    std::io::copy(&mut entry.data(file), &mut gzip).expect("a temporary directory");
    let mut trailer = crc.to_le_bytes().to_vec();
    trailer.extend_from_slice(&size.to_le_bytes()[..4]);
    gzip.write_all(&trailer).expect("a temporary directory");
}

/// An entry of a generated archive. Such archives have neither zip64 records nor a comment.
struct Entry {
    /// The offset of the local header in bytes.
    offset: u64,
    /// The size of the deflate stream in bytes.
    length: u64,
    /// The size of the content in bytes.
    size: u64,
    crc: u32,
}

impl Entry {
    /// Returns the largest entry according to the central directory.
    fn largest(file: &mut File) -> Self {
        let mut end = [0; 22];
        file.seek(SeekFrom::End(-22))
            .expect("a zip has an end record");
        file.read_exact(&mut end).expect("a zip has an end record");
        let mut at = long(&end, 16);
        let mut entries = Vec::new();
        for _ in 0..short(&end, 10) {
            let mut header = [0; 46];
            file.seek(SeekFrom::Start(at)).expect("a regular file");
            file.read_exact(&mut header).expect("a central directory");
            entries.push(Self {
                offset: long(&header, 42),
                length: long(&header, 20),
                size: long(&header, 24),
                crc: u32::try_from(long(&header, 16)).expect("four bytes"),
            });
            at += 46 + short(&header, 28) + short(&header, 30) + short(&header, 32);
        }
        let entries = entries.into_iter();
        entries
            .max_by_key(|entry| entry.size)
            .expect("a package has entries")
    }

    /// Returns a reader of the deflate stream.
    fn data(&self, mut file: File) -> impl Read + use<> {
        let mut local = [0; 30];
        file.seek(SeekFrom::Start(self.offset))
            .expect("a regular file");
        file.read_exact(&mut local).expect("a local header");
        let start = self.offset + 30 + short(&local, 26) + short(&local, 28);
        file.seek(SeekFrom::Start(start)).expect("a regular file");
        file.take(self.length)
    }
}

fn short(bytes: &[u8], at: usize) -> u64 {
    u64::from(bytes[at]) | u64::from(bytes[at + 1]) << 8
}

fn long(bytes: &[u8], at: usize) -> u64 {
    short(bytes, at) | short(bytes, at + 2) << 16
}
