//! Fetches one commit of a Mercurial repository with the `hg` program.
//!
//! The full history is cloned, as in Terraform and OpenTofu, because the number of a revision and the default branch depend on it. The
//! files of the commit are then written without a work tree, so that neither hooks nor filters run. Subrepositories are fetched as well
//! (`subrepositories`).

mod runner;
mod subrepositories;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use url::Url;

use super::repository::{FetchLimits, RepositoryAccess};
use super::{ModuleError, RepositoryPackage, disk, links};
use runner::HgRunner;

/// The number of digits in a full commit hash.
const COMMIT_DIGITS: usize = 40;

/// The revset for the commit to which Mercurial updates a new clone.
const DEFAULT_REVISION: &str = "_destupdate()";

/// Fetches a package into `target`, and returns its commit. `target` must not exist, and its path must contain no symlinks.
/// `max_bytes` limits the total size of what Mercurial writes there.
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
    let commit = fetch_commit(access, package, target, limits).await?;
    subrepositories::fetch(access, package, limits).await?;
    links::confine(target, &package.address())?;
    Ok(commit)
}

/// Returns `rev` if it is a full commit hash, which always identifies the same commit.
pub(super) fn whole_commit(package: &RepositoryPackage) -> Option<&str> {
    let reference = package.reference.as_deref();
    reference.filter(|text| is_commit(text))
}

/// Whether the package's branch, tag or bookmark currently resolves to `commit`. `target` is the fetched directory. Returns false if the
/// server cannot be reached; the subsequent fetch then reports the reason.
pub(super) async fn is_current(
    access: RepositoryAccess<'_>,
    package: &RepositoryPackage,
    commit: &str,
    target: &Path,
) -> bool {
    let settings = access.mercurial_for(&package.url);
    let hg = HgRunner {
        settings: &settings,
        package,
        limits: FetchLimits {
            directory: target,
            max_bytes: u64::MAX,
        },
    };
    let name = package.reference.as_deref().unwrap_or("default");
    // A server does not evaluate revsets, but Mercurial does so for a repository on this machine.
    let revision = if package.is_local {
        format!("--rev={}", quote(name))
    } else {
        format!("--rev={name}")
    };
    let identify = ["identify", "--id", "--debug", &revision];
    let found = hg.run_remote(&identify, &[OsStr::new(&package.url)]).await;
    found.is_ok_and(|found| found.trim() == commit)
}

fn is_commit(text: &str) -> bool {
    text.len() == COMMIT_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns a revset that consists of one name. Other revsets can contact servers and read repositories on this machine.
fn quote(name: &str) -> String {
    format!("\"{}\"", name.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Fetches the files of a commit into `target`, without subrepositories, and returns the commit hash.
async fn fetch_commit(
    access: RepositoryAccess<'_>,
    package: &RepositoryPackage,
    target: &Path,
    limits: FetchLimits<'_>,
) -> Result<String, ModuleError> {
    let settings = access.mercurial_for(&package.url);
    check_protocol(package, settings.is_anonymous())?;
    let hg = HgRunner {
        settings: &settings,
        package,
        limits,
    };
    if package.is_local {
        hg.check_version().await?;
    }
    // Repositories cannot contain a directory of this name.
    let above_clone = target.join(".hg");
    fs::create_dir_all(&above_clone).map_err(disk(target))?;
    let clone: PathBuf = above_clone.join("clone");
    let operands = [OsStr::new(&package.url), clone.as_os_str()];
    hg.run_remote(&["clone", "--noupdate", "--pull"], &operands)
        .await?;
    let repository = format!("--repository={}", clone.display());
    let revision = package.reference.as_deref().map(quote);
    let revision = format!("--rev={}", revision.as_deref().unwrap_or(DEFAULT_REVISION));
    let log = [&*repository, "log", &revision, "--template={node}"];
    let found = hg.run(&log, &[]).await?;
    let commit = found.trim().to_owned();
    // The null revision, which is the only one in an empty repository, has no files.
    if !commit.bytes().all(|digit| digit == b'0') {
        let revision = format!("--rev={commit}");
        let archive = [&*repository, "archive", "--type=files", &revision];
        let archived = hg.run(&archive, &[target.as_os_str()]).await;
        archived.map_err(ModuleError::in_checkout)?;
    }
    fs::remove_dir_all(&above_clone).map_err(disk(target))?;
    Ok(commit)
}

/// Checks that Mercurial does not need the user's keys if it runs without credentials.
fn check_protocol(package: &RepositoryPackage, is_anonymous: bool) -> Result<(), ModuleError> {
    let url = Url::parse(&package.url).ok();
    match url.filter(|url| is_anonymous && url.scheme() != "https") {
        Some(url) => {
            let host = url.host_str().unwrap_or_default();
            Err(ModuleError::HostNotAllowed(host.to_owned()))
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_revision_is_one_name() {
        for (name, expected) in [
            ("v1.0-rc (1)", r#""v1.0-rc (1)""#),
            (r#"a"b\c"#, r#""a\"b\\c""#),
        ] {
            assert_eq!(quote(name), expected);
        }
        assert!(is_commit("0123456789abcdef0123456789abcdef01234567"));
        assert!(!is_commit("0123456789ab"));
    }
}
