//! Which files the content of a repository may name.
//!
//! A pull request from a stranger controls every name, link and path in its tree. [`open_regular`] never waits and never touches a
//! device. [`ReadAccess`] confines the paths that repository content names to the repository itself; [`confine`] does so with
//! the links of a path that the user names, and [`open_confined`] with a file that has a fixed name.

mod confine;

pub use confine::{LinkError, confine, open_confined, resolve_link};

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Directories whose files repository content cannot name: credentials and records that tools keep inside the work tree.
const INTERNAL: [&str; 2] = [".git", ".terraform"];

/// The most links in a row, as on Linux.
const MAX_LINKS: usize = 40;

/// Why repository content may not have a file read.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// The path, with all links resolved, is in none of the permitted directories. Whether the file exists is not revealed.
    #[error("it is outside of the repository")]
    Outside,
    /// With `--untrusted`: git does not track the file, so it may be another program's, with secrets in it.
    #[error("git does not track it, and this run is `--untrusted`")]
    Untracked,
    /// The path is inside `.git` or `.terraform`.
    #[error("files in `{0}` cannot be read by the configuration")]
    Internal(&'static str),
    /// The file is missing, unreadable, or not a regular file.
    #[error(transparent)]
    Read(#[from] io::Error),
}

/// The directories that repository content may have files read from.
#[derive(Clone, Debug, Default)]
pub struct ReadAccess {
    /// Without links.
    roots: Vec<PathBuf>,
    /// Which files of the first directory may be read; `None`: all.
    listed: Option<FileList>,
}

/// Tells which files may be read, by paths without links.
#[derive(Clone)]
pub struct FileList(Arc<dyn Fn(&Path) -> io::Result<bool> + Send + Sync>);

impl FileList {
    /// A list that `has` answers for.
    pub fn new(has: impl Fn(&Path) -> io::Result<bool> + Send + Sync + 'static) -> Self {
        Self(Arc::new(has))
    }
}

impl fmt::Debug for FileList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileList")
    }
}

impl ReadAccess {
    /// Access to everything below `directories`. Directories that do not exist are left out.
    pub fn below<P: AsRef<Path>>(directories: impl IntoIterator<Item = P>) -> Self {
        let mut access = Self::default();
        for directory in directories {
            access.permit(directory.as_ref());
        }
        access
    }

    /// Adds everything below `directory`, if it exists.
    pub fn permit(&mut self, directory: &Path) {
        if let Ok(real) = fs::canonicalize(directory)
            && !self.roots.contains(&real)
        {
            self.roots.push(real);
        }
    }

    /// Limits the first directory to the files of a list. Directories that are permitted later are not limited.
    pub fn limit_to(&mut self, listed: FileList) {
        self.listed = Some(listed);
    }

    /// Resolves every link of `path`, which may name a file that does not exist.
    ///
    /// # Errors
    /// [`AccessError::Outside`] comes before any other error, so that nothing is revealed about files elsewhere.
    pub fn resolve(&self, path: &Path) -> Result<PathBuf, AccessError> {
        self.resolve_link(path, MAX_LINKS)
    }

    fn resolve_link(&self, path: &Path, links: usize) -> Result<PathBuf, AccessError> {
        let error = match fs::canonicalize(path) {
            Ok(real) => return self.check(&real).map(|()| real),
            Err(error) => error,
        };
        let is_there = |path: &&Path| fs::symlink_metadata(path).is_ok();
        let existing = path
            .ancestors()
            .find(is_there)
            .ok_or(AccessError::Outside)?;
        match (fs::read_link(existing), links.checked_sub(1)) {
            // A link that leads nowhere: where it would lead decides.
            (Ok(target), Some(links)) => {
                let directory = existing.parent().unwrap_or(existing);
                self.resolve_link(&directory.join(target), links)?;
            }
            (Ok(_), None) => return Err(AccessError::Outside),
            (Err(_not_a_link), _) => {
                let real =
                    fs::canonicalize(existing).map_err(|_unreadable| AccessError::Outside)?;
                self.check(&real)?;
            }
        }
        Err(error.into())
    }

    /// Opens a regular file.
    pub fn open(&self, path: &Path) -> Result<File, AccessError> {
        let real = self.resolve(path)?;
        if let Some(listed) = &self.listed
            && self.is_in_first_only(&real)
            && !(listed.0)(&real)?
        {
            return Err(AccessError::Untracked);
        }
        Ok(open_regular(&real)?)
    }

    fn is_in_first_only(&self, real: &Path) -> bool {
        let mut others = self.roots.iter().skip(1);
        !others.any(|root| real.starts_with(root))
    }

    /// Whether `real`, a path without links, is inside a permitted directory.
    fn check(&self, real: &Path) -> Result<(), AccessError> {
        let mut relative = self
            .roots
            .iter()
            .filter_map(|root| real.strip_prefix(root).ok());
        // The shortest of several is the one with the most components that could be internal.
        let relative = relative.next().map(|first| relative.fold(first, longer));
        let relative = relative.ok_or(AccessError::Outside)?;
        let internal = relative.components().find_map(internal);
        internal.map_or(Ok(()), |name| Err(AccessError::Internal(name)))
    }
}

fn longer<'a>(first: &'a Path, second: &'a Path) -> &'a Path {
    if second.components().count() > first.components().count() {
        second
    } else {
        first
    }
}

/// File systems that ignore case reach the same directory by `.GIT`.
fn internal(part: Component<'_>) -> Option<&'static str> {
    let part = part.as_os_str().to_str()?;
    INTERNAL
        .into_iter()
        .find(|name| name.eq_ignore_ascii_case(part))
}

/// Opens a regular file for reading. Other files are never opened: a pipe would wait, and opening a device can have effects.
pub fn open_regular(path: &Path) -> io::Result<File> {
    check_regular(&fs::metadata(path)?)?;
    open_checked(path, Links::Follow)
}

/// Whether a link is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Follow,
    Refuse,
}

