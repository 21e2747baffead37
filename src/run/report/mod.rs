//! The report of `lock` and `verify` as data, with one renderer for each format.
//!
//! | format | renderer | for |
//! | --- | --- | --- |
//! | `text` | [`text`] | people |
//! | `json` | [`json`] | programs: everything, described by a schema |
//! | `github` | [`github`] | GitHub Actions: annotations and a job summary |
//! | `sarif` | [`sarif`] | code scanning and its viewers |

mod annotations;
mod change;
mod findings;
pub(super) mod github;
pub(super) mod json;
pub(super) mod sarif;
mod signers;
mod summary;
pub(super) mod text;
mod versions;

pub(in crate::run) use json::DiagnosticDocument;
pub(in crate::run) use summary::bytes;
pub(in crate::run) use versions::write_versions;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::cli::FormatArg;
use crate::config::MovedModule;
use crate::diagnostic::{self, Diagnostic};
use crate::lockfile::{Change, FILE_NAME, LockChanges, Locks, ProviderLock};
use crate::locking::{Downloaded, IndexUsage, PackageRecord, VerifiedPackage};
use crate::provider::{Engine, Platform, ProviderAddr, Version, VersionConstraints};
use crate::settings::TreeSettings;
use crate::span::Place;

use super::callers::SkipReason;

/// What happened to the lock file of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::run) enum Fate {
    /// The lock file did not exist before.
    Created,
    Updated,
    /// The lock file is already up to date.
    Unchanged,
    /// There is no lock file, and none is needed.
    Skipped,
    /// The new lock could not be computed or written. The old file, if any, is unchanged.
    Failed,
    Sound,
    Flagged,
}

impl Fate {
    /// All fates, in the order in which reports count them.
    pub(in crate::run) const ALL: [Self; 7] = [
        Self::Updated,
        Self::Created,
        Self::Unchanged,
        Self::Sound,
        Self::Flagged,
        Self::Skipped,
        Self::Failed,
    ];

    /// Returns the word that reports use for the fate.
    pub(in crate::run) fn name(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::Unchanged => "unchanged",
            Self::Skipped => "skipped",
            Self::Failed => "failed",
            Self::Sound => "sound",
            Self::Flagged => "flagged",
        }
    }
}

#[derive(Clone, Debug)]
pub(in crate::run) struct DirectoryReport {
    /// The directory as the user would name it.
    pub(in crate::run) directory: PathBuf,
    /// The engine whose rules were applied. `None` if it could not be determined.
    pub(in crate::run) engine: Option<Engine>,
    /// What happened to the lock file or, with `--check`, what would happen.
    pub(in crate::run) fate: Fate,
    /// Why the directory was skipped; `None` if it was not.
    pub(in crate::run) skipped: Option<SkipReason>,
    /// The providers whose lock file entries changed or, with [`Detail::Everything`], all providers, in lock file order. Empty if
    /// the directory failed.
    pub(in crate::run) providers: Vec<ProviderReport>,
    /// Modules whose version differs from the one that `init` or an earlier run of tflock used. This may explain a change.
    pub(in crate::run) moved_modules: Vec<MovedModule>,
    pub(in crate::run) findings: Vec<Diagnostic>,
    /// What the audit could not check, for example because of `--offline`.
    pub(in crate::run) unchecked: Vec<String>,
    /// The unified diff, with `--diff`.
    pub(in crate::run) diff: Option<String>,
    pub(in crate::run) diagnostics: Vec<Diagnostic>,
    /// The time spent on this directory, including the time spent waiting for packages that it shares with other directories.
    pub(in crate::run) elapsed: Duration,
}

impl DirectoryReport {
    /// Returns the name of the lock file.
    pub(in crate::run) fn lock_file_name(&self) -> &'static str {
        self.engine.map_or(FILE_NAME, Engine::lock_file_name)
    }
}

#[derive(Clone, Debug)]
pub(in crate::run) struct ProviderReport {
    pub(in crate::run) address: ProviderAddr,
    /// How the provider's entry in the lock file changed. `None` if it did not change.
    pub(in crate::run) change: Option<Change>,
    /// The recorded version; for a removed entry, the former one.
    pub(in crate::run) version: Version,
    /// The recorded constraints; for a removed entry, the former ones.
    pub(in crate::run) constraints: VersionConstraints,
    /// The position of the entry in the old lock file.
    pub(in crate::run) place: Option<Place>,
    /// The number of hashes that are in both the old and the new lock file.
    pub(in crate::run) kept: usize,
    /// The packages from which the entry was created or checked, by platform.
    pub(in crate::run) packages: BTreeMap<Platform, Arc<PackageRecord>>,
}

