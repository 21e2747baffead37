//! What a run did, as data. Each format is a renderer of it.
//!
//! | format | renderer | for |
//! | --- | --- | --- |
//! | `text` | [`text`] | people |
//! | `json` | [`json`] | programs: everything, by a documented schema |
//! | `github` | [`github`] | GitHub Actions: annotations and a job summary |
//! | `sarif` | [`sarif`] | code scanning, and viewers of such |

mod change;
mod found;
mod github;
mod json;
mod remark;
mod rules;
mod sarif;
mod signers;
mod sums;
mod text;

pub use remark::Base;
pub(in crate::run) use sums::{bytes, counted};

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::cli::FormatArg;
use crate::config::MovedModule;
use crate::diagnostic::{self, Diagnostic};
use crate::lockfile::{Change, LockChanges, Locks, ProviderLock};
use crate::locking::{Downloaded, Finding, PackageRecord, VerifiedPackage};
use crate::provider::{Engine, Platform, ProviderAddr, Version, VersionConstraints};
use crate::span::{Place, visible_name};

/// What became of one directory's lock file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// There was none; now there is.
    Created,
    /// It was replaced.
    Updated,
    /// It is right as it is.
    Unchanged,
    /// There is none, and none was wanted.
    Skipped,
    /// It could not be worked out; whatever was there is still there.
    Failed,
    /// An audit found nothing wrong.
    Sound,
    /// An audit found something wrong.
    Flagged,
}

impl Fate {
    /// All of them, in the order in which reports count them.
    pub const ALL: [Self; 7] = [
        Self::Updated,
        Self::Created,
        Self::Unchanged,
        Self::Sound,
        Self::Flagged,
        Self::Skipped,
        Self::Failed,
    ];

    /// The word for it.
    pub fn name(self) -> &'static str {
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

/// What became of one directory.
#[derive(Clone, Debug)]
pub struct DirectoryReport {
    /// The directory as the user would name it.
    pub directory: PathBuf,
    /// Whose rules were followed, if it came to that.
    pub engine: Option<Engine>,
    /// What became of its lock file. With `--check`: what would have.
    pub fate: Fate,
    /// Its providers in the order of the lock file: those whose entries changed, and the others where the run keeps
    /// [details](Detail). None of a directory that failed.
    pub providers: Vec<ProviderReport>,
    /// Modules that are read in another version than `init` installed: what changed may be because of them.
    pub moved_modules: Vec<MovedModule>,
    /// What an audit found.
    pub findings: Vec<Finding>,
    /// What an audit could not check, since there was no network.
    pub unchecked: Vec<String>,
    /// The unified diff, if it was asked for.
    pub diff: Option<String>,
    /// What went wrong, and what the user should know.
    pub diagnostics: Vec<Diagnostic>,
    /// From when its turn came until it was done, waiting for what others needed as well included.
    pub elapsed: Duration,
}

/// What became of one provider of a directory.
#[derive(Clone, Debug)]
pub struct ProviderReport {
    /// Which provider.
    pub address: ProviderAddr,
    /// How its entry changed; `None`: not at all.
    pub change: Option<Change>,
    /// The version that is recorded now; of a removed entry, the one that was.
    pub version: Version,
    /// The constraints that are recorded now, or were.
    pub constraints: VersionConstraints,
    /// Where its entry stands in the old lock file.
    pub place: Option<Place>,
    /// How many hashes were recorded and still are.
    pub kept: usize,
    /// The packages that were looked at for it, by platform.
    pub packages: BTreeMap<Platform, Arc<PackageRecord>>,
}

/// A whole run.
#[derive(Clone, Debug)]
pub struct RunReport {
    /// The name of the command.
    pub command: &'static str,
    /// In the order of their paths.
    pub directories: Vec<DirectoryReport>,
    /// Platforms that were asked for.
    pub platforms: Vec<Platform>,
    /// Nobody named a platform.
    pub platforms_defaulted: bool,
    /// What was downloaded.
    pub downloaded: Downloaded,
    /// How long the run took.
    pub elapsed: Duration,
    /// Nothing was written.
    pub check: bool,
}

/// How much a report keeps of what did not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// Nothing: with thousands of directories, it would be most of it.
    Changes,
    /// Every provider of every directory.
    Everything,
}

