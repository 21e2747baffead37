//! `tflock mirror`: the packages that lock files name, on disk.
//!
//! Directories are read, and with `--lock` locked, as for `tflock lock`; each then sees to its own packages, which
//! [`fill`] gets and puts in their places, each once. When all are there, the index files are written; then what nobody
//! needs is removed.

mod check;
mod configuration;
mod fill;
mod problem;
mod report;
mod work;

use std::sync::Arc;

use crate::cli::{MirrorArgs, MirrorFormatArg};
use crate::diagnostic::{Code, Diagnostic};
use crate::mirror::MirrorError;
use crate::printer::Printer;
use crate::settings::{CliConfigTarget, Environment, MirrorSettings, OutputSettings};

use super::alive::Alive;
use super::report::Detail;
use super::session::{Refused, Session};
use super::{A_DIRECTORY_FAILED, DONE, DRIFT, USAGE_OR_ENVIRONMENT, lock};
use configuration::Written;
use fill::Filler;
use report::MirrorReport;
use work::{Work, mirror};

/// Runs `tflock mirror`.
pub(super) fn command(
    args: &MirrorArgs,
    environment: &Environment,
    output: OutputSettings,
    printer: Printer,
) -> anyhow::Result<u8> {
    let alive = Alive::show(output);
    let settings =
        MirrorSettings::resolve(args, environment).map_err(|error| Refused::because(&error))?;
    let confined = settings.directory.check_links_to();
    confined.map_err(|error| Refused::because(&error))?;
    let session = Session::open(
        environment,
        alive,
        printer,
        &settings.lock.tree,
        &settings.lock.sources,
    )?;
    let filler = session
        .mirror
        .as_ref()
        .map(|mirror| Filler::new(Arc::clone(mirror), Arc::clone(&session.packages)));
    let work = Arc::new(Work {
        lock: lock::Work::new(settings.lock.clone(), Detail::Changes, &session),
        settings: settings.clone(),
        filler,
        mirror: session.mirror.clone(),
    });
    let fetcher = Arc::clone(&session.fetcher);
    session.run(
        mirror(work, fetcher),
        |report| show(&report, &settings, printer),
        "interrupted; every package in the mirror is whole",
    )
}

/// The report on stdout, or the CLI configuration where that was asked for; what went wrong on stderr.
fn show(report: &MirrorReport, settings: &MirrorSettings, printer: Printer) -> u8 {
    let to_stdout = settings.cli_config == Some(CliConfigTarget::Stdout);
    match settings.format {
        MirrorFormatArg::Text if to_stdout => {
            printer.message(report.text(printer.verbosity).trim_end());
        }
        MirrorFormatArg::Text => printer.report(&report.text(printer.verbosity)),
        MirrorFormatArg::Json if to_stdout => {}
        MirrorFormatArg::Json => printer.json(&report.json()),
    }
    for diagnostic in report.all_diagnostics() {
        printer.diagnostic(&diagnostic);
    }
    let configured = configure(settings, printer);
    if let Err(error) = &configured {
        printer.diagnostic(&Diagnostic::general(error));
    }
    if report.has_failed() {
        A_DIRECTORY_FAILED
    } else if configured.is_err() {
        USAGE_OR_ENVIRONMENT
    } else if !report.faults.is_empty() {
        DRIFT
    } else {
        DONE
    }
}

/// `--cli-config`.
fn configure(settings: &MirrorSettings, printer: Printer) -> Result<(), MirrorError> {
    let Some(target) = &settings.cli_config else {
        return Ok(());
    };
    let text = configuration::text(&settings.directory, &settings.lock.tree.working_directory)?;
    match target {
        CliConfigTarget::Stdout => printer.document(&text),
        CliConfigTarget::File(path) => {
            if let Written::NotOurs(path) = configuration::write(path, &text)? {
                let message = format!(
                    "`{}` is not tflock's and stays as it is; a configuration has one `provider_installation` block: add \
                     this one, or its methods before the `direct` of yours, which needs the same `exclude`\n\n{text}",
                    path.display()
                );
                printer.diagnostic(&Diagnostic::warning(Code::CliConfig, message, None));
            }
        }
    }
    Ok(())
}
