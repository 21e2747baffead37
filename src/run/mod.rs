//! The commands of tflock. Each takes its settings and returns an exit code. Only this module connects all other modules.

mod cache;
mod callers;
mod changed;
mod concurrency;
mod config;
mod directory_command;
mod documents;
mod engine;
mod list;
mod lock;
mod lock_files;
mod mirror;
mod progress_guard;
mod publish;
mod read;
mod renderings;
mod report;
mod session;
mod signals;
mod sources;
mod verify;
mod write_lock_file;

use std::process::ExitCode;

pub use report::{Base, Detail, DirectoryReport, Fate, ProviderReport, RunReport};

use crate::cli::{Cli, Command};
use crate::diagnostic::Diagnostic;
use crate::printer::{LogWriter, Printer};
use crate::settings::{Environment, OutputSettings};
use crate::span::Explain;
use session::Refused;

/// Exit codes (docs/reference/exit-codes.md).
const DONE: u8 = 0;
const A_DIRECTORY_FAILED: u8 = 1;
const USAGE_OR_ENVIRONMENT: u8 = 2;
const DRIFT: u8 = 3;
/// 128 and the number of SIGINT, as shells count.
const INTERRUPTED: u8 = 130;

/// The report could not be written. The command itself has finished its work.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the report to standard output")]
struct StdoutError(#[source] &'static std::io::Error);

impl Explain for StdoutError {}

/// Runs the command that the command line names, and returns its exit code.
pub fn execute(cli: &Cli, environment: &Environment) -> ExitCode {
    let output = OutputSettings::resolve(&cli.output, environment);
    let printer = Printer::new(output.quiet, output.verbosity, output.styled);
    start_log(environment);
    let code = match &cli.command {
        Command::Lock(args) => lock::command(args, environment, output, printer),
        Command::Verify(args) => verify::command(args, environment, output, printer),
        Command::Mirror(args) => mirror::command(args, environment, output, printer),
        Command::Config(args) => config::command(args, environment, printer),
        Command::List(args) => list::command(args, environment, output, printer),
        Command::Cache(args) => cache::command(&args.command, environment, printer),
        Command::Completions(args) => Ok(documents::completions(*args, printer)),
        Command::Man(args) => documents::man(args, printer),
    };
    let code = code.unwrap_or_else(|error| {
        match error.downcast::<Refused>() {
            Ok(Refused(diagnostic)) => printer.diagnostic(&diagnostic),
            Err(error) => printer.diagnostic(&Diagnostic::chain(error.as_ref())),
        }
        USAGE_OR_ENVIRONMENT
    });
    // A truncated report must not look like a complete one, so the exit code says that it is incomplete.
    let code = match Printer::stdout_error() {
        Some(error) => {
            printer.diagnostic(&Diagnostic::general(&StdoutError(error)));
            USAGE_OR_ENVIRONMENT
        }
        None => code,
    };
    ExitCode::from(code)
}

/// Starts the log if `TFLOCK_LOG` is set. Its value is a filter for `tracing_subscriber`.
fn start_log(environment: &Environment) {
    let Some(filter) = environment.non_empty("TFLOCK_LOG") else {
        return;
    };
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(filter))
        .with_writer(LogWriter::default)
        .init();
}
