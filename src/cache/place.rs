//! The directory of the cache: made if need be, and used only if it is the user's alone.
//!
//! On Unix it must belong to the effective user and grant nothing to anybody else. A new directory is made so. An empty one
//! that others can at most read (as `mkdir` makes it) is taken over, since nobody can have put anything into it; any other
//! is refused, because changing the permissions of what is there would hide the question who wrote it.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use super::error::CacheError;

/// Makes `base` and `base/layout`, both private, unless they are there and fit.
pub(super) fn prepare(base: &Path, layout: &Path) -> Result<(), CacheError> {
    if let Some(parent) = base.parent() {
        fs::create_dir_all(parent).map_err(|source| unusable(base, source))?;
    }
    make_private(base).map_err(|source| unusable(base, source))?;
    check(
        base,
        &fs::metadata(base).map_err(|source| unusable(base, source))?,
    )?;
    make_private(layout).map_err(|source| unusable(layout, source))?;
    inspect_layout(layout)
}

/// Whether `base` and `base/layout` can be used as they are; nothing is made or changed.
pub(super) fn inspect(base: &Path, layout: &Path) -> Result<(), CacheError> {
    match fs::metadata(base) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => {
            let found = found.map_err(|source| unusable(base, source))?;
            judge(base, &found)?;
        }
    }
    inspect_layout(layout)
}

/// The directory of the layout is made by tflock, so it is no link, whatever the directory above it may be. If it is not
/// there, or somebody has just cleaned the cache, the first entry makes it.
fn inspect_layout(layout: &Path) -> Result<(), CacheError> {
    match fs::symlink_metadata(layout) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        found => judge(layout, &found.map_err(|source| unusable(layout, source))?),
    }
}

fn unusable(path: &Path, source: io::Error) -> CacheError {
    let path = path.to_path_buf();
    CacheError::Unusable { path, source }
}

/// Makes a directory that only its owner can enter, unless something is there.
pub(super) fn make_private(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    let made = {
        let mut builder = fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)
    };
    #[cfg(not(unix))]
    let made = fs::create_dir(path);
    match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// Like [`judge`], but takes over what is empty.
fn check(path: &Path, found: &Metadata) -> Result<(), CacheError> {
    match judge(path, found) {
        Err(CacheError::NotPrivate { path, mode }) if mode & 0o022 == 0 => {
            if is_empty(&path) {
                return restrict(&path).map_err(|source| CacheError::Unusable { path, source });
            }
            // Since it was looked at, another process may have taken it over and put something into it.
            let now = fs::metadata(&path).map_err(|source| unusable(&path, source))?;
            judge(&path, &now)
        }
        judged => judged,
    }
}

fn is_empty(path: &Path) -> bool {
    fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

#[cfg(unix)]
fn restrict(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    fs::set_permissions(path, fs::Permissions::from_mode(0o700))
}

#[cfg(not(unix))]
fn restrict(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Whether it is a directory of the user alone.
#[cfg(unix)]
fn judge(path: &Path, found: &Metadata) -> Result<(), CacheError> {
    use std::os::unix::fs::MetadataExt as _;

    let path = path.to_path_buf();
    if !found.is_dir() {
        return Err(CacheError::NotADirectory { path });
    }
    let owner = found.uid();
    if owner != rustix::process::geteuid().as_raw() {
        return Err(CacheError::Foreign { path, owner });
    }
    let mode = found.mode() & 0o7777;
    if mode & 0o077 != 0 {
        return Err(CacheError::NotPrivate { path, mode });
    }
    Ok(())
}

/// Directories below the profile of a user are private by default there.
#[cfg(not(unix))]
fn judge(path: &Path, found: &Metadata) -> Result<(), CacheError> {
    if found.is_dir() {
        return Ok(());
    }
    Err(CacheError::NotADirectory {
        path: path.to_path_buf(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::Store;

    /// What opening a cache in `base` ends in, and that looking at it says the same.
    fn open(base: &Path) -> Result<(), CacheError> {
        let opened = Store::open(base).map(|_| ());
        let inspected = Store::inspect(base);
        assert_eq!(
            opened.is_ok(),
            inspected.is_ok(),
            "{opened:?} {inspected:?}"
        );
        opened
    }

    #[test]
    fn directories_are_made_as_far_as_they_are_missing() {
        let tree = tempfile::tempdir().unwrap();
        let base = tree.path().join("a/b/tflock");
        Store::inspect(&base).unwrap();
        assert!(!tree.path().join("a").exists());
        open(&base).unwrap();
        open(&base).unwrap();
        assert!(base.join("v1").is_dir());
    }

    #[test]
    fn files_are_no_directories() {
        let tree = tempfile::tempdir().unwrap();
        restrict(tree.path()).unwrap();
        let file = tree.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(matches!(open(&file), Err(CacheError::NotADirectory { .. })));
        assert!(matches!(
            Store::open(&file.join("below")),
            Err(CacheError::Unusable { .. })
        ));
        fs::write(tree.path().join("v1"), "").unwrap();
        assert!(matches!(
            open(tree.path()),
            Err(CacheError::NotADirectory { .. })
        ));
    }

    #[cfg(unix)]
    #[test]
    fn only_private_directories_are_used_and_empty_ones_are_made_private() {
        use std::os::unix::fs::PermissionsExt as _;

        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        // Mode, whether something lies in it, and the mode afterwards if it is used.
        let rows = [
            (0o700, false, Some(0o700)),
            (0o700, true, Some(0o700)),
            (0o755, false, Some(0o700)),
            (0o755, true, None),
            (0o750, true, None),
            (0o711, true, None),
            (0o770, false, None),
            (0o777, false, None),
            (0o1777, false, None),
        ];
        for (before, is_filled, after) in rows {
            let tree = tempfile::tempdir().unwrap();
            if is_filled {
                fs::write(tree.path().join("file"), "").unwrap();
            }
            fs::set_permissions(tree.path(), fs::Permissions::from_mode(before)).unwrap();
            let result = open(tree.path());
            if let Some(after) = after {
                result.unwrap();
                let layout = tree.path().join("v1");
                assert_eq!((mode(tree.path()), mode(&layout)), (after, 0o700));
            } else {
                let Err(CacheError::NotPrivate { mode, .. }) = result else {
                    panic!("{before:o}: {result:?}");
                };
                assert_eq!(mode, before);
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn the_directory_below_is_looked_at_as_well() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        let tree = tempfile::tempdir().unwrap();
        open(tree.path()).unwrap();
        let layout = tree.path().join("v1");
        fs::set_permissions(&layout, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(matches!(
            open(tree.path()),
            Err(CacheError::NotPrivate { .. })
        ));
        fs::remove_dir(&layout).unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        symlink(elsewhere.path(), &layout).unwrap();
        assert!(matches!(
            open(tree.path()),
            Err(CacheError::NotADirectory { .. })
        ));
    }

    #[cfg(unix)]
    #[test]
    fn directories_of_others_are_refused() {
        let tree = tempfile::tempdir().unwrap();
        // Only root can give a directory away; everybody else finds one that is root's.
        let given = std::os::unix::fs::chown(tree.path(), Some(4_321), None);
        let foreign = if given.is_ok() {
            tree.path()
        } else {
            Path::new("/")
        };
        let Err(error @ CacheError::Foreign { .. }) = Store::inspect(foreign) else {
            panic!("{} is somebody else's", foreign.display());
        };
        assert!(
            error
                .to_string()
                .contains("is not used: it belongs to the user with the number")
        );
        assert!(Store::open(foreign).is_err());
    }
}
