//! Git repositories, through the `git` program: one commit, without its history.
//!
//! - `ref` absent, a branch or a tag: one shallow clone.
//! - `ref` a whole commit: the commit alone is fetched; servers that give no single commits are cloned completely.
//! - `ref` the beginning of a commit: a branch or tag of that name, else a complete clone.
//! - Submodules are fetched if the repository has any, as the tools do (`submodules`).
//!
//! Before a commit is checked out, its files are counted (`tree`): a small pack can hold any number of them.
//! What arrives is a work tree without `.git`, and without links that lead out of it.

mod access;
mod program;
mod submodules;
mod tree;

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub(super) use access::GitAccess;
pub use program::{MAX_REPOSITORY_BYTES, MAX_REPOSITORY_ENTRIES};
pub use submodules::MAX_SUBMODULES;

use crate::git::Scope;
use crate::redacted_url::RedactedUrl;

use super::address::GitPackage;
use super::error::ModuleError;
use super::links;
use program::{Bounds, Git};
use tree::Tree;

/// Fewer digits than these are no beginning of a commit, by git's own rule.
const LEAST_COMMIT_DIGITS: usize = 4;

/// The lengths of whole commits, with SHA-1 and SHA-256.
const COMMIT_DIGITS: [usize; 2] = [40, 64];

/// Fetches into `target`, which does not exist yet and whose parent is a real path; `max_bytes` is all that it may take.
/// The commit that it is.
pub(super) async fn fetch(
    access: GitAccess<'_>,
    package: &GitPackage,
    target: &Path,
    max_bytes: u64,
) -> Result<String, ModuleError> {
    let bounds = Bounds {
        directory: target,
        max_bytes,
    };
    let settings = access.settings_for(&package.url);
    let repository = Repository {
        git: Git::new(&settings, package, bounds),
        package,
        target,
    };
    let fetched = repository.fetch().await?;
    let commit = fetched.commit.clone();
    submodules::fetch(access, package, fetched, bounds).await?;
    links::confine(target, &RedactedUrl::parse(&package.url))?;
    Ok(commit)
}

/// The commit that `ref` names in full: it never means anything else.
pub(super) fn whole_commit(package: &GitPackage) -> Option<&str> {
    let reference = package.reference.as_deref();
    reference.filter(|reference| is_commit(reference))
}

