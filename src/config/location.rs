//! Where a module is: the path that people read, and the one without links.

use std::io;
use std::path::{Component, Path, PathBuf};

/// A directory under two names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Location {
    /// As the user would name it, relative where the user is relative.
    pub(super) shown: PathBuf,
    /// Without links and dots: what modules are told apart by.
    pub(super) real: PathBuf,
    /// The package it was fetched or installed with, a real path; none for what is on this machine anyway.
    pub(super) package: Option<PathBuf>,
}

impl Location {
    pub(super) fn new(shown: &Path) -> io::Result<Self> {
        Ok(Self {
            shown: shown.to_path_buf(),
            real: shown.canonicalize()?,
            package: None,
        })
    }

    /// A directory of a package that was fetched.
    pub(super) fn within(shown: &Path, package: &Path) -> io::Result<Self> {
        Ok(Self {
            package: Some(package.canonicalize()?),
            ..Self::new(shown)?
        })
    }

    /// The directory that a local source means here. Links are resolved before `..` is, as the system does it; where that
    /// makes a difference, people see the real path.
    pub(super) fn join(&self, path: &Path) -> io::Result<Self> {
        let real = self.real.join(path).canonicalize()?;
        let shown = clean(&self.shown.join(path));
        let is_same = shown.canonicalize().is_ok_and(|resolved| resolved == real);
        Ok(Self {
            shown: if is_same { shown } else { real.clone() },
            real,
            package: self.package.clone(),
        })
    }
}

/// A path without `.` and `x/..`.
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
    fn people_see_their_own_path_where_it_means_the_same() {
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
        // The link's own name stays.
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
    fn paths_stay_as_short_as_people_write_them() {
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
