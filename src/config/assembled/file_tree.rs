//! The files of an assembled root module and of the modules next to it.

use std::collections::BTreeMap;
use std::io;
use std::ops::Bound;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::config::module_cache::ModuleCells;
use crate::config::{ConfigError, clean, module_files};
use crate::functions::{FileLookup, LookedUpFile};
use crate::parallel::lock;
use crate::syntax::{SourceFile, TextOrigin};

use super::tree_layer::EntryKind;
use super::{FileSelection, TreeLayer};

/// A tree of files in memory. It consists of directories on disk that are laid over each other, and of single files that are added or
/// removed. Paths in the tree are relative and contain no `.` or `..`.
#[derive(Debug)]
pub struct FileTree {
    /// The absolute path that stands for the root of the tree. It identifies the tree, and nothing exists there on disk.
    mount: PathBuf,
    /// The directories. Later layers take precedence.
    layers: Vec<TreeLayer>,
    /// The directories that have been listed, by path in the tree.
    listings: Mutex<BTreeMap<PathBuf, Listing>>,
    /// Single files by path in the tree. They take precedence over the layers; `None` removes a file.
    files: BTreeMap<PathBuf, Option<TreeFile>>,
    /// The hint for the error if a module calls a local module that is not in the tree.
    missing_hint: Option<String>,
    pub(in crate::config) modules: ModuleCells,
}

/// The entries of a directory by name: the kind of each, and the index of the uppermost layer that contains it. `None` if no layer contains
/// the directory.
type Listing = Option<Arc<BTreeMap<String, (EntryKind, usize)>>>;

#[derive(Clone, Debug)]
pub enum TreeEntry {
    Directory,
    File(TreeFile),
}

