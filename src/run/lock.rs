//! `tflock lock`: find directories, read what they require, lock them, write what changed, and say so.
//!
//! All directories are read first; from then on each goes its own way, and whatever several of them need is asked for once
//! (see [`crate::locking`]). A directory that fails fails alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, anyhow};
use tokio::task::JoinSet;

use crate::cli::LockArgs;
use crate::diagnostic::{self, Diagnostic};
use crate::locking::{Packages, Upgrade, Verified, Voucher, lock_directory};
use crate::modules::Fetcher;
use crate::package::{Lapse, Tier};
use crate::printer::Printer;
use crate::provider::{Platform, ProviderAddr, Version};
use crate::settings::{Environment, LockSettings, OutputSettings};

use super::read::{self, Directory, Task};
use super::report::{DirectoryReport, Fate, RunReport, Signed};
use super::session::{Refused, Session};
use super::{A_DIRECTORY_FAILED, DONE, DRIFT, write};

/// Runs `tflock lock`.
pub(super) fn command(
    args: &LockArgs,
    environment: &Environment,
    output: OutputSettings,
    printer: Printer,
) -> anyhow::Result<u8> {
    let settings = LockSettings::resolve(args, environment, Platform::current())
        .map_err(|error| Refused::because(&error))?;
    let session = Session::open(
        environment,
        output,
        printer,
        &settings.tree,
        &settings.sources,
    )?;
    let (packages, fetcher) = (Arc::clone(&session.packages), Arc::clone(&session.fetcher));
    session.run(
        lock(Arc::new(settings), packages, fetcher),
        |report| show(&report, printer),
        "interrupted; every lock file is the old one or the new one",
    )
}

/// Reads all directories, then finishes each on its own.
async fn lock(
    settings: Arc<LockSettings>,
    packages: Arc<Packages>,
    fetcher: Arc<Fetcher>,
) -> anyhow::Result<RunReport> {
    let started = Instant::now();
    let reading = {
        let settings = Arc::clone(&settings);
        tokio::task::spawn_blocking(move || read::all(&settings.tree, &fetcher))
    };
    let directories = reading.await.context("reading the directories stopped")?;
    refuse_targets_of_nobody(&settings, &directories)?;
    let mut tasks = JoinSet::new();
    for directory in directories {
        let (settings, packages) = (Arc::clone(&settings), Arc::clone(&packages));
        tasks.spawn(async move { finish(directory, &settings, &packages).await });
    }
    // Dropping the set cancels what is under way; nothing waits between the check of a lock file and its replacement.
    let mut finished = tasks.join_all().await;
    finished.sort_by(|a, b| a.report.directory.cmp(&b.report.directory));
    Ok(summarize(finished, &settings, &packages, started))
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

/// Refuses a `--provider` or `--upgrade` that no directory has a use for: it is mistyped more often than not. Directories
/// that could not be read might have one.
fn refuse_targets_of_nobody(
    settings: &LockSettings,
    directories: &[Directory],
) -> anyhow::Result<()> {
    // Both come from the command line, and so are the same everywhere.
    let Some(policy) = settings.tree.areas.first().map(|area| &area.policy) else {
        return Ok(());
    };
    let mut jobs = Vec::new();
    for directory in directories {
        match &directory.task {
            Task::Lock { job, .. } => jobs.push(job),
            Task::Fail => return Ok(()),
            Task::Skip => {}
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
    match named.find(|(_, source)| !is_required(source)) {
        Some((option, source)) => Err(anyhow!(
            "cannot follow `{option}={source}`: no directory requires that provider"
        )),
        None => Ok(()),
    }
}

/// A directory that is done with.
pub(super) struct Finished {
    pub(super) report: DirectoryReport,
    pub(super) verified: Vec<Verified>,
    pub(super) moved: BTreeSet<(ProviderAddr, Version)>,
}

impl Finished {
    pub(super) fn with(directory: &Directory, fate: Fate, diagnostics: Vec<Diagnostic>) -> Self {
        Self {
            report: DirectoryReport {
                directory: directory.path.clone(),
                fate,
                changes: Vec::new(),
                diff: None,
                diagnostics,
            },
            verified: Vec::new(),
            moved: BTreeSet::new(),
        }
    }
}

/// Locks one directory and writes its lock file if that changed.
async fn finish(directory: Directory, settings: &LockSettings, packages: &Packages) -> Finished {
    let mut diagnostics = directory.diagnostics.clone();
    let (old, job) = match &directory.task {
        Task::Skip => return Finished::with(&directory, Fate::Skipped, diagnostics),
        Task::Fail => return Finished::with(&directory, Fate::Failed, diagnostics),
        Task::Lock { old, job } => (old, job),
    };
    let outcome = match lock_directory(job, &directory.area.policy, packages).await {
        Ok(outcome) => outcome,
        Err(errors) => {
            let errors = errors.iter();
            diagnostics.extend(errors.map(|error| Diagnostic::of(error, &directory.path)));
            return Finished::with(&directory, Fate::Failed, diagnostics);
        }
    };
    let notes = outcome
        .notes
        .iter()
        .map(|note| Diagnostic::warning(note.to_string(), Some(&directory.path)));
    diagnostics.extend(notes);
    write::settle(
        &directory,
        old.as_deref(),
        job,
        outcome,
        settings,
        diagnostics,
    )
}

fn summarize(
    finished: Vec<Finished>,
    settings: &LockSettings,
    packages: &Packages,
    started: Instant,
) -> RunReport {
    let mut signed: BTreeMap<Signed, BTreeSet<Platform>> = BTreeMap::new();
    let mut moved = BTreeSet::new();
    let mut directories = Vec::with_capacity(finished.len());
    for done in finished {
        for package in done.verified {
            let key = Signed {
                address: package.address,
                version: package.version,
                voucher: voucher(&package.record.voucher),
            };
            signed.entry(key).or_default().insert(package.platform);
        }
        moved.extend(done.moved);
        directories.push(done.report);
    }
    let mut defaulted = settings.tree.areas.iter();
    RunReport {
        directories,
        platforms: settings.tree.platforms(),
        platforms_defaulted: defaulted.all(|area| area.policy.platforms_defaulted),
        signed,
        moved,
        downloaded: packages.downloaded(),
        elapsed: started.elapsed(),
        check: settings.check,
    }
}

/// What vouches for a package, in words.
fn voucher(voucher: &Voucher) -> String {
    let signer = match voucher {
        Voucher::Signature(signer) => signer,
        Voucher::Unsigned => return "not signed: its registry gives no keys".to_owned(),
        Voucher::MirrorHashes => return "by the hashes of its mirror".to_owned(),
        Voucher::Nothing => return "not verified: its mirror gives no hashes".to_owned(),
    };
    let tier = match signer.tier {
        Tier::HashiCorp => "HashiCorp",
        Tier::Partner => "a partner of HashiCorp",
        Tier::SelfSigned => "self-signed",
    };
    let lapse = match signer.lapse {
        None => "",
        Some(Lapse::Key) => ", key expired",
        Some(Lapse::Signature) => ", signature expired",
    };
    format!("signed by {} ({tier}{lapse})", signer.key_id)
}
