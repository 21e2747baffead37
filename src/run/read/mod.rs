//! Before anything is asked of the network: every directory, what it requires, and what is locked there now.
//!
//! ```text
//! found: directories -> wanted: those of the working set -> reader: one directory -> called: modules that others lock for
//!                                                             engines, repositories
//! ```

mod called;
mod directories;
mod directory_reader;
mod engine_detector;
mod repositories;
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
use super::engine::EngineReason;
use super::report::{DirectoryReport, Fate};
use directories::DiscoveredDirectories;
use directory_reader::DirectoryReader;
use working_set_filter::WorkingSetFilter;

/// One directory, read.
pub(super) struct ReadDirectory {
    /// What holds for it.
    pub(super) area: Arc<Area>,
    /// As the user would name it.
    pub(super) path: PathBuf,
    /// How it was found.
    pub(super) found_by: FoundBy,
    /// Whose rules it follows, and why; unknown if its lock file cannot be read.
    pub(super) engine: Option<(Engine, EngineReason)>,
    /// The top of the repository that holds it, absolute.
    pub(super) repository: PathBuf,
    /// Modules that are read in another version than `init` installed, or than the lock was last right with.
    pub(super) moved_modules: Vec<MovedModule>,
    /// The versions of modules that may be others tomorrow.
    pub(super) chosen_modules: BTreeMap<String, ChosenModule>,
    /// What went wrong, and what should be known.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// What is to be done.
    pub(super) task: Task,
}

/// What is to be done with a directory.
pub(super) enum Task {
    /// Nothing: it has no lock file and needs none.
    Skip {
        /// Why not.
        why: SkipReason,
        /// What would be locked.
        job: LockJob,
    },
    /// Nothing: it could not be read.
    Fail,
    /// Work out its lock.
    Lock {
        /// The bytes of the lock file, if there is one.
        old: Option<Arc<[u8]>>,
        /// What is to be locked.
        job: LockJob,
    },
}

/// Reads all directories that the settings name, on all cores; each file once.
pub(super) fn all(settings: &TreeSettings, fetcher: &Fetcher) -> Vec<ReadDirectory> {
    let DiscoveredDirectories {
        directories: found,
        unreadable,
    } = directories::all(settings);
    let reader = DirectoryReader::new(settings, fetcher, &found);
    let wanted = WorkingSetFilter::new(&reader);
    let read = parallel::map(&found, |(area, directory)| {
        wanted
            .has(area, directory)
            .then(|| reader.read(area, directory))
    });
    let read = read.into_iter().flatten().collect();
    let mut directories = called::without_called_modules(&reader, read);
    directories.extend(unreadable);
    directories
}

impl ReadDirectory {
    /// A report that says no more than what reading found.
    pub(super) fn report(&self, fate: Fate) -> DirectoryReport {
        DirectoryReport {
            directory: self.path.clone(),
            engine: self.engine.map(|(engine, _)| engine),
            fate,
            providers: Vec::new(),
            moved_modules: self.moved_modules.clone(),
            findings: Vec::new(),
            unchecked: Vec::new(),
            diff: None,
            diagnostics: self.diagnostics.clone(),
            elapsed: Duration::ZERO,
        }
    }

    /// The path of its lock file.
    pub(super) fn lock_file(&self) -> PathBuf {
        match self.path.to_str() {
            Some(".") => PathBuf::from(FILE_NAME),
            _ => self.path.join(FILE_NAME),
        }
    }
}
