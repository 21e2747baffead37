//! Runs git commands in the user's repository, which is identified by the paths of its `.git` and its work tree.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::error::GitError;
use super::problem::GitProblem;
use super::settings::{GitSettings, GitTarget};
use crate::access::find_repository;
use crate::subprocess::{ProcessOutput, RunError, run_blocking};

/// A repository whose owner git accepts.
pub(super) struct Repository<'a> {
    settings: &'a GitSettings,
    git_dir: PathBuf,
    /// The root of the work tree.
    pub(super) top: PathBuf,
}

impl<'a> Repository<'a> {
    /// Opens the repository that contains `directory`, an absolute path without symlinks.
    pub(super) fn containing(
        settings: &'a GitSettings,
        directory: &Path,
    ) -> Result<Self, GitError> {
        match find_repository(directory) {
            Some(top) => Self::open(settings, top),
            None => Err(GitError::NoRepository {
                directory: directory.to_path_buf(),
            }),
        }
    }

    /// Opens the repository at `top`, an absolute path without symlinks.
    ///
    /// This is the only command in which git discovers a repository, because git checks its owner only during discovery. Git cannot
    /// select a different repository: `top` must have a `.git`, and git must find exactly that one.
    pub(super) fn open(settings: &'a GitSettings, top: &Path) -> Result<Self, GitError> {
        let dot_git = top.join(".git");
        let missing = || GitError::NoRepository {
            directory: top.to_path_buf(),
        };
        if !dot_git.is_file() && !dot_git.join("HEAD").exists() {
            return Err(missing());
        }
        let arguments = ["--absolute-git-dir", "--show-toplevel"];
        let command = settings.command("file", GitTarget::Discovered(top));
        let output = run_git(settings, command, "rev-parse", &arguments, Vec::new())?;
        let stdout = successful("rev-parse", output)?;
        let mut lines = stdout.split(|byte| *byte == b'\n').map(parse_path);
        let mut next_path = || lines.next().unwrap_or_default();
        let found = Self {
            settings,
            git_dir: next_path(),
            top: next_path(),
        };
        let is_expected =
            dot_git.is_file() || found.git_dir.canonicalize().ok() == dot_git.canonicalize().ok();
        if is_expected {
            Ok(found)
        } else {
            Err(missing())
        }
    }

    /// Runs a git command in this repository. A nonzero exit status is not an error.
    pub(super) fn run(
        &self,
        name: &'static str,
        arguments: &[&str],
        input: Vec<u8>,
    ) -> Result<ProcessOutput, GitError> {
        tracing::debug!(command = name, directory = %self.top.display(), "running git");
        let target = GitTarget::Repository {
            git_dir: &self.git_dir,
            work_tree: &self.top,
        };
        let command = self.settings.command("file", target);
        run_git(self.settings, command, name, arguments, input)
    }

    /// Runs a command and returns its standard output. A nonzero exit status is an error.
    pub(super) fn output(
        &self,
        name: &'static str,
        arguments: &[&str],
    ) -> Result<Vec<u8>, GitError> {
        successful(name, self.run(name, arguments, Vec::new())?)
    }

    /// Runs a command that prints paths, each terminated by NUL, and returns them as absolute paths.
    pub(super) fn paths(
        &self,
        name: &'static str,
        arguments: &[&str],
    ) -> Result<BTreeSet<PathBuf>, GitError> {
        let output = self.output(name, arguments)?;
        let names = output.split(|byte| *byte == 0);
        Ok(names
            .filter(|name| !name.is_empty())
            .map(|name| self.top.join(parse_path(name)))
            .collect())
    }

    /// Runs a command and returns the first line of its output. `None` if its exit status indicates that there is no result.
    pub(super) fn first_line(
        &self,
        name: &'static str,
        arguments: &[&str],
    ) -> Result<Option<String>, GitError> {
        let output = self.run(name, arguments, Vec::new())?;
        match output.status.code() {
            Some(1) => Ok(None),
            // Git exits with this status if a name such as `a..b` is invalid.
            Some(128) if output.stderr.is_empty() || name == "rev-parse" => Ok(None),
            _ => {
                let stdout = successful(name, output)?;
                let text = String::from_utf8_lossy(&stdout);
                Ok(Some(text.lines().next().unwrap_or_default().to_owned()))
            }
        }
    }
}

fn run_git(
    settings: &GitSettings,
    command: io::Result<Command>,
    name: &'static str,
    arguments: &[&str],
    input: Vec<u8>,
) -> Result<ProcessOutput, GitError> {
    command
        .map_err(RunError::System)
        .and_then(|mut command| {
            command.arg(name).args(arguments);
            run_blocking(command, input)
        })
        .map_err(|error| match error {
            RunError::System(source) => GitError::Program {
                program: settings.program().to_path_buf(),
                source,
            },
            error => GitError::Command {
                command: name,
                message: error.to_string(),
                problem: None,
            },
        })
}

fn successful(command: &'static str, output: ProcessOutput) -> Result<Vec<u8>, GitError> {
    if output.status.success() {
        return Ok(output.stdout);
    }
    let (problem, message) = GitProblem::describe(&output);
    Err(GitError::Command {
        command,
        message,
        problem,
    })
}

/// Converts a path in git's output.
#[cfg(unix)]
pub fn parse_path(name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(name))
}

/// Converts a path in git's output, which is UTF-8 on Windows.
#[cfg(not(unix))]
pub fn parse_path(name: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(name).into_owned())
}
