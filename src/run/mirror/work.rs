//! The work of `tflock mirror`: directory by directory, then what is done once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use futures_util::future::join_all;
use tokio::task::JoinSet;

use super::check::{Fault, check};
use super::fill::Filler;
use super::problem::{Missed, Problem};
use super::report::{DirectoryDone, MirrorReport};
use crate::cli::PruneReachArg;
use crate::diagnostic::{Code, Diagnostic};
use crate::lockfile::{self, LockFile, ProviderLock};
use crate::locking::{Missing, SignerRules};
use crate::mirror::{
    Layout, ListedPackage, Mirror, MirrorError, NeededVersions, PruneScope, UnlistedZip,
};
use crate::modules::Fetcher;
use crate::provider::{Engine, Hash, Hostname, PackageId, Platform, ProviderAddr};
use crate::run::lock;
use crate::run::read::{self, Directory, Task};
use crate::run::report::{DirectoryReport, Fate};
use crate::settings::MirrorSettings;

/// What all directories share.
pub(super) struct Work {
    pub(super) settings: MirrorSettings,
    pub(super) lock: lock::Work,
    /// Nobody, with `--check`.
    pub(super) filler: Option<Filler>,
    pub(super) mirror: Option<Arc<Mirror>>,
}

/// A directory that is done with, and what its lock file says.
struct Finished {
    done: DirectoryDone,
    /// Nothing if it could not be read.
    locks: Option<LockFile>,
    faults: BTreeMap<PackageId, Fault>,
}

impl Finished {
    /// Whether it needs nothing because nothing is locked there.
    fn has_no_lock(&self) -> bool {
        self.done.fate == Fate::Skipped
    }
}

/// Reads all directories, then sees to each on its own, and ends with what is done once.
pub(super) async fn mirror(work: Arc<Work>, fetcher: Arc<Fetcher>) -> anyhow::Result<MirrorReport> {
    let started = Instant::now();
    let reading = {
        let work = Arc::clone(&work);
        tokio::task::spawn_blocking(move || read::all(&work.settings.lock.tree, &fetcher))
    };
    let directories = reading.await.context("reading the directories stopped")?;
    let mut tasks = JoinSet::new();
    for directory in directories {
        let work = Arc::clone(&work);
        tasks.spawn(async move { work.finish(directory).await });
    }
    // Dropping the set cancels what is under way; no package is ever seen in part.
    let mut finished = tasks.join_all().await;
    finished.sort_by(|a, b| a.done.path.cmp(&b.done.path));
    let ended = {
        let work = Arc::clone(&work);
        tokio::task::spawn_blocking(move || work.end(finished, started))
    };
    ended.await.context("writing the index stopped")
}

impl Work {
    /// Locks a directory, if that is asked for, and sees to the packages that its lock file names.
    async fn finish(&self, directory: Directory) -> Finished {
        let (report, locks) = match self.locks(&directory).await {
            Ok((report, locks)) => (report, Some(locks)),
            // A directory without a lock file needs nothing; of one that failed nobody knows.
            Err(report) if report.fate == Fate::Skipped => (report, Some(LockFile::default())),
            Err(report) => (report, None),
        };
        let mut finished = Finished {
            done: DirectoryDone {
                path: directory.path.clone(),
                fate: report.fate,
                diagnostics: report.diagnostics,
                packages: Vec::new(),
            },
            locks: None,
            faults: BTreeMap::new(),
        };
        if let Some(locks) = locks {
            let engine = report.engine.unwrap_or(Engine::Terraform);
            let policy = &directory.area.policy;
            let needs = needs(&locks, &policy.platforms);
            for (id, outcome) in self.see_to(engine, &policy.signers, &needs).await {
                match outcome {
                    Ok(fault) => finished.faults.extend(fault.map(|fault| (id, fault))),
                    Err(problem) => tell(&mut finished.done, &directory, &locks, id, problem),
                }
            }
            finished.done.packages = needs.into_iter().map(|(id, _)| id).collect();
            finished.locks = Some(locks);
        }
        finished
    }