impl Detail {
    /// As much as the report shows.
    pub fn of(format: FormatArg, verbosity: u8) -> Self {
        if format == FormatArg::Json || verbosity > 0 {
            Self::Everything
        } else {
            Self::Changes
        }
    }
}

impl RunReport {
    /// How many directories met `fate`.
    pub fn count(&self, fate: Fate) -> usize {
        let met = |directory: &&DirectoryReport| directory.fate == fate;
        self.directories.iter().filter(met).count()
    }

    /// How many directories met which fate, in words, without those that none met.
    fn counts(&self) -> Vec<(String, usize)> {
        let words = |fate: Fate| match fate {
            Fate::Created | Fate::Updated if self.check => format!("would be {}", fate.name()),
            _ => fate.name().to_owned(),
        };
        let counts = Fate::ALL.map(|fate| (words(fate), self.count(fate)));
        let counts = counts.into_iter();
        counts.filter(|(_, count)| *count > 0).collect()
    }

    /// How many findings there are in all.
    pub fn findings(&self) -> usize {
        let directories = self.directories.iter();
        directories.map(|directory| directory.findings.len()).sum()
    }

    /// Whether some lock file changed, or would have.
    pub fn has_drift(&self) -> bool {
        self.count(Fate::Created) + self.count(Fate::Updated) > 0
    }

    /// What went wrong and what should be known, equal causes once.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let all = self.directories.iter();
        let all = all.flat_map(|directory| directory.diagnostics.iter().cloned());
        diagnostic::merge(all.collect())
    }

    /// The text for a person.
    pub fn text(&self, verbosity: u8) -> String {
        text::render(self, verbosity)
    }

    /// The document for programs.
    pub fn json(&self) -> String {
        json::render(self)
    }

    /// The workflow commands for GitHub Actions.
    pub fn github(&self, base: &Base) -> String {
        github::render(self, base)
    }

    /// The job summary for GitHub Actions.
    pub fn github_summary(&self) -> String {
        github::summary(self)
    }

    /// The SARIF document of a run that ends with this exit code.
    pub fn sarif(&self, base: &Base, exit_code: u8) -> String {
        sarif::render(self, base, exit_code)
    }
}

impl ProviderReport {
    /// Compares two states of a lock file, provider by provider.
    pub fn between(
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
        let removed = |(address, _): &(&ProviderAddr, _)| !new.providers.contains_key(*address);
        let gone = old.providers.iter().filter(removed);
        let mut reports: Vec<Self> = new
            .providers
            .iter()
            .chain(gone)
            .filter(|(address, _)| detail == Detail::Everything || changes.contains_key(*address))
            .map(|(address, lock)| (address, lock, old.providers.get(address)))
            .map(|(address, lock, before)| Self {
                address: address.clone(),
                change: None,
                version: lock.version.clone(),
                constraints: lock.constraints.clone(),
                place: None,
                kept: kept(before, new.providers.get(address)),
                packages: packages.remove(address).unwrap_or_default(),
            })
            .collect();
        for report in &mut reports {
            report.change = changes.remove(&report.address);
        }
        reports.sort_by(|a, b| a.address.cmp(&b.address));
        reports
    }
}

fn kept(before: Option<&ProviderLock>, after: Option<&ProviderLock>) -> usize {
    let Some((before, after)) = before.zip(after) else {
        return 0;
    };
    before.hashes.intersection(&after.hashes).count()
}

/// A directory or file as reports name it: never empty, with `/` on every system.
pub(in crate::run) fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() {
        return ".".to_owned();
    }
    let text = path.to_string_lossy();
    if std::path::MAIN_SEPARATOR == '/' {
        text.into_owned()
    } else {
        text.replace(std::path::MAIN_SEPARATOR, "/")
    }
}

/// The same for a person.
fn named(path: &Path) -> String {
    visible_name(&shown(path)).into_owned()
}

#[cfg(test)]
mod samples;
