//! What git cannot tell.

use std::path::PathBuf;

use crate::span::Explain;

/// Why it is not known what changed.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The program does not start.
    #[error("cannot tell what changed: `{}` does not start", program.display())]
    Program {
        /// Which one.
        program: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// There is no repository.
    #[error("cannot tell what changed: `{}` is in no git repository", directory.display())]
    NoRepository {
        /// Where one was looked for.
        directory: PathBuf,
    },
    /// Nobody named a commit, and the history is cut off.
    #[error("cannot tell what changed: `{}` is a shallow clone, which does not reach back to where this branch began", repository.display())]
    Shallow {
        /// The top of the repository.
        repository: PathBuf,
    },
    /// Nobody named a commit, and no branch looks like the default one.
    #[error("cannot tell what changed: no branch of `{}` is known as the default one", repository.display())]
    NoDefaultBranch {
        /// The top of the repository.
        repository: PathBuf,
    },
    /// The default branch has another history.
    #[error("cannot tell what changed: HEAD and `{branch}` have no commit in common")]
    NoMergeBase {
        /// The default branch.
        branch: String,
    },
    /// The named commit is not there.
    #[error("cannot tell what changed: there is no commit `{revision}` in `{}`", repository.display())]
    Revision {
        /// As given.
        revision: String,
        /// The top of the repository.
        repository: PathBuf,
        /// Its history is cut off.
        is_shallow: bool,
    },
    /// A command failed.
    #[error("cannot tell what changed: `git {command}` failed: {message}")]
    Command {
        /// Its name.
        command: &'static str,
        /// What it wrote.
        message: String,
    },
}

impl Explain for GitError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Program { .. } => "--changed asks git: install it, or leave the option out".to_owned(),
            Self::NoRepository { .. } => "--changed compares with a commit: leave it out to work on all directories".to_owned(),
            Self::Shallow { .. } => "fetch the history with `git fetch --unshallow` (`fetch-depth: 0` for actions/checkout, `GIT_DEPTH: 0` in \
                 GitLab CI), or name a commit that is there: `--changed=REV`"
                .to_owned(),
            Self::NoDefaultBranch { .. } => {
                "`git remote set-head origin --auto` asks the server for it; or name a commit: `--changed=REV`".to_owned()
            }
            Self::NoMergeBase { .. } => "name the commit to compare with: `--changed=REV`".to_owned(),
            Self::Revision {
                revision,
                is_shallow: true,
                ..
            } => format!("this is a shallow clone; `git fetch --depth=1 origin {revision}` fetches that commit alone"),
            Self::Revision { .. } => "branches of the server have its name in front, as `origin/main`".to_owned(),
            Self::Command { .. } => return None,
        })
    }
}
