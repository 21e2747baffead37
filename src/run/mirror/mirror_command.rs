//! The steps of `tflock mirror`: process each directory, then write the index and prune the mirror.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use futures_util::future::join_all;

use super::check::PackageFault;
use super::package_store::PackageStore;
use super::problem::{MirrorProblem, StoreError};
use super::publish;
use super::report::{DirectoryDone, MirrorReport};
use crate::cli::PruneReachArg;
use crate::diagnostic::{Code, Diagnostic};
use crate::lockfile::{self, LockFile, ProviderLock};
use crate::locking::{Missing, SignerRules};
use crate::mirror::{
    Layout, ListedPackage, Mirror, MirrorError, NeededVersions, PruneScope, UnlistedZip,
};
use crate::printer::Printer;
use crate::provider::{Engine, Hash, Hostname, PackageId, Platform, ProviderAddr};
use crate::run::CommandError;
use crate::run::directory_command::DirectoryCommand;
use crate::run::lock::Locker;
use crate::run::read::{ReadDirectory, Task};
use crate::run::report::{DirectoryReport, Fate};
use crate::settings::{MirrorSettings, TreeSettings};

/// The command, with the data that it needs for every directory.
pub(super) struct MirrorCommand {
    pub(super) settings: MirrorSettings,
    pub(super) locker: Locker,
    pub(super) store: PackageStore,
}

/// The result for one directory, with its lock file.
pub(super) struct MirroredDirectory {
    done: DirectoryDone,
    /// `None` if the directory could not be read or locked.
    locks: Option<LockFile>,
    faults: BTreeMap<PackageId, PackageFault>,
}

impl MirroredDirectory {
    /// Returns whether the directory needs no packages because it has no lock file.
    fn has_no_lock(&self) -> bool {
        self.done.fate == Fate::Skipped
    }
}

impl DirectoryCommand for MirrorCommand {
    type Survey = ();
    type Outcome = MirroredDirectory;
    type Report = MirrorReport;

    const INTERRUPTED: &'static str = "interrupted; every package in the mirror is complete";

    fn tree(&self) -> &TreeSettings {
        &self.settings.lock.tree
    }

    fn survey(&self, directories: &[ReadDirectory]) -> Result<(), CommandError> {
        if let PackageStore::Registry(pusher) = &self.store {
            pusher.announce(directories);
        }
        Ok(())
    }

    async fn work_on(&self, directory: ReadDirectory, (): &()) -> MirroredDirectory {
        self.mirror_packages(&directory).await
    }

    async fn report(
        self: Arc<Self>,
        mut mirrored: Vec<MirroredDirectory>,
        (): &(),
        started: Instant,
    ) -> Result<MirrorReport, CommandError> {
        // The report contains the warnings about the index, but not the number of records that were added to it.
        let index = self.locker.packages.finish_index().await;
        let index_warnings = index.warnings.iter().map(Diagnostic::caution).collect();
        mirrored.sort_by(|a, b| a.done.path.cmp(&b.done.path));
        let errors = match &self.store {
            PackageStore::Registry(pusher) => pusher.write_indexes().await,
            PackageStore::Directory { .. } => Vec::new(),
        };
        let errors = errors.iter().map(|error| Diagnostic::general(error));
        let errors = errors.collect();
        let finished = tokio::task::spawn_blocking(move || MirrorReport {
            index_warnings,
            ..self.finish(mirrored, errors, started)
        });
        Ok(finished.await.context("cannot write the index")?)
    }

    fn publish(&self, report: &MirrorReport, printer: Printer) -> u8 {
        publish(report, &self.settings, printer)
    }
}

