//! Confines the paths in a configuration.

use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};

use super::read_rules::{FileList, ReadRules};
use super::{find_repository, open_regular};

/// Directories inside the work tree that the configuration may not read: tools store credentials and metadata there.
const INTERNAL: [&str; 2] = [".git", ".terraform"];

/// File systems whose files are devices or describe processes and the kernel. Reading them can block or expose secrets.
const SPECIAL: [&str; 3] = ["/proc", "/sys", "/dev"];

/// The maximum number of symlinks in a chain, as on Linux.
const MAX_LINKS: usize = 40;

/// The reason why the configuration may not read a file.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// The path, with all symlinks resolved, is outside the permitted directories. Whether the file exists is not revealed.
    #[error("it is outside of the repository")]
    Outside,
    /// With `--untrusted`: git does not track the file. It may belong to another program and contain secrets.
    #[error("git does not track it, and `--untrusted` allows only tracked files")]
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
    /// The permitted directories, without symlinks in their paths.
    roots: Vec<PathBuf>,
    /// The paths that the command line permits in addition, without symlinks.
    allowed: Vec<PathBuf>,
    /// The files below `roots` that may be read. `None` permits all of them.
    listed: Option<FileList>,
    scope: AccessScope,
}

/// The kind of the permitted directories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum AccessScope {
    #[default]
    Repository,
    ModulePackage,
    /// Directories that the user named, outside any repository.
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

    /// Creates the access rules for the root module in `directory`, a path without symlinks. The module may read the files of
    /// its repository.
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

    /// Returns the access rules for a module in the fetched or installed package in `directory`.
    pub fn for_package(&self, directory: &Path) -> Self {
        Self {
            allowed: self.allowed.clone(),
            scope: AccessScope::ModulePackage,
            ..Self::below([directory])
        }
    }

    /// Returns the access rules for a local module in `directory` that is called by a module with these rules. Outside any
    /// repository, the called module may also read `directory`.
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

    /// Returns the message for [`AccessError::Outside`], which names what is permitted.
    pub const fn outside_message(&self) -> &'static str {
        match self.scope {
            AccessScope::Repository => "it is outside of the repository",
            AccessScope::ModulePackage => "it is outside of the module's package",
            AccessScope::NamedDirectories => {
                "it is outside of the working directory and the named directories"
            }
        }
    }

    /// Whether `path` (absolute, without `..`) is below a permitted directory before its symlinks are resolved.
    pub fn contains_unresolved(&self, path: &Path) -> bool {
        let mut permitted = self.roots.iter().chain(&self.allowed);
        permitted.any(|root| path.starts_with(root))
    }

    /// Resolves every symlink in `path`. The file may be missing.
    ///
    /// # Errors
    /// [`AccessError::Outside`] takes precedence over all other errors, so that nothing is revealed about files outside.
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
            // The target of a dangling symlink must be inside, too.
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

    /// Resolves every symlink in the path of a file, and checks that the file may be read.
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

    /// Checks that `real`, a path without symlinks, is inside a permitted directory and not in an internal one.
    fn check(&self, real: &Path) -> Result<(), AccessError> {
        let relative = relative_to_outermost(&self.roots, real)
            .or_else(|| relative_to_outermost(&self.allowed, real))
            .ok_or(AccessError::Outside)?;
        let internal = relative.components().find_map(internal_directory);
        internal.map_or(Ok(()), |name| Err(AccessError::Internal(name)))
    }
}

/// Returns `real` relative to the outermost of the directories that contain it. This is the longest relative path, so an
/// internal directory between two permitted ones is found.
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
