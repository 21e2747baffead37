//! Measures the throughput of the HCL parser in megabytes of native syntax per second.
//!
//! `cargo bench --bench scanner [DIRECTORY]` repeatedly parses the `.tf` files below a directory on one thread. Without
//! a directory, it parses copies of a typical module.

#![expect(clippy::print_stdout, reason = "the figures are the result")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use tflock::syntax::SourceFile;

/// How long to parse: long enough for a stable result.
const DURATION: Duration = Duration::from_secs(2);

/// A typical module: comments, nested blocks, heredocs, templates, expressions.
const SAMPLE: &str = include_str!("sample.tf");

fn main() {
    let directory = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let texts = match directory {
        Some(directory) => read(Path::new(&directory)),
        None => vec![SAMPLE.repeat(20).into_bytes()],
    };
    let size: usize = texts.iter().map(Vec::len).sum();
    let (mut rounds, mut refused) = (0_u32, 0);
    let start = Instant::now();
    while start.elapsed() < DURATION {
        refused = texts
            .iter()
            .filter(|text| SourceFile::parse("bench.tf", (*text).clone()).is_err())
            .count();
        rounds += 1;
    }
    let seconds = start.elapsed().as_secs_f64() / f64::from(rounds);
    #[expect(clippy::cast_precision_loss, reason = "sizes far below 2^52")]
    let (megabytes, files) = (size as f64 / 1e6, texts.len() as f64);
    println!(
        "{megabytes:.1} MB in {files} files, {refused} rejected: {:.0} MB/s, {:.0} files/s",
        megabytes / seconds,
        files / seconds
    );
}

fn read(directory: &Path) -> Vec<Vec<u8>> {
    let walk = ignore::WalkBuilder::new(directory)
        .standard_filters(false)
        .build();
    let paths = walk.filter_map(Result::ok).map(ignore::DirEntry::into_path);
    let is_native = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "tf");
    paths
        .filter(is_native)
        .filter_map(|path| std::fs::read(path).ok())
        .collect()
}
