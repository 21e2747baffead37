//! The commands of tflock. Each takes its arguments and returns an exit code. This is the only module that may depend on all others.

mod cache;
mod callers;
mod changed;
mod config;
mod directory_command;
mod documents;
mod engine;
mod index;
mod init;
mod list;
mod lock;
mod lock_files;
mod mirror;
mod package_index;
mod progress_guard;
mod publish;
mod read;
mod renderings;
mod report;
mod session;
mod sources;
mod units;
mod verify;
mod write_lock_file;

use std::process::ExitCode;

use crate::cli::{Cli, Command};
use crate::diagnostic::Diagnostic;
use crate::printer::{LogWriter, Printer};
use crate::settings::{Environment, OutputSettings};
use crate::span::Explain;

/// The exit codes. See docs/reference/exit-codes.md.
const DONE: u8 = 0;
const A_DIRECTORY_FAILED: u8 = 1;
const USAGE_OR_ENVIRONMENT: u8 = 2;
const DRIFT: u8 = 3;
/// 128 plus the signal number of SIGINT, as in shells.
const INTERRUPTED: u8 = 130;

/// The environment and the output settings of a run.
#[derive(Clone, Copy)]
struct Invocation<'a> {
    environment: &'a Environment,
    output: OutputSettings,
    printer: Printer,
}

/// An error that ends a command with the exit code [`USAGE_OR_ENVIRONMENT`].
#[derive(Debug)]
struct CommandError(Box<Diagnostic>);

impl<E: Explain> From<E> for CommandError {
    fn from(error: E) -> Self {
        Self(Box::new(Diagnostic::general(&error)))
    }
}

impl From<anyhow::Error> for CommandError {
    fn from(error: anyhow::Error) -> Self {
        Self(Box::new(Diagnostic::chain(error.as_ref())))
    }
}

/// The report could not be written. The command itself has finished its work.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the report to standard output")]
struct StdoutError(#[source] &'static std::io::Error);

impl Explain for StdoutError {}

/// Runs the command that the command line names, and returns its exit code.
pub fn execute(cli: &Cli, environment: &Environment) -> ExitCode {
    let output = OutputSettings::resolve(&cli.output, environment);
    let printer = Printer::new(output.quiet, output.verbosity, output.styled);
    let invocation = Invocation {
        environment,
        output,
        printer,
    };
    start_log(environment);
    let result = match &cli.command {
        Command::Init(args) => init::command(args, invocation),
        Command::Lock(args) => lock::command(args, invocation),
        Command::Verify(args) => verify::command(args, invocation),
        Command::Mirror(args) => mirror::command(args, invocation),
        Command::Config(args) => config::command(args, invocation),
        Command::List(args) => list::command(args, invocation),
        Command::Cache(args) => cache::command(&args.command, invocation),
        Command::Index(args) => index::command(&args.command, invocation),
        Command::Completions(args) => Ok(documents::completions(*args, printer)),
        Command::Man(args) => documents::man(args, printer),
    };
    let fail = |CommandError(diagnostic)| {
        printer.diagnostic(&diagnostic);
        USAGE_OR_ENVIRONMENT
    };
    let code = result.unwrap_or_else(fail);
    // A truncated report must not look like a complete one, so the exit code indicates the error.
    let error = Printer::stdout_error().map(|error| StdoutError(error).into());
    ExitCode::from(error.map_or(code, fail))
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