#[derive(Clone, Debug)]
pub enum TreeFile {
    OnDisk {
        path: PathBuf,
        /// The real path of the fetched package that contains the file. `None` for a file of the user.
        package: Option<PathBuf>,
    },
    Generated(Arc<GeneratedText>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GeneratedText {
    /// The path of the file in the tree. Its extension selects the syntax.
    pub name: PathBuf,
    pub text: Vec<u8>,
    pub origin: TextOrigin,
}

impl FileTree {
    /// Creates an empty tree. `mount` is the absolute path that stands for its root. No other tree may have this path, and nothing may
    /// exist there.
    pub fn new(mount: PathBuf) -> Self {
        Self {
            mount,
            layers: Vec::new(),
            listings: Mutex::default(),
            files: BTreeMap::new(),
            missing_hint: None,
            modules: ModuleCells::default(),
        }
    }

    /// Lays a directory over the tree.
    pub fn add_layer(&mut self, layer: TreeLayer) {
        self.layers.push(layer);
        self.listings = Mutex::default();
    }

    /// Adds or replaces a file.
    pub fn add_file(&mut self, path: PathBuf, file: TreeFile) {
        self.files.insert(path, Some(file));
    }

    pub fn remove_file(&mut self, path: PathBuf) {
        self.files.insert(path, None);
    }

    /// Sets the hint for the error if a module calls a local module that is not in the tree.
    pub fn set_missing_hint(&mut self, hint: String) {
        self.missing_hint = Some(hint);
    }

    pub(in crate::config) fn missing_hint(&self) -> Option<&str> {
        self.missing_hint.as_deref()
    }

    pub(in crate::config) fn mount(&self) -> &Path {
        &self.mount
    }

    /// Returns what is at `path`, if it exists.
    pub fn find(&self, path: &Path) -> Option<TreeEntry> {
        if let Some(file) = self.files.get(path) {
            return file.clone().map(TreeEntry::File);
        }
        if self.files_below(path).any(|(_, file)| file.is_some()) {
            return Some(TreeEntry::Directory);
        }
        let (parent, name) = (path.parent()?, path.file_name()?.to_str()?);
        let listing = self.listing(parent).ok()??;
        let (kind, layer) = *listing.get(name)?;
        let layer = self.layers.get(layer)?;
        match kind {
            EntryKind::Directory => Some(TreeEntry::Directory),
            EntryKind::File => layer.file(path),
            EntryKind::Link => layer.find(path),
        }
    }

    /// Lists a directory without the single files. `None` if no layer contains the directory.
    fn listing(&self, path: &Path) -> io::Result<Listing> {
        if let Some(known) = self.known_listing(path) {
            return Ok(known);
        }
        let mut entries = BTreeMap::new();
        let mut exists = path.as_os_str().is_empty();
        for (index, layer) in self.layers.iter().enumerate() {
            exists |= layer.list(path, |name, kind| {
                entries.insert(name, (kind, index));
            })?;
        }
        let listing: Listing = exists.then(|| Arc::new(entries));
        lock(&self.listings).insert(path.to_path_buf(), listing.clone());
        Ok(listing)
    }

    /// Returns the listing of a directory if it is known without access to the disk: because the directory has been listed before, or
    /// because the listing of its parent does not contain it.
    fn known_listing(&self, path: &Path) -> Option<Listing> {
        let listings = lock(&self.listings);
        if let Some(listing) = listings.get(path) {
            return Some(listing.clone());
        }
        let entries = listings.get(path.parent()?)?.as_ref()?;
        let is_missing = !entries.contains_key(path.file_name()?.to_str()?);
        is_missing.then_some(None)
    }

    /// Returns the sorted names of the entries in a directory, and whether each entry is a directory.
    pub fn list(&self, path: &Path) -> io::Result<Vec<(String, bool)>> {
        let listing = self.listing(path)?;
        let mut exists = listing.is_some();
        let entries = listing.iter().flat_map(|entries| entries.iter());
        let is_directory = |kind: &EntryKind| *kind == EntryKind::Directory;
        let mut names: BTreeMap<String, bool> = entries
            .map(|(name, (kind, _))| (name.clone(), is_directory(kind)))
            .collect();
        for (file, content) in self.files_below(path) {
            let mut parts = file.strip_prefix(path).unwrap_or(file).components();
            let (Some(name), next) = (parts.next(), parts.next()) else {
                continue;
            };
            let name = name.as_os_str().to_string_lossy().into_owned();
            exists |= content.is_some();
            match (content, next) {
                (Some(_), _) => drop(names.insert(name, next.is_some())),
                (None, None) => drop(names.remove(&name)),
                (None, Some(_)) => {}
            }
        }
        if exists {
            Ok(names.into_iter().collect())
        } else {
            Err(io::ErrorKind::NotFound.into())
        }
    }

    pub(in crate::config) fn is_directory(&self, path: &Path) -> bool {
        path.as_os_str().is_empty() || matches!(self.find(path), Some(TreeEntry::Directory))
    }

    /// Returns the directories on disk that are laid over each other at `path` in the tree, uppermost first, and the fetched package of
    /// each.
    pub(in crate::config) fn directories(
        &self,
        path: &Path,
    ) -> impl Iterator<Item = (PathBuf, Option<&Path>)> {
        self.layers
            .iter()
            .rev()
            .filter_map(move |layer| Some((layer.directory(path)?, layer.package.as_deref())))
    }

    /// Returns the directories of those layers that belong to the user and not to a fetched package.
    pub(in crate::config) fn own_directories(&self) -> Vec<PathBuf> {
        let own = self.layers.iter().filter(|layer| layer.package.is_none());
        own.map(|layer| layer.directory.clone()).collect()
    }

    /// Returns the real path of the fetched package in the tree, if there is one.
    pub(in crate::config) fn package(&self) -> Option<&Path> {
        self.layers
            .iter()
            .find_map(|layer| layer.package.as_deref())
    }

    /// Returns the directories of the user in which the local module at `path` could be, whether or not they exist.
    pub(in crate::config) fn possible_directories(
        &self,
        path: &Path,
    ) -> impl Iterator<Item = PathBuf> {
        let own = self.layers.iter().filter(|layer| layer.package.is_none());
        own.filter_map(move |layer| layer.on_disk(path))
    }

    /// Returns the directory on disk that contains the same module as `path` in the tree, if there is one. Root modules can then share the
    /// parsed module.
    pub(in crate::config) fn same_directory(&self, path: &Path) -> Option<PathBuf> {
        if self
            .files_below(path)
            .any(|(file, _)| file.parent() == Some(path))
        {
            return None;
        }
        let mut found = None;
        for layer in &self.layers {
            if let Some(directory) = layer.directory(path) {
                let is_whole = !matches!(layer.selection, FileSelection::Chosen(_));
                if found.is_some() || !is_whole {
                    return None;
                }
                found = Some(directory);
            }
        }
        found
    }

    /// Resolves the symlinks in `path` if its uppermost layer keeps symlinks, that is, if the layer selects [`FileSelection::All`].
    pub(in crate::config) fn resolve_links(&self, path: PathBuf) -> PathBuf {
        let resolve = |layer: &TreeLayer| {
            let real = layer.directory(&path)?.canonicalize().ok()?;
            let inside = real
                .strip_prefix(layer.directory.canonicalize().ok()?)
                .ok()?;
            Some(join(&layer.at, inside))
        };
        let mut as_is = self.layers.iter().rev();
        let layer = as_is.find(|layer| layer.directory(&path).is_some());
        let layer = layer.filter(|layer| matches!(layer.selection, FileSelection::All));
        layer.and_then(resolve).unwrap_or(path)
    }

    /// Converts an absolute path below the mount to a path in the tree. `None` for other paths.
    pub(in crate::config) fn path_in_tree(&self, absolute: &Path) -> Option<PathBuf> {
        let clean = clean(absolute);
        clean.strip_prefix(&self.mount).ok().map(Path::to_path_buf)
    }

    fn files_below<'a>(
        &'a self,
        path: &'a Path,
    ) -> impl Iterator<Item = (&'a PathBuf, &'a Option<TreeFile>)> {
        let bounds = (Bound::Excluded(path), Bound::Unbounded);
        let after = self.files.range::<Path, _>(bounds);
        after.take_while(move |(file, _)| file.starts_with(path))
    }
}

impl FileLookup for FileTree {
    fn look_up(&self, path: &Path) -> LookedUpFile {
        let Some(path) = self.path_in_tree(path) else {
            return LookedUpFile::Elsewhere;
        };
        match self.find(&path) {
            Some(TreeEntry::File(TreeFile::OnDisk { path, package })) => {
                LookedUpFile::OnDisk { path, package }
            }
            Some(TreeEntry::File(TreeFile::Generated(file))) if file.origin.markers.is_empty() => {
                LookedUpFile::Text(file.text.clone())
            }
            Some(TreeEntry::File(TreeFile::Generated(_))) => LookedUpFile::Unknown,
            Some(TreeEntry::Directory) | None => LookedUpFile::Missing,
        }
    }
}

impl TreeFile {
    /// Returns where the text comes from, if messages must not quote it.
    pub(in crate::config) fn hidden_origin(&self) -> Option<&TextOrigin> {
        match self {
            Self::Generated(file) if file.origin.hidden.is_some() => Some(&file.origin),
            Self::Generated(_) | Self::OnDisk { .. } => None,
        }
    }

    pub(in crate::config) fn parse(&self) -> Result<SourceFile, ConfigError> {
        match self {
            Self::OnDisk { path, .. } => Ok(SourceFile::parse(path, module_files::read(path)?)?),
            Self::Generated(file) => {
                let GeneratedText { name, text, origin } = &**file;
                if text.len() as u64 > module_files::MAX_FILE_SIZE {
                    return Err(ConfigError::TooLarge {
                        path: name.clone(),
                        limit: module_files::MAX_FILE_SIZE,
                    });
                }
                Ok(SourceFile::parse_generated(name, text.clone(), origin)?)
            }
        }
    }
}

/// Joins two paths without leaving a slash at the end if `relative` is empty.
pub(super) fn join(path: &Path, relative: &Path) -> PathBuf {
    if relative.as_os_str().is_empty() {
        path.to_path_buf()
    } else {
        path.join(relative)
    }
}
