//! The directories that `--changed` and `--failed` select (see docs/reference/options.md).

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;

use crate::cli::TreeArgs;
use crate::git::{ChangedFiles, GitSettings};

use super::{Area, Environment, SettingsError};
use crate::access::repository_root;
use crate::display::{counted, shown_path, visible_name};

/// The maximum size of a report, in bytes: enough for hundreds of thousands of directories.
const MAX_REPORT_BYTES: u64 = 1 << 30;

/// The `schema_version` of supported reports.
const SCHEMA_VERSION: u64 = 1;

/// The directories that `--changed` and `--failed` select. With both options, a directory must be selected by each.
#[derive(Clone, Debug, Default)]
pub struct WorkingSet {
    /// The changed files in each repository that contains a path from the command line. `None` without `--changed`.
    pub changed: Option<Vec<ChangedFiles>>,
    /// The directories that failed in an earlier run. `None` without `--failed`.
    pub failed: Option<FailedDirectories>,
}

/// The directories that failed in an earlier run.
#[derive(Clone, Debug, Default)]
pub struct FailedDirectories {
    /// The failed directories that the paths on the command line cover, without symlinks.
    pub directories: BTreeSet<PathBuf>,
    /// The failed directories that no path on the command line covers.
    out_of_reach: BTreeSet<PathBuf>,
    /// The number of failed directories that do not exist at the path given in the report.
    gone: usize,
}

/// The reason why the report of an earlier run cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error(transparent)]
    Read(#[from] std::io::Error),
    #[error("it is not a `--format json` report")]
    Json(#[from] serde_json::Error),
    #[error("its `schema_version` is {0}, but this version of tflock supports {SCHEMA_VERSION}")]
    Version(u64),
    #[error("it is larger than {MAX_REPORT_BYTES} bytes")]
    TooLarge,
}

impl WorkingSet {
    pub(super) fn resolve(
        tree: &TreeArgs,
        areas: &[Arc<Area>],
        git: &GitSettings,
        environment: &Environment,
    ) -> Result<Self, SettingsError> {
        let changed = tree.changed.as_deref().map(|revision| {
            let revision = (!revision.is_empty()).then_some(revision);
            changes(areas, git, revision)
        });
        let failed = tree.failed.as_ref().map(|path| {
            let failed = failed_directories(path, &environment.working_directory);
            failed.map_err(|source| SettingsError::Report {
                path: path.clone(),
                source,
            })
        });
        let mut set = Self {
            changed: changed.transpose()?,
            failed: failed.transpose()?,
        };
        set.limit_to(areas);
        Ok(set)
    }

    /// Divides the failed directories into those that the paths of the areas cover and those that they do not.
    pub(super) fn limit_to(&mut self, areas: &[Arc<Area>]) {
        let is_reached = |directory: &PathBuf| {
            areas.iter().any(|area| {
                let mut paths = area.real_paths.iter();
                paths.any(|path| path == directory || area.recursive && directory.starts_with(path))
            })
        };
        if let Some(failed) = &mut self.failed {
            failed.directories.append(&mut failed.out_of_reach);
            let directories = std::mem::take(&mut failed.directories);
            (failed.directories, failed.out_of_reach) =
                directories.into_iter().partition(is_reached);
        }
    }

    /// Returns one-line messages about the selected directories.
    pub fn notes(&self) -> Vec<String> {
        let changed = self.changed.iter().flatten();
        let changed = changed.map(|changes| {
            format!(
                "processing only directories in {} that may be affected by changes since {}",
                shown_path(&changes.top),
                visible_name(&changes.base.to_string())
            )
        });
        let failed = self.failed.iter().flat_map(FailedDirectories::notes);
        changed.chain(failed).collect()
    }
}

impl FailedDirectories {
    fn notes(&self) -> Vec<String> {
        let directories = |count: usize| counted(count, "directory", "directories");
        let mut notes = vec![format!(
            "processing the {} that failed",
            directories(self.directories.len())
        )];
        if !self.out_of_reach.is_empty() {
            let count = directories(self.out_of_reach.len());
            notes.push(format!(
                "left out: {count} that failed outside the given paths (omit PATH or add -r to include everything below)"
            ));
        }
        if self.gone > 0 {
            notes.push(format!(
                "left out: {} that failed but cannot be found: paths in the report are relative to the directory where it was made",
                directories(self.gone)
            ));
        }
        notes
    }
}

/// Finds the changed files in each repository that contains a path from the command line.
fn changes(
    areas: &[Arc<Area>],
    git: &GitSettings,
    revision: Option<&str>,
) -> Result<Vec<ChangedFiles>, SettingsError> {
    let directories = areas.iter().flat_map(|area| &area.real_paths);
    let tops: BTreeSet<PathBuf> = directories.map(|path| repository_root(path)).collect();
    let changes = tops.iter().map(|top| {
        let changes = ChangedFiles::since(git, top, revision);
        changes.map_err(|error| Box::new(error).into())
    });
    changes.collect()
}

#[derive(Deserialize)]
struct EarlierReport {
    schema_version: u64,
    directories: Vec<ReportedDirectory>,
}

#[derive(Deserialize)]
struct ReportedDirectory {
    path: PathBuf,
    status: String,
}

/// Reads the failed directories from the report at `path`. Paths in the report are relative to `working_directory`.
fn failed_directories(
    path: &Path,
    working_directory: &Path,
) -> Result<FailedDirectories, ReportError> {
    let file = File::open(working_directory.join(path))?;
    if file.metadata()?.len() > MAX_REPORT_BYTES {
        return Err(ReportError::TooLarge);
    }
    let reader = BufReader::new(file.take(MAX_REPORT_BYTES));
    let report: EarlierReport = serde_json::from_reader(reader)?;
    if report.schema_version != SCHEMA_VERSION {
        return Err(ReportError::Version(report.schema_version));
    }
    let mut failed = FailedDirectories::default();
    for directory in report.directories {
        if directory.status == "failed" {
            match working_directory.join(directory.path).canonicalize() {
                Ok(real) => {
                    failed.directories.insert(real);
                }
                Err(_not_there) => failed.gone += 1,
            }
        }
    }
    Ok(failed)
}
