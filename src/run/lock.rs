//! `tflock lock`: find directories, read what they require, lock them, write what changed, and say so.
//!
//! All directories are read first; from then on each goes its own way, and whatever several of them need is asked for once
//! (see [`crate::locking`]). A directory that fails fails alone.

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use anyhow::Context as _;

use crate::cli::LockArgs;
use crate::diagnostic::Diagnostic;
use crate::lockfile::SaveError;
use crate::locking::{Packages, Upgrade, lock_directory};
use crate::modules::Fetcher;
use crate::printer::Printer;
use crate::provider::ProviderAddr;
use crate::settings::{Environment, LockSettings, OutputSettings, ReportSettings, TreeSettings};
use crate::span::{Explain, Place};

use super::alive::Alive;
use super::callers::add_callers;
use super::read::{self, Again, Directory, Task};
use super::renderings::Renderings;
use super::report::{Detail, DirectoryReport, Fate, RunReport};
use super::session::{Refused, Session};
use super::write::{self, Settled};
use super::{A_DIRECTORY_FAILED, DONE, DRIFT, publish, under_way};

/// How often a directory is locked whose lock file other processes change meanwhile. Each time one of them is done.
const ROUNDS: usize = 10;

/// Runs `tflock lock`.
pub(super) fn command(
    args: &LockArgs,
    environment: &Environment,
    output: OutputSettings,
    printer: Printer,
) -> anyhow::Result<u8> {
    let alive = Alive::show(output);
    let mut settings =
        LockSettings::resolve(args, environment).map_err(|error| Refused::because(&error))?;
    if args.tree.callers {
        add_callers(&mut settings.tree, environment).map_err(|error| Refused::because(&error))?;
    }
    let reporting = settings.report.clone();
    let change_is_drift = settings.check || settings.fail_on_change;
    let session = Session::open(
        environment,
        alive,
        printer,
        &settings.tree,
        &settings.sources,
    )?;
    let detail = Detail::for_report(reporting.format, output.verbosity);
    let work = Work::new(settings, detail, &session);
    session.run(
        lock(Arc::new(work)),
        |report| show(&report, change_is_drift, &reporting, printer),
        "interrupted; every lock file is the old one or the new one",
    )
}

/// What all directories share.
pub(super) struct Work {
    pub(super) settings: LockSettings,
    pub(super) packages: Arc<Packages>,
    pub(super) fetcher: Arc<Fetcher>,
    pub(super) detail: Detail,
    pub(super) renderings: Renderings,
}

impl Work {
    /// What the directories of one run share, before the first of them is worked on.
    pub(super) fn new(settings: LockSettings, detail: Detail, session: &Session) -> Self {
        Self {
            settings,
            packages: Arc::clone(&session.packages),
            fetcher: Arc::clone(&session.fetcher),
            detail,
            renderings: Renderings::default(),
        }
    }
}

/// Reads all directories, then finishes each on its own.
async fn lock(work: Arc<Work>) -> anyhow::Result<RunReport> {
    let started = Instant::now();
    let reading = {
        let work = Arc::clone(&work);
        tokio::task::spawn_blocking(move || read::all(&work.settings.tree, &work.fetcher))
    };
    let directories = reading.await.context("reading the directories stopped")?;
    refuse_targets_of_nobody(&work.settings.tree, &directories)?;
    // What is under way is cancelled when this is; nothing waits between the comparison of a lock file and its
    // replacement.
    let mut finished = under_way::each(directories, |directory| {
        let work = Arc::clone(&work);
        async move { finish(&directory, &work).await }
    })
    .await?;
    finished.sort_by(|a, b| a.directory.cmp(&b.directory));
    Ok(summarize(finished, &work, started))
}

/// The report, and the exit code of the run.
fn show(
    report: &RunReport,
    change_is_drift: bool,
    settings: &ReportSettings,
    printer: Printer,
) -> u8 {
    let code = if report.count(Fate::Failed) > 0 {
        A_DIRECTORY_FAILED
    } else if change_is_drift && report.has_drift() {
        DRIFT
    } else {
        DONE
    };
    publish::publish(report, code, settings, printer);
    code
}