impl MirrorCommand {
    /// Locks the directory if `--lock` is set, then stores or checks the packages that its lock file names.
    async fn mirror_packages(&self, directory: &ReadDirectory) -> MirroredDirectory {
        let (report, locks) = self.locks(directory).await;
        let mut mirrored = MirroredDirectory {
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
            let mut needed = needed_packages(&locks, &policy.platforms);
            if engine == Engine::Terraform && self.store.is_only_for_tofu() {
                needed.clear();
                let text = "Terraform cannot install providers from OCI registries, so nothing is pushed for directories of Terraform";
                let hint = "use `--engine tofu` if OpenTofu runs these configurations".to_owned();
                mirrored.done.diagnostics.push(Diagnostic {
                    hint: Some(hint),
                    ..Diagnostic::warning(Code::Mirror, text, None)
                });
            }
            for (id, result) in self
                .provide_or_check(engine, &policy.signers, &needed)
                .await
            {
                match result {
                    Ok(fault) => mirrored.faults.extend(fault.map(|fault| (id, fault))),
                    Err(problem) => {
                        report_problem(&mut mirrored.done, directory, &locks, id, problem);
                    }
                }
            }
            mirrored.done.packages = needed.into_iter().map(|(id, _)| id).collect();
            mirrored.locks = Some(locks);
        }
        mirrored
    }

    /// Stores each package or, with `--check`, checks it. `Some` is a fault that `--check` found.
    async fn provide_or_check(
        &self,
        engine: Engine,
        signers: &SignerRules,
        needs: &[(PackageId, &BTreeSet<Hash>)],
    ) -> Vec<(PackageId, Result<Option<PackageFault>, MirrorProblem>)> {
        let results = needs.iter().map(|(id, hashes)| async move {
            let result = self.store.provide_or_check(engine, id, hashes, signers);
            (id.clone(), result.await)
        });
        join_all(results).await
    }

    /// Returns the report and the current lock file of a directory. `None` if it is unknown which packages the directory needs.
    async fn locks(&self, directory: &ReadDirectory) -> (DirectoryReport, Option<LockFile>) {
        if self.settings.update_locks {
            return self.updated_locks(directory).await;
        }
        match &directory.task {
            Task::Fail => (directory.report(Fate::Failed), None),
            Task::Skip { .. } => (directory.report(Fate::Skipped), Some(LockFile::default())),
            Task::Lock { job, .. } => {
                let lock_file = LockFile {
                    locks: job.old.as_ref().clone(),
                    places: job.places.clone(),
                    ..LockFile::default()
                };
                (directory.report(Fate::Unchanged), Some(lock_file))
            }
        }
    }

    /// Locks the directory as `tflock lock` does, and reads the written file.
    async fn updated_locks(
        &self,
        directory: &ReadDirectory,
    ) -> (DirectoryReport, Option<LockFile>) {
        let mut report = self.locker.lock(directory).await;
        match report.fate {
            Fate::Failed => return (report, None),
            Fate::Skipped => return (report, Some(LockFile::default())),
            _ => {}
        }
        match read_locks(directory, report.engine.unwrap_or(Engine::Terraform)) {
            Ok(locks) => (report, Some(locks)),
            Err(errors) => {
                report.fate = Fate::Failed;
                report.diagnostics.extend(errors);
                (report, None)
            }
        }
    }

    /// Writes the index, prunes the mirror, and builds the report. `diagnostics` contains the errors so far that belong to no
    /// directory.
    fn finish(
        &self,
        mirrored: Vec<MirroredDirectory>,
        mut diagnostics: Vec<Diagnostic>,
        started: Instant,
    ) -> MirrorReport {
        let settings = &self.settings;
        let tree = &settings.lock.tree;
        if mirrored.iter().all(MirroredDirectory::has_no_lock) {
            let text = "there is no lock file below these paths, so no packages are needed";
            diagnostics.push(Diagnostic {
                hint: Some("create lock files with `tflock lock -r`, or add `--lock`".to_owned()),
                ..Diagnostic::warning(Code::NoLockFile, text, None)
            });
        }
        let (unlisted, pruned) = match self.write_index_and_prune(&mirrored, &mut diagnostics) {
            Ok(done) => done,
            Err(error) => {
                diagnostics.push(Diagnostic::general(&error));
                (Vec::new(), Vec::new())
            }
        };
        let mut faults = BTreeMap::new();
        let mut directories = Vec::new();
        for directory in mirrored {
            faults.extend(directory.faults);
            directories.push(directory.done);
        }
        let mut areas = tree.areas.iter();
        MirrorReport {
            target: settings.target.clone(),
            check: settings.check,
            directories,
            states: self.store.states(),
            faults,
            pruned,
            unlisted,
            diagnostics,
            index_warnings: Vec::new(),
            platforms: tree.platforms(),
            platforms_defaulted: areas.all(|area| area.policy.platforms_defaulted),
            downloaded: self.locker.packages.downloaded(),
            elapsed: started.elapsed(),
        }
    }

