//! Confines the paths that configuration contains.

use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::read_rules::{FileList, ReadRules};
use super::{find_repository, open_regular};

/// Directories inside the work tree that configuration cannot read: tools store credentials and metadata there.
const INTERNAL: [&str; 2] = [".git", ".terraform"];

/// File systems whose files are devices or describe processes and the kernel. They can block, or expose secrets.
const SPECIAL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// The most links in a chain, as on Linux.
const MAX_LINKS: usize = 40;

/// Why the configuration may not read a file.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// The path, with all links resolved, is outside the permitted directories. Whether the file exists is not revealed.
    #[error("it is outside of the repository")]
    Outside,
    /// With `--untrusted`: git does not track the file. It may belong to another program and contain secrets.
    #[error("git does not track it, and this run is `--untrusted`")]
    Untracked,
    /// The path is inside `.git` or `.terraform`.
    #[error("files in `{0}` cannot be read by the configuration")]
    Internal(&'static str),
    /// The file is missing, unreadable, or not a regular file.
    #[error(transparent)]
    Read(#[from] io::Error),
}

/// The directories whose files a module may read.
#[derive(Clone, Debug, Default)]
pub struct ReadAccess {
    /// Paths without links.
    roots: Vec<PathBuf>,
    /// What the command line permits in addition, as paths without links.
    allowed: Vec<PathBuf>,
    /// Which files below `roots` may be read; `None` permits all of them.
    listed: Option<FileList>,
    scope: AccessScope,
}

/// What the permitted directories are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AccessScope {
    #[default]
    Repository,
    ModulePackage,
    /// Directories that the user named, outside of any repository.
    NamedDirectories,
}

impl ReadAccess {
    /// Permits everything below `directories`. Missing directories are ignored.
    pub fn below<P: AsRef<Path>>(directories: impl IntoIterator<Item = P>) -> Self {
        let mut access = Self::default();
        for directory in directories {
            access.permit(directory.as_ref());
        }
        access
    }

    /// The access of the root module in `directory`, a path without links: to the files of its repository.
    pub fn for_root_module(rules: &ReadRules, directory: &Path) -> Self {
        let mut access = if let Some(top) = find_repository(directory) {
            Self::below([top])
        } else {
            // The root of the file system is ignored: it would permit every file.
            let named = rules.named.iter().filter(|path| path.parent().is_some());
            let mut access = Self::below(named);
            access.scope = AccessScope::NamedDirectories;
            access.permit(directory);
            access
        };
        access.allowed = Self::below(&rules.allowed).roots;
        access.listed.clone_from(&rules.listed);
        access
    }

    /// The access of a module in the fetched or installed package in `directory`.
    pub fn for_package(&self, directory: &Path) -> Self {
        Self {
            allowed: self.allowed.clone(),
            scope: AccessScope::ModulePackage,
            ..Self::below([directory])
        }
    }

    /// The access of a local module in `directory` that a module with this access calls. Outside of any repository it includes
    /// that directory.
    pub fn for_local_module(mut self, directory: &Path) -> Self {
        if self.scope == AccessScope::NamedDirectories {
            self.permit(directory);
        }
        self
    }

    /// Permits everything below `directory`, if it exists.
    pub fn permit(&mut self, directory: &Path) {
        if let Ok(real) = fs::canonicalize(directory)
            && !self.roots.contains(&real)
        {
            self.roots.push(real);
        }
    }

    /// The message for [`AccessError::Outside`] that names what is permitted.
    pub const fn outside_message(&self) -> &'static str {
        match self.scope {
            AccessScope::Repository => "it is outside of the repository",
            AccessScope::ModulePackage => "it is outside of the module's package",
            AccessScope::NamedDirectories => {
                "it is outside of the directories that this run works on"
            }
        }
    }

    /// Whether `path` (absolute, without `..`) is below a permitted directory before its links are resolved.
    pub fn contains_unresolved(&self, path: &Path) -> bool {
        let mut permitted = self.roots.iter().chain(&self.allowed);
        permitted.any(|root| path.starts_with(root))
    }

    /// Resolves every link of `path`. The file may be missing.
    ///
    /// # Errors
    /// [`AccessError::Outside`] takes precedence over all other errors, so that nothing is revealed about files elsewhere.
    pub fn resolve(&self, path: &Path) -> Result<PathBuf, AccessError> {
        self.resolve_links(path, MAX_LINKS)
    }

    fn resolve_links(&self, path: &Path, links_left: usize) -> Result<PathBuf, AccessError> {
        let error = match fs::canonicalize(path) {
            Ok(real) => return self.check(&real).map(|()| real),
            Err(error) => error,
        };
        let existing = path
            .ancestors()
            .find(|ancestor| fs::symlink_metadata(ancestor).is_ok())
            .ok_or(AccessError::Outside)?;
        match (fs::read_link(existing), links_left.checked_sub(1)) {
            // The target of a dangling link must be inside, too.
            (Ok(target), Some(links_left)) => {
                let directory = existing.parent().unwrap_or(existing);
                self.resolve_links(&directory.join(target), links_left)?;
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
            && relative_to_outermost(&self.allowed, &real).is_none()
            && !listed.contains(&real)?
        {
            return Err(AccessError::Untracked);
        }
        Ok(real)
    }

    /// Checks that `real`, a path without links, is inside a permitted directory and not in an internal one.
    fn check(&self, real: &Path) -> Result<(), AccessError> {
        let relative = relative_to_outermost(&self.roots, real)
            .or_else(|| relative_to_outermost(&self.allowed, real))
            .ok_or(AccessError::Outside)?;
        let internal = relative.components().find_map(internal_directory);
        internal.map_or(Ok(()), |name| Err(AccessError::Internal(name)))
    }
}

/// `real` relative to the outermost of the directories that contain it. That path has the most components, so an internal
/// directory between two permitted ones is found.
fn relative_to_outermost<'a>(directories: &[PathBuf], real: &'a Path) -> Option<&'a Path> {
    directories
        .iter()
        .filter(|directory| is_special(directory) || !is_special(real))
        .filter_map(|directory| real.strip_prefix(directory).ok())
        .max_by_key(|relative| relative.components().count())
}

fn is_special(real: &Path) -> bool {
    SPECIAL.iter().any(|special| real.starts_with(special))
}

/// Ignores case: on some file systems `.GIT` is the same directory.
fn internal_directory(part: Component<'_>) -> Option<&'static str> {
    let part = part.as_os_str().to_str()?;
    INTERNAL
        .into_iter()
        .find(|name| name.eq_ignore_ascii_case(part))
}
