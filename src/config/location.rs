//! The location of a module: a path for messages, and a path without symlinks.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::{AssembledModule, FileTree, ModuleDirectory};

#[derive(Clone, Debug)]
pub(super) struct Location {
    /// The path to show in messages. Relative if the user's path is relative.
    pub(super) shown: PathBuf,
    /// The path without symlinks, `.` and `..`, which identifies the module.
    pub(super) real: PathBuf,
    /// The real path of the fetched or installed package that contains the module. `None` for local modules outside packages.
    pub(super) package: Option<PathBuf>,
    /// The assembled tree that contains the module; `None` for a module on disk. If it is set, `real` is a path below the mount of the
    /// [`FileTree`], and nothing exists there on disk.
    pub(super) tree: Option<Arc<FileTree>>,
}

impl Location {
    pub(super) fn new(shown: &Path) -> io::Result<Self> {
        Ok(Self {
            shown: shown.to_path_buf(),
            real: shown.canonicalize()?,
            package: None,
            tree: None,
        })
    }

    pub(super) fn of_assembled(module: &AssembledModule) -> Self {
        Self {
            shown: module.directory.clone(),
            real: module.files.mount().join(&module.root),
            package: None,
            tree: Some(Arc::clone(&module.files)),
        }
    }

    pub(super) fn within(shown: &Path, package: &Path) -> io::Result<Self> {
        Ok(Self {
            package: Some(package.canonicalize()?),
            ..Self::new(shown)?
        })
    }

    /// Returns the location that a local source in this module refers to. Like the operating system, it resolves symlinks before
    /// `..`. If removing `..` from the shown path would lead to a different directory, messages show the real path.
    pub(super) fn join(&self, path: &Path) -> io::Result<Self> {
        if let Some(tree) = &self.tree {
            return self.join_in_tree(tree, path);
        }
        let real = self.real.join(path).canonicalize()?;
        let shown = clean(&self.shown.join(path));
        let is_same = shown.canonicalize().is_ok_and(|resolved| resolved == real);
        Ok(Self {
            shown: if is_same { shown } else { real.clone() },
            real,
            package: self.package.clone(),
            tree: None,
        })
    }

    fn join_in_tree(&self, tree: &Arc<FileTree>, path: &Path) -> io::Result<Self> {
        let joined = tree.path_in_tree(&self.real.join(path));
        let joined = joined.filter(|path| tree.is_directory(path));
        let joined = tree.resolve_links(joined.ok_or(io::ErrorKind::NotFound)?);
        let on_disk = tree.directories(&joined).next();
        Ok(Self {
            shown: on_disk.map_or_else(|| self.shown.clone(), |(directory, _)| directory),
            real: tree.mount().join(joined),
            package: None,
            tree: Some(Arc::clone(tree)),
        })
    }

    /// Returns the assembled tree and the path in it, if the module is in one.
    pub(super) fn in_tree(&self) -> Option<(&FileTree, &Path)> {
        let tree = self.tree.as_deref()?;
        Some((tree, self.real.strip_prefix(tree.mount()).ok()?))
    }

    pub(super) fn directory(&self) -> ModuleDirectory<'_> {
        match self.in_tree() {
            Some((tree, path)) => ModuleDirectory::Assembled(tree, path),
            None => ModuleDirectory::OnDisk(&self.shown),
        }
    }
}

/// Removes `.` and `x/..` from a path, without accessing the file system.
pub fn clean(path: &Path) -> PathBuf {
    let mut parts: Vec<Component<'_>> = Vec::new();
    for part in path.components() {
        match (part, parts.last()) {
            (Component::ParentDir, Some(Component::Normal(_))) => drop(parts.pop()),
            (Component::CurDir, _) | (Component::ParentDir, Some(Component::RootDir)) => {}
            _ => parts.push(part),
        }
    }
    if parts.is_empty() {
        PathBuf::from(".")
    } else {
        parts.iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn messages_show_the_path_of_the_user_if_it_leads_to_the_same_directory() {
        let tree = tempfile::tempdir().unwrap();
        let real = tree.path().canonicalize().unwrap();
        for directory in ["a", "b", "far/linked", "far/b"] {
            std::fs::create_dir_all(real.join(directory)).unwrap();
        }
        std::os::unix::fs::symlink("far/linked", real.join("link")).unwrap();
        for (from, expected) in [("a", "b"), ("link", "far/b")] {
            let from = Location::new(&real.join(from)).unwrap();
            let found = from.join(Path::new("../b")).unwrap();
            assert_eq!(
                (found.shown, found.real),
                (real.join(expected), real.join(expected))
            );
        }
        // The shown path keeps the name of the symlink.
        let found = Location::new(&real)
            .unwrap()
            .join(Path::new("./link"))
            .unwrap();
        assert_eq!(
            (found.shown, found.real),
            (real.join("link"), real.join("far/linked"))
        );
    }

    #[test]
    fn paths_are_cleaned() {
        for (path, expected) in [
            ("./a/./b", "a/b"),
            ("a/../b", "b"),
            ("a/..", "."),
            ("../../a", "../../a"),
            ("a/../../b", "../b"),
            ("/a/../../b", "/b"),
            (".", "."),
        ] {
            assert_eq!(clean(Path::new(path)), Path::new(expected), "{path}");
        }
    }
}
