//! The `tflock lock` command: computes the lock of each directory and writes the lock files that changed.
//!
//! All directories are read first. Then each is locked independently. A package that several directories need is downloaded once
//! (see [`crate::locking`]).

use std::sync::Arc;
use std::time::{Instant, SystemTime};

use crate::cli::LockArgs;
use crate::diagnostic::Diagnostic;
use crate::lockfile::SaveError;
use crate::locking::{Packages, Upgrade, lock_directory};
use crate::modules::Fetcher;
use crate::printer::Printer;
use crate::provider::ProviderAddr;
use crate::settings::{LockSettings, TreeSettings};
use crate::span::{Explain, Place};

use super::callers::add_callers;
use super::directory_command::{self, DirectoryCommand};
use super::progress_guard::ProgressGuard;
use super::publish::publish;
use super::read::{self, ReadDirectory, RereadLockFile, Task};
use super::renderings::Renderings;
use super::report::{Detail, DirectoryReport, Fate, RunReport};
use super::session::Session;
use super::write_lock_file::write_lock_file;
use super::{CommandError, DONE, DRIFT, Invocation};

/// The maximum number of attempts to lock a directory whose lock file another process keeps changing.
const MAX_ATTEMPTS: usize = 10;

pub(super) fn command(args: &LockArgs, invocation: Invocation<'_>) -> Result<u8, CommandError> {
    let progress = ProgressGuard::show(invocation.output);
    let mut settings = LockSettings::resolve(args, invocation.environment)?;
    if args.callers.callers {
        add_callers(&mut settings.tree, invocation.environment)?;
    }
    let session = Session::open(invocation, progress, &settings.tree, &settings.sources)?;
    let detail = Detail::for_report(settings.report.format, invocation.output.verbosity);
    let locker = Locker::new(settings, detail, &session);
    directory_command::run(session, locker)
}

/// Locks directories and writes their lock files, for `tflock lock` and `tflock mirror --lock`.
pub(super) struct Locker {
    pub(super) settings: LockSettings,
    pub(super) packages: Arc<Packages>,
    pub(super) fetcher: Arc<Fetcher>,
    pub(super) detail: Detail,
    pub(super) renderings: Renderings,
}

impl DirectoryCommand for Locker {
    type Survey = ();
    type Outcome = DirectoryReport;
    type Report = RunReport;

    const INTERRUPTED: &'static str =
        "interrupted; each lock file is either unchanged or fully updated";

    fn tree(&self) -> &TreeSettings {
        &self.settings.tree
    }

    fn survey(&self, directories: &[ReadDirectory]) -> Result<(), CommandError> {
        check_targets_required(self.tree(), directories)
    }

    async fn work_on(&self, directory: ReadDirectory, (): &()) -> DirectoryReport {
        self.lock(&directory).await
    }

    async fn report(
        self: Arc<Self>,
        directories: Vec<DirectoryReport>,
        (): &(),
        started: Instant,
    ) -> Result<RunReport, CommandError> {
        let (check, tree) = (self.settings.check, self.tree());
        let index = self.packages.finish_index().await;
        let downloaded = self.packages.downloaded();
        Ok(RunReport::new(
            "lock",
            check,
            directories,
            tree,
            downloaded,
            index,
            started,
        ))
    }

    fn publish(&self, report: &RunReport, printer: Printer) -> u8 {
        let settings = &self.settings;
        let is_drift = (settings.check || settings.fail_on_change) && report.has_drift();
        let code = if is_drift { DRIFT } else { DONE };
        publish(report, code, &settings.report, printer)
    }
}

impl Locker {
    pub(super) fn new(settings: LockSettings, detail: Detail, session: &Session) -> Self {
        Self {
            settings,
            packages: Arc::clone(&session.packages),
            fetcher: Arc::clone(&session.fetcher),
            detail,
            renderings: Renderings::default(),
        }
    }