/// Whether a branch, a tag or the default branch still is this commit. `target` is where the repository lies. Where it cannot
/// be told, it is not: then fetching tells why.
pub(super) async fn is_still(
    access: GitAccess<'_>,
    package: &GitPackage,
    commit: &str,
    target: &Path,
) -> bool {
    let bounds = Bounds {
        directory: target,
        max_bytes: u64::MAX,
    };
    let settings = access.settings_for(&package.url);
    let git = Git::new(&settings, package, bounds);
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
    let listed = git.run_remote(Scope::Nothing, &list, &operands).await;
    let Ok(listed) = listed else { return false };
    let found = names.iter().find_map(|name| {
        let mut lines = listed.lines().filter_map(|line| line.split_once('\t'));
        lines.find(|(_, listed)| listed == name)
    });
    match (found, package.reference.as_deref()) {
        (Some((listed, _)), _) => listed == commit,
        // The beginning of a commit is no name that could move.
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

/// A repository on its way.
struct Repository<'a> {
    git: Git<'a>,
    package: &'a GitPackage,
    target: &'a Path,
}

/// What arrived.
struct Fetched {
    commit: String,
    tree: Tree,
}

impl Repository<'_> {
    /// Fetches and checks out the commit, without submodules.
    async fn fetch(&self) -> Result<Fetched, ModuleError> {
        let revision = match self.package.reference.as_deref() {
            Some(commit) if is_commit(commit) => self.commit(commit).await?,
            Some(name) if may_be_commit(name) => self.branch_tag_or_commit(name).await?,
            name => self.shallow(name).await?,
        };
        let object = format!("{revision}^{{commit}}");
        let parse = ["rev-parse", "--verify", &object];
        let commit = self.run(&parse, &[]).await?.trim().to_owned();
        let tree = tree::inspect(&self.git, self.scope(&self.git_dir()), &commit).await?;
        self.disable_filters().map_err(|source| self.disk(source))?;
        // `--detach` says that the word is a commit and no path.
        let check_out = ["checkout", "--quiet", "--force", "--detach", &commit];
        self.run(&check_out, &[]).await?;
        let git_dir = self.git_dir();
        fs::remove_dir_all(&git_dir).map_err(|source| self.disk(source))?;
        Ok(Fetched { commit, tree })
    }

    /// One commit of a branch or tag, or of the default branch.
    async fn shallow<'n>(&self, name: Option<&'n str>) -> Result<&'n str, ModuleError> {
        let branch = name.map(|name| format!("--branch={name}"));
        let mut arguments = vec!["--depth=1", "--single-branch"];
        arguments.extend(branch.as_deref());
        self.clone(&arguments).await?;
        Ok("HEAD")
    }

    async fn branch_tag_or_commit<'n>(&self, name: &'n str) -> Result<&'n str, ModuleError> {
        match self.shallow(Some(name)).await {
            Err(ModuleError::Git { .. }) => self.whole(name).await,
            done => done,
        }
    }

    async fn commit<'n>(&self, commit: &'n str) -> Result<&'n str, ModuleError> {
        let init = ["init", "--quiet", "--template="];
        let operands = [self.target.as_os_str()];
        self.git.run(Scope::Created, &init, &operands).await?;
        let fetch = ["fetch", "--quiet", "--depth=1", "--no-tags"];
        let operands = [OsStr::new(&self.package.url), OsStr::new(commit)];
        let git_dir = self.git_dir();
        let fetched = self.git.run_remote(self.scope(&git_dir), &fetch, &operands);
        match fetched.await {
            Err(ModuleError::Git { .. }) => {
                fs::remove_dir_all(self.target).map_err(|source| self.disk(source))?;
                self.whole(commit).await
            }
            Err(error) => Err(error),
            Ok(_) => Ok("FETCH_HEAD"),
        }
    }

    /// All branches and tags.
    async fn whole<'n>(&self, commit: &'n str) -> Result<&'n str, ModuleError> {
        self.clone(&[]).await?;
        Ok(commit)
    }

    async fn clone(&self, arguments: &[&str]) -> Result<(), ModuleError> {
        let mut clone = vec!["clone", "--quiet", "--no-checkout", "--template="];
        clone.push("--no-recurse-submodules");
        clone.extend(arguments);
        let operands = [OsStr::new(&self.package.url), self.target.as_os_str()];
        let cloned = self.git.run_remote(Scope::Created, &clone, &operands);
        cloned.await.map(drop)
    }

    /// The repository's `.gitattributes` could choose among the programs that the user's configuration has for files. This
    /// file takes precedence.
    fn disable_filters(&self) -> io::Result<()> {
        let directory = self.git_dir().join("info");
        fs::create_dir_all(&directory)?;
        fs::write(directory.join("attributes"), "* -filter\n")
    }

    async fn run(&self, arguments: &[&str], operands: &[&OsStr]) -> Result<String, ModuleError> {
        let git_dir = self.git_dir();
        self.git
            .run(self.scope(&git_dir), arguments, operands)
            .await
    }

    fn git_dir(&self) -> PathBuf {
        self.target.join(".git")
    }

    fn scope<'s>(&'s self, git_dir: &'s Path) -> Scope<'s> {
        Scope::Repository {
            git_dir,
            work_tree: self.target,
        }
    }

    fn disk(&self, source: io::Error) -> ModuleError {
        ModuleError::Disk {
            path: self.target.to_path_buf(),
            source,
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
            assert_eq!(
                (is_commit(text), may_be_commit(text)),
                (whole, part),
                "{text}"
            );
        }
    }
}
