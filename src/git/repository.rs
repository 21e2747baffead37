//! The user's own repository, by the places of its `.git` and its files.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::environment::{GitSettings, Scope};
use super::process::{RunError, run_blocking};

/// A repository that git accepts.
pub(super) struct Repository {
    git_dir: PathBuf,
    /// The top of its work tree.
    pub(super) top: PathBuf,
}

/// Why a directory is no repository that can be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum OpenError {
    /// It has no `.git` that could be one.
    #[error("`{}` is in no git repository", .0.display())]
    Missing(PathBuf),
    /// Git refuses it.
    #[error("{0}")]
    Refused(String),
    /// Git cannot be run.
    #[error(transparent)]
    Run(#[from] RunError),
}

impl Repository {
    /// The repository at `top`, an absolute path without links.
    ///
    /// Git finds it by itself this one time, since only then it refuses repositories of other users. It cannot find another
    /// one: without a `.git` it is not asked, and what it finds must be that `.git`.
    pub(super) fn open(settings: &GitSettings, top: &Path) -> Result<Self, OpenError> {
        let dot_git = top.join(".git");
        let missing = || OpenError::Missing(top.to_path_buf());
        if !dot_git.is_file() && !dot_git.join("HEAD").exists() {
            return Err(missing());
        }
        let command = settings.command("file", Scope::Discovered(top));
        let mut command = command.map_err(RunError::System)?;
        command.args(["rev-parse", "--absolute-git-dir", "--show-toplevel"]);
        let finished = run_blocking(command, Vec::new())?;
        if !finished.status.success() {
            return Err(OpenError::Refused(finished.message()));
        }
        let mut lines = finished.output.split(|byte| *byte == b'\n').map(path_of);
        let mut next = || lines.next().unwrap_or_default();
        let found = Self {
            git_dir: next(),
            top: next(),
        };
        let real = |path: &Path| -> io::Result<PathBuf> { path.canonicalize() };
        let is_it = dot_git.is_file() || real(&found.git_dir).ok() == real(&dot_git).ok();
        if is_it { Ok(found) } else { Err(missing()) }
    }

    /// Git, for this repository.
    pub(super) fn command(&self, settings: &GitSettings) -> io::Result<Command> {
        let scope = Scope::Repository {
            git_dir: &self.git_dir,
            work_tree: &self.top,
        };
        settings.command("file", scope)
    }
}

/// A path as git writes it.
#[cfg(unix)]
pub fn path_of(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(name))
}

/// Git writes UTF-8 on Windows.
#[cfg(not(unix))]
pub fn path_of(name: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(name).into_owned())
}
