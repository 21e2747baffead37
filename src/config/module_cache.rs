//! A cache of modules. Each module is read only once per run, even if several root modules call it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::provider::Engine;
use crate::syntax::RunBudget;

use super::{ConfigError, Module};

/// A module or its errors, shared by all roots that call it.
type SharedModule = Result<Arc<Module>, Arc<Vec<Arc<ConfigError>>>>;

/// A cell that is empty until the module has been read.
type ModuleCell = Arc<OnceLock<SharedModule>>;

/// The modules of a run by real directory and engine. If several threads need a module, one reads it and the others wait.
#[derive(Debug, Default)]
pub struct ModuleCache {
    pub(super) cells: Mutex<HashMap<(PathBuf, Engine), ModuleCell>>,
    /// The evaluation budget that all root modules using this cache share.
    budget: Arc<RunBudget>,
}

impl ModuleCache {
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) const fn budget(&self) -> &Arc<RunBudget> {
        &self.budget
    }

    /// Returns the module in `real`, a path without symlinks. Messages show the path `shown` instead.
    pub(super) fn module(&self, real: &Path, shown: &Path, engine: Engine) -> SharedModule {
        let cell = {
            // A panic in another thread leaves the map usable: each entry is complete or empty.
            let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(cells.entry((real.to_path_buf(), engine)).or_default())
        };
        cell.get_or_init(|| {
            let shared =
                |errors: Vec<ConfigError>| Arc::new(errors.into_iter().map(Arc::new).collect());
            Module::read(shown, engine).map(Arc::new).map_err(shared)
        })
        .clone()
    }
}
