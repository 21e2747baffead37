//! Selects the files that Terragrunt copies from a local directory. See section 5 of docs/rules/terragrunt.md.
//!
//! Terragrunt expands the globs of `include_in_copy` and `exclude_from_copy` to existing paths. It then compares
//! the paths to copy with these paths as strings, not component by component. `exclude_from_copy = ["ex"]` therefore excludes the file
//! `extra.tf` if there is a directory `ex`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use regex::Regex;

use crate::config::{FileSelection, clean};

use super::AssemblyError;
use super::Unit;

/// The name of the lock file, which is copied although its name starts with a dot.
const LOCK_FILE: &str = ".terraform.lock.hcl";

/// The directory in which Terragrunt keeps its copies. No glob matches anything in it.
const CACHE: &str = ".terragrunt-cache";

/// The maximum number of files and directories that are compared with globs.
const MAX_ENTRIES: usize = 100_000;

/// The maximum number of comparisons of a path with a glob.
const MAX_COMPARISONS: usize = 4_000_000;

/// The sorted paths in one directory that match the globs of a unit.
#[derive(Clone, Debug, Default)]
pub(super) struct CopyFilter {
    included: Arc<[String]>,
    excluded: Arc<[String]>,
}

impl CopyFilter {
    /// Expands the globs of a unit in `directory`.
    pub(super) fn new(unit: &Unit, directory: &Path) -> Result<Self, AssemblyError> {
        if unit.included_in_copy.is_empty() && unit.excluded_from_copy.is_empty() {
            return Ok(Self::default());
        }
        let paths = paths_below(directory).ok_or_else(|| AssemblyError::too_many_files(unit))?;
        let globs = unit.included_in_copy.len() + unit.excluded_from_copy.len();
        if globs * paths.len() > MAX_COMPARISONS {
            return Err(AssemblyError::too_many_files(unit));
        }
        Ok(Self {
            included: expand(&unit.included_in_copy, &paths).into(),
            excluded: expand(&unit.excluded_from_copy, &paths).into(),
        })
    }

    pub(super) fn selection(&self) -> FileSelection {
        if self.included.is_empty() && self.excluded.is_empty() {
            return FileSelection::Visible;
        }
        let filter = self.clone();
        FileSelection::Chosen(Arc::new(move |path| filter.copies(path)))
    }

    /// Whether a path, relative to the directory, is copied. Nothing inside a directory that is not copied is copied.
    pub(super) fn copies(&self, path: &Path) -> bool {
        let ancestors = path.ancestors().filter(|path| !path.as_os_str().is_empty());
        ancestors.into_iter().all(|path| self.accepts(path))
    }

    fn accepts(&self, path: &Path) -> bool {
        let text = path.to_string_lossy();
        let is_excluded = |length: usize| {
            let start = text.get(..length);
            start.is_some_and(|start| first_from(&self.excluded, start) == Some(start))
        };
        if (0..=text.len()).any(is_excluded) {
            return false;
        }
        let is_included = first_from(&self.included, &text);
        is_included.is_some_and(|included| included.starts_with(&*text)) || !is_hidden(path)
    }
}

/// Returns the first of the sorted paths that is not less than `text`. If any path starts with `text`, this one does.
fn first_from<'p>(paths: &'p [String], text: &str) -> Option<&'p str> {
    let at = paths.partition_point(|path| path.as_str() < text);
    paths.get(at).map(String::as_str)
}

/// Whether a path has a component that starts with a dot, except for the lock file.
fn is_hidden(path: &Path) -> bool {
    path.file_name().is_none_or(|name| name != LOCK_FILE)
        && path
            .iter()
            .any(|part| part.as_encoded_bytes().starts_with(b"."))
}

/// Returns the paths of all files and directories below a directory, relative to it, with slashes. `None` if there are too many.
fn paths_below(directory: &Path) -> Option<Vec<String>> {
    let (mut found, mut pending) = (Vec::new(), vec![PathBuf::new()]);
    while let Some(relative) = pending.pop() {
        for entry in fs::read_dir(directory.join(&relative))
            .into_iter()
            .flatten()
            .flatten()
        {
            let path = relative.join(entry.file_name());
            if entry.file_name() == CACHE {
                continue;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                pending.push(path.clone());
            }
            found.push(path.to_str().map(str::to_owned).unwrap_or_default());
            if found.len() > MAX_ENTRIES {
                return None;
            }
        }
    }
    Some(found)
}

/// Returns the paths that a glob matches, and everything below them.
fn expand(globs: &[String], paths: &[String]) -> Vec<String> {
    let mut expanded = Vec::new();
    for glob in globs.iter().filter_map(|glob| pattern(glob)) {
        let matches = |path: &str| {
            let ends = path.match_indices('/').map(|(end, _)| end);
            let mut ends = ends.chain([path.len()]);
            ends.any(|end| glob.is_match(&path[..end]))
        };
        let matching = paths
            .iter()
            .filter(|path| !path.is_empty() && matches(path));
        expanded.extend(matching.cloned());
    }
    expanded.sort();
    expanded.dedup();
    expanded
}

/// Translates a glob to a regular expression. The only special characters of a glob are `*`, `{`, `,` and `}`.
fn pattern(glob: &str) -> Option<Regex> {
    let glob = clean(Path::new(glob.trim_start_matches('/')));
    let glob = glob.to_str()?;
    let mut expression = String::from("^(?s:");
    let mut rest = glob.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '*' if rest.next_if_eq(&'*').is_some() => {
                let is_directory = rest.next_if_eq(&'/').is_some();
                expression.push_str(if is_directory { "(?:.*/)?" } else { ".*" });
            }
            '*' => expression.push_str("[^/]*"),
            '{' => expression.push_str("(?:"),
            '}' => expression.push(')'),
            ',' if expression.contains("(?:") => expression.push('|'),
            other => expression.push_str(&regex::escape(&other.to_string())),
        }
    }
    Regex::new(&(expression + ")$")).ok()
}
