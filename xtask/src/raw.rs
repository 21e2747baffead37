//! The limits: one deflate stream inflated, one file hashed, and nothing else.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::read::DeflateDecoder;
use sha2::{Digest, Sha256};

/// Bytes per read; the size that the product uses as well.
const PIECE: usize = 256 << 10;

/// Inflates the largest entry of a zip, found by its central directory.
pub fn inflate(path: &Path) {
    let mut file = File::open(path).expect("the package is there");
    let (start, length) = largest_entry(&mut file);
    file.seek(SeekFrom::Start(start)).expect("a regular file");
    let mut decoder = DeflateDecoder::new(BufReader::with_capacity(64 << 10, file.take(length)));
    let mut piece = vec![0; PIECE];
    let mut total = 0;
    loop {
        match decoder.read(&mut piece).expect("a sound package") {
            0 => break,
            count => total += count as u64,
        }
    }
    println!("{total} bytes");
}

/// Hashes a file.
pub fn sha256(path: &Path) {
    let mut file = File::open(path).expect("the file is there");
    let mut piece = vec![0; PIECE];
    let mut sha = Sha256::new();
    loop {
        match file.read(&mut piece).expect("a readable file") {
            0 => break,
            count => sha.update(&piece[..count]),
        }
    }
    let digest = sha.finalize();
    println!("{:02x}{:02x}...", digest[0], digest[1]);
}

/// Where the data of the largest entry begins, and its compressed length. For archives of the benchmark only: no zip64, no
/// comment.
fn largest_entry(file: &mut File) -> (u64, u64) {
    let mut end = [0; 22];
    file.seek(SeekFrom::End(-22))
        .expect("a zip has an end record");
    file.read_exact(&mut end).expect("a zip has an end record");
    let number = |bytes: &[u8], at: usize| {
        u64::from(u32::from_le_bytes(
            bytes[at..at + 4].try_into().expect("four bytes"),
        ))
    };
    let short = |bytes: &[u8], at: usize| u64::from(bytes[at]) | u64::from(bytes[at + 1]) << 8;
    let mut at = number(&end, 16);
    let mut largest = (0, 0);
    for _ in 0..short(&end, 10) {
        let mut header = [0; 46];
        file.seek(SeekFrom::Start(at)).expect("a regular file");
        file.read_exact(&mut header).expect("a central directory");
        let length = number(&header, 20);
        if length >= largest.1 {
            largest = (number(&header, 42), length);
        }
        at += 46 + short(&header, 28) + short(&header, 30) + short(&header, 32);
    }
    let mut local = [0; 30];
    file.seek(SeekFrom::Start(largest.0))
        .expect("a regular file");
    file.read_exact(&mut local).expect("a local header");
    (
        largest.0 + 30 + short(&local, 26) + short(&local, 28),
        largest.1,
    )
}
