//! `cargo xtask bench [SCENARIO]...`: whole runs of tflock beside `terraform providers lock`, tfupdate, curl, raw inflate and
//! raw SHA-256, on one machine in one run, as medians and ratios. Without a name all scenarios are run.
//!
//! `cargo xtask pictures` makes the pictures in `docs/pictures`; screenshots need `chromium` on the path.
//!
//! `terraform` and `tfupdate` are used where they are on PATH, and so is `igzip`, the fastest inflate for x86.
//!
//! Environment: `TFLOCK_BENCH_RUNS` (default 5), `TFLOCK_BENCH_PROVIDER` (a directory with the files of a real provider
//! package to use in place of a generated one), `TFLOCK_BENCH_SIZE` (bytes of the generated executable),
//! `TFLOCK_BENCH_BINARY` (a release build of tflock to measure in place of a new one).

mod bench;
mod pictures;
mod tflock;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["bench", rest @ ..] if bench::knows(rest) => bench::run(rest),
        ["pictures"] => pictures::run(),
        ["raw-inflate", file] => bench::raw::inflate(file.as_ref()),
        ["raw-sha256-content", file] => bench::raw::sha256_of_content(file.as_ref()),
        ["raw-sha256", file] => bench::raw::sha256(file.as_ref()),
        _ => {
            eprintln!(
                "usage: cargo xtask bench [{}]...\n       cargo xtask pictures",
                bench::names().join("|")
            );
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
