//! `cargo xtask bench [SCENARIO]...` measures complete runs of tflock, `terraform providers lock`, tfupdate, curl, raw
//! inflate and raw SHA-256 on this machine, and prints medians and ratios. Without names, it runs all scenarios.
//!
//! `cargo xtask compare [OPTION]...` generates random cases, and compares tflock with the `terraform` and `tofu` on PATH.
//!
//! `cargo xtask pictures` creates the pictures in `docs/pictures`. Screenshots need `chromium` on PATH.
//!
//! `terraform`, `tfupdate` and `igzip`, the fastest inflate for x86, are measured if they are on PATH.
//!
//! Environment: `TFLOCK_BENCH_RUNS` (default 5), `TFLOCK_BENCH_PROVIDER` (a directory with the files of a real provider
//! package, which replaces the generated one), `TFLOCK_BENCH_SIZE` (the size of the generated executable in bytes),
//! `TFLOCK_BENCH_BINARY` (a release build of tflock, which replaces a new build).

mod bench;
mod compare;
mod pictures;
mod tflock;

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["bench", rest @ ..] if bench::knows(rest) => bench::run(rest),
        ["compare", rest @ ..] => return compare::run(rest),
        ["pictures"] => pictures::run(),
        ["raw-inflate", file] => bench::raw::inflate(file.as_ref()),
        ["raw-sha256-content", file] => bench::raw::sha256_of_content(file.as_ref()),
        ["raw-sha256", file] => bench::raw::sha256(file.as_ref()),
        _ => {
            eprintln!(
                "usage: cargo xtask bench [{}]...\n       {}\n       cargo xtask pictures",
                bench::names().join("|"),
                compare::USAGE
            );
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}
