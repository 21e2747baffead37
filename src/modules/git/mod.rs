//! Fetches one commit of a git repository with the `git` program.
//!
//! - If `ref` is missing or names a branch or tag, the repository is cloned with depth 1.
//! - If `ref` is a full commit hash, only that commit is fetched. If the server does not support this, the full history is cloned.
//! - If `ref` could be an abbreviated commit hash, it is tried as a branch or tag first. If that fails, the full history is cloned.
//! - Submodules are fetched as well, as in Terraform and OpenTofu (`submodules`).
//!
//! Before a commit is checked out, its files are counted (`tree_listing`), because a small pack can contain any number of files. The
//! result is a work tree without `.git` and without symlinks that point outside the work tree.

mod runner;
mod submodules;
mod tree_listing;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::git::{GitProblem, GitTarget};
use crate::redacted_url::RedactedUrl;

use super::repository::{FetchLimits, RepositoryAccess};
use super::{ModuleError, RepositoryPackage, disk, links};
use runner::GitRunner;
use tree_listing::{Gitlink, list_submodules};

/// The minimum number of digits in an abbreviated commit hash, as in git.
const LEAST_COMMIT_DIGITS: usize = 4;

/// The number of digits in a full commit hash: with SHA-1, and with SHA-256.
const COMMIT_DIGITS: [usize; 2] = [40, 64];

/// Fetches a package into `target`, and returns its commit. `target` must not exist, and its path must contain no symlinks.
/// `max_bytes` limits the total size of what git writes there.
pub(super) async fn fetch(
    access: RepositoryAccess<'_>,
    package: &RepositoryPackage,
    target: &Path,
    max_bytes: u64,
) -> Result<String, ModuleError> {
    let limits = FetchLimits {
        directory: target,
        max_bytes,
    };
    let settings = access.git_for(&package.url);
    let git = GitRunner {
        settings: &settings,
        package,
        limits,
    };
    let fetched = RepositoryFetch::new(git, target).fetch().await?;
    let commit = fetched.commit.clone();
    submodules::fetch(access, package, fetched, limits).await?;
    links::confine(target, &RedactedUrl::parse(&package.url))?;
    Ok(commit)
}

/// Returns `ref` if it is a full commit hash, which always identifies the same commit.
pub(super) fn whole_commit(package: &RepositoryPackage) -> Option<&str> {
    let reference = package.reference.as_deref();
    reference.filter(|reference| is_commit(reference))
}

/// Whether the package's branch or tag still resolves to `commit`. `target` is the fetched work tree. Returns false if the server
/// cannot be reached; the subsequent fetch then reports the reason.
pub(super) async fn is_current(
    access: RepositoryAccess<'_>,
    package: &RepositoryPackage,
    commit: &str,
    target: &Path,
) -> bool {
    let settings = access.git_for(&package.url);
    let git = GitRunner {
        settings: &settings,
        package,
        limits: FetchLimits {
            directory: target,
            max_bytes: u64::MAX,
        },
    };
    let names = match package.reference.as_deref() {
        None => vec!["HEAD".to_owned()],
        Some(name) => vec![
            format!("refs/heads/{name}"),
            format!("refs/tags/{name}^{{}}"),
            format!("refs/tags/{name}"),
        ],
    };
    let mut operands = vec![OsStr::new(&package.url)];
    operands.extend(names.iter().map(OsStr::new));
    let list = ["ls-remote", "--quiet"];
    let Ok(listed) = git
        .run_remote(GitTarget::NoRepository, &list, &operands)
        .await
    else {
        return false;
    };
    let found = names.iter().find_map(|name| {
        let mut lines = listed.lines().filter_map(|line| line.split_once('\t'));
        lines.find(|(_, listed)| listed == name)
    });
    match (found, package.reference.as_deref()) {
        (Some((listed, _)), _) => listed == commit,
        // `ref` is an abbreviated commit hash, so it cannot move.
        (None, Some(name)) => may_be_commit(name) && commit.starts_with(&name.to_ascii_lowercase()),
        (None, None) => false,
    }
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_commit(text: &str) -> bool {
    COMMIT_DIGITS.contains(&text.len()) && is_hex(text)
}

fn may_be_commit(text: &str) -> bool {
    (LEAST_COMMIT_DIGITS..COMMIT_DIGITS[1]).contains(&text.len()) && is_hex(text)
}

/// The fetch of one repository or submodule into a directory.
struct RepositoryFetch<'a> {
    git: GitRunner<'a>,
    target: &'a Path,
    git_dir: PathBuf,
}

struct FetchedCommit {
    commit: String,
    submodules: Vec<Gitlink>,
}

impl<'a> RepositoryFetch<'a> {
    fn new(git: GitRunner<'a>, target: &'a Path) -> Self {
        Self {
            git,
            target,
            git_dir: target.join(".git"),
        }
    }

