//! Which files the content of a repository may name.
//!
//! A pull request from a stranger controls every name, link and path in its tree. [`open_regular`] never waits and never touches a
//! device. [`ReadAccess`] confines the paths that repository content names to the repository itself; [`confine`] does so with
//! the links of a path that the user names, and [`open_confined`] with a file that has a fixed name.

mod confine;

pub use confine::{LinkError, confine, leaves_repository, open_confined, resolve_link, tree_of};

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Directories whose files repository content cannot name: credentials and records that tools keep inside the work tree.
const INTERNAL: [&str; 2] = [".git", ".terraform"];

/// File systems whose files are not what they seem: devices, and what the kernel tells of processes.
const SPECIAL: [&str; 3] = ["/proc", "/sys", "/dev"];

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

/// What a run permits the files of a repository to have read.
#[derive(Clone, Debug, Default)]
pub struct ReadRules {
    /// What may be read outside of any repository: the working directory and the directories that the user named.
    pub named: Vec<PathBuf>,
    /// What `--allow-read` permits besides.
    pub allowed: Vec<PathBuf>,
    /// With `--untrusted`: which files of a repository may be read.
    pub listed: Option<FileList>,
}

impl ReadRules {
    /// What the root module in `directory`, a path without links, may have read: files of its repository.
    pub fn root_module(&self, directory: &Path) -> ReadAccess {
        let mut access = match find_repository(directory) {
            Some(top) => ReadAccess::below([top]),
            None => ReadAccess {
                bounds: Bounds::Directories,
                // The top of the file system is no place of work: everything lies below it.
                ..ReadAccess::below(self.named.iter().filter(|path| path.parent().is_some()))
            },
        };
        if access.bounds == Bounds::Directories {
            access.permit(directory);
        }
        access.allowed = ReadAccess::below(&self.allowed).roots;
        access.listed.clone_from(&self.listed);
        access
    }
}

/// Tells which files may be read, by paths without links.
#[derive(Clone)]
pub struct FileList(Arc<IsListed>);

type IsListed = dyn Fn(&Path) -> io::Result<bool> + Send + Sync;

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

/// The directories that repository content may have files read from.
#[derive(Clone, Debug, Default)]
pub struct ReadAccess {
    /// Without links.
    roots: Vec<PathBuf>,
    /// What the command line permits besides; without links.
    allowed: Vec<PathBuf>,
    /// Which files of `roots` may be read; `None`: all.
    listed: Option<FileList>,
    bounds: Bounds,
}

/// What the directories are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Bounds {
    /// A repository.
    #[default]
    Repository,
    /// A package of modules.
    Package,
    /// What the user named, outside of any repository.
    Directories,
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

    /// The access of a module in the package in `directory`, which was fetched or installed.
    pub fn of_package(&self, directory: &Path) -> Self {
        Self {
            allowed: self.allowed.clone(),
            bounds: Bounds::Package,
            ..Self::below([directory])
        }
    }

    /// The access of a local module that a module with this access calls. Outside of any repository its own directory is added.
    pub fn of_local_module(mut self, directory: &Path) -> Self {
        if self.bounds == Bounds::Directories {
            self.permit(directory);
        }
        self
    }

    /// Why [`AccessError::Outside`], in words that fit what is permitted.
    pub const fn outside(&self) -> &'static str {
        match self.bounds {
            Bounds::Repository => "it is outside of the repository",
            Bounds::Package => "it is outside of the module's package",
            Bounds::Directories => "it is outside of the directories that this run works on",
        }
    }

    /// Whether `path`, which is absolute and without `..`, names a place in a permitted directory, whatever its links say.
    pub fn names(&self, path: &Path) -> bool {
        let mut all = self.roots.iter().chain(&self.allowed);
        all.any(|root| path.starts_with(root))
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
        Ok(open_regular(&self.locate(path)?)?)
    }

    /// Resolves every link of the path of a file that may be read.
    pub fn locate(&self, path: &Path) -> Result<PathBuf, AccessError> {
        let real = self.resolve(path)?;
        if let Some(listed) = &self.listed
            && below_outermost(&self.allowed, &real).is_none()
            && !(listed.0)(&real)?
        {
            return Err(AccessError::Untracked);
        }
        Ok(real)
    }

    /// Whether `real`, a path without links, is inside a permitted directory.
    fn check(&self, real: &Path) -> Result<(), AccessError> {
        let relative = below_outermost(&self.roots, real);
        let relative = relative.or_else(|| below_outermost(&self.allowed, real));
        let relative = relative.ok_or(AccessError::Outside)?;
        let internal = relative.components().find_map(internal);
        internal.map_or(Ok(()), |name| Err(AccessError::Internal(name)))
    }
}

