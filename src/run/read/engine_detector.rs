//! Whose rules each directory follows: what was asked for, else what speaks for one tool, from near to far.

use std::path::Path;
use std::sync::OnceLock;

use crate::lockfile::{self, FILE_NAME};
use crate::parallel;
use crate::provider::Engine;
use crate::run::engine::{self, EngineReason, VersionFiles};
use crate::settings::Area;
use crate::walk::WalkedDirectory;

use super::directories::InArea;

/// What speaks for one tool or the other in a tree.
pub(super) struct EngineDetector<'a> {
    version_files: VersionFiles,
    /// All directories that were found.
    found: &'a [InArea],
    /// What all lock files of the tree agree on, once a directory gives no hint of its own.
    tree: OnceLock<Option<Engine>>,
}

impl<'a> EngineDetector<'a> {
    pub(super) fn new(found: &'a [InArea]) -> Self {
        Self {
            version_files: VersionFiles::default(),
            found,
            tree: OnceLock::new(),
        }
    }

    /// The engine of a directory with the lock file `lock`, and why; `absolute` is its path, `repository` the top of its
    /// repository.
    pub(super) fn of(
        &self,
        area: &Area,
        found: &WalkedDirectory,
        absolute: &Path,
        repository: &Path,
        lock: Option<&[u8]>,
    ) -> (Engine, EngineReason) {
        let of_lock = || engine::detect_from_lock(&String::from_utf8_lossy(lock?));
        let of_files = || found.has_tofu_files.then_some(Engine::Tofu);
        let of_version_file = || self.version_files.nearest(absolute, repository);
        let because = |reason| move |engine| (engine, reason);
        let asked = area.options.engine.value.map(because(EngineReason::Asked));
        asked
            .or_else(|| of_lock().map(because(EngineReason::LockFile)))
            .or_else(|| of_files().map(because(EngineReason::TofuFiles)))
            .or_else(|| of_version_file().map(because(EngineReason::VersionFile)))
            .or_else(|| self.tree().map(because(EngineReason::Tree)))
            .unwrap_or((Engine::Terraform, EngineReason::Default))
    }

    /// What all lock files of the tree agree on. They are read for it, so nobody asks without need.
    fn tree(&self) -> Option<Engine> {
        *self.tree.get_or_init(|| {
            let engines = parallel::map(self.found, |(_, directory)| {
                let path = directory.path.join(FILE_NAME);
                // A lock file that cannot be read is told of when its directory is worked on.
                let bytes = directory
                    .has_lock_file
                    .then(|| lockfile::read(&path).ok().flatten())??;
                engine::detect_from_lock(&String::from_utf8_lossy(&bytes))
            });
            engine::agreed(engines.into_iter().flatten())
        })
    }
}
