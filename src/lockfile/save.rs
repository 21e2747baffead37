//! The file on disk: read it, compare, and replace it whole or not at all.
//!
//! A file that has the right content already is not touched. Otherwise the content goes to a temporary file in the same
//! directory, which then takes the place of the old one. There is no `fsync`: the content can be made again, and it would
//! dominate a run over thousands of directories. On Unix the mode is 0644, whatever it was, as the engines leave it.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use super::error::{MAX_LOCK_FILE_SIZE, SaveError};
use super::owner::STEM;
use crate::owner::{Owner, rename};
use crate::span::Place;

/// What became of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// It had this content already and was not touched.
    Unchanged,
    /// There was none before.
    Created,
    /// Its content was replaced.
    Replaced,
}

/// The content of a lock file; none if it does not exist. Links are followed, wherever they lead.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, SaveError> {
    let failed = |source| SaveError::Read {
        place: Place::file(path),
        source,
    };
    let size = match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => return Err(SaveError::NotAFile(Place::file(path))),
        Ok(metadata) => metadata.len().min(MAX_LOCK_FILE_SIZE),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    let file = File::open(path).map_err(failed)?;
    file.take(MAX_LOCK_FILE_SIZE + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_LOCK_FILE_SIZE {
        return Err(SaveError::TooLarge(Place::file(path)));
    }
    Ok(Some(bytes))
}

/// Gives the file at `path` this content. A link is written through to its target, if that is a regular file below
/// `repository`.
pub fn save(
    path: &Path,
    content: &[u8],
    repository: &Path,
    owner: &Owner,
) -> Result<Saved, SaveError> {
    let old = read(path)?;
    if old.as_deref() == Some(content) {
        return Ok(Saved::Unchanged);
    }
    let target = target(path, repository)?;
    replace(&target, content, owner).map_err(|source| SaveError::Write {
        place: Place::file(path),
        source,
    })?;
    Ok(if old.is_some() {
        Saved::Replaced
    } else {
        Saved::Created
    })
}

/// The file to replace: `path` itself, or what it links to.
fn target(path: &Path, repository: &Path) -> Result<PathBuf, SaveError> {
    let is_link = fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_symlink());
    if !is_link {
        return Ok(path.to_path_buf());
    }
    let failed = |source| SaveError::Write {
        place: Place::file(path),
        source,
    };
    let target = match fs::canonicalize(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(SaveError::DanglingLink(Place::file(path)));
        }
        resolved => resolved.map_err(failed)?,
    };
    if target.starts_with(fs::canonicalize(repository).map_err(failed)?) {
        return Ok(target);
    }
    Err(SaveError::LinkOutside {
        place: Place::file(path),
        target,
    })
}

/// Writes a temporary file and renames it. If anything fails it is removed.
fn replace(target: &Path, content: &[u8], owner: &Owner) -> io::Result<()> {
    let mut temporary = tempfile::Builder::new()
        .prefix(&owner.prefix(STEM))
        .make_in(directory_of(target), create)?;
    // Through the file itself, whose errors do not name the temporary path: it says nothing to anybody.
    temporary.as_file_mut().write_all(content)?;
    #[cfg(unix)]
    set_mode(temporary.as_file())?;
    // Closed before the renaming: Windows would not have it otherwise.
    rename(temporary.into_temp_path(), target)
}

/// Where a file lies; a bare name lies in the current directory.
fn directory_of(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Creates the file for this process alone: on Windows nobody can even remove it while it is being written.
fn create(path: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, 0);
    options.open(path)
}

