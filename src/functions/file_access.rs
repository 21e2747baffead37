//! Determines which files the functions in a module may read: files in its repository or, for a module from a package, files in that
//! package.

use std::cell::OnceCell;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::access::{AccessError, ReadAccess, ReadRules};

/// Finds the files of a root module that tflock assembles in memory, such as a Terragrunt unit. The paths that such a module uses do
/// not exist on disk.
pub trait FileLookup: fmt::Debug + Send + Sync {
    /// Looks for an absolute path, which may contain `.` and `..`.
    fn look_up(&self, path: &Path) -> LookedUpFile;
}

pub enum LookedUpFile {
    /// The path is outside the directories that are assembled in memory.
    Elsewhere,
    Missing,
    OnDisk {
        path: PathBuf,
        /// The directory of the package that contains the file, if the file was fetched with a package.
        package: Option<PathBuf>,
    },
    Text(Vec<u8>),
    /// A generated file whose text is only partially known.
    Unknown,
}

/// A file that a module may read.
pub(super) enum ReadableFile {
    /// A path without symlinks.
    OnDisk(PathBuf),
    Text(Vec<u8>),
    Unknown,
}

/// The files that one module may read. They are determined when a function first reads a file.
#[derive(Clone, Debug)]
pub struct FileAccess {
    rules: Arc<ReadRules>,
    /// The directory of the root module.
    root: PathBuf,
    /// The directories, with symlinks resolved, of the local modules on the call path from the root module to this module.
    local_modules: Vec<PathBuf>,
    /// The directory of the package that contains the module, if the module was installed or fetched.
    package: Option<PathBuf>,
    lookup: Option<Arc<dyn FileLookup>>,
    access: OnceCell<ReadAccess>,
}

impl FileAccess {
    pub fn of_root(root: &Path, rules: Arc<ReadRules>) -> Self {
        Self {
            rules,
            root: root.to_path_buf(),
            local_modules: Vec::new(),
            package: None,
            lookup: None,
            access: OnceCell::new(),
        }
    }

    /// Creates the `FileAccess` for a root module that is assembled in memory at the path `directory`. `lookup` finds its files.
    /// `modules` are the other local directories that it consists of. If the module comes from `package`, absolute paths outside the
    /// assembled directories may only refer to files in the package.
    pub fn of_assembled(
        directory: &Path,
        rules: Arc<ReadRules>,
        lookup: Arc<dyn FileLookup>,
        modules: Vec<PathBuf>,
        package: Option<&Path>,
    ) -> Self {
        Self {
            local_modules: modules,
            package: package.map(Path::to_path_buf),
            lookup: Some(lookup),
            ..Self::of_root(directory, rules)
        }
    }

    /// Creates the `FileAccess` for a module that this module calls.
    pub(super) fn for_called_module(&self, directory: &Path, package: Option<&Path>) -> Self {
        let mut local_modules = self.local_modules.clone();
        if package.is_none() {
            local_modules.push(directory.to_path_buf());
        }
        Self {
            rules: Arc::clone(&self.rules),
            root: self.root.clone(),
            local_modules,
            package: package.map(Path::to_path_buf),
            lookup: None,
            access: OnceCell::new(),
        }
    }

    /// Whether the module is assembled in memory and therefore has no directory on disk.
    pub(super) const fn is_assembled(&self) -> bool {
        self.lookup.is_some()
    }

    /// Finds a file that the module may read.
    pub(super) fn locate(&self, path: &Path) -> Result<ReadableFile, AccessError> {
        let Some(lookup) = &self.lookup else {
            return self.get().locate(path).map(ReadableFile::OnDisk);
        };
        let in_package = |package: &Option<PathBuf>, path: &Path| match package {
            Some(package) => self.get().for_package(package).locate(path),
            None => self.get().locate(path),
        };
        match lookup.look_up(path) {
            LookedUpFile::Elsewhere => in_package(&self.package, path).map(ReadableFile::OnDisk),
            LookedUpFile::Missing => {
                let kind = io::ErrorKind::NotFound;
                Err(io::Error::new(kind, "the file does not exist").into())
            }
            LookedUpFile::OnDisk { path, package } => {
                in_package(&package, &path).map(ReadableFile::OnDisk)
            }
            LookedUpFile::Text(text) => Ok(ReadableFile::Text(text)),
            LookedUpFile::Unknown => Ok(ReadableFile::Unknown),
        }
    }

    /// Returns the access rules. For an assembled module, returns the rules for local files, even if the module comes from a package.
    pub fn get(&self) -> &ReadAccess {
        self.access.get_or_init(|| {
            // A failure can be ignored: without the real path of the root module, none of its files can be read either.
            let root = self.root.canonicalize();
            let access =
                ReadAccess::for_root_module(&self.rules, root.as_ref().unwrap_or(&self.root));
            match &self.package {
                Some(package) if self.lookup.is_none() => access.for_package(package),
                _ => self
                    .local_modules
                    .iter()
                    .fold(access, |access, module| access.for_local_module(module)),
            }
        })
    }
}
