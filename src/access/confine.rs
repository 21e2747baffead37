//! Paths that the user names, and files with fixed names: their links may not lead out of the repository.
//!
//! Links above the top of a repository are the user's own. Those below it come with the tree, so a stranger may have made them.
//! Outside of any repository the working directory takes the place of its top.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::{AccessError, Links, ReadAccess, check_regular, find_repository, open_checked};

/// Why a path is not followed.
#[derive(Debug, thiserror::Error)]
pub enum LinkError {
    /// A link that comes with the tree leads out of it, or nowhere that could be told.
    #[error("a link leads out of the repository")]
    Outside,
    /// A link leads into a directory that tools keep for themselves.
    #[error("a link leads into `{0}`")]
    Internal(&'static str),
    /// The system refused.
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

/// Resolves every link of a path, which may name a file that does not exist.
///
/// # Errors
/// [`LinkError::Outside`] and [`LinkError::Internal`] only for links that come with the tree.
pub fn confine(path: &Path) -> Result<PathBuf, LinkError> {
    let mut real = PathBuf::new();
    for part in std::path::absolute(path)?.components() {
        match part {
            Component::ParentDir => drop(real.pop()),
            Component::Normal(name) => real = follow(&real, name)?,
            Component::Prefix(_) | Component::RootDir | Component::CurDir => real.push(part),
        }
    }
    Ok(real)
}

/// Where `name` in `directory`, a path without links, leads.
fn follow(directory: &Path, name: &OsStr) -> Result<PathBuf, LinkError> {
    let path = directory.join(name);
    if !is_link(&path) {
        return Ok(path);
    }
    match top_of(directory) {
        Some(top) => Ok(ReadAccess::below([top]).resolve(&path)?),
        None => Ok(fs::canonicalize(path)?),
    }
}

/// Where a file leads: the path itself, or the target of a link, which is in the same repository.
pub fn resolve_link(path: &Path) -> Result<PathBuf, LinkError> {
    if !is_link(path) {
        return Ok(path.to_path_buf());
    }
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let directory = fs::canonicalize(directory)?;
    Ok(ReadAccess::below([tree_of(&directory)]).resolve(path)?)
}

/// Whether a link that comes with the tree leads `path` out of it. What can be read there was not written for the repository,
/// so messages do not quote it.
pub fn leaves_repository(path: &Path) -> bool {
    let leaves = |found| matches!(found, Err(LinkError::Outside));
    leaves(confine(path)) || leaves(resolve_link(path))
}

/// Opens a regular file, and says how long it is. A link is followed to a file in the same repository.
pub fn open_confined(path: &Path) -> Result<(File, u64), LinkError> {
    match open_checked(path, Links::Refuse) {
        Err(_) if is_link(path) => {
            let target = resolve_link(path)?;
            check_regular(&fs::symlink_metadata(&target)?)?;
            Ok(open_checked(&target, Links::Refuse)?)
        }
        opened => Ok(opened?),
    }
}

/// The tree that holds `directory` (absolute, without links): its repository, or outside of any the working directory, or
/// outside of that, too, `directory` itself.
pub fn tree_of(directory: &Path) -> PathBuf {
    top_of(directory).unwrap_or_else(|| directory.to_path_buf())
}

/// The directory that links in `directory` (absolute, without links) may not leave: the top of its repository, or outside of
/// any the working directory. `None` if it is in neither.
fn top_of(directory: &Path) -> Option<PathBuf> {
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

#[cfg(all(test, unix))]
mod tests {
    use std::io::Read as _;
    use std::os::unix::fs::symlink;

    use super::*;

    /// `repository/` with a `.git`, a directory, a file and links; `outside/` beside it, which `above` leads to.
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

    const OUTSIDE: &str = "a link leads out of the repository";
    const INTERNAL: &str = "a link leads into `.git`";

    #[test]
    fn links_of_the_tree_stay_in_it_and_links_above_it_are_the_users_own() {
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
            let found = confine(&base.join(path));
            let found =
                found.map_or_else(|error| error.to_string(), |path| path.display().to_string());
            assert_eq!(found, expected, "{path}");
        }
    }

    #[test]
    fn files_with_fixed_names_are_regular_and_in_the_repository() {
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
            let found = open_confined(&base.join(path)).map(|mut file| {
                let mut text = String::new();
                file.0.read_to_string(&mut text).unwrap();
                text
            });
            let found = found.unwrap_or_else(|error| error.to_string());
            assert_eq!(found, expected, "{path}");
        }
    }
}
