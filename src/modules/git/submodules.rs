//! Fetches each submodule like a separate repository, within the limits that apply to the whole package.
//!
//! `git submodule` is not used, because it checks out nested submodules before their size is known, and because it is a shell script
//! that runs in the directories that it has just written.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::git::{GitTarget, parse_path};
use crate::modules::repository::{FetchLimits, MAX_SUBMODULES, RepositoryAccess};
use crate::modules::{ModuleError, ModuleLimit, RepositoryPackage, VersionControl};
use crate::redacted_url::RedactedUrl;

use super::runner::GitRunner;
use super::tree_listing::Gitlink;
use super::{FetchedCommit, RepositoryFetch, is_commit};

const FILE: &str = ".gitmodules";

/// Fetches all submodules of `package`, including nested ones. `fetched` is the commit of the package in the directory of `limits`.
pub(super) async fn fetch(
    access: RepositoryAccess<'_>,
    package: &RepositoryPackage,
    fetched: FetchedCommit,
    limits: FetchLimits<'_>,
) -> Result<(), ModuleError> {
    let mut count = 0;
    let mut waiting = vec![(package.clone(), limits.directory.to_path_buf(), fetched)];
    while let Some((package, directory, fetched)) = waiting.pop() {
        let settings = access.git_for(&package.url);
        let git = GitRunner {
            settings: &settings,
            package: &package,
            limits,
        };
        for (gitlink, url) in configured_submodules(&git, &directory, fetched).await? {
            count += 1;
            if count > MAX_SUBMODULES {
                return Err(ModuleError::Limit {
                    address: RedactedUrl::parse(&package.url),
                    limit: ModuleLimit::Submodules(MAX_SUBMODULES),
                });
            }
            let inner = RepositoryPackage {
                program: VersionControl::Git,
                url,
                reference: Some(gitlink.commit.clone()),
                is_local: package.is_local,
            };
            access.check_submodule(&package, &inner)?;
            let target = target_directory(&package, &directory, &gitlink)?;
            let settings = access.git_for(&inner.url);
            let git = GitRunner {
                settings: &settings,
                package: &inner,
                limits,
            };
            let fetched = RepositoryFetch::new(git, &target).fetch().await;
            let fetched = fetched.map_err(|error| in_submodule(error, &package, &gitlink))?;
            waiting.push((inner, target, fetched));
        }
    }
    Ok(())
}

/// Adds the submodule to a failure of git.
fn in_submodule(error: ModuleError, package: &RepositoryPackage, gitlink: &Gitlink) -> ModuleError {
    let is_git = matches!(
        error,
        ModuleError::Git { .. }
            | ModuleError::RepositoryTimeout { .. }
            | ModuleError::ShallowRepository { .. }
    );
    if !is_git {
        return error;
    }
    ModuleError::Submodule {
        address: RedactedUrl::parse(&package.url),
        path: String::from_utf8_lossy(&gitlink.path).into_owned(),
        source: Box::new(error),
    }
}

/// Returns the submodules of a commit and their addresses, except those that `.gitmodules` excludes.
async fn configured_submodules(
    git: &GitRunner<'_>,
    directory: &Path,
    fetched: FetchedCommit,
) -> Result<Vec<(Gitlink, String)>, ModuleError> {
    let package = git.package;
    let file = directory.join(FILE);
    let is_file = fs::symlink_metadata(&file).is_ok_and(|metadata| metadata.is_file());
    if fetched.submodules.is_empty() || !is_file {
        return Ok(Vec::new());
    }
    let option = format!("--file={}", file.display());
    let list = ["config", "-z", "--no-includes", &option, "--list"];
    let listed = git.run(GitTarget::NoRepository, &list, &[]).await?;
    let by_path = parse_submodules(&listed);
    let mut configured = Vec::new();
    for gitlink in fetched.submodules {
        let path = String::from_utf8_lossy(&gitlink.path).into_owned();
        let submodule = by_path.get(&path);
        if submodule.is_some_and(|submodule| submodule.is_skipped) {
            continue;
        }
        let url = submodule.and_then(|submodule| submodule.url.as_deref());
        match url.filter(|_| is_commit(&gitlink.commit)) {
            Some(url) => configured.push((gitlink, resolve_address(&package.url, url))),
            None => {
                return Err(ModuleError::NoSubmoduleAddress {
                    address: RedactedUrl::parse(&package.url),
                    path,
                });
            }
        }
    }
    Ok(configured)
}

