//! Decides whether the changed files can change the lock file of a directory (`--changed`).
//!
//! The lock file of a root module depends on
//!
//! - its own configuration, lock file, variable files and test files, and the files given with `--var-file`;
//! - the configuration of the local modules that it calls, directly or through other modules;
//! - the targets of symlinks among these files;
//! - for a Terragrunt unit: all files below its directory, its source, its parents, and the files that it reads or searches for;
//! - the `.tflock.toml` files that apply to it;
//! - the version files that determine its engine.
//!
//! Files that functions in module sources read are ignored.
//!
//! A changed symlink or submodule counts as a change to every file below it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::config::{
    ReadOptions, Tests, VariableOption, clean, is_configuration, is_stack_file, is_test_file,
    is_variable_file,
};
use crate::git::ChangedFiles;
use crate::lockfile::is_lock_file;
use crate::settings::{Area, CONFIG_FILE_NAME};

use super::engine::{EngineReason, VERSION_FILES};

/// The paths of all changed files in all repositories.
pub(super) struct ChangeFilter {
    paths: BTreeSet<PathBuf>,
}

/// A directory whose lock file may be affected by the changes.
pub(super) struct Candidate<'a> {
    pub(super) area: &'a Area,
    /// The absolute path of the directory, first with symlinks, then with all symlinks resolved.
    pub(super) names: [PathBuf; 2],
    pub(super) repository: &'a Path,
    pub(super) reason: EngineReason,
    pub(super) options: ReadOptions,
    /// The absolute paths of the local modules that the directory calls, directly or through other modules.
    pub(super) modules: BTreeSet<PathBuf>,
    /// The absolute paths of the files that the unit in the directory reads. `None` if it is not a unit.
    pub(super) unit_files: Option<BTreeSet<PathBuf>>,
}

impl ChangeFilter {
    pub(super) fn new(changes: &[ChangedFiles]) -> Self {
        let paths = changes.iter().flat_map(|changes| &changes.paths);
        Self {
            paths: paths.cloned().collect(),
        }
    }

    /// Returns whether the changed files can affect the lock file of a directory.
    pub(super) fn affects(&self, candidate: &Candidate<'_>) -> bool {
        let area = candidate.area;
        self.affects_config_files(candidate)
            || candidate
                .names
                .iter()
                .any(|name| self.affects_root(name, candidate))
            || self.affects_unit(candidate)
            || candidate
                .modules
                .iter()
                .any(|module| self.affects_module(module))
            || area.options.engine.value.is_none() && self.affects_version_files(candidate)
    }

    /// Returns whether a file of the root module changed.
    fn affects_root(&self, directory: &Path, candidate: &Candidate<'_>) -> bool {
        let options = &candidate.options;
        let is_read = |name: &str| {
            is_lock_file(name)
                || is_configuration(name)
                || is_stack_file(name)
                || is_variable_file(name)
                || options.tests != Tests::Skip && is_test_file(name)
        };
        let in_tests = match &options.tests {
            Tests::Skip => false,
            Tests::Read { directory: tests } => self.has(&directory.join(tests), is_test_file),
        };
        let mut var_files = options.variables.iter().filter_map(|option| match option {
            VariableOption::File(path) => Some(clean(&directory.join(path))),
            VariableOption::Value { .. } | VariableOption::Content { .. } => None,
        });
        self.has(directory, is_read)
            || in_tests
            || self.is_below(directory)
            || var_files.any(|file| self.paths.contains(&file))
    }

    /// Returns whether a file changed that Terragrunt copies from the directory of a unit, or that the unit reads.
    fn affects_unit(&self, candidate: &Candidate<'_>) -> bool {
        let Some(files) = &candidate.unit_files else {
            return false;
        };
        let contains_change = |directory: &PathBuf| {
            let mut after = self.paths.range(directory.clone()..);
            after.next().is_some_and(|path| path.starts_with(directory))
        };
        let is_changed = |file: &PathBuf| {
            let real = || file.canonicalize().ok();
            self.paths.contains(file)
                || file.parent().is_some_and(|above| self.is_below(above))
                || real().is_some_and(|real| self.paths.contains(&real))
        };
        candidate.names.iter().any(contains_change) || files.iter().any(is_changed)
    }

    /// Returns whether a file of a called module changed.
    fn affects_module(&self, directory: &Path) -> bool {
        let is_read = |name: &str| is_configuration(name) || is_stack_file(name);
        self.has(directory, is_read) || self.is_below(directory)
    }

    /// Returns whether a file in `directory` with a matching name, or the target of a symlink with a matching name, has changed.
    fn has(&self, directory: &Path, matches: impl Fn(&str) -> bool) -> bool {
        let matches = |name: &OsStr| name.to_str().is_some_and(&matches);
        let is_match = |path: &PathBuf| {
            path.parent() == Some(directory) && path.file_name().is_some_and(matches)
        };
        self.paths
            .range(directory.to_path_buf()..)
            .take_while(|path| path.starts_with(directory))
            .any(is_match)
            || self.has_link(directory, matches)
    }

    fn has_link(&self, directory: &Path, matches: impl Fn(&OsStr) -> bool) -> bool {
        // If the directory cannot be listed, its files cannot be read either, so its symlinks are ignored.
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let mut links = entries.filter(|entry| {
            matches(&entry.file_name()) && entry.file_type().is_ok_and(|kind| kind.is_symlink())
        });
        links.any(|link| {
            let target = link.path().canonicalize();
            target.is_ok_and(|target| self.paths.contains(&target))
        })
    }

    /// Returns whether `directory` or one of its parents is itself a changed path. Git lists a directory like a file if it is a
    /// symlink, a submodule or an embedded repository.
    fn is_below(&self, directory: &Path) -> bool {
        directory
            .ancestors()
            .any(|above| self.paths.contains(above))
    }

    /// Returns whether a `.tflock.toml` that applies to the directory was changed or removed.
    fn affects_config_files(&self, candidate: &Candidate<'_>) -> bool {
        let [_, real] = &candidate.names;
        real.ancestors()
            .take_while(|level| level.starts_with(candidate.repository))
            .any(|level| self.paths.contains(&level.join(CONFIG_FILE_NAME)))
    }

    /// Returns whether a version file that determines the engine of the directory was changed or removed.
    fn affects_version_files(&self, candidate: &Candidate<'_>) -> bool {
        if !matches!(
            candidate.reason,
            EngineReason::VersionFile | EngineReason::Tree | EngineReason::Default
        ) {
            return false;
        }
        let [_, real] = &candidate.names;
        for level in real.ancestors() {
            let mut files = VERSION_FILES.iter().map(|(name, _)| level.join(name));
            if files.clone().any(|file| self.paths.contains(&file)) {
                return true;
            }
            if level == candidate.repository || files.any(|file| file.is_file()) {
                return false;
            }
        }
        false
    }
}