#[derive(Clone, Debug)]
pub(in crate::run) struct RunReport {
    pub(in crate::run) command: &'static str,
    /// Sorted by path.
    pub(in crate::run) directories: Vec<DirectoryReport>,
    pub(in crate::run) platforms: Vec<Platform>,
    /// Whether the platform of this machine was used because none was requested.
    pub(in crate::run) platforms_defaulted: bool,
    pub(in crate::run) downloaded: Downloaded,
    pub(in crate::run) index: IndexUsage,
    pub(in crate::run) elapsed: Duration,
    /// Whether the run only checked and wrote nothing.
    pub(in crate::run) check: bool,
}

/// Whether a report keeps providers that did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::run) enum Detail {
    /// Only changed providers: with thousands of directories, unchanged ones would make up most of the report.
    Changes,
    /// Every provider of every directory.
    Everything,
}

impl Detail {
    /// Returns the detail that a report in this format and with this verbosity shows.
    pub(in crate::run) fn for_report(format: FormatArg, verbosity: u8) -> Self {
        if format == FormatArg::Json || verbosity > 0 {
            Self::Everything
        } else {
            Self::Changes
        }
    }
}

impl RunReport {
    /// Creates the report of a run that began at `started` and has now finished.
    pub(in crate::run) fn new(
        command: &'static str,
        check: bool,
        mut directories: Vec<DirectoryReport>,
        tree: &TreeSettings,
        downloaded: Downloaded,
        index: IndexUsage,
        started: Instant,
    ) -> Self {
        directories.sort_by(|a, b| a.directory.cmp(&b.directory));
        Self {
            command,
            directories,
            platforms: tree.platforms(),
            platforms_defaulted: tree
                .areas
                .iter()
                .all(|area| area.policy.platforms_defaulted),
            downloaded,
            index,
            elapsed: started.elapsed(),
            check,
        }
    }

    pub(in crate::run) fn count(&self, fate: Fate) -> usize {
        let directories = self.directories.iter();
        directories
            .filter(|directory| directory.fate == fate)
            .count()
    }

    /// Returns the name of each fate that occurs, with its number of directories.
    fn counts(&self) -> Vec<(String, usize)> {
        let name = |fate: Fate| match fate {
            Fate::Created | Fate::Updated if self.check => format!("would be {}", fate.name()),
            _ => fate.name().to_owned(),
        };
        Fate::ALL
            .map(|fate| (name(fate), self.count(fate)))
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .collect()
    }

    pub(in crate::run) fn findings(&self) -> usize {
        let directories = self.directories.iter();
        directories.map(|directory| directory.findings.len()).sum()
    }

    fn providers(&self) -> impl Iterator<Item = &ProviderReport> {
        let directories = self.directories.iter();
        directories.flat_map(|directory| &directory.providers)
    }

    /// Returns whether a lock file changed or, with `--check`, would change.
    pub(in crate::run) fn has_drift(&self) -> bool {
        self.count(Fate::Created) + self.count(Fate::Updated) > 0
    }

    /// Returns all errors and warnings, with duplicates merged.
    pub(in crate::run) fn diagnostics(&self) -> Vec<Diagnostic> {
        let directories = self.directories.iter();
        let all = directories.flat_map(|directory| directory.diagnostics.clone());
        diagnostic::merge(all.collect())
    }
}

impl ProviderReport {
    /// Compares the old and the new lock, provider by provider.
    pub(in crate::run) fn between(
        old: &Locks,
        new: &Locks,
        verified: Vec<VerifiedPackage>,
        detail: Detail,
    ) -> Vec<Self> {
        let mut packages: BTreeMap<ProviderAddr, BTreeMap<Platform, Arc<PackageRecord>>> =
            BTreeMap::new();
        for package in verified {
            let of_provider = packages.entry(package.address).or_default();
            of_provider.insert(package.platform, package.record);
        }
        let mut changes = LockChanges::between(old, new).providers;
        let removed = old
            .providers
            .iter()
            .filter(|(address, _)| !new.providers.contains_key(address));
        let mut reports: Vec<Self> = new
            .providers
            .iter()
            .chain(removed)
            .filter_map(|(address, lock)| {
                let change = changes.remove(address);
                (detail == Detail::Everything || change.is_some()).then(|| Self {
                    address: address.clone(),
                    change,
                    version: lock.version.clone(),
                    constraints: lock.constraints.clone(),
                    place: None,
                    kept: count_kept(old.providers.get(address), new.providers.get(address)),
                    packages: packages.remove(address).unwrap_or_default(),
                })
            })
            .collect();
        reports.sort_by(|a, b| a.address.cmp(&b.address));
        reports
    }
}

fn count_kept(before: Option<&ProviderLock>, after: Option<&ProviderLock>) -> usize {
    let Some((before, after)) = before.zip(after) else {
        return 0;
    };
    before.hashes.intersection(&after.hashes).count()
}

#[cfg(test)]
mod samples;
