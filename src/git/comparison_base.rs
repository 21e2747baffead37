//! Determines the commit with which files are compared.

use std::fmt;

use super::error::GitError;
use super::repository::Repository;

/// Common names of default branches, in the order in which they are tried if the server's default branch is unknown.
const USUAL_BRANCHES: [&str; 4] = [
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
];

/// The number of digits of a commit hash to display.
const SHOWN_DIGITS: usize = 12;

/// The commit with which files are compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ComparisonBase {
    /// A revision that the user named.
    Revision(String),
    /// The commit at which HEAD diverged from the default branch.
    MergeBase {
        /// The default branch, such as `origin/main`.
        branch: String,
        /// The commit hash, in hexadecimal.
        commit: String,
    },
}

impl fmt::Display for ComparisonBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Revision(revision) => f.write_str(revision),
            Self::MergeBase { branch, commit } => {
                let digits = &commit[..SHOWN_DIGITS.min(commit.len())];
                write!(f, "{digits}, where HEAD diverged from {branch}")
            }
        }
    }
}

impl ComparisonBase {
    /// Finds the base and its commit hash. The base is `revision` or, if it is `None`, the merge base of HEAD and the default branch.
    pub(super) fn find(
        repository: &Repository<'_>,
        revision: Option<&str>,
    ) -> Result<(Self, String), GitError> {
        let shallow = repository.output("rev-parse", &["--is-shallow-repository"])?;
        let is_shallow = shallow.trim_ascii() == b"true";
        match revision {
            Some(revision) => match find_commit(repository, revision)? {
                Some(commit) => Ok((Self::Revision(revision.to_owned()), commit)),
                None => Err(GitError::Revision {
                    revision: revision.to_owned(),
                    repository: repository.top.clone(),
                    is_shallow,
                }),
            },
            None if is_shallow => Err(GitError::Shallow {
                repository: repository.top.clone(),
            }),
            None => find_merge_base(repository),
        }
    }
}

fn find_merge_base(repository: &Repository<'_>) -> Result<(ComparisonBase, String), GitError> {
    let full_name = default_branch(repository)?.ok_or_else(|| GitError::NoDefaultBranch {
        repository: repository.top.clone(),
    })?;
    let branch = ["refs/remotes/", "refs/heads/"]
        .iter()
        .find_map(|prefix| full_name.strip_prefix(prefix))
        .unwrap_or(&full_name)
        .to_owned();
    match repository.first_line("merge-base", &["HEAD", &full_name])? {
        Some(commit) => {
            let base = ComparisonBase::MergeBase {
                branch,
                commit: commit.clone(),
            };
            Ok((base, commit))
        }
        None => Err(GitError::NoMergeBase { branch }),
    }
}

/// Returns the commit that `revision` names. `None` if it is unknown or starts with a dash, which git could interpret as an option.
fn find_commit(repository: &Repository<'_>, revision: &str) -> Result<Option<String>, GitError> {
    if revision.starts_with('-') {
        return Ok(None);
    }
    let object = format!("{revision}^{{commit}}");
    repository.first_line("rev-parse", &["--verify", "--quiet", &object])
}

/// Returns the full name of the server's default branch or, if that is unknown, of the first [`USUAL_BRANCHES`] branch that exists.
fn default_branch(repository: &Repository<'_>) -> Result<Option<String>, GitError> {
    let head = ["--quiet", "refs/remotes/origin/HEAD"];
    let of_server = repository.first_line("symbolic-ref", &head)?;
    for branch in of_server.iter().map(String::as_str).chain(USUAL_BRANCHES) {
        if find_commit(repository, branch)?.is_some() {
            return Ok(Some(branch.to_owned()));
        }
    }
    Ok(None)
}
