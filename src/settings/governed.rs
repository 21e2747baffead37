//! The paths of a command line, sorted by the config files that apply to them.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use regex::Regex;

use crate::walk::IgnoreRule;

use super::SettingsError;
use super::config_file::{ConfigFile, ConfigFiles};
use super::sourced::Sourced;

/// Paths to which the same config files apply.
pub(super) struct Governed {
    /// The files, the nearest first.
    pub(super) files: Vec<Arc<ConfigFile>>,
    /// The paths as given.
    pub(super) paths: Vec<PathBuf>,
    /// Their directories, absolute and without links.
    pub(super) real_paths: Vec<PathBuf>,
    /// The walked directories, each with its directory in `real_paths`.
    walked: BTreeMap<PathBuf, PathBuf>,
}

impl Governed {
    /// Sorts paths by the files that apply to them, in the order of their first path.
    pub(super) fn sort(
        paths: &[PathBuf],
        working_directory: &Path,
        config_files: &ConfigFiles,
    ) -> Result<Vec<Self>, SettingsError> {
        let here = [PathBuf::from(".")];
        let paths = if paths.is_empty() { &here } else { paths };
        let mut groups: Vec<Self> = Vec::new();
        for path in paths {
            let walked = walked(path, working_directory)?;
            let directory = real(path, &working_directory.join(&walked))?;
            let files = config_files.levels(&directory).map_err(Box::new)?;
            let same = |group: &Self| names(&group.files).eq(names(&files));
            let index = groups.iter().position(same).unwrap_or(groups.len());
            if index == groups.len() {
                groups.push(Self {
                    files,
                    paths: Vec::new(),
                    real_paths: Vec::new(),
                    walked: BTreeMap::new(),
                });
            }
            let group = &mut groups[index];
            group.paths.push(path.clone());
            group.walked.insert(walked, directory.clone());
            group.real_paths.push(directory);
        }
        Ok(groups)
    }

    /// The value of the nearest file that sets one.
    pub(super) fn nearest_of<T>(
        &self,
        value: impl Fn(&ConfigFile) -> Option<&Sourced<T>>,
    ) -> Option<&Sourced<T>> {
        self.files.iter().find_map(|file| value(file))
    }

    /// The smallest value of all files, the nearest of several.
    pub(super) fn smallest_of<T: Ord>(
        &self,
        value: impl Fn(&ConfigFile) -> Option<&Sourced<T>>,
    ) -> Option<&Sourced<T>> {
        let values = self.files.iter().filter_map(|file| value(file));
        values.min_by(|a, b| a.value.cmp(&b.value))
    }

    /// Patterns that are typed replace those of the files, of which the nearest with any counts.
    pub(super) fn ignore_paths(&self, typed: &[Regex]) -> Sourced<Vec<IgnoreRule>> {
        let rules = |patterns: &[Regex], rule: &dyn Fn(Regex) -> IgnoreRule| {
            patterns.iter().cloned().map(rule).collect::<Vec<_>>()
        };
        let mut files = self.files.iter();
        let of_file = files.find_map(|file| {
            let patterns = file.ignore_paths.as_ref()?;
            let names = Arc::new(self.names_in(&file.directory));
            let rule = |pattern| IgnoreRule::renamed(pattern, Arc::clone(&names));
            Some(Sourced {
                value: rules(&patterns.value, &rule),
                origin: patterns.origin.clone(),
            })
        });
        let typed = (!typed.is_empty()).then(|| rules(typed, &IgnoreRule::as_walked));
        Sourced::choose(typed, of_file.as_ref(), Vec::new())
    }

    /// The walked directories as a file in `directory` names them.
    fn names_in(&self, directory: &Path) -> BTreeMap<PathBuf, PathBuf> {
        let name = |(walked, real): (&PathBuf, &PathBuf)| {
            let name = real.strip_prefix(directory).unwrap_or(real);
            (walked.clone(), name.to_path_buf())
        };
        self.walked.iter().map(name).collect()
    }
}

fn names(files: &[Arc<ConfigFile>]) -> impl Iterator<Item = &Path> {
    files.iter().map(|file| &*file.shown)
}

/// The directory that the walk begins in for `path`, without `.`: empty for the working directory.
fn walked(path: &Path, working_directory: &Path) -> Result<PathBuf, SettingsError> {
    let found = std::fs::metadata(working_directory.join(path));
    let found = found.map_err(|source| SettingsError::Path {
        path: path.to_path_buf(),
        meant_for: None,
        source,
    })?;
    let directory = if found.is_dir() {
        path
    } else {
        path.parent().unwrap_or(path)
    };
    let parts = directory.components();
    let parts = parts.filter(|part| *part != Component::CurDir);
    Ok(parts.collect())
}

/// `directory` without links; `path` is what the user calls it.
fn real(path: &Path, directory: &Path) -> Result<PathBuf, SettingsError> {
    std::fs::canonicalize(directory).map_err(|source| SettingsError::Path {
        path: path.to_path_buf(),
        meant_for: None,
        source,
    })
}
