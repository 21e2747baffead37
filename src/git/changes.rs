//! What differs between a commit and the files as they are now: committed since, or not committed, or not even known to git.
//!
//! Both names of a file that was renamed count. Ignored files do not: nothing is known of how they were.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use super::environment::GitSettings;
use super::error::GitError;
use super::process::{Finished, RunError, run_blocking};
use super::repository::{OpenError, Repository, path_of};
use crate::access::find_repository;

/// Branches that are taken for the default one where the server's is not known, in this order.
const USUAL_BRANCHES: [&str; 4] = [
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
];

/// As many digits of a commit are shown.
const SHOWN_DIGITS: usize = 12;

/// What changed in one repository.
#[derive(Clone, Debug)]
pub struct Changes {
    /// The top of the repository, without links.
    pub top: PathBuf,
    /// What was compared with.
    pub since: Since,
    /// Files, links and submodules below the top that were added, changed or deleted; directories for whole repositories
    /// that git does not know.
    pub paths: BTreeSet<PathBuf>,
}

/// What was compared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Since {
    /// A commit that the user named.
    Revision(String),
    /// The commit in which HEAD left the default branch.
    MergeBase {
        /// The default branch.
        branch: String,
        /// The commit.
        commit: String,
    },
}

impl fmt::Display for Since {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Revision(revision) => f.write_str(revision),
            Self::MergeBase { branch, commit } => {
                let digits = &commit[..SHOWN_DIGITS.min(commit.len())];
                write!(f, "{digits}, where HEAD left {branch}")
            }
        }
    }
}

impl Changes {
    /// What changed since `revision` in the repository that holds `directory`, an absolute path without links. Without a
    /// revision: since HEAD left the default branch.
    pub fn since(
        settings: &GitSettings,
        directory: &Path,
        revision: Option<&str>,
    ) -> Result<Self, GitError> {
        let git = Git::open(settings, directory)?;
        let (since, commit) = git.start(revision)?;
        let mut paths = git.paths(
            "diff",
            &[
                "--name-only",
                "-z",
                "--no-renames",
                "--no-relative",
                "--no-ext-diff",
                "--ignore-submodules=none",
                &commit,
                "--",
            ],
        )?;
        let others = ["-z", "--others", "--exclude-standard"];
        paths.extend(git.paths("ls-files", &others)?);
        Ok(Self {
            top: git.repository.top,
            since,
            paths,
        })
    }
}

/// Git in one repository.
pub(super) struct Git<'a> {
    settings: &'a GitSettings,
    repository: Repository,
}

impl<'a> Git<'a> {
    /// The repository that holds `directory`, an absolute path without links.
    pub(super) fn open(settings: &'a GitSettings, directory: &Path) -> Result<Self, GitError> {
        let missing = || GitError::NoRepository {
            directory: directory.to_path_buf(),
        };
        let top = find_repository(directory).ok_or_else(missing)?;
        let repository = Repository::open(settings, top).map_err(|error| match error {
            OpenError::Missing(_) => missing(),
            OpenError::Refused(message) => GitError::Command {
                command: "rev-parse",
                message,
            },
            OpenError::Run(error) => not_run(settings, "rev-parse", error),
        })?;
        Ok(Self {
            settings,
            repository,
        })
    }
}

