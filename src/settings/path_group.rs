//! The paths on the command line, grouped by the config files that apply to them.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::options::{EffectiveOptions, OptionLayer, ValueOrigin};
use crate::walk::IgnoreRule;

use super::config_file::{ConfigFile, ConfigFiles};
use super::network::engine_of_base_url;
use super::{Environment, SettingsError};

/// Paths to which the same config files apply, and their effective options.
#[derive(Clone, Debug)]
pub struct PathGroup {
    /// The config files, starting with the one nearest to the paths.
    pub files: Vec<Arc<ConfigFile>>,
    /// Directories and files as given on the command line.
    pub paths: Vec<PathBuf>,
    /// The directories of `paths`, absolute and without symlinks.
    pub real_paths: Vec<PathBuf>,
    /// The directories in which the walk starts, each mapped to its path in `real_paths`.
    walk_starts: BTreeMap<PathBuf, PathBuf>,
    pub options: EffectiveOptions,
}

impl PathGroup {
    /// Adds each path to the group with the same config files, and creates the group if necessary.
    pub fn add(
        groups: &mut Vec<Self>,
        paths: &[PathBuf],
        command_line: &OptionLayer,
        environment: &Environment,
        config_files: &ConfigFiles,
    ) -> Result<(), SettingsError> {
        let working_directory = &environment.working_directory;
        for path in paths {
            let walk_start = walk_start(path, working_directory)?;
            let real_path = working_directory.join(&walk_start).canonicalize();
            let real_path = real_path.map_err(|error| unusable(path, error))?;
            let files = config_files.levels(&real_path).map_err(Box::new)?;
            let has_same_files = |group: &Self| names(&group.files).eq(names(&files));
            let index = groups
                .iter()
                .position(has_same_files)
                .unwrap_or(groups.len());
            if index == groups.len() {
                let layers: Vec<&OptionLayer> = files.iter().map(|file| &file.options).collect();
                groups.push(Self {
                    options: with_environment(
                        EffectiveOptions::merge(command_line, &layers),
                        environment,
                    ),
                    files,
                    paths: Vec::new(),
                    real_paths: Vec::new(),
                    walk_starts: BTreeMap::new(),
                });
            }
            let group = &mut groups[index];
            group.paths.push(path.clone());
            group.walk_starts.insert(walk_start, real_path.clone());
            group.real_paths.push(real_path);
        }
        Ok(())
    }

    /// Returns the patterns of paths to skip. Patterns from a config file match paths relative to the directory of that file.
    pub(super) fn ignore_rules(&self) -> Vec<IgnoreRule> {
        let patterns = self.options.ignore_paths.value.iter().cloned();
        if !matches!(self.options.ignore_paths.origin, ValueOrigin::File(_)) {
            return patterns.map(IgnoreRule::as_walked).collect();
        }
        let mut files = self.files.iter();
        let file = files.find(|file| file.options.ignore_paths.is_some());
        let names = Arc::new(self.names_in(file.map_or(Path::new(""), |file| &file.directory)));
        patterns
            .map(|pattern| IgnoreRule::renamed(pattern, Arc::clone(&names)))
            .collect()
    }

    /// Maps the directories in which the walk starts to their paths relative to `directory`.
    fn names_in(&self, directory: &Path) -> BTreeMap<PathBuf, PathBuf> {
        let name = |(walk_start, real): (&PathBuf, &PathBuf)| {
            let name = real.strip_prefix(directory).unwrap_or(real);
            (walk_start.clone(), name.to_path_buf())
        };
        self.walk_starts.iter().map(name).collect()
    }
}

fn names(files: &[Arc<ConfigFile>]) -> impl Iterator<Item = &Path> {
    files.iter().map(|file| &*file.shown)
}

/// Takes the engine from `TFREGISTRY_BASE_URL` unless an option or a config file selects one. `auto` does not select an engine.
fn with_environment(mut options: EffectiveOptions, environment: &Environment) -> EffectiveOptions {
    if options.engine.value.is_none()
        && let Some(engine) = engine_of_base_url(environment)
    {
        options.engine.value = Some(engine);
        options.engine.origin = ValueOrigin::Environment("TFREGISTRY_BASE_URL");
    }
    options
}

/// Returns the directory in which the walk of `path` starts, without `.` components. The result is empty for the working directory.
fn walk_start(path: &Path, working_directory: &Path) -> Result<PathBuf, SettingsError> {
    let metadata = working_directory.join(path).metadata();
    let directory = match metadata.map_err(|error| unusable(path, error))? {
        metadata if metadata.is_dir() => path,
        _ => path.parent().unwrap_or(path),
    };
    let parts = directory.components();
    Ok(parts.filter(|part| *part != Component::CurDir).collect())
}

fn unusable(path: &Path, source: std::io::Error) -> SettingsError {
    SettingsError::Path {
        path: path.to_path_buf(),
        meant_for: None,
        source,
    }
}
