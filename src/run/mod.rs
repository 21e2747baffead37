//! The commands: settings in, exit code out. The only room that joins the others.

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

/// The report could not be written; the work is done all the same.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the report to standard output")]
struct ReportLost(#[source] &'static std::io::Error);

impl Explain for ReportLost {}

/// Does what the command line says, and says how it went.
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
            Ok(Refused(problem)) => printer.diagnostic(&problem),
            Err(error) => printer.diagnostic(&Diagnostic::chain(error.as_ref())),
        }
        USAGE_OR_ENVIRONMENT
    });
    // Whoever reads a report that ends early must not take it for all of it.
    let code = match Printer::report_trouble() {
        Some(error) => {
            printer.diagnostic(&Diagnostic::general(&ReportLost(error)));
            USAGE_OR_ENVIRONMENT
        }
        None => code,
    };
    ExitCode::from(code)
}

/// `TFLOCK_LOG` is a filter of `tracing`; without it nothing is logged.
fn start_log(environment: &Environment) {
    let Some(filter) = environment.non_empty("TFLOCK_LOG") else {
        return;
    };
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(filter))
        .with_writer(LogWriter::default)
        .init();
}
