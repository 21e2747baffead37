//! One of the directories that an assembled tree consists of.

use std::fmt;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::TreeEntry;
use super::file_tree::{TreeFile, join};

/// A directory on disk that is part of a tree.
#[derive(Clone, Debug)]
pub struct TreeLayer {
    /// The path in the tree at which the directory lies.
    pub at: PathBuf,
    pub directory: PathBuf,
    /// The real path of the fetched package that contains the directory. `None` for a directory of the user.
    pub package: Option<PathBuf>,
    pub selection: FileSelection,
}

/// The files of a directory that are part of the tree.
#[derive(Clone)]
pub enum FileSelection {
    /// All files. The directory is used as it is, so symlinks stay symlinks.
    All,
    /// All files whose path has no component that starts with a dot. They count as copies, so symlinks are resolved.
    Visible,
    /// The files and directories for which the function returns true. Its argument is the path relative to the layer. The files count as
    /// copies, so symlinks are resolved.
    Chosen(Arc<dyn Fn(&Path) -> bool + Send + Sync>),
}

/// The kind of an entry of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    Directory,
    File,
    /// A symlink whose target is unknown.
    Link,
}

/// Whether `error` means that there is no directory at the path.
fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

impl fmt::Debug for FileSelection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::All => "All",
            Self::Visible => "Visible",
            Self::Chosen(_) => "Chosen",
        })
    }
}

impl FileSelection {
    fn includes(&self, relative: &Path) -> bool {
        match self {
            Self::All => true,
            Self::Visible => !relative.components().any(is_hidden),
            Self::Chosen(includes) => includes(relative),
        }
    }
}

fn is_hidden(part: Component<'_>) -> bool {
    matches!(part, Component::Normal(name) if name.as_encoded_bytes().starts_with(b"."))
}

impl TreeLayer {
    /// Returns the path on disk of `path` in the tree, whether or not it exists. `None` if the layer cannot contain it.
    pub(super) fn on_disk(&self, path: &Path) -> Option<PathBuf> {
        let relative = path.strip_prefix(&self.at).ok()?;
        let is_included = relative.as_os_str().is_empty() || self.selection.includes(relative);
        is_included.then(|| join(&self.directory, relative))
    }

    /// Returns the file or directory at `path` in the tree, if it exists. Follows symlinks.
    pub(super) fn find(&self, path: &Path) -> Option<TreeEntry> {
        let metadata = fs::metadata(self.on_disk(path)?).ok()?;
        if metadata.is_dir() {
            Some(TreeEntry::Directory)
        } else {
            self.file(path)
        }
    }

    /// Returns the file at `path` in the tree, which is known to exist.
    pub(super) fn file(&self, path: &Path) -> Option<TreeEntry> {
        let package = self.package.clone();
        let path = self.on_disk(path)?;
        Some(TreeEntry::File(TreeFile::OnDisk { path, package }))
    }

    /// Returns the directory on disk for `path` in the tree, if it exists.
    pub(super) fn directory(&self, path: &Path) -> Option<PathBuf> {
        self.on_disk(path).filter(|path| path.is_dir())
    }

    /// Calls `add` with the name and the kind of each entry of the directory `path` in the tree. Returns whether the layer has this
    /// directory.
    pub(super) fn list(
        &self,
        path: &Path,
        mut add: impl FnMut(String, EntryKind),
    ) -> io::Result<bool> {
        if let Some(Component::Normal(name)) = self.next_component(path) {
            add(name.to_string_lossy().into_owned(), EntryKind::Directory);
            return Ok(true);
        }
        let Some(directory) = self.on_disk(path) else {
            return Ok(false);
        };
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) if is_missing(&error) => return Ok(false),
            Err(error) => return Err(error),
        };
        let relative = path.strip_prefix(&self.at).unwrap_or(path);
        for entry in entries {
            let entry = entry?;
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            if self.selection.includes(&relative.join(&name)) {
                add(name, self.kind(&entry));
            }
        }
        Ok(true)
    }

    /// Returns the kind of an entry. In a layer of copies, a symlink to a directory counts as a directory.
    fn kind(&self, entry: &fs::DirEntry) -> EntryKind {
        let is_copied = !matches!(self.selection, FileSelection::All);
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => EntryKind::Directory,
            Ok(kind) if !kind.is_symlink() => EntryKind::File,
            _ if is_copied && entry.path().is_dir() => EntryKind::Directory,
            _ => EntryKind::Link,
        }
    }

    /// Returns the component after `path` in the path of this layer. `None` if the layer is not below `path`.
    fn next_component(&self, path: &Path) -> Option<Component<'_>> {
        self.at.strip_prefix(path).ok()?.components().next()
    }
}