impl Git<'_> {
    /// The top of its work tree.
    pub(super) fn top(&self) -> &Path {
        &self.repository.top
    }

    /// What to compare with, and its commit.
    pub(super) fn start(&self, revision: Option<&str>) -> Result<(Since, String), GitError> {
        let is_shallow = self.line("rev-parse", &["--is-shallow-repository"])? == "true";
        let repository = || self.repository.top.clone();
        if let Some(revision) = revision {
            let commit = self.commit(revision)?;
            let commit = commit.ok_or_else(|| GitError::Revision {
                revision: revision.to_owned(),
                repository: repository(),
                is_shallow,
            })?;
            return Ok((Since::Revision(revision.to_owned()), commit));
        }
        if is_shallow {
            return Err(GitError::Shallow {
                repository: repository(),
            });
        }
        let branch = self.default_branch()?;
        let branch = branch.ok_or_else(|| GitError::NoDefaultBranch {
            repository: repository(),
        })?;
        let shown = ["refs/remotes/", "refs/heads/"]
            .iter()
            .find_map(|prefix| branch.strip_prefix(prefix));
        let shown = shown.unwrap_or(&branch).to_owned();
        match self.line_if_any("merge-base", &["HEAD", &branch])? {
            None => Err(GitError::NoMergeBase { branch: shown }),
            Some(commit) => Ok((
                Since::MergeBase {
                    branch: shown,
                    commit: commit.clone(),
                },
                commit,
            )),
        }
    }

    /// The commit that a revision names. One that begins with a dash is none, whatever git makes of it.
    fn commit(&self, revision: &str) -> Result<Option<String>, GitError> {
        if revision.starts_with('-') {
            return Ok(None);
        }
        let object = format!("{revision}^{{commit}}");
        self.line_if_any("rev-parse", &["--verify", "--quiet", &object])
    }

    /// The branch that the server calls the default one, else one with a usual name.
    fn default_branch(&self) -> Result<Option<String>, GitError> {
        let head = ["--quiet", "refs/remotes/origin/HEAD"];
        if let Some(branch) = self.line_if_any("symbolic-ref", &head)?
            && self.commit(&branch)?.is_some()
        {
            return Ok(Some(branch));
        }
        for branch in USUAL_BRANCHES {
            if self.commit(branch)?.is_some() {
                return Ok(Some(branch.to_owned()));
            }
        }
        Ok(None)
    }

    pub(super) fn paths(
        &self,
        command: &'static str,
        arguments: &[&str],
    ) -> Result<BTreeSet<PathBuf>, GitError> {
        let output = self.output(command, arguments)?;
        let names = output.split(|byte| *byte == 0);
        let names = names.filter(|name| !name.is_empty());
        Ok(names
            .map(|name| self.repository.top.join(path_of(name)))
            .collect())
    }

    /// All that a command writes.
    pub(super) fn output(
        &self,
        command: &'static str,
        arguments: &[&str],
    ) -> Result<Vec<u8>, GitError> {
        let output = self.run(command, arguments)?;
        if !output.status.success() {
            return Err(failed(command, &output));
        }
        Ok(output.output)
    }

    fn line(&self, command: &'static str, arguments: &[&str]) -> Result<String, GitError> {
        let output = self.run(command, arguments)?;
        if !output.status.success() {
            return Err(failed(command, &output));
        }
        Ok(first_line(&output))
    }

    /// `None` where the command says by its exit code that there is no answer.
    fn line_if_any(
        &self,
        command: &'static str,
        arguments: &[&str],
    ) -> Result<Option<String>, GitError> {
        let output = self.run(command, arguments)?;
        match output.status.code() {
            Some(0) => Ok(Some(first_line(&output))),
            Some(1) => Ok(None),
            // Names that cannot be parsed end here, such as `a..b`.
            Some(128) if output.errors.is_empty() || command == "rev-parse" => Ok(None),
            _ => Err(failed(command, &output)),
        }
    }

    fn run(&self, command: &'static str, arguments: &[&str]) -> Result<Finished, GitError> {
        tracing::debug!(command, directory = %self.repository.top.display(), "running git");
        let program = self.repository.command(self.settings);
        let finished = program.map_err(RunError::System).and_then(|mut program| {
            program.arg(command).args(arguments);
            run_blocking(program, Vec::new())
        });
        finished.map_err(|error| not_run(self.settings, command, error))
    }
}

fn first_line(output: &Finished) -> String {
    let text = String::from_utf8_lossy(&output.output);
    text.lines().next().unwrap_or_default().to_owned()
}

fn failed(command: &'static str, output: &Finished) -> GitError {
    GitError::Command {
        command,
        message: output.message(),
    }
}

fn not_run(settings: &GitSettings, command: &'static str, error: RunError) -> GitError {
    match error {
        RunError::System(source) => GitError::Program {
            program: settings.program.clone(),
            source,
        },
        error => GitError::Command {
            command,
            message: error.to_string(),
        },
    }
}