    /// Fills, or with `--check` looks: what is wrong with each package.
    async fn see_to(
        &self,
        engine: Engine,
        signers: &SignerRules,
        needs: &[(PackageId, &BTreeSet<Hash>)],
    ) -> Vec<(PackageId, Result<Option<Fault>, Problem>)> {
        let seen = needs.iter().map(|(id, hashes)| async move {
            let outcome = match &self.filler {
                Some(filler) => {
                    let provided = filler.provide(engine, id, hashes, signers).await;
                    provided.map(|()| None)
                }
                None => self.check(id, hashes).await,
            };
            (id.clone(), outcome)
        });
        join_all(seen).await
    }

    async fn check(
        &self,
        id: &PackageId,
        hashes: &BTreeSet<Hash>,
    ) -> Result<Option<Fault>, Problem> {
        let directory = self.settings.directory.clone();
        let (id, hashes) = (id.clone(), hashes.clone());
        let checked = tokio::task::spawn_blocking(move || check(&directory, &id, &hashes)).await;
        // A task that cannot be joined was cancelled with its runtime, or broke off.
        let checked = checked.unwrap_or(Err(MirrorError::Interrupted));
        checked.map_err(|error| Problem::Write(Arc::new(error)))
    }

    /// The lock file of a directory as it is now, or the report of a directory that has none.
    async fn locks(
        &self,
        directory: &Directory,
    ) -> Result<(DirectoryReport, LockFile), DirectoryReport> {
        if self.settings.update_locks {
            return self.updated_locks(directory).await;
        }
        match &directory.task {
            Task::Fail => Err(directory.report(Fate::Failed)),
            Task::Skip { .. } => Err(directory.report(Fate::Skipped)),
            Task::Lock { job, .. } => Ok((
                directory.report(Fate::Unchanged),
                LockFile {
                    locks: job.old.as_ref().clone(),
                    places: job.places.clone(),
                    ..LockFile::default()
                },
            )),
        }
    }

    /// Does what `tflock lock` does, and reads what it has written.
    async fn updated_locks(
        &self,
        directory: &Directory,
    ) -> Result<(DirectoryReport, LockFile), DirectoryReport> {
        let mut report = lock::finish(directory, &self.lock).await;
        if matches!(report.fate, Fate::Failed | Fate::Skipped) {
            return Err(report);
        }
        match read_locks(directory, report.engine.unwrap_or(Engine::Terraform)) {
            Ok(locks) => Ok((report, locks)),
            Err(errors) => {
                report.fate = Fate::Failed;
                report.diagnostics.extend(errors);
                Err(report)
            }
        }
    }

    /// Everything that is done once: the index, and what is removed.
    fn end(&self, finished: Vec<Finished>, started: Instant) -> MirrorReport {
        let settings = &self.settings;
        let tree = &settings.lock.tree;
        let mut diagnostics = Vec::new();
        if finished.iter().all(Finished::has_no_lock) {
            let text = "there is no lock file below these paths, so no package is needed";
            diagnostics.push(Diagnostic::warning(Code::NoLockFile, text, None));
        }
        let (unlisted, pruned) = match self.settle(&finished, &mut diagnostics) {
            Ok(done) => done,
            Err(error) => {
                diagnostics.push(Diagnostic::general(&error));
                (Vec::new(), Vec::new())
            }
        };
        let mut faults = BTreeMap::new();
        let mut directories = Vec::new();
        for directory in finished {
            faults.extend(directory.faults);
            directories.push(directory.done);
        }
        let mut areas = tree.areas.iter();
        MirrorReport {
            directory: settings.directory.clone(),
            check: settings.check,
            directories,
            states: self.filler.as_ref().map(Filler::states).unwrap_or_default(),
            faults,
            pruned,
            unlisted,
            diagnostics,
            platforms: tree.platforms(),
            platforms_defaulted: areas.all(|area| area.policy.platforms_defaulted),
            downloaded: self.lock.packages.downloaded(),
            elapsed: started.elapsed(),
        }
    }

