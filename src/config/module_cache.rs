//! A cache of modules. Each module is read only once per run, even if several root modules call it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::provider::Engine;
use crate::syntax::RunBudget;

use super::{ConfigError, Location, Module, ModuleDirectory};

/// A module or its errors, shared by all roots that call it.
type SharedModule = Result<Arc<Module>, Arc<Vec<Arc<ConfigError>>>>;

/// A cell that is empty until the module has been read.
type ModuleCell = Arc<OnceLock<SharedModule>>;

/// Modules by real directory and engine. If several threads need a module, one reads it and the others wait.
#[derive(Debug, Default)]
pub(super) struct ModuleCells(pub(super) Mutex<HashMap<(PathBuf, Engine), ModuleCell>>);

/// The modules of a run.
#[derive(Debug, Default)]
pub struct ModuleCache {
    pub(super) modules: ModuleCells,
    /// The evaluation budget that all root modules using this cache share.
    budget: Arc<RunBudget>,
}

impl ModuleCache {
    pub fn new() -> Self {
        Self::default()
    }

    pub const fn budget(&self) -> &Arc<RunBudget> {
        &self.budget
    }

    /// Returns the module at `location`, and reads it if necessary. If several root modules call it, messages show the path that the first
    /// of them used.
    pub(super) fn module(&self, location: &Location, engine: Engine) -> SharedModule {
        let cells = &self.modules;
        let Some((tree, path)) = location.in_tree() else {
            let directory = ModuleDirectory::OnDisk(&location.shown);
            return cells.get(&location.real, directory, engine);
        };
        if let Some(directory) = tree.same_directory(path)
            && let Ok(real) = directory.canonicalize()
        {
            return cells.get(&real, ModuleDirectory::OnDisk(&directory), engine);
        }
        let directory = ModuleDirectory::Assembled(tree, path);
        tree.modules.get(&location.real, directory, engine)
    }
}

impl ModuleCells {
    /// Returns the module in `real`, a path without symlinks. Reads it from `directory` if necessary.
    fn get(&self, real: &Path, directory: ModuleDirectory<'_>, engine: Engine) -> SharedModule {
        let cell = {
            // A panic in another thread leaves the map usable: each entry is complete or empty.
            let mut cells = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(cells.entry((real.to_path_buf(), engine)).or_default())
        };
        cell.get_or_init(|| {
            let shared =
                |errors: Vec<ConfigError>| Arc::new(errors.into_iter().map(Arc::new).collect());
            Module::read(&directory, engine)
                .map(Arc::new)
                .map_err(shared)
        })
        .clone()
    }
}