    /// Locks one directory and writes its lock file if it changed.
    pub(super) async fn lock(&self, directory: &ReadDirectory) -> DirectoryReport {
        let started = Instant::now();
        let report = self.lock_and_write(directory).await;
        self.remember_modules(directory, report.fate);
        DirectoryReport {
            elapsed: started.elapsed(),
            ..report
        }
    }

    /// Locks one directory, and starts over if another process changes its lock file in the meantime.
    async fn lock_and_write(&self, directory: &ReadDirectory) -> DirectoryReport {
        let (old, job) = match &directory.task {
            Task::Skip { .. } => return directory.report(Fate::Skipped),
            Task::Fail => return directory.report(Fate::Failed),
            Task::Lock { old, job } => (old, job),
        };
        let mut reread: Option<RereadLockFile> = None;
        for _ in 0..MAX_ATTEMPTS {
            let (old, job) = reread.as_ref().map_or((old, job), |(old, job)| (old, job));
            let locked = match lock_directory(job, &directory.area.policy, &self.packages).await {
                Ok(locked) => locked,
                Err(errors) => return failed(directory, Diagnostic::all(&errors, &directory.path)),
            };
            match write_lock_file(directory, old.as_deref(), job, locked, self).await {
                Some(report) => return report,
                None => match read::reread(directory, job) {
                    Ok(read) => reread = Some(read),
                    Err(errors) => return failed(directory, errors),
                },
            }
        }
        let error = SaveError::Changed(Place::file(&directory.lock_file()));
        failed(directory, Diagnostic::all(&[error], &directory.path))
    }

    /// Records the module versions for which the lock file was computed, if the lock file is complete and on disk.
    fn remember_modules(&self, directory: &ReadDirectory, fate: Fate) {
        let is_current = match fate {
            Fate::Unchanged => true,
            Fate::Created | Fate::Updated => !self.settings.check,
            _ => false,
        };
        let Task::Lock { job, .. } = &directory.task else {
            return;
        };
        let chosen = &directory.chosen_modules;
        let is_complete = job.complete && directory.area.policy.providers.is_empty();
        if is_current
            && is_complete
            && !chosen.is_empty()
            && let Ok(real) = directory.path.canonicalize()
        {
            self.fetcher
                .record_chosen_versions(&real, job.engine, chosen, SystemTime::now());
        }
    }
}

fn failed(directory: &ReadDirectory, errors: Vec<Diagnostic>) -> DirectoryReport {
    let mut report = directory.report(Fate::Failed);
    report.diagnostics.extend(errors);
    report
}

/// Rejects a provider in `--provider` or `--upgrade` that no directory requires, because it is probably a typo. Does nothing if a
/// directory could not be read, because that directory may require the provider.
pub(super) fn check_targets_required(
    tree: &TreeSettings,
    directories: &[ReadDirectory],
) -> Result<(), CommandError> {
    // Both options come from the command line, so they are the same in all areas.
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
    let providers = policy.providers.iter().map(|source| ("--provider", source));
    let mut targets = providers.chain(upgrades.iter().map(|target| ("--upgrade", &target.source)));
    let Some((option, source)) = targets.find(|(_, source)| !is_required(source)) else {
        return Ok(());
    };
    let last = source.rsplit('/').next();
    let mut required = jobs
        .iter()
        .flat_map(|job| job.requirements.providers.keys());
    let meant = required.find(|address| last == Some(address.type_name.as_str()));
    Err(CommandError::from(UnrequiredTarget {
        option,
        provider: source.clone(),
        meant: meant.cloned(),
    }))
}

/// An option names a provider that no directory requires.
#[derive(Debug, thiserror::Error)]
#[error("cannot apply `{option}={provider}`: no directory requires that provider")]
struct UnrequiredTarget {
    option: &'static str,
    provider: String,
    /// A required provider with the same type, which the user probably meant.
    meant: Option<ProviderAddr>,
}

impl Explain for UnrequiredTarget {
    fn hint(&self) -> Option<String> {
        Some(match &self.meant {
            Some(address) => format!("did you mean `{address}`?"),
            None => "run `tflock list` to see which directories require which providers".to_owned(),
        })
    }
}
