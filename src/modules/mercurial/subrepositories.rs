//! Fetches each subrepository like a separate repository, within the limits that apply to the whole package.
//!
//! Mercurial would accept any address and protocol for subrepositories. tflock therefore fetches them itself. It reads `.hgsub`, which has
//! a line `PATH = SOURCE` for each subrepository, and `.hgsubstate`, which contains the commits.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Component, Path, PathBuf};

use crate::modules::address::mercurial_package;
use crate::modules::repository::{FetchLimits, MAX_SUBMODULES, RepositoryAccess};
use crate::modules::{ModuleError, ModuleLimit, RepositoryPackage, disk};

use super::{fetch_commit, is_commit};

const SOURCES: &str = ".hgsub";
const COMMITS: &str = ".hgsubstate";

/// The maximum size of `.hgsub` and of `.hgsubstate`, in bytes. It allows more than 2 KB for each of [`MAX_SUBMODULES`] subrepositories.
const MAX_FILE: u64 = 256 << 10;

/// A subrepository: its path in the containing repository, its source as written, and its commit.
#[derive(Debug, PartialEq, Eq)]
struct Subrepository {
    path: String,
    source: String,
    commit: String,
}

/// Fetches all subrepositories of `package`, including nested ones. The package is in the directory of `limits`.
pub(super) async fn fetch(
    access: RepositoryAccess<'_>,
    package: &RepositoryPackage,
    limits: FetchLimits<'_>,
) -> Result<(), ModuleError> {
    let mut count = 0;
    let mut waiting = vec![(package.clone(), limits.directory.to_path_buf())];
    while let Some((package, directory)) = waiting.pop() {
        for subrepository in read(&package, &directory)? {
            count += 1;
            if count > MAX_SUBMODULES {
                return Err(package.limit(ModuleLimit::Submodules(MAX_SUBMODULES)));
            }
            let failed = |error| in_subrepository(error, &package, &subrepository.path);
            let inner = inner_package(&package, &subrepository).map_err(failed)?;
            access.check_submodule(&package, &inner)?;
            let target = target_directory(&package, &directory, &subrepository.path)?;
            let fetched = fetch_commit(access, &inner, &target, limits).await;
            fetched.map_err(failed)?;
            waiting.push((inner, target));
        }
    }
    Ok(())
}

/// Returns the subrepositories in a directory that Mercurial has just written.
fn read(package: &RepositoryPackage, directory: &Path) -> Result<Vec<Subrepository>, ModuleError> {
    let read_file = |name: &str| {
        let path = directory.join(name);
        let metadata = fs::symlink_metadata(&path).ok();
        match metadata.filter(fs::Metadata::is_file) {
            Some(metadata) if metadata.len() > MAX_FILE => {
                Err(package.limit(ModuleLimit::Submodules(MAX_SUBMODULES)))
            }
            Some(_) => {
                let bytes = fs::read(&path).map_err(disk(&path))?;
                Ok(String::from_utf8_lossy(&bytes).into_owned())
            }
            None => Ok(String::new()),
        }
    };
    let (sources, commits) = (read_file(SOURCES)?, read_file(COMMITS)?);
    parse(&sources, &commits).ok_or_else(|| ModuleError::Subrepositories(package.address()))
}

/// Parses the content of `.hgsub` and of `.hgsubstate`. Returns `None` if they have a form that tflock does not support, such as rules that
/// rewrite paths.
fn parse(sources: &str, commits: &str) -> Option<Vec<Subrepository>> {
    let commits: BTreeMap<&str, &str> = commits
        .lines()
        .filter_map(|line| line.trim().split_once(' '))
        .map(|(commit, path)| (path, commit))
        .collect();
    let mut subrepositories = Vec::new();
    for line in sources.lines() {
        if line.trim().is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        let (path, source) = line.split_once('=')?;
        let (path, source) = (path.trim_end(), source.trim());
        let source = source.strip_prefix("[hg]").unwrap_or(source).trim();
        let is_other = line.starts_with([' ', '\t', '[', '%']) || source.starts_with('[');
        let commit = commits.get(path).filter(|commit| is_commit(commit))?;
        if is_other || source.is_empty() {
            return None;
        }
        subrepositories.push(Subrepository {
            path: path.to_owned(),
            source: source.to_owned(),
            commit: (*commit).to_owned(),
        });
    }
    Some(subrepositories)
}

/// Returns the package of a subrepository, whose source may be relative to the address of the containing repository.
fn inner_package(
    package: &RepositoryPackage,
    subrepository: &Subrepository,
) -> Result<RepositoryPackage, ModuleError> {
    let location = resolve_source(&package.url, &subrepository.source);
    let scheme = location.split("://").next().unwrap_or_default();
    let inner = mercurial_package(&location, &scheme.to_ascii_lowercase())?;
    if inner.is_local && !package.is_local {
        return Err(ModuleError::LocalSubrepository(inner.address()));
    }
    Ok(RepositoryPackage {
        reference: Some(subrepository.commit.clone()),
        ..inner
    })
}

