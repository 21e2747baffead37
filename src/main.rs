//! The `tflock` program: parses the command line, runs the command and returns the exit code.

use std::process::ExitCode;

use tflock::cli;
use tflock::printer::Printer;
use tflock::settings::Environment;

/// musl's own allocator has one lock for all threads, which makes a run over ten thousand directories four times slower.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    let cli = match cli::parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => return print_usage_error(&error),
    };
    // If there is no working directory, relative paths fail later, with an error that names them.
    let working_directory = std::env::current_dir().unwrap_or_default();
    let environment = Environment::new(std::env::vars_os(), working_directory);
    tflock::run::execute(&cli, &environment)
}

/// Prints a command-line error, or the text of `--help`. Hooks pass file names, so an error may contain text that a CI system
/// would run as a command; such text is escaped.
fn print_usage_error(error: &clap::Error) -> ExitCode {
    let is_printed = error.use_stderr() && Printer::escaped_usage(&error.render().to_string());
    if !is_printed {
        // A failure to print cannot be reported anywhere.
        let _ = error.print();
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}
