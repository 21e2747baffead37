//! The zip reader: hashing a package as a download must either equal hashing the file or ask for the file.
//!
//! The first byte of the input sets the chunk size for the rest. Run it with `-detect_leaks=0`, because the hasher's
//! threads may still be running when leaks are detected.

#![no_main]

use std::io::Write as _;

use libfuzzer_sys::fuzz_target;
use tflock::package::{Limits, StreamHasher, Streamed, hash_archive};

/// Limits so small that random archives exceed them and zip bombs stop early.
const LIMITS: Limits = Limits {
    entries: 64,
    directory_bytes: 8 << 10,
    unpacked_bytes: 1 << 20,
    ratio: 200,
};

/// The provider type whose executable a package must contain.
const TYPE_NAME: &str = "p";

fn stream(bytes: &[u8], chunk: usize) -> Streamed {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(async {
        let mut hasher = StreamHasher::new(TYPE_NAME, LIMITS).expect("threads");
        for chunk in bytes.chunks(chunk) {
            hasher.send(bytes::Bytes::copy_from_slice(chunk)).await.expect("the threads are running");
        }
        hasher.finish().await.expect("the threads are running")
    })
}

fuzz_target!(|input: &[u8]| {
    let Some((chunk, bytes)) = input.split_first() else {
        return;
    };
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(bytes).expect("a temporary file");
    let whole = hash_archive(&file, TYPE_NAME, &LIMITS);
    match stream(bytes, usize::from(*chunk) * 8 + 1) {
        Streamed::Hashed(hashes) => assert_eq!(whole, Ok(hashes)),
        Streamed::Refused { error, .. } => assert_eq!(whole, Err(error)),
        Streamed::NeedsFile { size, .. } => assert_eq!(size, bytes.len() as u64),
    }
});