/// Appends a relative source to the address of the containing repository, and resolves its `..`.
fn resolve_source(repository: &str, source: &str) -> String {
    if source.contains("://") {
        return source.to_owned();
    }
    if source.starts_with('/') {
        return format!("file://{source}");
    }
    let (scheme, rest) = repository.split_once("://").unwrap_or(("", repository));
    let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
    let mut parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    for part in source.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("{scheme}://{host}/{}", parts.join("/"))
}

/// Returns the directory of a subrepository, which does not exist, and creates its parents. Fails if its path leads out of the package
/// or through a symlink.
fn target_directory(
    package: &RepositoryPackage,
    directory: &Path,
    path: &str,
) -> Result<PathBuf, ModuleError> {
    let escapes = || ModuleError::Escapes {
        address: package.address(),
        path: path.to_owned(),
    };
    let mut target = directory.to_path_buf();
    for part in Path::new(path).components() {
        if target != directory {
            match fs::symlink_metadata(&target) {
                Ok(metadata) if metadata.is_dir() => {}
                Ok(_) => return Err(escapes()),
                Err(_missing) => fs::create_dir(&target).map_err(disk(&target))?,
            }
        }
        match part {
            Component::Normal(name) if name != ".hg" => target.push(name),
            _ => return Err(escapes()),
        }
    }
    match fs::symlink_metadata(&target) {
        Ok(_) => Err(escapes()),
        Err(_missing) => Ok(target),
    }
}

/// Adds the subrepository to an error.
fn in_subrepository(error: ModuleError, package: &RepositoryPackage, path: &str) -> ModuleError {
    ModuleError::Submodule {
        address: package.address(),
        path: path.to_owned(),
        source: Box::new(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_may_be_relative_to_the_repository() {
        for (repository, source, expected) in [
            ("https://h/o/r", "https://g/x", "https://g/x"),
            ("https://h/o/r", "../x", "https://h/o/x"),
            ("https://h/o/r/", "./lib/x", "https://h/o/r/lib/x"),
            ("ssh://hg@h:22/r", "../../x", "ssh://hg@h:22/x"),
            ("file:///srv/r", "s", "file:///srv/r/s"),
            ("file:///srv/r", "/srv/x", "file:///srv/x"),
        ] {
            let found = resolve_source(repository, source);
            assert_eq!(found, expected, "{repository} {source}");
        }
    }

    #[test]
    fn a_remote_repository_has_no_subrepository_on_this_machine() {
        let package = mercurial_package("https://h.test/all", "https").unwrap();
        let subrepository = Subrepository {
            path: "lib".to_owned(),
            source: "/srv/lib".to_owned(),
            commit: "0123456789abcdef0123456789abcdef01234567".to_owned(),
        };
        let error = inner_package(&package, &subrepository).err().unwrap();
        let expected = "a remote repository has a subrepository on this machine: `file:///srv/lib`";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn only_subrepositories_of_mercurial_are_supported() {
        const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";
        let state = format!("{COMMIT} a/b\n{COMMIT} c\n");
        let found = parse("# x\na/b = ../b\n\nc=[hg]https://h/c\n", &state).unwrap();
        let row = |subrepository: &Subrepository| {
            format!("{} {}", subrepository.path, subrepository.source)
        };
        let rows: Vec<String> = found.iter().map(row).collect();
        assert_eq!(rows, ["a/b ../b", "c https://h/c"]);
        for text in [
            "c = [git]https://h/c\n",
            "c = [svn]https://h/c\n",
            "c = ../c\n[subpaths]\nx = y\n",
            "%include x\n",
            "c = ../c\n continued\n",
            "missing = ../c\n",
            "c =\n",
        ] {
            assert_eq!(parse(text, &state), None, "{text}");
        }
    }
    #[cfg(unix)]
    #[test]
    fn subrepositories_are_written_to_new_directories_of_the_package() {
        let base = tempfile::tempdir().unwrap();
        let base = base.path().canonicalize().unwrap();
        let directory = base.join("package");
        fs::create_dir_all(directory.join("a")).unwrap();
        fs::create_dir_all(base.join("outside")).unwrap();
        std::os::unix::fs::symlink("../outside", directory.join("link")).unwrap();
        let package = mercurial_package("https://h/r", "https").unwrap();
        for (path, is_valid) in [
            ("a/new", true),
            ("b/c/new", true),
            ("a", false),
            ("link", false),
            ("link/x", false),
            ("link/x/y", false),
            ("../outside/x", false),
            ("a/.hg/x", false),
            ("/tmp/x", false),
        ] {
            let found = target_directory(&package, &directory, path);
            assert_eq!(found.is_ok(), is_valid, "{path}: {found:?}");
        }
        assert_eq!(base.join("outside").read_dir().unwrap().count(), 0);
    }
}