/// `real` relative to the outermost of the directories that hold it: with the most components that could be internal.
fn below_outermost<'a>(directories: &[PathBuf], real: &'a Path) -> Option<&'a Path> {
    let holds = |directory: &&PathBuf| is_special(directory) || !is_special(real);
    let relative = directories.iter().filter(holds);
    let relative = relative.filter_map(|directory| real.strip_prefix(directory).ok());
    relative.max_by_key(|relative| relative.components().count())
}

fn is_special(real: &Path) -> bool {
    SPECIAL.iter().any(|special| real.starts_with(special))
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
    Ok(open_checked(path, Links::Follow)?.0)
}

/// Opens a regular file whose name a directory listing gave, and says how long it is. It is as [`open_regular`], and cheaper
/// where the name is no link: a working tree has links to devices, and no devices.
pub fn open_listed(path: &Path) -> io::Result<(File, u64)> {
    match open_checked(path, Links::Refuse) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => open_checked(path, Links::Follow),
        opened => opened,
    }
}

/// Whether a link is opened.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Links {
    Follow,
    Refuse,
}

/// Opens what should be a regular file. Links are looked up before anything is opened: they may lead to a device. Another file
/// may take the name meanwhile: it is not waited for.
fn open_checked(path: &Path, links: Links) -> io::Result<(File, u64)> {
    match links {
        Links::Follow => check_regular(&fs::metadata(path)?)?,
        Links::Refuse if cfg!(unix) => {}
        Links::Refuse => check_regular(&fs::symlink_metadata(path)?)?,
    }
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
    let metadata = file.metadata()?;
    check_regular(&metadata)?;
    Ok((file, metadata.len()))
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
    fn a_list_limits_what_the_command_line_does_not_permit() {
        let (_tree, base) = tree();
        fs::write(base.join("repository/listed"), "").unwrap();
        let rules = ReadRules {
            named: Vec::new(),
            allowed: vec![base.join("outside")],
            listed: Some(FileList::new(|path| Ok(path.ends_with("listed")))),
        };
        let access = rules.root_module(&base.join("repository"));
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
        let package = access.of_package(&base.join("repository/a"));
        fs::write(base.join("repository/a/y"), "").unwrap();
        assert!(package.open(&base.join("repository/a/y")).is_ok());
    }

    #[test]
    fn a_root_module_reads_its_repository_or_what_the_user_named() {
        let (_tree, base) = tree();
        fs::create_dir_all(base.join("lone/sub")).unwrap();
        fs::write(base.join("lone/x"), "").unwrap();
        let rules = |named: &[&str], allowed: &[&str]| ReadRules {
            named: named.iter().map(|name| base.join(name)).collect(),
            allowed: allowed.iter().map(|name| base.join(name)).collect(),
            listed: None,
        };
        let nothing = rules(&[], &[]);
        let outside = rules(&["outside", "/"], &[]);
        let allowed = rules(&[], &["outside", "repository/.git"]);
        for (rules, root, file, is_read) in [
            (&nothing, "repository/a", "repository/x", true),
            (&nothing, "repository/a", "outside/secret", false),
            // Names count outside of repositories only.
            (&outside, "repository/a", "outside/secret", false),
            (&outside, "lone/sub", "outside/secret", true),
            (&outside, "lone", "lone/x", true),
            (&outside, "lone/sub", "lone/x", false),
            (&allowed, "repository/a", "outside/secret", true),
            (&allowed, "repository/a", "repository/.git/config", false),
        ] {
            let access = rules.root_module(&base.join(root));
            let opened = access.open(&base.join(file));
            assert_eq!(opened.is_ok(), is_read, "{rules:?} {root} {file}");
        }
    }

    #[test]
    fn packages_and_local_modules_have_bounds_of_their_own() {
        let (_tree, base) = tree();
        let rules = ReadRules {
            allowed: vec![base.join("outside")],
            ..ReadRules::default()
        };
        let repository = rules.root_module(&base.join("repository"));
        let package = repository.of_package(&base.join("repository/a/.terraform"));
        assert!(
            package
                .open(&base.join("repository/a/.terraform/x"))
                .is_ok()
        );
        assert!(package.open(&base.join("repository/x")).is_err());
        assert!(package.open(&base.join("outside/secret")).is_ok());
        let local = ReadRules::default().root_module(&base.join("repository"));
        let local = local.of_local_module(&base.join("outside"));
        assert!(local.open(&base.join("outside/secret")).is_err());
        let lone = ReadRules::default().root_module(&base.join("outside"));
        let lone = lone.of_local_module(&base.join("repository"));
        assert!(lone.open(&base.join("repository/x")).is_ok());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn special_file_systems_are_in_no_directory() {
        let everything = ReadAccess::below(["/"]);
        for path in ["/proc/self/environ", "/dev/null", "/sys/kernel/mm"] {
            let resolved = everything.resolve(Path::new(path));
            assert!(matches!(resolved, Err(AccessError::Outside)), "{path}");
        }
        assert!(everything.resolve(Path::new("/etc")).is_ok());
    }

    #[cfg(unix)]
    #[test]
    fn links_that_lead_out_of_the_repository() {
        let (_tree, base) = tree();
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, base.join(name)).unwrap();
        };
        fs::create_dir_all(base.join("other/.git")).unwrap();
        fs::write(base.join("other/x"), "").unwrap();
        link("x", "repository/inside");
        link("../outside/secret", "repository/leaving");
        link("../outside", "repository/directory");
        link("../other", "repository/other");
        link("nowhere", "repository/dangling");
        link("repository", "way");
        for (path, leaves) in [
            ("repository/x", false),
            ("repository/inside", false),
            ("repository/leaving", true),
            ("repository/directory/secret", true),
            ("repository/other/x", true),
            ("repository/dangling", false),
            ("repository/missing", false),
            // A link above the top is no part of the repository.
            ("way/x", false),
            ("way/leaving", true),
            ("outside/secret", false),
        ] {
            assert_eq!(leaves_repository(&base.join(path)), leaves, "{path}");
        }
        link("../repository/x", "outside/link");
        assert!(leaves_repository(&base.join("outside/link")));
    }

    #[cfg(unix)]
    #[test]
    fn listed_files_are_opened_as_others_are() {
        let (_tree, base) = tree();
        std::os::unix::fs::symlink("x", base.join("repository/link")).unwrap();
        std::os::unix::fs::symlink("/dev/zero", base.join("repository/zero")).unwrap();
        for (name, expected) in [
            ("x", "ok"),
            ("link", "ok"),
            ("zero", "it is not a regular file"),
            ("a", "it is not a regular file"),
            ("missing", "No such file or directory (os error 2)"),
        ] {
            let opened = open_listed(&base.join("repository").join(name));
            let opened = opened.map_or_else(|error| error.to_string(), |_| "ok".to_owned());
            assert_eq!(opened, expected, "{name}");
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
