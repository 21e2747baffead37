//! Resolves symlinks in paths that the user names and in files with fixed names. A symlink inside a repository must not point
//! outside it.
//!
//! Symlinks above the root of the repository belong to the user. Symlinks below it are part of the tree, so a stranger may have
//! created them. Outside any repository, the working directory takes the place of the root.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::open::{FinalLink, check_regular, open_checked};
use super::{AccessError, ReadAccess, find_repository};

/// The reason why a symlink is not followed.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// A symlink in the tree points outside it, or its target cannot be determined.
    #[error("a symlink points outside the repository")]
    Outside,
    /// A symlink points into the internal directory of a tool, such as `.git`.
    #[error("a symlink points into `{0}`")]
    Internal(&'static str),
    #[error(transparent)]
    Read(#[from] io::Error),
}

impl From<AccessError> for LinkError {
    fn from(error: AccessError) -> Self {
        match error {
            AccessError::Outside | AccessError::Untracked => Self::Outside,
            AccessError::Internal(directory) => Self::Internal(directory),
            AccessError::Read(error) => Self::Read(error),
        }
    }
}

/// Resolves every symlink in a path. The file may be missing.
///
/// # Errors
/// [`LinkError::Outside`] and [`LinkError::Internal`] apply only to symlinks in the tree, not to symlinks above it.
pub fn confine(path: &Path) -> Result<PathBuf, LinkError> {
    let mut real = PathBuf::new();
    for part in std::path::absolute(path)?.components() {
        match part {
            Component::ParentDir => drop(real.pop()),
            Component::Normal(name) => real = resolve_component(&real, name)?,
            Component::Prefix(_) | Component::RootDir | Component::CurDir => real.push(part),
        }
    }
    Ok(real)
}

/// Resolves `name` in `directory`, a path without symlinks.
fn resolve_component(directory: &Path, name: &OsStr) -> Result<PathBuf, LinkError> {
    let path = directory.join(name);
    if !is_link(&path) {
        return Ok(path);
    }
    match link_boundary(directory) {
        Some(top) => Ok(ReadAccess::below([top]).resolve(&path)?),
        None => Ok(fs::canonicalize(path)?),
    }
}

/// Resolves a file that may itself be a symlink. The target must be in the same repository.
pub fn resolve_link(path: &Path) -> Result<PathBuf, LinkError> {
    if !is_link(path) {
        return Ok(path.to_path_buf());
    }
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let directory = fs::canonicalize(directory)?;
    Ok(ReadAccess::below([enclosing_tree(&directory)]).resolve(path)?)
}

/// Whether a symlink in the tree makes `path` point outside the repository. Messages do not quote such a file, because it may
/// contain secrets.
pub fn leaves_repository(path: &Path) -> bool {
    let leaves = |resolved| matches!(resolved, Err(LinkError::Outside));
    leaves(confine(path)) || leaves(resolve_link(path))
}

/// Opens a regular file and returns its length in bytes. A symlink is followed if its target is in the same repository.
pub fn open_confined(path: &Path) -> Result<(File, u64), LinkError> {
    match open_checked(path, FinalLink::Refuse) {
        Err(_) if is_link(path) => {
            let target = resolve_link(path)?;
            check_regular(&fs::symlink_metadata(&target)?)?;
            Ok(open_checked(&target, FinalLink::Refuse)?)
        }
        opened => Ok(opened?),
    }
}

/// Returns the tree that contains `directory` (absolute, without symlinks): its repository, otherwise the working directory if
/// `directory` is inside it, otherwise `directory` itself.
pub fn enclosing_tree(directory: &Path) -> PathBuf {
    link_boundary(directory).unwrap_or_else(|| directory.to_path_buf())
}

/// Returns the directory outside which symlinks in `directory` (absolute, without symlinks) must not point: the root of its
/// repository, otherwise the working directory. Returns `None` if neither contains `directory`.
fn link_boundary(directory: &Path) -> Option<PathBuf> {
    if let Some(top) = find_repository(directory) {
        return Some(top.to_path_buf());
    }
    let working_directory = fs::canonicalize(".").ok()?;
    directory
        .starts_with(&working_directory)
        .then_some(working_directory)
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink())
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// Creates `repository/` with a `.git`, a directory, a file and symlinks. Next to it are the directory `outside/`, the
    /// symlink `above` to that directory, and the symlink `entrance` to the repository.
    fn tree() -> (tempfile::TempDir, PathBuf) {
        let tree = tempfile::tempdir().unwrap();
        let base = tree.path().canonicalize().unwrap();
        for directory in ["repository/.git", "repository/a", "outside"] {
            fs::create_dir_all(base.join(directory)).unwrap();
        }
        for file in ["repository/x", "repository/.git/config", "outside/x"] {
            fs::write(base.join(file), file).unwrap();
        }
        for (target, link) in [
            ("outside", "above"),
            ("repository", "entrance"),
            ("a", "repository/inside"),
            ("..", "repository/leaving"),
            ("/dev", "repository/devices"),
            ("../outside/missing", "repository/leaving-nowhere"),
            (".git", "repository/hidden"),
            ("../x", "repository/a/file"),
            ("../../outside/x", "repository/a/leaving-file"),
            ("../.git/config", "repository/a/hidden-file"),
            ("/dev/zero", "repository/a/device"),
            ("..", "repository/a/no-file"),
        ] {
            symlink(target, base.join(link)).unwrap();
        }
        (tree, base)
    }

    const OUTSIDE: &str = "a symlink points outside the repository";
    const INTERNAL: &str = "a symlink points into `.git`";

    #[test]
    fn links_in_the_tree_must_stay_in_it_and_links_above_it_are_followed() {
        let (_tree, base) = tree();
        for (path, expected) in [
            ("repository/a", "repository/a"),
            ("repository/a/../b/new", "repository/b/new"),
            ("repository/inside/new", "repository/a/new"),
            ("repository/inside/../new", "repository/new"),
            ("entrance/a", "repository/a"),
            ("above/new", "outside/new"),
            ("outside/x", "outside/x"),
            ("entrance/leaving/outside", OUTSIDE),
            ("repository/leaving", OUTSIDE),
            ("repository/leaving/repository/a", OUTSIDE),
            ("repository/devices/shm", OUTSIDE),
            ("repository/leaving-nowhere", OUTSIDE),
            ("repository/leaving-nowhere/x", OUTSIDE),
            ("repository/hidden/hooks", INTERNAL),
        ] {
            let expected = match expected {
                OUTSIDE | INTERNAL => expected.to_owned(),
                path => base.join(path).display().to_string(),
            };
            let resolved = match confine(&base.join(path)) {
                Ok(path) => path.display().to_string(),
                Err(error) => error.to_string(),
            };
            assert_eq!(resolved, expected, "{path}");
        }
    }

    #[test]
    fn files_with_fixed_names_must_be_regular_and_in_the_repository() {
        let (_tree, base) = tree();
        for (path, expected) in [
            ("repository/x", "repository/x"),
            ("repository/a/file", "repository/x"),
            ("above/x", "outside/x"),
            ("repository/a/leaving-file", OUTSIDE),
            ("repository/a/hidden-file", INTERNAL),
            ("repository/a/device", OUTSIDE),
            ("repository/a/no-file", "it is not a regular file"),
            ("repository/a", "it is not a regular file"),
        ] {
            let content = match open_confined(&base.join(path)) {
                Ok((file, _)) => io::read_to_string(file).unwrap(),
                Err(error) => error.to_string(),
            };
            assert_eq!(content, expected, "{path}");
        }
    }
}
