//! Each module is read once per run, however many roots call it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::provider::Engine;
use crate::syntax::RunBudget;

use super::error::ConfigError;
use super::module::Module;

/// A module, or why it cannot be read. Both are shared by all who ask.
type Outcome = Result<Arc<Module>, Arc<Vec<Arc<ConfigError>>>>;

/// A module that is being read, or has been.
type Cell = Arc<OnceLock<Outcome>>;

/// The modules of a run, by their real directory. It can be used from several threads at once: who comes second waits.
#[derive(Debug, Default)]
pub struct ModuleCache {
    cells: Mutex<HashMap<(PathBuf, Engine), Cell>>,
    /// What the evaluation of all root modules that use this cache may cost.
    budget: Arc<RunBudget>,
}

impl ModuleCache {
    /// An empty cache.
    pub fn new() -> Self {
        Self::default()
    }

    pub(super) const fn budget(&self) -> &Arc<RunBudget> {
        &self.budget
    }

    /// The module in `real`, a path without links. `shown` is the path that messages name.
    pub(super) fn module(&self, real: &Path, shown: &Path, engine: Engine) -> Outcome {
        let cell = {
            // A panic while the map was locked leaves it usable: every entry is complete or empty.
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

    /// How many directories were read.
    pub fn len(&self) -> usize {
        self.cells
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .len()
    }

    /// Whether nothing was read yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