/// The mode that the engines give the file, whatever the umask.
#[cfg(unix)]
fn set_mode(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::Explain as _;

    /// A directory with `repository/` and `outside/` in it.
    struct Tree(tempfile::TempDir);

    impl Tree {
        fn new() -> Self {
            let tree = Self(tempfile::tempdir().unwrap());
            for directory in ["repository/a", "outside"] {
                fs::create_dir_all(tree.path(directory)).unwrap();
            }
            tree
        }

        fn path(&self, path: &str) -> PathBuf {
            self.0.path().join(path)
        }

        fn write(&self, path: &str, content: &str) -> PathBuf {
            fs::write(self.path(path), content).unwrap();
            self.path(path)
        }

        fn save(&self, path: &str, content: &str) -> Result<Saved, SaveError> {
            let owner = Owner::new("here", 1);
            save(
                &self.path(path),
                content.as_bytes(),
                &self.path("repository"),
                &owner,
            )
        }

        /// Everything in the directory of the lock file.
        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(self.path("repository/a")).unwrap();
            let mut names: Vec<_> = entries
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect();
            names.sort();
            names
        }
    }

    const LOCK: &str = "repository/a/.terraform.lock.hcl";

    #[test]
    fn files_are_created_and_replaced_and_nothing_is_left_over() {
        let tree = Tree::new();
        assert_eq!(read(&tree.path(LOCK)).unwrap(), None);
        assert_eq!(tree.save(LOCK, "one").unwrap(), Saved::Created);
        assert_eq!(tree.save(LOCK, "two").unwrap(), Saved::Replaced);
        assert_eq!(
            read(&tree.path(LOCK)).unwrap().as_deref(),
            Some("two".as_bytes())
        );
        assert_eq!(tree.names(), [".terraform.lock.hcl"]);
    }

    #[test]
    fn the_same_content_leaves_the_file_alone() {
        let tree = Tree::new();
        let path = tree.write(LOCK, "one");
        let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1);
        fs::OpenOptions::new()
            .write(true)
            .open(&path)
            .and_then(|file| file.set_modified(long_ago))
            .unwrap();
        assert_eq!(tree.save(LOCK, "one").unwrap(), Saved::Unchanged);
        assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), long_ago);
    }

    #[test]
    fn a_bare_name_lies_in_the_current_directory() {
        for (file, directory) in [("a/b", "a"), ("/b", "/"), ("b", "."), ("", ".")] {
            assert_eq!(
                directory_of(Path::new(file)),
                Path::new(directory),
                "{file}"
            );
        }
    }

    #[test]
    fn only_a_file_can_be_a_lock_file() {
        let tree = Tree::new();
        fs::create_dir(tree.path(LOCK)).unwrap();
        assert!(matches!(
            read(&tree.path(LOCK)),
            Err(SaveError::NotAFile(_))
        ));
        let error = tree.save(LOCK, "one").expect_err("a directory");
        assert!(
            error
                .to_string()
                .ends_with(".terraform.lock.hcl` as a lock file: it is not a regular file")
        );
        assert_eq!(
            error.place().map(|place| place.path.clone()),
            Some(tree.path(LOCK))
        );
        assert_eq!(error.hint(), None);
    }

    #[test]
    fn huge_files_are_not_read() {
        let tree = Tree::new();
        let path = tree.write(LOCK, "");
        let file = fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(MAX_LOCK_FILE_SIZE).unwrap();
        assert_eq!(
            read(&path).unwrap().map(|bytes| bytes.len() as u64),
            Some(MAX_LOCK_FILE_SIZE)
        );
        file.set_len(MAX_LOCK_FILE_SIZE + 1).unwrap();
        let error = read(&path).expect_err("too large");
        assert!(matches!(error, SaveError::TooLarge(_)), "{error}");
        assert!(
            error
                .to_string()
                .ends_with("it is larger than 33554432 bytes"),
            "{error}"
        );
    }

    #[cfg(unix)]
    mod unix {
        use std::os::unix::fs::{PermissionsExt as _, symlink};

        use super::*;

        fn mode(path: &Path) -> u32 {
            fs::metadata(path).unwrap().permissions().mode() & 0o7777
        }

        #[test]
        fn the_mode_becomes_0644_even_of_a_read_only_file() {
            let tree = Tree::new();
            let path = tree.write(LOCK, "one");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o400)).unwrap();
            assert_eq!(tree.save(LOCK, "one").unwrap(), Saved::Unchanged);
            assert_eq!(mode(&path), 0o400);
            assert_eq!(tree.save(LOCK, "two").unwrap(), Saved::Replaced);
            assert_eq!(mode(&path), 0o644);
        }

        #[test]
        fn a_link_is_written_through_inside_the_repository() {
            let tree = Tree::new();
            let target = tree.write("repository/shared.hcl", "one");
            symlink("../shared.hcl", tree.path(LOCK)).unwrap();
            assert_eq!(tree.save(LOCK, "two").unwrap(), Saved::Replaced);
            assert_eq!(fs::read_to_string(&target).unwrap(), "two");
            assert!(fs::symlink_metadata(tree.path(LOCK)).unwrap().is_symlink());
            assert_eq!(tree.names(), [".terraform.lock.hcl"]);
        }

        #[test]
        fn a_link_out_of_the_repository_is_refused_unless_nothing_changes() {
            let tree = Tree::new();
            let target = tree.write("outside/lock.hcl", "one");
            symlink(&target, tree.path(LOCK)).unwrap();
            assert_eq!(tree.save(LOCK, "one").unwrap(), Saved::Unchanged);
            let error = tree.save(LOCK, "two").expect_err("outside");
            assert!(matches!(&error, SaveError::LinkOutside { .. }), "{error}");
            assert!(error.hint().is_some() && error.place().is_some());
            assert_eq!(fs::read_to_string(&target).unwrap(), "one");
        }

        #[test]
        fn a_link_to_nothing_or_to_no_file_is_refused() {
            let tree = Tree::new();
            symlink("missing.hcl", tree.path(LOCK)).unwrap();
            let error = tree.save(LOCK, "one").expect_err("dangling");
            assert!(matches!(error, SaveError::DanglingLink(_)), "{error}");
            fs::remove_file(tree.path(LOCK)).unwrap();
            symlink("..", tree.path(LOCK)).unwrap();
            assert!(matches!(
                tree.save(LOCK, "one"),
                Err(SaveError::NotAFile(_))
            ));
            fs::remove_file(tree.path(LOCK)).unwrap();
            symlink(".terraform.lock.hcl", tree.path(LOCK)).unwrap();
            let error = tree.save(LOCK, "one").expect_err("a loop");
            assert!(matches!(error, SaveError::Read { .. }), "{error}");
            let error = target(&tree.path(LOCK), &tree.path("repository")).expect_err("a loop");
            assert!(matches!(error, SaveError::Write { .. }), "{error}");
        }

        #[test]
        fn a_failure_to_write_names_the_file_and_leaves_nothing() {
            let tree = Tree::new();
            let missing = tree.path("repository/missing/.terraform.lock.hcl");
            let error = save(
                &missing,
                b"one",
                &tree.path("repository"),
                &Owner::new("here", 1),
            )
            .expect_err("no directory");
            assert!(matches!(&error, SaveError::Write { .. }), "{error}");
            assert_eq!(
                error.to_string(),
                format!("cannot write lock file `{}`", missing.display())
            );
        }
    }
}