/// Opens what has just been seen to be a regular file. Another one may have taken the name since: it is not waited for.
fn open_checked(path: &Path, links: Links) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        flags.set(OFlags::NOFOLLOW, links == Links::Refuse);
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    check_regular(&file.metadata()?)?;
    Ok(file)
}

fn check_regular(metadata: &fs::Metadata) -> io::Result<()> {
    if metadata.is_file() {
        Ok(())
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}

/// The top of the repository that holds `directory` (absolute): its nearest ancestor with a `.git`. `None` outside of any
/// repository.
pub fn find_repository(directory: &Path) -> Option<&Path> {
    directory
        .ancestors()
        .find(|ancestor| ancestor.join(".git").exists())
}

/// The top of the repository that holds `directory` (absolute), or `directory` itself outside of any repository.
pub fn repository_root(directory: &Path) -> PathBuf {
    find_repository(directory)
        .unwrap_or(directory)
        .to_path_buf()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `repository/` with a file, a `.git`, links inside and outside; `outside/secret` beside it.
    fn tree() -> (tempfile::TempDir, PathBuf) {
        let tree = tempfile::tempdir().unwrap();
        let base = tree.path().canonicalize().unwrap();
        for directory in ["repository/.git", "repository/a/.terraform", "outside"] {
            fs::create_dir_all(base.join(directory)).unwrap();
        }
        for file in [
            "repository/x",
            "repository/.git/config",
            "repository/a/.terraform/x",
            "outside/secret",
        ] {
            fs::write(base.join(file), file).unwrap();
        }
        (tree, base)
    }

    #[cfg(unix)]
    #[test]
    fn paths_are_confined_after_links_are_resolved() {
        let (_tree, base) = tree();
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, base.join("repository").join(name)).unwrap();
        };
        link("x", "inside");
        link("../outside/secret", "leaving");
        link("../outside", "leaving-directory");
        link(".git", "hidden");
        link("/proc/self", "process");
        link("../outside/missing", "leaving-nowhere");
        link("missing", "dangling");
        link("loop", "loop");
        let access = ReadAccess::below([base.join("repository")]);
        for (path, expected) in [
            ("x", "ok"),
            ("inside", "ok"),
            ("a/../x", "ok"),
            ("leaving", "it is outside of the repository"),
            (
                "leaving-directory/secret",
                "it is outside of the repository",
            ),
            (
                "leaving-directory/missing",
                "it is outside of the repository",
            ),
            ("../outside/secret", "it is outside of the repository"),
            ("../outside/missing", "it is outside of the repository"),
            ("/etc/passwd", "it is outside of the repository"),
            ("/nowhere/at/all", "it is outside of the repository"),
            ("process/environ", "it is outside of the repository"),
            (
                ".git/config",
                "files in `.git` cannot be read by the configuration",
            ),
            (
                "hidden/config",
                "files in `.git` cannot be read by the configuration",
            ),
            (
                ".git/missing",
                "files in `.git` cannot be read by the configuration",
            ),
            (
                "a/.terraform/x",
                "files in `.terraform` cannot be read by the configuration",
            ),
            ("a", "it is not a regular file"),
            ("missing", "No such file or directory (os error 2)"),
            ("dangling", "No such file or directory (os error 2)"),
            ("leaving-nowhere", "it is outside of the repository"),
            ("leaving-nowhere/x", "it is outside of the repository"),
            ("loop", "it is outside of the repository"),
        ] {
            let found = access.open(&base.join("repository").join(path));
            let found = found.map_or_else(|error| error.to_string(), |_| "ok".to_owned());
            assert_eq!(found, expected, "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn special_files_are_never_opened() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        let status = std::process::Command::new("mkfifo").arg(&pipe).status();
        assert!(status.unwrap().success());
        for path in [&pipe, Path::new("/dev/ptmx"), Path::new("/dev/zero")] {
            let error = open_regular(path).unwrap_err();
            assert_eq!(
                error.to_string(),
                "it is not a regular file",
                "{}",
                path.display()
            );
        }
    }

    #[test]
    fn access_to_a_nested_directory_does_not_hide_internal_ones() {
        let (_tree, base) = tree();
        let mut access = ReadAccess::below([base.join("repository/a")]);
        access.permit(&base.join("repository"));
        assert!(matches!(
            access.open(&base.join("repository/.git/config")),
            Err(AccessError::Internal(".git"))
        ));
        assert!(access.open(&base.join("repository/x")).is_ok());
    }

    #[test]
    fn a_list_limits_the_first_directory_only() {
        let (_tree, base) = tree();
        let mut access = ReadAccess::below([base.join("repository")]);
        access.limit_to(FileList::new(|path| Ok(path.ends_with("listed"))));
        access.permit(&base.join("outside"));
        fs::write(base.join("repository/listed"), "").unwrap();
        for (path, expected) in [
            ("repository/listed", "ok"),
            (
                "repository/x",
                "git does not track it, and this run is `--untrusted`",
            ),
            ("outside/secret", "ok"),
        ] {
            let found = access.open(&base.join(path));
            let found = found.map_or_else(|error| error.to_string(), |_| "ok".to_owned());
            assert_eq!(found, expected, "{path}");
        }
    }

    #[test]
    fn the_nearest_repository_counts() {
        let (_tree, base) = tree();
        assert_eq!(
            find_repository(&base.join("repository/a")),
            Some(&*base.join("repository"))
        );
        assert_eq!(find_repository(&base.join("outside")), None);
        assert_eq!(repository_root(&base.join("outside")), base.join("outside"));
    }
}
