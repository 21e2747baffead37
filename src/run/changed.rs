//! Whether what changed can change the lock of a directory (`--changed`).
//!
//! Of a root module these count: its own configuration, lock file, variable files and test files; the configuration of local
//! modules that it reaches through calls; the targets of links among all those; the config files that apply to it; version
//! files that decide about its engine; and `--var-file`. Files that functions in a module's source read do not count.
//!
//! A link or a submodule that changed counts for all that lies below it.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::config::{
    ReadOptions, Tests, VariableOption, clean, is_configuration, is_test_file, is_variable_file,
};
use crate::git::ChangedFiles;
use crate::lockfile::FILE_NAME;
use crate::settings::{Area, CONFIG_FILE_NAME};

use super::engine::{EngineReason, VERSION_FILES};

/// Everything that changed, in all repositories.
pub(super) struct Changed {
    paths: BTreeSet<PathBuf>,
}

/// A directory as it is asked about.
pub(super) struct Candidate<'a> {
    /// What holds for it.
    pub(super) area: &'a Area,
    /// Its absolute path, as the user would name it and without links.
    pub(super) names: [PathBuf; 2],
    /// The top of its repository.
    pub(super) repository: &'a Path,
    /// Why it has its engine.
    pub(super) reason: EngineReason,
    /// How it is read.
    pub(super) options: ReadOptions,
    /// Absolute paths of the local modules that it reaches, as they are called and without links.
    pub(super) modules: BTreeSet<PathBuf>,
}

impl Changed {
    pub(super) fn new(changes: &[ChangedFiles]) -> Self {
        let paths = changes.iter().flat_map(|changes| &changes.paths);
        Self {
            paths: paths.cloned().collect(),
        }
    }

    /// Whether the lock of a directory can be another one now.
    pub(super) fn concerns(&self, candidate: &Candidate<'_>) -> bool {
        let area = candidate.area;
        self.governs(candidate)
            || candidate
                .names
                .iter()
                .any(|name| self.is_root(name, candidate))
            || candidate
                .modules
                .iter()
                .any(|module| self.is_module(module))
            || area.options.engine.value.is_none() && self.decides_engine(candidate)
    }

    /// A root module's own files.
    fn is_root(&self, directory: &Path, candidate: &Candidate<'_>) -> bool {
        let options = &candidate.options;
        let own = |name: &str| {
            name == FILE_NAME
                || is_configuration(name)
                || is_variable_file(name)
                || options.tests != Tests::Skip && is_test_file(name)
        };
        let in_tests = match &options.tests {
            Tests::Skip => false,
            Tests::Read { directory: tests } => self.has(&directory.join(tests), is_test_file),
        };
        let files = options.variables.iter().filter_map(|option| match option {
            VariableOption::File(path) => Some(clean(&directory.join(path))),
            VariableOption::Value { .. } | VariableOption::Content { .. } => None,
        });
        self.has(directory, own)
            || in_tests
            || self.is_below(directory)
            || files.into_iter().any(|file| self.paths.contains(&file))
    }

    /// The files of a module that is called.
    fn is_module(&self, directory: &Path) -> bool {
        self.has(directory, is_configuration) || self.is_below(directory)
    }

    /// Whether a file in `directory` changed that has such a name, or the target of a link with such a name.
    fn has(&self, directory: &Path, counts: impl Fn(&str) -> bool) -> bool {
        let counts = |name: &OsStr| name.to_str().is_some_and(&counts);
        let below = self.paths.range(directory.to_path_buf()..);
        let mut below = below.take_while(|path| path.starts_with(directory));
        let is_in = |path: &PathBuf| {
            path.parent() == Some(directory) && path.file_name().is_some_and(counts)
        };
        below.any(is_in) || self.has_link(directory, counts)
    }

    fn has_link(&self, directory: &Path, counts: impl Fn(&OsStr) -> bool) -> bool {
        // A directory that cannot be listed has no links that anybody could follow.
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let mut links = entries.filter(|entry| {
            counts(&entry.file_name()) && entry.file_type().is_ok_and(|kind| kind.is_symlink())
        });
        links.any(|link| {
            let target = link.path().canonicalize();
            target.is_ok_and(|target| self.paths.contains(&target))
        })
    }

    /// Whether `directory` lies in or below something that is a file to git: a link, a submodule, a foreign repository.
    fn is_below(&self, directory: &Path) -> bool {
        directory
            .ancestors()
            .any(|above| self.paths.contains(above))
    }

    /// Whether a config file changed that applies to a directory, or one that did is gone.
    fn governs(&self, candidate: &Candidate<'_>) -> bool {
        let [_, real] = &candidate.names;
        let levels = real.ancestors();
        let mut levels = levels.take_while(|level| level.starts_with(candidate.repository));
        levels.any(|level| self.paths.contains(&level.join(CONFIG_FILE_NAME)))
    }

    /// Whether the version file that decides about the engine changed, or one that did is gone.
    fn decides_engine(&self, candidate: &Candidate<'_>) -> bool {
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
