//! Detects the engine of each directory. Unless the user requests an engine, the first of these that names one decides: the lock
//! file, what Terragrunt runs in a unit, `.tofu` files, a version file, the other lock files in the tree.

use std::path::Path;
use std::sync::OnceLock;

use crate::lockfile::{self, FILE_NAME};
use crate::parallel;
use crate::provider::Engine;
use crate::run::engine::{self, DetectedEngine, EngineReason, VersionFiles};
use crate::settings::{Area, UnitSettings};
use crate::walk::WalkedDirectory;

use super::directories::InArea;

/// What the files of a directory say about its engine.
#[derive(Clone, Copy, Default)]
pub(super) struct EngineClues<'a> {
    /// The content of the lock file.
    pub(super) lock: Option<&'a [u8]>,
    /// The engine that the unit in the directory names.
    pub(super) unit: Option<Engine>,
}

/// Detects the engines of the directories in one tree.
pub(super) struct EngineDetector<'a> {
    units: &'a UnitSettings,
    version_files: VersionFiles,
    /// All directories of the run.
    found: &'a [InArea],
    /// The engine that all lock files in the tree agree on, determined only if nothing else decides for some directory.
    tree: OnceLock<Option<Engine>>,
}

impl<'a> EngineDetector<'a> {
    pub(super) fn new(found: &'a [InArea], units: &'a UnitSettings) -> Self {
        Self {
            units,
            version_files: VersionFiles::default(),
            found,
            tree: OnceLock::new(),
        }
    }

    /// Returns the engine of a directory and the reason for it. `absolute` is the path of the directory, `repository` the root
    /// of its repository.
    pub(super) fn detect(
        &self,
        area: &Area,
        found: &WalkedDirectory,
        absolute: &Path,
        repository: &Path,
        clues: EngineClues<'_>,
    ) -> DetectedEngine {
        let from_lock = || engine::detect_from_lock(&String::from_utf8_lossy(clues.lock?));
        let is_unit = found.has_unit_file;
        let from_unit = || self.units.engine.filter(|_| is_unit).or(clues.unit);
        let installed = || self.units.installed_engine().filter(|_| is_unit);
        let from_files = || found.has_tofu_files.then_some(Engine::Tofu);
        let from_version_file = || self.version_files.nearest(absolute, repository);
        let because = |reason| move |engine| DetectedEngine { engine, reason };
        area.options
            .engine
            .value
            .map(because(EngineReason::Requested))
            .or_else(|| from_lock().map(because(EngineReason::LockFile)))
            .or_else(|| from_unit().map(because(EngineReason::Unit)))
            .or_else(|| from_files().map(because(EngineReason::TofuFiles)))
            .or_else(|| from_version_file().map(because(EngineReason::VersionFile)))
            .or_else(|| self.engine_of_tree().map(because(EngineReason::Tree)))
            .or_else(|| installed().map(because(EngineReason::Installed)))
            .unwrap_or(DetectedEngine {
                engine: Engine::Terraform,
                reason: EngineReason::Default,
            })
    }

    /// Returns the engine that all lock files in the tree agree on. The first call reads all lock files.
    fn engine_of_tree(&self) -> Option<Engine> {
        *self.tree.get_or_init(|| {
            let engines = parallel::map(self.found, |(_, directory)| {
                let path = directory.path.join(FILE_NAME);
                // An unreadable lock file is reported when its directory is read.
                let bytes = directory
                    .has_lock_file
                    .then(|| lockfile::read(&path).ok().flatten())??;
                engine::detect_from_lock(&String::from_utf8_lossy(&bytes))
            });
            engine::agreed(engines.into_iter().flatten())
        })
    }
}
