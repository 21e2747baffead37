//! Who calls a directory as a local module: its callers lock for it, so it gets no lock file of its own; and where it
//! changes, theirs change (`--callers`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::access::repository_root;
use crate::config::{self, ModuleCache, local_modules};
use crate::parallel;
use crate::provider::Engine;
use crate::settings::{Environment, SettingsError, TreeSettings};
use crate::walk::{WalkOptions, WalkedDirectory, walk};

/// Why a directory without a lock file gets none.
#[derive(Clone)]
pub(super) enum SkipReason {
    /// It requires no provider that could be locked.
    RequiresNothing,
    /// Others call it as a local module, and lock for it.
    Called {
        /// The first of them.
        by: PathBuf,
        /// How many more there are.
        others: usize,
    },
    /// No lock file is to be created.
    NotWanted,
}

/// Local modules by their real directories, each with those who call it, directly or not.
#[derive(Default)]
pub(super) struct Called(BTreeMap<PathBuf, SkipReason>);

impl Called {
    /// `caller` calls these.
    pub(super) fn note<'a>(
        &mut self,
        caller: &Path,
        modules: impl IntoIterator<Item = &'a PathBuf>,
    ) {
        for module in modules {
            if let Some(SkipReason::Called { by, others }) = self.0.get_mut(module) {
                *others += 1;
                if caller < by.as_path() {
                    *by = caller.to_path_buf();
                }
            } else {
                let by = caller.to_path_buf();
                let first = SkipReason::Called { by, others: 0 };
                self.0.insert(module.clone(), first);
            }
        }
    }

    /// Why a directory gets no lock file, if somebody calls it.
    pub(super) fn of(&self, real: &Path) -> Option<SkipReason> {
        self.0.get(real).cloned()
    }
}

/// Adds one file of each directory in the same repositories that reaches a path of the settings. So tflock treats these
/// directories as if the user had named one of their files.
pub(super) fn add_callers(
    settings: &mut TreeSettings,
    environment: &Environment,
) -> Result<(), SettingsError> {
    let paths = files_of_callers(settings);
    settings.add_paths(&paths, environment)
}

fn files_of_callers(settings: &TreeSettings) -> Vec<PathBuf> {
    let areas = settings.areas.iter();
    let named: BTreeSet<&PathBuf> = areas.flat_map(|area| &area.real_paths).collect();
    let tops: BTreeSet<PathBuf> = named.iter().map(|path| repository_root(path)).collect();
    let tops: Vec<PathBuf> = tops.into_iter().collect();
    let recursive = WalkOptions {
        recursive: true,
        ..WalkOptions::default()
    };
    let directories = walk(&tops, &recursive).directories;
    let reader = CallerReader {
        settings,
        named,
        tofu_files: directories.iter().any(|found| found.has_tofu_files),
        cache: ModuleCache::new(),
    };
    let callers = parallel::map(&directories, |directory| reader.file_of_caller(directory));
    callers.into_iter().flatten().collect()
}

/// Looks for those who reach one of the named directories.
struct CallerReader<'a> {
    settings: &'a TreeSettings,
    named: BTreeSet<&'a PathBuf>,
    /// Whether the tree has files that only OpenTofu reads.
    tofu_files: bool,
    cache: ModuleCache,
}

impl CallerReader<'_> {
    /// A file of a directory that reaches a named one, and is none itself.
    fn file_of_caller(&self, directory: &WalkedDirectory) -> Option<PathBuf> {
        let path = &directory.path;
        if !directory.has_configuration || self.named.contains(path) {
            return None;
        }
        let files = config::module_files(path, self.engine_of_caller(path)?).ok()?;
        let file = files.primary.into_iter().chain(files.overrides).next()?;
        let shown = file.strip_prefix(&self.settings.working_directory);
        Some(shown.map_or_else(|_| file.clone(), Path::to_path_buf))
    }

    /// By whose rules the root module in `path` reaches a named directory, if it does. Whose rules count is known later: a
    /// directory too many is found unchanged.
    fn engine_of_caller(&self, path: &Path) -> Option<Engine> {
        let area = self.settings.areas.first()?;
        for engine in [Engine::Terraform, Engine::Tofu] {
            let modules = local_modules(path, &area.read_options(engine), &self.cache);
            let mut directories = modules.directories.iter();
            if directories.any(|module| self.named.contains(module)) {
                return Some(engine);
            }
            // Both read the same files, and neither finds more in them: that halves the time in a large tree.
            if modules.complete && !self.tofu_files {
                return None;
            }
        }
        None
    }
}
