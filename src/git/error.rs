//! Errors of git commands in the user's repository.

use std::path::PathBuf;

use super::problem::GitProblem;
use crate::span::Explain;

/// The reason why a git command in the user's repository failed.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("cannot run `{}`", program.display())]
    Program {
        program: PathBuf,
        source: std::io::Error,
    },
    /// The directory is not in a repository, or the repository's `.git` is invalid.
    #[error("cannot find a git repository that contains `{}`", directory.display())]
    NoRepository { directory: PathBuf },
    /// The user named no revision, and the history is incomplete.
    #[error("cannot find the commit where this branch diverged: `{}` is a shallow clone", repository.display())]
    Shallow { repository: PathBuf },
    /// The user named no revision, and the default branch is unknown.
    #[error("cannot determine the default branch of `{}`", repository.display())]
    NoDefaultBranch { repository: PathBuf },
    #[error("cannot compare HEAD with `{branch}`: they have no common ancestor")]
    NoMergeBase { branch: String },
    #[error("cannot find the commit `{revision}` in `{}`", repository.display())]
    Revision {
        revision: String,
        repository: PathBuf,
        /// Whether the history is incomplete.
        is_shallow: bool,
    },
    #[error("cannot run `git {command}`: {message}")]
    Command {
        command: &'static str,
        /// The line of git's standard error that shows the problem, or its first line, or the exit status.
        message: String,
        problem: Option<GitProblem>,
    },
}

impl Explain for GitError {
    fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Program { .. } => "install git, which `--changed` requires, or omit the option",
            Self::NoRepository { .. } => "omit `--changed` to process all directories",
            Self::Shallow { .. } => {
                "fetch the history with `git fetch --unshallow` (`fetch-depth: 0` for actions/checkout, `GIT_DEPTH: 0` in GitLab \
                 CI), or name an existing commit: `--changed=REV`"
            }
            Self::NoDefaultBranch { .. } => {
                "set the default branch with `git remote set-head origin --auto`, or name a commit: `--changed=REV`"
            }
            Self::NoMergeBase { .. } => "name the commit to compare with: `--changed=REV`",
            Self::Revision {
                revision,
                is_shallow: true,
                ..
            } => {
                return Some(format!(
                    "fetch this commit with `git fetch --depth=1 origin {revision}`, because the repository is a shallow clone"
                ));
            }
            Self::Revision { .. } => {
                "prefix a branch on a server with the name of the remote, as in `origin/main`"
            }
            Self::Command { problem, .. } => {
                return problem.and_then(GitProblem::hint).map(str::to_owned);
            }
        };
        Some(hint.to_owned())
    }
}
