//! Directories without a lock file: why they get none, and who calls them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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