/// Refuses a `--provider` or `--upgrade` that no directory has a use for: it is mistyped more often than not. Directories
/// that could not be read might have one.
pub(super) fn refuse_targets_of_nobody(
    tree: &TreeSettings,
    directories: &[Directory],
) -> anyhow::Result<()> {
    // Both come from the command line, and so are the same everywhere.
    let Some(policy) = tree.areas.first().map(|area| &area.policy) else {
        return Ok(());
    };
    let mut jobs = Vec::new();
    for directory in directories {
        match &directory.task {
            Task::Lock { job, .. } => jobs.push(job),
            Task::Fail => return Ok(()),
            Task::Skip { .. } => {}
        }
    }
    let is_required = |source: &str| {
        jobs.iter().any(|job| {
            ProviderAddr::parse(source, job.engine)
                .is_ok_and(|address| job.requirements.providers.contains_key(&address))
        })
    };
    let upgrades = match &policy.upgrade {
        Upgrade::Named(targets) => targets.as_slice(),
        Upgrade::None | Upgrade::All => &[],
    };
    let upgrades = upgrades.iter().map(|target| ("--upgrade", &target.source));
    let providers = policy.providers.iter();
    let mut named = providers
        .map(|source| ("--provider", source))
        .chain(upgrades);
    let Some((option, source)) = named.find(|(_, source)| !is_required(source)) else {
        return Ok(());
    };
    let last = source.rsplit('/').next();
    let mut required = jobs
        .iter()
        .flat_map(|job| job.requirements.providers.keys());
    let meant = required.find(|address| last == Some(address.type_name.as_str()));
    Err(Refused::because(&TargetOfNobody {
        option,
        provider: source.clone(),
        meant: meant.cloned(),
    })
    .into())
}

/// A provider that is named and that nobody requires.
#[derive(Debug, thiserror::Error)]
#[error("cannot follow `{option}={provider}`: no directory requires that provider")]
struct TargetOfNobody {
    option: &'static str,
    provider: String,
    /// A provider of the same type that somebody requires.
    meant: Option<ProviderAddr>,
}

impl Explain for TargetOfNobody {
    fn hint(&self) -> Option<String> {
        Some(match &self.meant {
            Some(address) => format!("did you mean `{address}`?"),
            None => "`tflock list` shows which directory requires which provider".to_owned(),
        })
    }
}

/// Locks one directory and writes its lock file if that changed.
pub(super) async fn finish(directory: &Directory, work: &Work) -> DirectoryReport {
    let started = Instant::now();
    let report = settle(directory, work).await;
    remember_modules(directory, report.fate, work);
    DirectoryReport {
        elapsed: started.elapsed(),
        ..report
    }
}

/// Remembers with which versions of modules a lock file is right, if it is right now for all that it holds.
fn remember_modules(directory: &Directory, fate: Fate, work: &Work) {
    let is_right = match fate {
        Fate::Unchanged => true,
        Fate::Created | Fate::Updated => !work.settings.check,
        _ => false,
    };
    let Task::Lock { job, .. } = &directory.task else {
        return;
    };
    let chosen = &directory.chosen_modules;
    let is_whole = job.complete && directory.area.policy.providers.is_empty();
    if is_right
        && is_whole
        && !chosen.is_empty()
        && let Ok(real) = directory.path.canonicalize()
    {
        let now = SystemTime::now();
        work.fetcher
            .record_chosen_versions(&real, job.engine, chosen, now);
    }
}

/// Locks one directory; again, if another process changes its lock file meanwhile.
async fn settle(directory: &Directory, work: &Work) -> DirectoryReport {
    let (old, job) = match &directory.task {
        Task::Skip { .. } => return directory.report(Fate::Skipped),
        Task::Fail => return directory.report(Fate::Failed),
        Task::Lock { old, job } => (old, job),
    };
    let mut again: Option<Again> = None;
    for _ in 0..ROUNDS {
        let (old, job) = again.as_ref().map_or((old, job), |(old, job)| (old, job));
        let outcome = match lock_directory(job, &directory.area.policy, &work.packages).await {
            Ok(outcome) => outcome,
            Err(errors) => return failed(directory, all_of(&errors, directory)),
        };
        match write::settle(directory, old.as_deref(), job, outcome, work).await {
            Settled::Done(report) => return report,
            Settled::Outdated => match read::again(directory, job) {
                Ok(read) => again = Some(read),
                Err(errors) => return failed(directory, errors),
            },
        }
    }
    let error = SaveError::Changed(Place::file(&directory.lock_file()));
    failed(directory, all_of(&[error], directory))
}

fn all_of<E: Explain>(errors: &[E], directory: &Directory) -> Vec<Diagnostic> {
    let errors = errors.iter();
    errors
        .map(|error| Diagnostic::of(error, &directory.path))
        .collect()
}

fn failed(directory: &Directory, errors: Vec<Diagnostic>) -> DirectoryReport {
    let mut report = directory.report(Fate::Failed);
    report.diagnostics.extend(errors);
    report
}

fn summarize(directories: Vec<DirectoryReport>, work: &Work, started: Instant) -> RunReport {
    let settings = &work.settings;
    let mut areas = settings.tree.areas.iter();
    RunReport {
        command: "lock",
        directories,
        platforms: settings.tree.platforms(),
        platforms_defaulted: areas.all(|area| area.policy.platforms_defaulted),
        downloaded: work.packages.downloaded(),
        elapsed: started.elapsed(),
        check: settings.check,
    }
}
