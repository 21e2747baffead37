//! The `tflock index` command: creates keys, and processes the records of selected packages in a hash index.
//!
//! `fill`, `check`, `sign` and `info` have the same steps: [`selection`] determines the packages, from lock files or from the command
//! line; [`record_task`] processes the record of each package; [`report`] prints the result.

mod error;
mod keygen;
mod record_access;
mod record_task;
mod report;
mod selection;

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;

use crate::buckets::StoreSettings;
use crate::cli::{IndexCommand, IndexFormatArg, IndexPackagesArgs};
use crate::diagnostic::Diagnostic;
use crate::index::IndexStore;
use crate::once_map::OnceMap;
use crate::printer::Printer;
use crate::settings::{IndexCommandSettings, IndexTask, IndexTaskKind};

use super::directory_command::map_bounded;
use super::progress_guard::ProgressGuard;
use super::session::Session;
use super::{A_DIRECTORY_FAILED, CommandError, DONE, DRIFT, Invocation};
use error::IndexAccessError;
use record_access::RecordAccess;
use record_task::RecordWorker;
use report::{IndexReport, RecordState};
use selection::{read_lock_files, select_packages};

pub(super) fn command(
    command: &IndexCommand,
    invocation: Invocation<'_>,
) -> Result<u8, CommandError> {
    match command {
        IndexCommand::Keygen { name } => keygen::command(name, invocation),
        IndexCommand::Fill(args) => process(IndexTaskKind::Fill, args, invocation),
        IndexCommand::Check { sample, packages } => process(
            IndexTaskKind::Check { sample: *sample },
            packages,
            invocation,
        ),
        IndexCommand::Sign(args) => process(IndexTaskKind::Sign, args, invocation),
        IndexCommand::Info(args) => process(IndexTaskKind::Info, args, invocation),
    }
}

fn process(
    kind: IndexTaskKind,
    args: &IndexPackagesArgs,
    invocation: Invocation<'_>,
) -> Result<u8, CommandError> {
    let progress = ProgressGuard::show(invocation.output);
    let settings = IndexCommandSettings::resolve(kind, args, invocation.environment)?;
    let session = Session::open(invocation, progress, &settings.tree, &settings.sources)?;
    let printer = session.printer;
    let (task, format) = (settings.task.clone(), settings.format);
    let work = work(settings, &session)?;
    let show = |report: IndexReport| publish(&report, &task, format, printer);
    let interrupted = "interrupted; every record in the index is complete, and the same command continues the work";
    session.run(work, show, interrupted)
}

/// Prepares the work of a command without sending a request.
fn work(
    settings: IndexCommandSettings,
    session: &Session,
) -> Result<impl Future<Output = Result<IndexReport, CommandError>> + use<>, CommandError> {
    let exchange = session.http_exchange();
    let access = StoreSettings {
        exchange: exchange.context("there are no package sources")?,
        environment: settings.clouds.clone(),
    };
    let store = IndexStore::open(settings.index.clone(), &access).map_err(|source| {
        IndexAccessError::Use {
            address: settings.index.clone(),
            source,
        }
    })?;
    let (packages, fetcher) = (Arc::clone(&session.packages), Arc::clone(&session.fetcher));
    let worker = RecordWorker {
        task: settings.task.clone(),
        keys: settings.keys.clone(),
        packages: Arc::clone(&packages),
        access: RecordAccess::new(store, settings.sources.jobs),
        done: OnceMap::default(),
    };
    Ok(async move {
        let started = Instant::now();
        let settings = Arc::new(settings);
        let locked = read_lock_files(&settings, &fetcher).await?;
        let selected = select_packages(&settings, &packages, locked).await;
        packages.plan(selected.packages.len() as u64);
        let worker = Arc::new(worker);
        let outcomes = map_bounded(selected.packages, |(engine, id)| {
            let worker = Arc::clone(&worker);
            async move { worker.process(engine, id).await }
        })
        .await?;
        let mut diagnostics = selected.diagnostics;
        diagnostics.extend(worker.access.failure());
        let signer = match &settings.task {
            IndexTask::Fill(key) | IndexTask::Sign(key) => Some(key.verifier().name().clone()),
            IndexTask::Check { .. } | IndexTask::Info => None,
        };
        Ok(IndexReport {
            command: settings.task.name(),
            index: settings.index.to_string(),
            signer,
            outcomes: IndexReport::sort(outcomes),
            diagnostics,
            downloaded: packages.downloaded(),
            elapsed: started.elapsed(),
        })
    })
}

/// Prints the report to stdout, and errors and warnings to stderr.
fn publish(report: &IndexReport, task: &IndexTask, format: IndexFormatArg, printer: Printer) -> u8 {
    match format {
        IndexFormatArg::Text => printer.report(&report.text(printer.verbosity)),
        IndexFormatArg::Json => printer.json(&report.json()),
    }
    for diagnostic in report.all_diagnostics() {
        printer.diagnostic(&diagnostic);
    }
    let has = |states: &[RecordState]| states.iter().any(|state| report.count(*state) > 0);
    let has_failed =
        has(&[RecordState::Failed]) || report.diagnostics.iter().any(Diagnostic::is_error);
    let has_finding = match task {
        IndexTask::Check { .. } => has(&[
            RecordState::Wrong,
            RecordState::Missing,
            RecordState::Unsigned,
        ]),
        IndexTask::Fill(_) | IndexTask::Sign(_) | IndexTask::Info => has(&[RecordState::Wrong]),
    };
    match (has_failed, has_finding, task) {
        (true, ..) | (false, true, IndexTask::Fill(_) | IndexTask::Sign(_)) => A_DIRECTORY_FAILED,
        (false, true, IndexTask::Check { .. } | IndexTask::Info) => DRIFT,
        (false, false, _) => DONE,
    }
}
