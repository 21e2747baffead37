//! Who calls a directory as a local module: its callers lock for it, so it gets no lock file of its own; and where it
//! changes, theirs change (`--callers`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::cli::TreeArgs;
use crate::config::{self, ModuleCache, WalkOptions, local_modules, on_all_cores};
use crate::provider::Engine;
use crate::settings::{TreeSettings, repository_root};

/// Why a directory without a lock file gets none.
#[derive(Clone)]
pub(super) enum Skipped {
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
pub(super) struct Called(BTreeMap<PathBuf, Skipped>);

impl Called {
    /// `caller` calls these.
    pub(super) fn note<'a>(
        &mut self,
        caller: &Path,
        modules: impl IntoIterator<Item = &'a PathBuf>,
    ) {
        for module in modules {
            if let Some(Skipped::Called { by, others }) = self.0.get_mut(module) {
                *others += 1;
                if caller < by.as_path() {
                    *by = caller.to_path_buf();
                }
            } else {
                let by = caller.to_path_buf();
                let first = Skipped::Called { by, others: 0 };
                self.0.insert(module.clone(), first);
            }
        }
    }

    /// Why a directory gets no lock file, if somebody calls it.
    pub(super) fn of(&self, real: &Path) -> Option<Skipped> {
        self.0.get(real).cloned()
    }
}

/// The paths with one file of each directory in the same repositories that reaches one of them: so they are worked on like
/// those whose files were named, by the config file that governs them.
pub(super) fn with_callers(tree: &TreeArgs, settings: &TreeSettings) -> TreeArgs {
    let areas = settings.areas.iter();
    let named: BTreeSet<&PathBuf> = areas.flat_map(|area| &area.real_paths).collect();
    let tops: BTreeSet<PathBuf> = named.iter().map(|path| repository_root(path)).collect();
    let tops: Vec<PathBuf> = tops.into_iter().collect();
    let recursive = WalkOptions {
        recursive: true,
        ..WalkOptions::default()
    };
    let directories = config::walk(&tops, &recursive).directories;
    let cache = ModuleCache::new();
    let callers = on_all_cores(&directories, |directory| {
        let path = &directory.path;
        let wanted = directory.has_configuration && !named.contains(path);
        let mut engines = [Engine::Terraform, Engine::Tofu].into_iter();
        // Whose rules count is known later: a directory too many is found unchanged.
        let reaches = |engine: Engine| {
            let options = settings.areas.first()?.read_options(engine);
            let modules = local_modules(path, &options, &cache);
            modules
                .iter()
                .any(|module| named.contains(module))
                .then_some(engine)
        };
        let engine = engines.find_map(|engine| reaches(engine).filter(|_| wanted))?;
        let files = config::module_files(path, engine).ok()?;
        let file = files.primary.into_iter().chain(files.overrides).next()?;
        let shown = file.strip_prefix(&settings.working_directory);
        Some(shown.map_or_else(|_| file.clone(), Path::to_path_buf))
    });
    let mut tree = tree.clone();
    tree.paths.extend(callers.into_iter().flatten());
    tree
}