    fn settle(
        &self,
        finished: &[Finished],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<(Vec<UnlistedZip>, Vec<ListedPackage>), MirrorError> {
        let (Some(mirror), Some(filler)) = (&self.mirror, &self.filler) else {
            return Ok((Vec::new(), Vec::new()));
        };
        let doomed = match self.settings.prune {
            // Whoever names the wrong directory does not want to lose everything.
            Some(_) if finished.iter().all(Finished::has_no_lock) => Vec::new(),
            Some(reach) if finished.iter().all(|directory| directory.locks.is_some()) => {
                doomed(mirror, finished, reach)?
            }
            Some(_) => {
                diagnostics.push(Diagnostic::warning(
                    Code::NotPruned,
                    "nothing was pruned, since not all lock files could be read",
                    None,
                ));
                Vec::new()
            }
            None => Vec::new(),
        };
        let unlisted = match mirror.directory().layout() {
            Layout::Packed => mirror.write_index(&filler.published(), &doomed)?,
            Layout::Unpacked => Vec::new(),
        };
        mirror.remove(&doomed)?;
        Ok((unlisted, doomed))
    }
}

/// The packages that a lock file names, for these platforms.
fn needs<'a>(locks: &'a LockFile, platforms: &[Platform]) -> Vec<(PackageId, &'a BTreeSet<Hash>)> {
    let entries = locks.locks.providers.iter();
    let of_entry = |(provider, lock): (&ProviderAddr, &'a ProviderLock)| {
        let id = |platform: &Platform| PackageId {
            provider: provider.clone(),
            version: lock.version.clone(),
            platform: platform.clone(),
        };
        let needs = platforms
            .iter()
            .map(|platform| (id(platform), &lock.hashes));
        needs.collect::<Vec<_>>()
    };
    entries.flat_map(of_entry).collect()
}

fn read_locks(directory: &Directory, engine: Engine) -> Result<LockFile, Vec<Diagnostic>> {
    let path = directory.lock_file();
    let bytes = lockfile::read(&path)
        .map_err(|error| vec![Diagnostic::of(&error, &directory.path)])?
        .unwrap_or_default();
    lockfile::parse(&path, &bytes, engine).map_err(|errors| {
        let told = errors
            .iter()
            .map(|error| Diagnostic::of(error, &directory.path));
        told.collect()
    })
}

/// The packages that no lock file needs, within reach: by default on the hosts that lock files name.
fn doomed(
    mirror: &Mirror,
    finished: &[Finished],
    reach: PruneReachArg,
) -> Result<Vec<ListedPackage>, MirrorError> {
    let mut needed = NeededVersions::default();
    let mut hosts: BTreeSet<Hostname> = BTreeSet::new();
    for directory in finished {
        let locks = directory.locks.iter();
        for (provider, lock) in locks.flat_map(|locks| &locks.locks.providers) {
            needed.add(provider, &lock.version);
            hosts.insert(provider.hostname.clone());
        }
    }
    let reach = match reach {
        PruneReachArg::All => PruneScope::All,
        PruneReachArg::Hosts => PruneScope::Hosts(hosts),
    };
    mirror.directory().unneeded(&needed, &reach)
}

/// A package that is not in the mirror fails its directory, unless it does not exist and that is accepted.
fn tell(
    done: &mut DirectoryDone,
    directory: &Directory,
    locks: &LockFile,
    id: PackageId,
    problem: Problem,
) {
    let is_missing = matches!(&problem, Problem::Package(failure) if failure.is_missing_platform());
    let error = Missed {
        place: locks.places.get(&id.provider).cloned(),
        id,
        problem,
    };
    let told = Diagnostic::of(&error, &directory.path);
    if is_missing && directory.area.policy.missing_platform == Missing::Warn {
        done.diagnostics.push(told.into_warning());
    } else {
        done.diagnostics.push(told);
        done.fate = Fate::Failed;
    }
}
