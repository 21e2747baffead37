//! The `tflock` program: parse, run, turn the outcome into an exit code.

use std::process::ExitCode;

use clap::Parser as _;
use tflock::cli::Cli;
use tflock::settings::Environment;

/// musl's own allocator has one lock for all threads: with it, ten thousand directories take four times as long.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::parse();
    // A working directory that is gone cannot be walked; relative paths then fail by name.
    let working_directory = std::env::current_dir().unwrap_or_default();
    let environment = Environment::new(std::env::vars_os(), working_directory);
    tflock::run::execute(&cli, &environment)
}
