//! The `tflock` program: parse, run, turn the outcome into an exit code.

use std::process::ExitCode;

use clap::Parser as _;
use tflock::cli::Cli;
use tflock::printer::Printer;
use tflock::settings::Environment;

/// musl's own allocator has one lock for all threads: with it, ten thousand directories take four times as long.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    // A working directory that is gone cannot be walked; relative paths then fail by name.
    let working_directory = std::env::current_dir().unwrap_or_default();
    let environment = Environment::new(std::env::vars_os(), working_directory);
    tflock::run::execute(&cli, &environment)
}

/// Says what is wrong with the command line, or what it asks for (`--help`). Hooks put names of files on command lines, which may
/// be made to look like commands of a log.
fn refuse(error: &clap::Error) -> ExitCode {
    let is_said = error.use_stderr() && Printer::escaped_usage(&error.render().to_string());
    if !is_said {
        // There is nowhere left to report a failure to.
        let _ = error.print();
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}
