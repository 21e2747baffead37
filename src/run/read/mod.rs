//! Reads every directory of a run: its requirements and its current lock file. Providers are looked up later.
//!
//! | step | module |
//! | --- | --- |
//! | discover the directories | [`directories`] |
//! | keep those of the working set (`--changed`, `--failed`) | [`working_set_filter`] |
//! | read each one, with its engine and its repository | [`directory_reader`], [`engine_detector`], [`requirements`] |
//! | skip local modules that other directories call | [`called`] |

mod called;
mod directories;
mod directory_reader;
mod engine_detector;
mod requirements;
mod reread;
mod working_set_filter;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

pub(super) use directories::ignored;
pub(super) use reread::{RereadLockFile, reread};

use crate::config::{ChosenModule, MovedModule};
use crate::diagnostic::Diagnostic;
use crate::lockfile::FILE_NAME;
use crate::locking::LockJob;
use crate::modules::Fetcher;
use crate::parallel;
use crate::provider::Engine;
use crate::settings::{Area, TreeSettings};
use crate::walk::FoundBy;

use super::callers::SkipReason;
use super::engine::DetectedEngine;
use super::report::{DirectoryReport, Fate};
use directory_reader::DirectoryReader;
use working_set_filter::WorkingSetFilter;

pub(super) struct ReadDirectory {
    pub(super) area: Arc<Area>,
    /// The path as the user would write it.
    pub(super) path: PathBuf,
    pub(super) found_by: FoundBy,
    /// `None` if the lock file cannot be read.
    pub(super) engine: Option<DetectedEngine>,
    /// The absolute path of the repository root, or of the directory itself if it is not in a repository.
    pub(super) repository: PathBuf,
    /// Modules whose version differs from the one that `init` installed or that an earlier run of tflock read.
    pub(super) moved_modules: Vec<MovedModule>,
    /// The selected versions of modules that a later run may resolve differently.
    pub(super) chosen_modules: BTreeMap<String, ChosenModule>,
    pub(super) diagnostics: Vec<Diagnostic>,
    pub(super) task: Task,
}

/// What a command does with a directory.
pub(super) enum Task {
    /// Skip the directory, because it has no lock file and gets none.
    Skip {
        why: SkipReason,
        /// The job that would lock the directory.
        job: LockJob,
    },
    /// Report a failure, because the directory could not be read.
    Fail,
    /// Compute the lock file of the directory.
    Lock {
        /// The content of the old lock file. `None` if the file does not exist.
        old: Option<Arc<[u8]>>,
        job: LockJob,
    },
}

/// Reads all directories that the settings select, on all cores. Each file is read once.
pub(super) fn read_directories(settings: &TreeSettings, fetcher: &Fetcher) -> Vec<ReadDirectory> {
    let (found, unreadable) = directories::discover(settings);
    let reader = DirectoryReader::new(settings, fetcher, &found);
    let working_set = WorkingSetFilter::new(&reader);
    let read = parallel::map(&found, |(area, directory)| {
        working_set
            .includes(area, directory)
            .then(|| reader.read(area, directory))
    });
    let mut directories =
        called::skip_called_modules(&reader, read.into_iter().flatten().collect());
    directories.extend(unreadable);
    directories
}

impl ReadDirectory {
    /// Creates a directory that has not been read. Its task is [`Task::Fail`] until it has been read.
    fn unread(area: &Arc<Area>, path: PathBuf, repository: PathBuf, found_by: FoundBy) -> Self {
        Self {
            area: Arc::clone(area),
            path,
            found_by,
            engine: None,
            repository,
            moved_modules: Vec::new(),
            chosen_modules: BTreeMap::new(),
            diagnostics: Vec::new(),
            task: Task::Fail,
        }
    }

    /// Creates the report of a directory that has only been read.
    pub(super) fn report(&self, fate: Fate) -> DirectoryReport {
        DirectoryReport {
            directory: self.path.clone(),
            engine: self.engine.map(|detected| detected.engine),
            fate,
            skipped: match &self.task {
                Task::Skip { why, .. } => Some(why.clone()),
                Task::Fail | Task::Lock { .. } => None,
            },
            providers: Vec::new(),
            moved_modules: self.moved_modules.clone(),
            findings: Vec::new(),
            unchecked: Vec::new(),
            diff: None,
            diagnostics: self.diagnostics.clone(),
            elapsed: Duration::ZERO,
        }
    }

    /// Skips the directory, because other units include its unit file. Drops its errors, because this file need not be valid on
    /// its own.
    fn skip_as_parent(&mut self) {
        self.diagnostics.clear();
        let engine = self
            .engine
            .map_or(Engine::Terraform, |detected| detected.engine);
        self.task = Task::Skip {
            why: SkipReason::Parent,
            job: LockJob::empty(engine),
        };
    }

    pub(super) fn lock_file_name(&self) -> &'static str {
        let engine = self.engine.map(|detected| detected.engine);
        engine.map_or(FILE_NAME, Engine::lock_file_name)
    }

    pub(super) fn lock_file(&self) -> PathBuf {
        match self.path.to_str() {
            Some(".") => PathBuf::from(self.lock_file_name()),
            _ => self.path.join(self.lock_file_name()),
        }
    }
}
