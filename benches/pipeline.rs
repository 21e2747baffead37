//! Measures the cost of hashing a package against the minimum: inflating it and hashing its content with SHA-256.
//!
//! ```text
//! cargo bench --bench pipeline                      a generated 256 MB package
//! cargo bench --bench pipeline -- aws.zip aws       a real package and its provider type
//! ```
//!
//! Each figure is the median of five runs, with its ratio to inflating alone. A single deflate stream cannot be
//! inflated in parallel, so inflating is the minimum for any number of cores.

#![expect(clippy::print_stdout, reason = "a benchmark prints its figures")]

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::time::{Duration, Instant};

use bytes::Bytes;
use flate2::bufread::DeflateDecoder;
use sha2::{Digest as _, Sha256};
use tflock::package::{Limits, StreamHasher, Streamed, hash_archive};
use tflock_test_support::{ArchiveWriter, Payload};

/// The size of the generated executable in bytes.
const PROGRAM_BYTES: u64 = 256_000_000;

/// A typical size of the chunks that an HTTP/1.1 connection delivers.
const CHUNK_BYTES: usize = 300_000;

const RUNS: usize = 5;

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"));
    let (zip, type_name) = match (arguments.next(), arguments.next()) {
        (Some(path), Some(type_name)) => (std::fs::read(path).expect("a readable zip"), type_name),
        _ => (generated(), "bench".to_owned()),
    };
    let zip = Bytes::from(zip);
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(&zip).expect("enough disk space");

    let inflate = median(|| inflate(&zip));
    let content = inflate.1;
    println!(
        "{:.1} MB, unpacked {:.1} MB",
        megabytes(zip.len() as u64),
        megabytes(content)
    );
    let report = |name: &str, time: Duration| {
        let (seconds, ratio) = (
            time.as_secs_f64(),
            time.as_secs_f64() / inflate.0.as_secs_f64(),
        );
        println!(
            "{name:<28} {seconds:.3} s  {ratio:.2}  {:.0} MB/s of content",
            megabytes(content) / seconds
        );
    };
    report("inflate alone", inflate.0);
    report("SHA-256 of content alone", median(|| digest(content)).0);
    report("stream", median(|| stream(&zip, &type_name)).0);
    report("file", median(|| whole(&file, &type_name)).0);
}

fn generated() -> Vec<u8> {
    let mut writer = ArchiveWriter::new(Vec::new());
    let program = Payload::new("bench", PROGRAM_BYTES);
    let added = writer.file("terraform-provider-bench_v1.0.0", 0o755, program);
    added.expect("writing to memory cannot fail");
    writer.finish().expect("writing to memory cannot fail").1
}

#[expect(clippy::cast_precision_loss, reason = "the figures are rounded")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// Runs a task several times and returns its median time and last result.
fn median<T>(task: impl Fn() -> T) -> (Duration, T) {
    let mut times = Vec::new();
    let mut run = || {
        let start = Instant::now();
        let result = task();
        times.push(start.elapsed());
        result
    };
    for _ in 1..RUNS {
        run();
    }
    let result = run();
    times.sort();
    (times[RUNS / 2], result)
}

/// Inflates all entries of an archive and returns the total size of their contents. The entries must be deflated and
/// have 16-byte data descriptors.
fn inflate(zip: &[u8]) -> u64 {
    let mut piece = vec![0; 256 << 10];
    let (mut at, mut size) = (0, 0);
    while zip[at..].starts_with(b"PK\x03\x04") {
        let length = |at: usize| usize::from(u16::from_le_bytes([zip[at], zip[at + 1]]));
        let data = at + 30 + length(at + 26) + length(at + 28);
        let mut decoder = DeflateDecoder::new(&zip[data..]);
        loop {
            let count = decoder.read(&mut piece).expect("a deflated entry");
            if count == 0 {
                break;
            }
            size += count as u64;
        }
        at = data + usize::try_from(decoder.total_in()).expect("inside the archive") + 16;
    }
    size
}

/// Hashes `size` bytes in pieces that fit in the processor's cache, as the pipeline does.
fn digest(size: u64) -> [u8; 32] {
    let piece = vec![0x5a; 256 << 10];
    let mut sha = Sha256::new();
    for _ in 0..size / piece.len() as u64 {
        sha.update(&piece);
    }
    sha.finalize().into()
}

fn stream(zip: &Bytes, type_name: &str) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let streamed = runtime.block_on(async {
        let mut hasher = StreamHasher::new(type_name, Limits::default()).expect("threads");
        let mut rest = zip.clone();
        while !rest.is_empty() {
            let chunk = rest.split_to(rest.len().min(CHUNK_BYTES));
            hasher.send(chunk).await.expect("the threads are running");
        }
        hasher.finish().await.expect("the threads are running")
    });
    assert!(matches!(streamed, Streamed::Hashed(_)), "{streamed:?}");
}

fn whole(file: &File, type_name: &str) {
    hash_archive(file, type_name, &Limits::default()).expect("a valid package");
}
