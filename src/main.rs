//! The `tflock` program: parse, run, turn the outcome into an exit code.

use std::process::ExitCode;

use clap::Parser as _;
use tflock::cli::Cli;
use tflock::printer::harmless_usage;
use tflock::settings::Environment;

/// musl's own allocator has one lock for all threads: with it, ten thousand directories take four times as long.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = Cli::try_parse().unwrap_or_else(|error| refuse(&error));
    // A working directory that is gone cannot be walked; relative paths then fail by name.
    let working_directory = std::env::current_dir().unwrap_or_default();
    let environment = Environment::new(std::env::vars_os(), working_directory);
    tflock::run::execute(&cli, &environment)
}

/// Ends the process with what is wrong with the command line, or with what it asks for (`--help`). Hooks put names of files on
/// command lines, which may be made to look like commands of a log.
fn refuse(error: &clap::Error) -> ! {
    match harmless_usage(&error.render().to_string()) {
        Some(usage) if error.use_stderr() => {
            eprint!("{usage}");
            std::process::exit(error.exit_code())
        }
        _ => error.exit(),
    }
}
