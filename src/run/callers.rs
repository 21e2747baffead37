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
use crate::terragrunt::UNIT_FILE;
use crate::walk::{WalkOptions, WalkedDirectory, walk};

use super::units::{UnitInputs, Units, engine_of_unit};

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
    /// The requirements of the Terragrunt unit are unknown.
    UnknownUnit,
    /// The Terragrunt unit requires values that only a stack sets.
    Template,
    /// Other Terragrunt units include the file in this directory, so the directory is a parent and not a unit.
    Parent,
    /// Terragrunt keeps no lock file in the directory of the unit.
    NotKept,
}

impl SkipReason {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::NoConfiguration => "no configuration".to_owned(),
            Self::RequiresNothing => "no required provider".to_owned(),
            Self::Called { by, others } => describe_callers(&shown_path(by), *others),
            Self::CreationForbidden => "`--create never`".to_owned(),
            Self::UnknownUnit => "unknown requirements".to_owned(),
            Self::Template => "a template whose values a stack sets".to_owned(),
            Self::Parent => "included by units".to_owned(),
            Self::NotKept => "Terragrunt keeps no lock file here".to_owned(),
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

/// For each local module that other directories call, directly or through other modules, the reason to skip it. The keys are
/// paths with all symlinks resolved.
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

/// Adds the callers of the named directories to the settings. tflock then treats each caller in the same repository as if the
/// user had named one of its configuration files.
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
    let cache = ModuleCache::new();
    let paths = settings.areas.iter().flat_map(|area| &area.paths);
    let files = paths.map(|path| config::clean(&settings.working_directory.join(path)));
    let reader = CallerReader {
        settings,
        named,
        files: files.collect(),
        has_tofu_files: directories.iter().any(|found| found.has_tofu_files),
        units: Units::new(settings, &cache),
        cache,
    };
    let callers = parallel::map(&directories, |directory| reader.caller_file(directory));
    callers.into_iter().flatten().collect()
}

/// Finds directories that call one of the named directories, directly or through other modules.
struct CallerReader<'a> {
    settings: &'a TreeSettings,
    named: BTreeSet<&'a PathBuf>,
    /// The named paths, made absolute. Symlinks are not resolved.
    files: BTreeSet<PathBuf>,
    units: Units<'a>,
    /// Whether the repositories contain files that only OpenTofu reads.
    has_tofu_files: bool,
    cache: ModuleCache,
}

impl CallerReader<'_> {
    /// Returns a configuration file of `directory` if `directory` calls a named directory and is not itself named.
    fn caller_file(&self, directory: &WalkedDirectory) -> Option<PathBuf> {
        let path = &directory.path;
        if self.named.contains(path) {
            return None;
        }
        if directory.has_unit_file {
            let file = path.join(UNIT_FILE);
            return self.is_affected_unit(path).then(|| self.shown(&file));
        }
        if !directory.has_configuration {
            return None;
        }
        let files = config::module_files(path, self.calling_engine(path)?).ok()?;
        let file = files.primary.into_iter().chain(files.overrides).next()?;
        Some(self.shown(&file))
    }

    fn shown(&self, file: &Path) -> PathBuf {
        let relative = file.strip_prefix(&self.settings.working_directory);
        relative.unwrap_or(file).to_path_buf()
    }

    /// Whether the unit in `path` reads a named file or a file in a named directory, or uses a named directory as a module. A unit
    /// that cannot be read is affected, so that its error is reported.
    fn is_affected_unit(&self, path: &Path) -> bool {
        let Some(area) = self.settings.areas.first() else {
            return false;
        };
        let Ok(outcome) = self.units.read(path) else {
            return true;
        };
        let options = area.read_options(engine_of_unit(&outcome).unwrap_or(Engine::Terraform));
        let UnitInputs { files, modules, .. } = self.units.inputs(&outcome, &options, &self.cache);
        let is_named = |file: &PathBuf| {
            self.files.contains(file)
                || file
                    .parent()
                    .is_some_and(|above| self.files.contains(above))
        };
        files.iter().any(is_named) || modules.iter().any(|module| self.named.contains(module))
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
