//! `cargo xtask bench [package|directories]...`: whole runs of tflock beside `terraform providers lock`, curl, raw inflate
//! and raw SHA-256, on one machine in one run, as medians and ratios.
//!
//! Environment: `TFLOCK_BENCH_RUNS` (default 5), `TFLOCK_BENCH_PROVIDER` (a directory with the files of a real provider
//! package to use in place of a generated one), `TFLOCK_BENCH_SIZE` (bytes of the generated executable).

mod measure;
mod raw;
mod scenarios;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["bench", rest @ ..] => scenarios::run(rest),
        ["raw-inflate", file] => raw::inflate(file.as_ref()),
        ["raw-sha256", file] => raw::sha256(file.as_ref()),
        _ => {
            eprintln!("usage: cargo xtask bench [package|directories]...");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
