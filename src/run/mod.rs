//! The commands: settings in, exit code out. The only room that joins the others.

mod engine;
mod lock;
mod read;
mod report;
mod signals;
mod sources;
mod write;

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;

pub use report::{DirectoryReport, Fate, RunReport, Signed};

use crate::cli::{Cli, Command, LockArgs};
use crate::diagnostic::{self, Diagnostic};
use crate::printer::Printer;
use crate::progress::ProgressBars;
use crate::provider::Platform;
use crate::reporter::{self, Reporter};
use crate::settings::{self, Environment, LockSettings, OutputSettings, SettingsError};
use lock::Ending;

/// Exit codes (design, section 3).
const DONE: u8 = 0;
const A_DIRECTORY_FAILED: u8 = 1;
const USAGE_OR_ENVIRONMENT: u8 = 2;
const DRIFT: u8 = 3;
/// 128 and the number of SIGINT, as shells count.
const INTERRUPTED: u8 = 130;

/// Does what the command line says, and says how it went.
pub fn execute(cli: &Cli, environment: &Environment) -> ExitCode {
    let output = settings::output(&cli.output, environment);
    let printer = Printer::new(output.quiet, output.verbosity, output.styled);
    start_log(environment);
    let code = match &cli.command {
        Command::Lock(args) => lock_command(args, environment, output, printer),
    };
    let code = code.unwrap_or_else(|error| {
        printer.diagnostic(&Diagnostic::chain(error.as_ref()));
        USAGE_OR_ENVIRONMENT
    });
    ExitCode::from(code)
}

fn lock_command(
    args: &LockArgs,
    environment: &Environment,
    output: OutputSettings,
    printer: Printer,
) -> anyhow::Result<u8> {
    let mut settings = match LockSettings::resolve(args, environment, Platform::current()) {
        Ok(settings) => settings,
        Err(error) => return Ok(refuse(&error, printer)),
    };
    if settings.engine.is_none() {
        settings.engine = settings::engine_of_base_url(environment);
    }
    let bars = (output.progress && Printer::stderr_is_terminal())
        .then(|| Arc::new(ProgressBars::on_stderr()));
    let reporter: Arc<dyn Reporter> = match &bars {
        Some(bars) => Arc::clone(bars) as Arc<dyn Reporter>,
        None => reporter::silent(),
    };
    let sources::Sources { sources, cautions } =
        match sources::sources(environment, &settings, &reporter) {
            Ok(sources) => sources,
            Err(problem) => {
                printer.diagnostic(&problem);
                return Ok(USAGE_OR_ENVIRONMENT);
            }
        };
    for caution in &cautions {
        printer.diagnostic(caution);
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the threads that wait for the network")?;
    let ending = runtime.block_on(async {
        let interrupted = signals::interrupted()?;
        let trust = settings::trust(environment);
        lock::lock(Arc::new(settings), sources, trust, reporter, interrupted).await
    });
    if let Some(bars) = bars {
        bars.clear();
    }
    Ok(match ending? {
        Ending::Complete(report) => show(&report, printer),
        Ending::Interrupted => {
            printer.message("interrupted; every lock file is the old one or the new one");
            INTERRUPTED
        }
    })
}

fn refuse(error: &SettingsError, printer: Printer) -> u8 {
    printer.diagnostic(&Diagnostic::general(error));
    USAGE_OR_ENVIRONMENT
}

/// The report on stdout, what went wrong and what should be known on stderr.
fn show(report: &RunReport, printer: Printer) -> u8 {
    printer.report(&report.render(printer.verbosity));
    let all = report.directories.iter();
    let all = all.flat_map(|directory| directory.diagnostics.iter().cloned());
    for diagnostic in diagnostic::merge(all.collect()) {
        printer.diagnostic(&diagnostic);
    }
    if report.count(Fate::Failed) > 0 {
        A_DIRECTORY_FAILED
    } else if report.check && report.has_drift() {
        DRIFT
    } else {
        DONE
    }
}

/// `TFLOCK_LOG` is a filter of `tracing`; without it nothing is logged.
fn start_log(environment: &Environment) {
    let Some(filter) = environment.non_empty("TFLOCK_LOG") else {
        return;
    };
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::new(filter))
        .with_writer(std::io::stderr)
        .init();
}