    /// Fetches and checks out the commit, without submodules.
    async fn fetch(&self) -> Result<FetchedCommit, ModuleError> {
        let revision = match self.git.package.reference.as_deref() {
            Some(commit) if is_commit(commit) => self.fetch_commit(commit).await?,
            Some(name) if may_be_commit(name) => match self.clone_shallow(Some(name)).await {
                Err(ModuleError::Git { .. }) => self.clone_whole(name).await?,
                result => result?,
            },
            name => self.clone_shallow(name).await?,
        };
        let commit = self.resolve(revision).await?;
        let submodules = list_submodules(&self.git, self.target(), &commit).await?;
        self.disable_filters().map_err(disk(self.target))?;
        // With `--detach`, git treats the operand as a commit, not as a path.
        let check_out = ["checkout", "--quiet", "--force", "--detach", &commit];
        let checked_out = self.git.run(self.target(), &check_out, &[]).await;
        checked_out.map_err(ModuleError::in_checkout)?;
        fs::remove_dir_all(&self.git_dir).map_err(disk(self.target))?;
        Ok(FetchedCommit { commit, submodules })
    }

    /// Returns the hash of the commit that `revision` names.
    async fn resolve(&self, revision: &str) -> Result<String, ModuleError> {
        let object = format!("{revision}^{{commit}}");
        let parse = ["rev-parse", "--verify", &object];
        let error = match self.git.run(self.target(), &parse, &[]).await {
            Ok(parsed) => return Ok(parsed.trim().to_owned()),
            Err(error) => error,
        };
        let address = RedactedUrl::parse(&self.git.package.url);
        Err(match (error, &self.git.package.reference) {
            (ModuleError::Git { .. }, None) => ModuleError::EmptyRepository(address),
            (ModuleError::Git { .. }, Some(reference)) if self.git_dir.join("shallow").exists() => {
                ModuleError::ShallowRepository {
                    address,
                    reference: reference.clone(),
                }
            }
            (error, _) => error,
        })
    }

    /// Clones the last commit of a branch or tag, or of the default branch. Some servers can only send the full history.
    async fn clone_shallow<'n>(&self, name: Option<&'n str>) -> Result<&'n str, ModuleError> {
        let branch = name.map(|name| format!("--branch={name}"));
        let mut arguments = vec!["--single-branch"];
        arguments.extend(branch.as_deref());
        let shallow = [&arguments[..], &["--depth=1"]].concat();
        match self.clone(&shallow).await {
            Err(ModuleError::Git {
                problem: Some(GitProblem::NoShallow),
                ..
            }) => self.clone(&arguments).await?,
            result => result?,
        }
        Ok("HEAD")
    }

    async fn fetch_commit<'n>(&self, commit: &'n str) -> Result<&'n str, ModuleError> {
        let init = ["init", "--quiet", "--template="];
        let operands = [self.target.as_os_str()];
        self.git
            .run(GitTarget::NewRepository, &init, &operands)
            .await?;
        let fetch = ["fetch", "--quiet", "--depth=1", "--no-tags"];
        let operands = [OsStr::new(&self.git.package.url), OsStr::new(commit)];
        match self.git.run_remote(self.target(), &fetch, &operands).await {
            Err(ModuleError::Git { .. }) => {
                fs::remove_dir_all(self.target).map_err(disk(self.target))?;
                self.clone_whole(commit).await
            }
            Err(error) => Err(error),
            Ok(_) => Ok("FETCH_HEAD"),
        }
    }

    async fn clone_whole<'n>(&self, commit: &'n str) -> Result<&'n str, ModuleError> {
        self.clone(&[]).await?;
        Ok(commit)
    }

    async fn clone(&self, arguments: &[&str]) -> Result<(), ModuleError> {
        let mut clone = vec!["clone", "--quiet", "--no-checkout", "--template="];
        clone.push("--no-recurse-submodules");
        clone.extend(arguments);
        let operands = [OsStr::new(&self.git.package.url), self.target.as_os_str()];
        self.git
            .run_remote(GitTarget::NewRepository, &clone, &operands)
            .await
            .map(drop)
    }

    /// Disables the filter programs in the user's configuration, which `.gitattributes` in the repository could otherwise select. The
    /// file written here takes precedence over `.gitattributes`.
    fn disable_filters(&self) -> io::Result<()> {
        let directory = self.git_dir.join("info");
        fs::create_dir_all(&directory)?;
        fs::write(directory.join("attributes"), "* -filter\n")
    }

    fn target(&self) -> GitTarget<'_> {
        GitTarget::Repository {
            git_dir: &self.git_dir,
            work_tree: self.target,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commits_are_hexadecimal() {
        for (text, whole, part) in [
            ("0123456789abcdef0123456789abcdef01234567", true, true),
            ("0123456789ABCDEF0123456789abcdef01234567", true, true),
            ("abc1234", false, true),
            ("20240101", false, true),
            ("abc", false, false),
            ("v1.0", false, false),
            ("main", false, false),
        ] {
            let found = (is_commit(text), may_be_commit(text));
            assert_eq!(found, (whole, part), "{text}");
        }
    }
}