    /// Writes the index and prunes the mirror. Returns the damaged zips that the index leaves out, and the removed packages.
    fn write_index_and_prune(
        &self,
        mirrored: &[MirroredDirectory],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<(Vec<UnlistedZip>, Vec<ListedPackage>), MirrorError> {
        let Some(filler) = self.store.filler() else {
            return Ok((Vec::new(), Vec::new()));
        };
        let mirror = &filler.mirror;
        let removed = match self.settings.prune {
            // If there are no lock files at all, the path is probably incorrect, so nothing is removed.
            Some(_) if mirrored.iter().all(MirroredDirectory::has_no_lock) => Vec::new(),
            Some(reach) if mirrored.iter().all(|directory| directory.locks.is_some()) => {
                unneeded_packages(mirror, mirrored, reach)?
            }
            Some(_) => {
                diagnostics.push(Diagnostic::warning(
                    Code::NotPruned,
                    "nothing was pruned, because not all lock files could be read",
                    None,
                ));
                Vec::new()
            }
            None => Vec::new(),
        };
        let unlisted = match mirror.directory().layout() {
            Layout::Packed => mirror.write_index(&filler.published(), &removed)?,
            Layout::Unpacked => Vec::new(),
        };
        mirror.remove(&removed)?;
        Ok((unlisted, removed))
    }
}

/// Returns the packages that a lock file names for `platforms`, with the hashes in their lock file entries.
fn needed_packages<'a>(
    locks: &'a LockFile,
    platforms: &'a [Platform],
) -> Vec<(PackageId, &'a BTreeSet<Hash>)> {
    let packages_of_entry = |(provider, lock): (&'a ProviderAddr, &'a ProviderLock)| {
        platforms.iter().map(move |platform| {
            let id = PackageId {
                provider: provider.clone(),
                version: lock.version.clone(),
                platform: platform.clone(),
            };
            (id, &lock.hashes)
        })
    };
    let entries = locks.locks.providers.iter();
    entries.flat_map(packages_of_entry).collect()
}

fn read_locks(directory: &ReadDirectory, engine: Engine) -> Result<LockFile, Vec<Diagnostic>> {
    let path = directory.lock_file();
    let bytes = lockfile::read(&path)
        .map_err(|error| vec![Diagnostic::of(&error, &directory.path)])?
        .unwrap_or_default();
    lockfile::parse(&path, &bytes, engine)
        .map_err(|errors| Diagnostic::all(&errors, &directory.path))
}

/// Returns the packages in the mirror that no lock file needs. With [`PruneReachArg::Hosts`], returns only packages from hosts
/// that lock files name.
fn unneeded_packages(
    mirror: &Mirror,
    mirrored: &[MirroredDirectory],
    reach: PruneReachArg,
) -> Result<Vec<ListedPackage>, MirrorError> {
    let mut needed = NeededVersions::default();
    let mut hosts: BTreeSet<Hostname> = BTreeSet::new();
    for directory in mirrored {
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

/// Reports a package that is not in the mirror as an error, and marks its directory as failed. If the package is not published
/// and `--missing-platform warn` is set, reports it as a warning instead.
fn report_problem(
    done: &mut DirectoryDone,
    directory: &ReadDirectory,
    locks: &LockFile,
    id: PackageId,
    problem: MirrorProblem,
) {
    let is_missing =
        matches!(&problem, MirrorProblem::Package(failure) if failure.is_missing_platform());
    let error = StoreError {
        place: locks.places.get(&id.provider).cloned(),
        id,
        problem,
    };
    let diagnostic = if is_missing && directory.area.policy.missing_platform == Missing::Warn {
        Diagnostic::warn(&error, &directory.path)
    } else {
        done.fate = Fate::Failed;
        Diagnostic::of(&error, &directory.path)
    };
    done.diagnostics.push(diagnostic);
}
