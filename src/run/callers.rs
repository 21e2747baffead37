//! Finds the callers of local modules. A called module gets no lock file, because the lock files of its callers cover it. With
//! `--callers`, tflock also processes the callers of the named directories, because changes in a module affect their lock files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::access::repository_root;
use crate::config::{self, ModuleCache, local_modules};
use crate::display::shown_path;
use crate::parallel;
use crate::provider::Engine;
use crate::settings::{Environment, SettingsError, TreeSettings};
use crate::walk::{WalkOptions, WalkedDirectory, walk};

/// Why tflock does not create a lock file in a directory.
#[derive(Clone, Debug)]
pub(super) enum SkipReason {
    /// The directory has no configuration.
    NoConfiguration,
    /// The directory requires no provider that a lock file can record.
    RequiresNothing,
    /// Other directories call this directory as a local module, and their lock files cover it.
    Called {
        /// The first caller, in path order.
        by: PathBuf,
        /// The number of further callers.
        others: usize,
    },
    /// `--create never` forbids new lock files.
    CreationForbidden,
}

impl SkipReason {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::NoConfiguration => "no configuration".to_owned(),
            Self::RequiresNothing => "no required provider".to_owned(),
            Self::Called { by, others } => describe_callers(&shown_path(by), *others),
            Self::CreationForbidden => "`--create never`".to_owned(),
        }
    }
}

/// Describes the callers of a module: the first one, and the number of others.
pub(super) fn describe_callers(first: &str, others: usize) -> String {
    match others {
        0 => format!("called by {first}"),
        1 => format!("called by {first} and 1 more directory"),
        _ => format!("called by {first} and {others} more directories"),
    }
}

/// The local modules that other directories call, directly or through other modules, by real path.
#[derive(Default)]
pub(super) struct CalledModules(BTreeMap<PathBuf, SkipReason>);

impl CalledModules {
    /// Records that `caller` calls `modules`.
    pub(super) fn add<'a>(
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

    /// Returns why the directory with this real path is skipped, or `None` if no other directory calls it.
    pub(super) fn skip_reason(&self, real: &Path) -> Option<SkipReason> {
        self.0.get(real).cloned()
    }
}

/// Adds the callers of the named directories to the settings. For each caller in the same repository, adds the path of one of
/// its configuration files, which means that tflock treats the caller as if the user had named that file.
pub(super) fn add_callers(
    settings: &mut TreeSettings,
    environment: &Environment,
) -> Result<(), SettingsError> {
    let paths = find_callers(settings);
    settings.add_paths(&paths, environment)
}

fn find_callers(settings: &TreeSettings) -> Vec<PathBuf> {
    let areas = settings.areas.iter();
    let named: BTreeSet<&PathBuf> = areas.flat_map(|area| &area.real_paths).collect();
    let roots: BTreeSet<PathBuf> = named.iter().map(|path| repository_root(path)).collect();
    let recursive = WalkOptions {
        recursive: true,
        ..WalkOptions::default()
    };
    let directories = walk(&Vec::from_iter(roots), &recursive).directories;
    let reader = CallerReader {
        settings,
        named,
        has_tofu_files: directories.iter().any(|found| found.has_tofu_files),
        cache: ModuleCache::new(),
    };
    let callers = parallel::map(&directories, |directory| reader.caller_file(directory));
    callers.into_iter().flatten().collect()
}

/// Finds directories that call one of the named directories, directly or through other modules.
struct CallerReader<'a> {
    settings: &'a TreeSettings,
    named: BTreeSet<&'a PathBuf>,
    /// Whether the repositories contain files that only OpenTofu reads.
    has_tofu_files: bool,
    cache: ModuleCache,
}

impl CallerReader<'_> {
    /// Returns a configuration file of `directory` if `directory` calls a named directory and is not itself named.
    fn caller_file(&self, directory: &WalkedDirectory) -> Option<PathBuf> {
        let path = &directory.path;
        if !directory.has_configuration || self.named.contains(path) {
            return None;
        }
        let files = config::module_files(path, self.calling_engine(path)?).ok()?;
        let file = files.primary.into_iter().chain(files.overrides).next()?;
        let relative = file.strip_prefix(&self.settings.working_directory);
        Some(relative.map_or_else(|_| file.clone(), Path::to_path_buf))
    }

    /// Returns the first engine under whose rules the root module in `path` calls a named directory. The engine of `path` itself
    /// is determined later. If `path` then turns out not to be a caller, its lock file does not change.
    fn calling_engine(&self, path: &Path) -> Option<Engine> {
        let area = self.settings.areas.first()?;
        for engine in [Engine::Terraform, Engine::Tofu] {
            let modules = local_modules(path, &area.read_options(engine), &self.cache);
            let mut directories = modules.directories.iter();
            if directories.any(|module| self.named.contains(module)) {
                return Some(engine);
            }
            // If there are no OpenTofu-only files, both engines read the same files and find the same modules. Skipping the
            // second engine halves the time in a large repository.
            if modules.complete && !self.has_tofu_files {
                return None;
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_to_skip_a_directory() {
        let called = |others| SkipReason::Called {
            by: "stacks/a".into(),
            others,
        };
        for (reason, expected) in [
            (SkipReason::NoConfiguration, "no configuration"),
            (SkipReason::RequiresNothing, "no required provider"),
            (called(0), "called by stacks/a"),
            (called(1), "called by stacks/a and 1 more directory"),
            (called(2), "called by stacks/a and 2 more directories"),
            (SkipReason::CreationForbidden, "`--create never`"),
        ] {
            assert_eq!(reason.describe(), expected);
        }
    }
}
