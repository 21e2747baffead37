//! The `tflock mirror` command: maintains a directory or an OCI registry with the packages that lock files name.
//!
//! Directories are read and, with `--lock`, locked as for `tflock lock`. Then [`filler`] downloads the packages of all
//! directories, each package once, or [`pusher`] pushes them to a registry. Finally, tflock writes the index files or index
//! manifests and, with `--prune`, removes unneeded packages.

mod check;
mod configuration;
mod filler;
mod mirror_command;
mod package_store;
mod problem;
mod pusher;
mod report;

use std::sync::Arc;

use anyhow::Context as _;
use tempfile::TempDir;

use crate::cli::{MirrorArgs, MirrorFormatArg};
use crate::diagnostic::{Code, Diagnostic};
use crate::mirror::{Layout, MirrorDirectory, MirrorError};
use crate::printer::Printer;
use crate::registry::OciMirrorWriter;
use crate::settings::{CliConfigTarget, MirrorSettings, MirrorTarget};

use super::directory_command;
use super::lock::Locker;
use super::progress_guard::ProgressGuard;
use super::report::Detail;
use super::session::Session;
use super::{A_DIRECTORY_FAILED, CommandError, DONE, DRIFT, Invocation, USAGE_OR_ENVIRONMENT};
use filler::MirrorFiller;
use mirror_command::MirrorCommand;
use package_store::PackageStore;
use pusher::{MirrorPusher, PushStaging};
use report::MirrorReport;

pub(super) fn command(args: &MirrorArgs, invocation: Invocation<'_>) -> Result<u8, CommandError> {
    let progress = ProgressGuard::show(invocation.output);
    let mut settings = MirrorSettings::resolve(args, invocation.environment)?;
    let staging = match &settings.target {
        MirrorTarget::Directory(directory) => {
            directory.check_links_to()?;
            None
        }
        MirrorTarget::Repositories(_) if settings.check => None,
        MirrorTarget::Repositories(_) => {
            let directory = tempfile::tempdir().context("cannot create a temporary directory")?;
            let packages = MirrorDirectory::new(directory.path().join("packages"), Layout::Packed);
            settings.lock.sources.keep = Some(packages);
            Some(directory)
        }
    };
    let (tree, sources) = (&settings.lock.tree, &settings.lock.sources);
    let session = Session::open(invocation, progress, tree, sources)?;
    let command = MirrorCommand {
        locker: Locker::new(settings.lock.clone(), Detail::Changes, &session),
        store: open_store(&settings, &session, staging)?,
        settings,
    };
    directory_command::run(session, command)
}

/// Opens the store for the packages. `staging` is the directory in which packages are stored until they are pushed.
fn open_store(
    settings: &MirrorSettings,
    session: &Session,
    staging: Option<TempDir>,
) -> Result<PackageStore, CommandError> {
    let packages = Arc::clone(&session.packages);
    let mirror = session.mirror.clone();
    Ok(match &settings.target {
        MirrorTarget::Directory(directory) => PackageStore::Directory {
            directory: directory.clone(),
            filler: mirror.map(|mirror| MirrorFiller::new(mirror, packages)),
        },
        MirrorTarget::Repositories(template) => {
            let client = session
                .tofu_client()
                .context("the run has no package source")?;
            let writer = OciMirrorWriter::new(client, template.clone());
            let staging = mirror
                .zip(staging)
                .map(|(mirror, directory)| PushStaging::new(mirror, directory));
            PackageStore::Registry(MirrorPusher::new(writer, packages, staging))
        }
    })
}

/// Prints the report to stdout, and errors and warnings to stderr. With `--cli-config -`, stdout gets the CLI configuration
/// instead, and the text report goes to stderr.
fn publish(report: &MirrorReport, settings: &MirrorSettings, printer: Printer) -> u8 {
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
    let configured = write_cli_config(report, settings, printer);
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

/// Writes the CLI configuration that `--cli-config` requests. Without the option, says how to use a mirror that has grown.
fn write_cli_config(
    report: &MirrorReport,
    settings: &MirrorSettings,
    printer: Printer,
) -> Result<(), MirrorError> {
    let Some(target) = &settings.cli_config else {
        if report.has_grown() {
            printer.message(
                "to use the mirror, run `tflock mirror` with `--cli-config FILE` and set `TF_CLI_CONFIG_FILE` to the path of FILE",
            );
        }
        return Ok(());
    };
    let text = match &settings.target {
        MirrorTarget::Directory(directory) => {
            configuration::text(directory, &settings.lock.tree.working_directory)?
        }
        MirrorTarget::Repositories(template) => {
            configuration::text_for_registry(template, &report.providers())
        }
    };
    match target {
        CliConfigTarget::Stdout => printer.document(&text),
        CliConfigTarget::File(path) => {
            if let Some(path) = configuration::write(path, &text)? {
                let message = format!(
                    "`{}` was not written by tflock and was left unchanged; if it has no `provider_installation` block, add the \
                    block below; otherwise, copy the methods of the block below before your `direct` block and add the same \
                    `exclude` to your block\n\n{text}",
                    path.display()
                );
                printer.diagnostic(&Diagnostic::warning(Code::CliConfig, message, None));
            } else {
                printer.message(&format!(
                    "to use the mirror, set `TF_CLI_CONFIG_FILE` to the path of `{}`",
                    path.display()
                ));
            }
        }
    }
    Ok(())
}
