//! Functions that return paths.

use std::path::{Component, Path, PathBuf};

use crate::access::find_repository;
use crate::config::clean;
use crate::syntax::{EvalProblem, Value};

use super::super::scope::Scope;
use super::super::{UNIT_FILE, UNIT_FILE_JSON};
use super::{CallResult, failed, wrong_count};

/// The number of budget steps for looking for one file.
const STEPS_PER_FILE: usize = 20;

/// The number of parent directories in which `find_in_parent_folders` searches.
const MAX_PARENTS: usize = 100;

fn shown(path: &Path) -> Value {
    path.to_string_lossy().into_owned().into()
}

/// Implements `find_in_parent_folders(name, default)`. Finds only files that the unit may read.
pub(super) fn find_in_parent_folders(scope: &Scope<'_>, arguments: &[String]) -> CallResult {
    const NAME: &str = "find_in_parent_folders";
    if arguments.len() > 2 {
        return Err(wrong_count(NAME, "at most two arguments", arguments.len()));
    }
    let name = arguments.first().map_or("", String::as_str);
    let unit = scope.context.unit;
    for parent in scope
        .context
        .directory()
        .ancestors()
        .skip(1)
        .take(MAX_PARENTS)
    {
        for name in candidates(name) {
            unit.budget.steps(STEPS_PER_FILE)?;
            let candidate = clean(&parent.join(name.trim_start_matches('/')));
            if unit.access.exists(&candidate) {
                return Ok(shown(&candidate));
            }
            if unit.access.rules.contains_unresolved(&candidate) {
                unit.record_read(candidate);
            }
        }
    }
    if let Some(default) = arguments.get(1) {
        return Ok(default.as_str().into());
    }
    let shown_name = if name.is_empty() { UNIT_FILE } else { name };
    let problem = failed(
        NAME,
        &format!("there is no `{shown_name}` in any parent directory"),
    );
    // A missing configuration file is an error. A data file may be created later, so its path is unknown.
    let is_data = Path::new(name)
        .extension()
        .is_some_and(|extension| extension != "hcl" && !name.ends_with(".hcl.json"));
    if is_data {
        scope.missing(scope.missing_file(name), problem)
    } else {
        Err(problem)
    }
}

fn candidates(name: &str) -> impl Iterator<Item = &str> {
    let defaults = [UNIT_FILE_JSON, UNIT_FILE];
    let names = if name.is_empty() {
        defaults
    } else {
        [name, ""]
    };
    names.into_iter().filter(|name| !name.is_empty())
}

pub(super) fn get_terragrunt_dir(scope: &Scope<'_>) -> Value {
    shown(scope.context.directory())
}

pub(super) fn get_original_terragrunt_dir(scope: &Scope<'_>) -> Value {
    scope.context.unit.set_depends_on_unit();
    shown(&scope.context.unit.directory)
}

/// Returns the directory of the included file that a label selects. `None` if the file includes no others.
fn included_directory<'a>(
    scope: &'a Scope<'_>,
    name: &str,
    arguments: &[String],
) -> Result<Option<&'a Path>, EvalProblem> {
    let context = scope.context;
    if let Some(parent) = context.parent_directory() {
        return Ok(Some(parent));
    }
    let includes = context.includes();
    let include = match (includes, arguments) {
        ([], _) => return Ok(None),
        ([only], _) => only,
        (several, [label]) => several
            .iter()
            .find(|include| include.label == *label)
            .ok_or_else(|| failed(name, &format!("there is no `include` block `{label}`")))?,
        _ => {
            return Err(failed(
                name,
                "if there are several `include` blocks, it requires the label of one of them",
            ));
        }
    };
    Ok(include.path.parent())
}

pub(super) fn path_relative_to_include(scope: &Scope<'_>, arguments: &[String]) -> CallResult {
    let included = included_directory(scope, "path_relative_to_include", arguments)?;
    let own = scope.context.directory();
    Ok(shown(&relative(included.unwrap_or(own), own)))
}

pub(super) fn path_relative_from_include(scope: &Scope<'_>, arguments: &[String]) -> CallResult {
    let included = included_directory(scope, "path_relative_from_include", arguments)?;
    let own = scope.context.directory();
    Ok(shown(&relative(own, included.unwrap_or(own))))
}

pub(super) fn get_parent_terragrunt_dir(scope: &Scope<'_>, arguments: &[String]) -> CallResult {
    let included = included_directory(scope, "get_parent_terragrunt_dir", arguments)?;
    Ok(shown(included.unwrap_or_else(|| scope.context.directory())))
}

/// Returns the root of the repository and the directory of the configuration, both without symlinks.
fn repository(scope: &Scope<'_>, name: &str) -> Result<(PathBuf, PathBuf), EvalProblem> {
    let directory = scope.context.directory();
    let real = directory
        .canonicalize()
        .unwrap_or_else(|_| directory.to_path_buf());
    match find_repository(&real) {
        Some(root) => Ok((root.to_path_buf(), real)),
        None => Err(failed(name, "the directory is not in a git repository")),
    }
}

pub(super) fn get_repo_root(scope: &Scope<'_>, _: &[String]) -> CallResult {
    repository(scope, "get_repo_root").map(|(root, _)| shown(&root))
}

pub(super) fn get_path_from_repo_root(scope: &Scope<'_>, _: &[String]) -> CallResult {
    let (root, directory) = repository(scope, "get_path_from_repo_root")?;
    Ok(shown(&relative(&root, &directory)))
}

pub(super) fn get_path_to_repo_root(scope: &Scope<'_>, _: &[String]) -> CallResult {
    let (root, directory) = repository(scope, "get_path_to_repo_root")?;
    Ok(shown(&relative(&directory, &root)))
}

/// Returns the relative path from one absolute path to another, without accessing the file system.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let (from, to) = (clean(from), clean(to));
    let shared = from
        .components()
        .zip(to.components())
        .take_while(|(a, b)| a == b)
        .count();
    let up = from.components().skip(shared).map(|_| Component::ParentDir);
    let path: PathBuf = up.chain(to.components().skip(shared)).collect();
    if path.as_os_str().is_empty() {
        PathBuf::from(".")
    } else {
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_lead_from_one_directory_to_another() {
        for (from, to, expected) in [
            ("/a/b", "/a/b/c/d", "c/d"),
            ("/a/b/c", "/a/d", "../../d"),
            ("/a/b", "/a/b", "."),
            ("/a/b/../c", "/a", ".."),
        ] {
            assert_eq!(
                relative(Path::new(from), Path::new(to)),
                Path::new(expected),
                "{from} {to}"
            );
        }
    }
}
