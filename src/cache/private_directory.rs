//! The cache directory, which must be private to the user. It is created if it is missing.
//!
//! On Unix it must belong to the effective user and grant no permissions to others. An empty directory that others can only read
//! (as created by `mkdir`) is made private, because no other user can have written to it. Any other directory is rejected: if its
//! permissions were changed instead, files written by other users would be trusted.

use std::fs::{self, Metadata};
use std::io;
use std::path::Path;

use super::error::CacheError;

/// Creates `base` and `layout`, which is a directory below it, as private directories. Checks them if they exist.
pub(super) fn prepare(base: &Path, layout: &Path) -> Result<(), CacheError> {
    if let Some(parent) = base.parent() {
        fs::create_dir_all(parent).map_err(|source| unusable(base, source))?;
    }
    create_private(base).map_err(|source| unusable(base, source))?;
    make_private_if_empty(
        base,
        &fs::metadata(base).map_err(|source| unusable(base, source))?,
    )?;
    create_private(layout).map_err(|source| unusable(layout, source))?;
    inspect_layout(layout)
}

/// Checks whether `base` and `layout` can be used, without creating or changing anything.
pub(super) fn inspect(base: &Path, layout: &Path) -> Result<(), CacheError> {
    match fs::metadata(base) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        found => {
            let found = found.map_err(|source| unusable(base, source))?;
            check_private(base, &found)?;
        }
    }
    inspect_layout(layout)
}

/// Checks the layout directory. tflock creates it, so it must not be a symlink, although `base` may be one. If it is missing, the
/// first entry creates it.
fn inspect_layout(layout: &Path) -> Result<(), CacheError> {
    match fs::symlink_metadata(layout) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        found => check_private(layout, &found.map_err(|source| unusable(layout, source))?),
    }
}

fn unusable(path: &Path, source: io::Error) -> CacheError {
    let path = path.to_path_buf();
    CacheError::Unusable { path, source }
}

/// Creates a directory with mode 0700, unless the path already exists.
pub(super) fn create_private(path: &Path) -> io::Result<()> {
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

/// Like [`check_private`], but makes an empty directory private if other users can only read it.
fn make_private_if_empty(path: &Path, found: &Metadata) -> Result<(), CacheError> {
    match check_private(path, found) {
        Err(CacheError::NotPrivate { path, mode }) if mode & 0o022 == 0 => {
            if is_empty(&path) {
                return restrict(&path).map_err(|source| CacheError::Unusable { path, source });
            }
            // Another process may just have made it private and written to it.
            let now = fs::metadata(&path).map_err(|source| unusable(&path, source))?;
            check_private(&path, &now)
        }
        checked => checked,
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

/// Checks that the path is a directory, belongs to the user, and is private.
#[cfg(unix)]
fn check_private(path: &Path, found: &Metadata) -> Result<(), CacheError> {
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

/// Checks that the path is a directory. Directories in a Windows user's profile are private by default.
#[cfg(not(unix))]
fn check_private(path: &Path, found: &Metadata) -> Result<(), CacheError> {
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
    use crate::cache::DiskCache;

    /// Opens the cache in `base`, and checks that inspecting it gives the same result.
    fn open(base: &Path) -> Result<(), CacheError> {
        let opened = DiskCache::open(base).map(|_| ());
        let inspected = DiskCache::inspect(base);
        assert_eq!(
            opened.is_ok(),
            inspected.is_ok(),
            "{opened:?} {inspected:?}"
        );
        opened
    }

    #[test]
    fn missing_directories_are_created() {
        let tree = tempfile::tempdir().unwrap();
        let base = tree.path().join("a/b/tflock");
        DiskCache::inspect(&base).unwrap();
        assert!(!tree.path().join("a").exists());
        open(&base).unwrap();
        open(&base).unwrap();
        assert!(base.join("v1").is_dir());
    }

    #[test]
    fn files_are_rejected() {
        let tree = tempfile::tempdir().unwrap();
        restrict(tree.path()).unwrap();
        let file = tree.path().join("file");
        fs::write(&file, "").unwrap();
        assert!(matches!(open(&file), Err(CacheError::NotADirectory { .. })));
        assert!(matches!(
            DiskCache::open(&file.join("below")),
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
        // The mode, whether the directory has content, and the mode afterwards if it is used.
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
    fn the_directory_of_the_layout_is_checked_as_well() {
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
    fn directories_of_others_are_rejected() {
        let tree = tempfile::tempdir().unwrap();
        // Only root can change the owner of a directory. Other users run the test with a directory that root owns.
        let given = std::os::unix::fs::chown(tree.path(), Some(4_321), None);
        let foreign = if given.is_ok() {
            tree.path()
        } else {
            Path::new("/")
        };
        let Err(error @ CacheError::Foreign { .. }) = DiskCache::inspect(foreign) else {
            panic!("{} belongs to another user", foreign.display());
        };
        assert!(
            error
                .to_string()
                .contains("as the cache: it belongs to the user with the ID")
        );
        assert!(DiskCache::open(foreign).is_err());
    }
}