/// Returns the empty directory that git created for a submodule. Fails if its path contains a symlink, as in a crafted repository.
fn target_directory(
    package: &RepositoryPackage,
    directory: &Path,
    gitlink: &Gitlink,
) -> Result<PathBuf, ModuleError> {
    let target = directory.join(parse_path(&gitlink.path));
    let is_itself = fs::canonicalize(&target).is_ok_and(|real| real == target);
    let is_empty = || fs::read_dir(&target).is_ok_and(|mut entries| entries.next().is_none());
    if is_itself && is_empty() {
        return Ok(target);
    }
    Err(ModuleError::Escapes {
        address: RedactedUrl::parse(&package.url),
        path: String::from_utf8_lossy(&gitlink.path).into_owned(),
    })
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Submodule {
    path: String,
    url: Option<String>,
    /// Whether the submodule is excluded with `update = none`.
    is_skipped: bool,
}

/// Parses `submodule.NAME.SETTING<LF>VALUE` records, each terminated by NUL, into submodules by path.
fn parse_submodules(listed: &str) -> BTreeMap<String, Submodule> {
    let mut by_name: BTreeMap<&str, Submodule> = BTreeMap::new();
    for record in listed.split('\0') {
        let Some((key, value)) = record.split_once('\n') else {
            continue;
        };
        let key = key.strip_prefix("submodule.");
        let Some((name, setting)) = key.and_then(|key| key.rsplit_once('.')) else {
            continue;
        };
        let submodule = by_name.entry(name).or_default();
        match setting {
            "path" => value.trim_end_matches('/').clone_into(&mut submodule.path),
            "url" => submodule.url = Some(value.to_owned()),
            "update" => submodule.is_skipped = value == "none",
            _ => {}
        }
    }
    by_name
        .into_values()
        .map(|submodule| (submodule.path.clone(), submodule))
        .collect()
}

/// Resolves the address of a submodule, which may be relative to the address of the containing repository.
fn resolve_address(repository: &str, url: &str) -> String {
    let mut base = repository.trim_end_matches('/');
    let mut rest = url;
    loop {
        if let Some(inner) = rest.strip_prefix("./") {
            rest = inner;
        } else if let Some(above) = rest.strip_prefix("../") {
            let end = base.rfind('/').or_else(|| base.rfind(':'));
            (base, rest) = (&base[..end.unwrap_or(0)], above);
        } else if rest == url {
            return url.to_owned();
        } else {
            return format!("{base}/{}", rest.trim_end_matches('/'));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_may_be_relative_to_the_repository() {
        for (repository, url, expected) in [
            ("https://h/o/r.git", "https://h/x", "https://h/x"),
            ("https://h/o/r.git", "../x.git", "https://h/o/x.git"),
            ("https://h/o/r.git/", "../../p/x/", "https://h/p/x"),
            ("https://h/o/r.git", "./x", "https://h/o/r.git/x"),
            ("ssh://git@h/o/r", "../x", "ssh://git@h/o/x"),
            ("git@h:o/r", "../x", "git@h:o/x"),
            ("https://h/o/r", "git@h:o/x", "git@h:o/x"),
        ] {
            assert_eq!(
                resolve_address(repository, url),
                expected,
                "{repository} {url}"
            );
        }
    }

    #[test]
    fn submodules_are_found_by_path() {
        let listed = "submodule.a.b.path\nx/\0submodule.a.b.url\n../x\0submodule.n.path\nn\0submodule.n.update\nnone\0submodule.n.branch\nx\0core.bare\ntrue\0\
                      submodule.bare.url\0";
        let x = Submodule {
            path: "x".to_owned(),
            url: Some("../x".to_owned()),
            is_skipped: false,
        };
        let n = Submodule {
            path: "n".to_owned(),
            url: None,
            is_skipped: true,
        };
        let expected = BTreeMap::from([("x".to_owned(), x), ("n".to_owned(), n)]);
        assert_eq!(parse_submodules(listed), expected);
    }

    #[cfg(unix)]
    #[test]
    fn submodules_are_written_to_empty_directories_of_the_package() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        let directory = base.join("package");
        fs::create_dir_all(directory.join("a/empty")).unwrap();
        fs::create_dir_all(base.join("outside/empty")).unwrap();
        std::os::unix::fs::symlink("../outside", directory.join("link")).unwrap();
        let package = RepositoryPackage {
            program: VersionControl::Git,
            url: "https://h/r".to_owned(),
            reference: None,
            is_local: false,
        };
        for (path, is_valid) in [
            ("a/empty", true),
            ("a", false),
            ("missing", false),
            ("link", false),
            ("link/empty", false),
            ("../outside/empty", false),
            ("a/../a/empty", false),
        ] {
            let gitlink = Gitlink {
                path: path.into(),
                commit: String::new(),
            };
            let found = target_directory(&package, &directory, &gitlink);
            assert_eq!(found.is_ok(), is_valid, "{path}: {found:?}");
        }
    }
}
