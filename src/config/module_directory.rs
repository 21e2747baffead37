//! The directory of a module: on disk, or in an assembled tree.

use std::path::{Path, PathBuf};

use super::{ConfigError, FileTree, TreeEntry, TreeFile, clean, module_files};

#[derive(Clone, Copy, Debug)]
pub(super) enum ModuleDirectory<'a> {
    /// A directory on disk: the path to show in messages.
    OnDisk(&'a Path),
    /// A directory in an assembled tree.
    Assembled(&'a FileTree, &'a Path),
}

impl ModuleDirectory<'_> {
    /// Returns the sorted names of the entries, and whether each entry is a directory.
    pub(super) fn list(&self) -> Result<Vec<(String, bool)>, ConfigError> {
        match self {
            Self::OnDisk(path) => module_files::list(path),
            Self::Assembled(tree, path) => {
                let path_shown = self.shown();
                let failed = |source| ConfigError::ReadDirectory {
                    path: path_shown,
                    source,
                };
                tree.list(path).map_err(failed)
            }
        }
    }

    /// Returns the path to show in messages.
    pub(super) fn shown(&self) -> PathBuf {
        match self {
            Self::OnDisk(path) => path.to_path_buf(),
            Self::Assembled(tree, path) => match tree.directories(path).next() {
                Some((directory, _)) => directory,
                None => path.to_path_buf(),
            },
        }
    }

    /// Returns the file at `path`, which is relative to this directory. `None` if an assembled tree does not contain the file. For a
    /// directory on disk, the file may be missing.
    pub(super) fn file(&self, path: &Path) -> Option<TreeFile> {
        match self {
            Self::OnDisk(directory) => Some(TreeFile::OnDisk {
                path: directory.join(path),
                package: None,
            }),
            Self::Assembled(tree, directory) => match tree.find(&clean(&directory.join(path)))? {
                TreeEntry::File(file) => Some(file),
                TreeEntry::Directory => None,
            },
        }
    }

    /// Calls `read` with the directory at `path` below this one, and returns the result.
    pub(super) fn below<T>(&self, path: &Path, read: impl FnOnce(&ModuleDirectory<'_>) -> T) -> T {
        match self {
            Self::OnDisk(directory) => read(&ModuleDirectory::OnDisk(&directory.join(path))),
            Self::Assembled(tree, directory) => {
                let path = clean(&directory.join(path));
                read(&ModuleDirectory::Assembled(tree, &path))
            }
        }
    }
}
