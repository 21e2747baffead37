//! The paths of a command line, sorted by the config files that govern them.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use regex::Regex;

use crate::config::IgnoreRule;

use super::SettingsError;
use super::config_file::{ConfigFile, ConfigFiles};
use super::sourced::Sourced;

/// Paths that one file governs, or none.
pub(super) struct Governed {
    /// The file.
    pub(super) file: Option<Arc<ConfigFile>>,
    /// The paths as given.
    pub(super) paths: Vec<PathBuf>,
    /// Their directories, absolute and without links.
    pub(super) real_paths: Vec<PathBuf>,
    /// The walked directories as the file names them.
    names: BTreeMap<PathBuf, PathBuf>,
}

impl Governed {
    /// Sorts paths by the file that governs them, in the order of their first path.
    pub(super) fn sort(
        paths: &[PathBuf],
        working_directory: &Path,
    ) -> Result<Vec<Self>, SettingsError> {
        let here = [PathBuf::from(".")];
        let paths = if paths.is_empty() { &here } else { paths };
        let real_working_directory = std::fs::canonicalize(working_directory)
            .map_err(|_gone| SettingsError::NoWorkingDirectory)?;
        let mut files = ConfigFiles::new(&real_working_directory);
        let mut groups: Vec<Self> = Vec::new();
        for path in paths {
            let walked = walked(path, working_directory)?;
            let directory = real(path, &working_directory.join(&walked))?;
            let file = files.governing(&directory).map_err(Box::new)?;
            let name = file
                .as_ref()
                .and_then(|file| directory.strip_prefix(&file.directory).ok());
            let name = name.unwrap_or(&directory).to_path_buf();
            let same =
                |group: &Self| group.directory() == file.as_ref().map(|file| &*file.directory);
            let index = groups.iter().position(same).unwrap_or(groups.len());
            if index == groups.len() {
                groups.push(Self {
                    file,
                    paths: Vec::new(),
                    real_paths: Vec::new(),
                    names: BTreeMap::new(),
                });
            }
            let group = &mut groups[index];
            group.paths.push(path.clone());
            group.real_paths.push(directory);
            group.names.insert(walked, name);
        }
        Ok(groups)
    }

    /// Where the file lies.
    fn directory(&self) -> Option<&Path> {
        self.file.as_ref().map(|file| &*file.directory)
    }

    /// Patterns that are typed replace those of the file.
    pub(super) fn ignore_paths(&self, typed: &[Regex]) -> Sourced<Vec<IgnoreRule>> {
        let rules = |patterns: &[Regex], rule: &dyn Fn(Regex) -> IgnoreRule| {
            patterns.iter().cloned().map(rule).collect::<Vec<_>>()
        };
        let names = Arc::new(self.names.clone());
        let of_file = self
            .file
            .as_ref()
            .and_then(|file| file.ignore_paths.as_ref());
        let of_file = of_file.map(|patterns| Sourced {
            value: rules(&patterns.value, &|pattern| {
                IgnoreRule::renamed(pattern, Arc::clone(&names))
            }),
            origin: patterns.origin.clone(),
        });
        let typed = (!typed.is_empty()).then(|| rules(typed, &IgnoreRule::as_walked));
        Sourced::choose(typed, of_file.as_ref(), Vec::new())
    }
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
