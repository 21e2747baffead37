//! Git repositories, through the `git` program: one commit, without its history.
//!
//! - `ref` absent, a branch or a tag: one shallow clone.
//! - `ref` a whole commit: the commit alone is fetched; servers that give no single commits are cloned completely.
//! - `ref` the beginning of a commit: a branch or tag of that name, else a complete clone.
//! - Submodules are fetched if the repository has any, as the tools do.
//!
//! What arrives is a work tree without `.git`, and without links that lead out of it.

mod program;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::Path;

pub use program::{GIT_TIMEOUT, MAX_REPOSITORY_BYTES};

use crate::git::GitSettings;

use super::address::{GitPackage, shown};
use super::error::ModuleError;
use super::links;
use program::Git;

/// Fewer digits than these are no beginning of a commit, by git's own rule.
const LEAST_COMMIT_DIGITS: usize = 4;

/// The lengths of whole commits, with SHA-1 and SHA-256.
const COMMIT_DIGITS: [usize; 2] = [40, 64];

/// Fetches into `target`, which does not exist yet and whose parent is a real path; `max_bytes` is all that it may take.
/// The commit that it is.
pub(super) async fn fetch(
    settings: &GitSettings,
    package: &GitPackage,
    target: &Path,
    max_bytes: u64,
) -> Result<String, ModuleError> {
    let repository = Repository {
        git: Git::new(settings, package, target, max_bytes),
        package,
        target,
    };
    match package.reference.as_deref() {
        Some(commit) if is_commit(commit) => repository.commit(commit).await?,
        Some(name) if may_be_commit(name) => repository.branch_tag_or_commit(name).await?,
        name => repository.shallow(name).await?,
    }
    let parse = ["rev-parse", "--verify", "HEAD"];
    let commit = repository.git.run(Some(target), &parse, &[]).await?;
    repository.submodules().await?;
    let failed = |source| ModuleError::Disk {
        path: target.to_path_buf(),
        source,
    };
    fs::remove_dir_all(target.join(".git")).map_err(failed)?;
    links::confine(target, &shown(&package.url))?;
    Ok(commit.trim().to_owned())
}

/// The commit that `ref` names in full: it never means anything else.
pub(super) fn whole_commit(package: &GitPackage) -> Option<&str> {
    let reference = package.reference.as_deref();
    reference.filter(|reference| is_commit(reference))
}

/// Whether a branch, a tag or the default branch still is this commit. `target` is where the repository lies. Where it cannot
/// be told, it is not: then fetching tells why.
pub(super) async fn is_still(
    settings: &GitSettings,
    package: &GitPackage,
    commit: &str,
    target: &Path,
) -> bool {
    let git = Git::new(settings, package, target, u64::MAX);
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
    let listed = git.run(None, &["ls-remote", "--quiet"], &operands).await;
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

impl Repository<'_> {
    /// One commit of a branch or tag, or of the default branch.
    async fn shallow(&self, name: Option<&str>) -> Result<(), ModuleError> {
        let branch = name.map(|name| format!("--branch={name}"));
        let mut arguments = vec!["clone", "--quiet", "--depth=1", "--single-branch"];
        arguments.extend(["--no-recurse-submodules", "--template="]);
        arguments.extend(branch.as_deref());
        let operands = [OsStr::new(&self.package.url), self.target.as_os_str()];
        self.git.run(None, &arguments, &operands).await.map(drop)
    }

    async fn branch_tag_or_commit(&self, name: &str) -> Result<(), ModuleError> {
        if self.shallow(Some(name)).await.is_ok() {
            return Ok(());
        }
        self.whole(name).await
    }

    async fn commit(&self, commit: &str) -> Result<(), ModuleError> {
        let init = ["init", "--quiet", "--template="];
        self.git
            .run(None, &init, &[self.target.as_os_str()])
            .await?;
        let fetch = ["fetch", "--quiet", "--depth=1", "--no-tags"];
        let operands = [OsStr::new(&self.package.url), OsStr::new(commit)];
        if self
            .git
            .run(Some(self.target), &fetch, &operands)
            .await
            .is_err()
        {
            let failed = |source| ModuleError::Disk {
                path: self.target.to_path_buf(),
                source,
            };
            fs::remove_dir_all(self.target).map_err(failed)?;
            return self.whole(commit).await;
        }
        self.check_out("FETCH_HEAD").await
    }

    /// All branches and tags, of which one commit is checked out.
    async fn whole(&self, commit: &str) -> Result<(), ModuleError> {
        let clone = ["clone", "--quiet", "--no-checkout", "--template="];
        let operands = [OsStr::new(&self.package.url), self.target.as_os_str()];
        self.git.run(None, &clone, &operands).await?;
        self.check_out(commit).await
    }

    /// `--detach` says that the word is a commit and no path.
    async fn check_out(&self, commit: &str) -> Result<(), ModuleError> {
        let arguments = ["checkout", "--quiet", "--force", "--detach", commit];
        self.git
            .run(Some(self.target), &arguments, &[])
            .await
            .map(drop)
    }

    async fn submodules(&self) -> Result<(), ModuleError> {
        let has_any = fs::symlink_metadata(self.target.join(".gitmodules"));
        if !has_any.is_ok_and(|found| found.is_file()) {
            return Ok(());
        }
        // Addresses of submodules may be relative to the repository's own.
        let config: [OsString; 2] = ["remote.origin.url".into(), (&self.package.url).into()];
        let operands = config.each_ref().map(OsString::as_os_str);
        let set = ["config"];
        self.git.run_plain(self.target, &set, &operands).await?;
        let update = [
            "submodule",
            "--quiet",
            "update",
            "--init",
            "--recursive",
            "--depth=1",
        ];
        self.git
            .run_plain(self.target, &update, &[])
            .await
            .map(drop)
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
