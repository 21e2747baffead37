//! The file on disk: read it, compare, and replace it whole or not at all.
//!
//! The content goes to a temporary file in the same directory, which then takes the place of the old one. That one is compared
//! with what the new content was made from, and both steps are one [`Turn`], so that no process overwrites what another has
//! written meanwhile. There is no `fsync`: the content can be made again, and it would
//! dominate a run over thousands of directories. On Unix the mode is 0644, whatever it was, as the engines leave it.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use tempfile::TempPath;

use super::error::{MAX_LOCK_FILE_SIZE, SaveError};
use super::owner::STEM;
use super::turn::Turn;
use crate::access::{LinkError, open_confined, resolve_link};
use crate::owner::{Owner, rename, rename_to_free_name};
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
    /// Another process has changed it since it was read. Nothing was written.
    Outdated,
    /// Another process has locked its directory. Nothing was written.
    Busy,
}

/// The content of a lock file; none if it does not exist. A link is followed to another file of the repository.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, SaveError> {
    let failed = |source| SaveError::Read {
        place: Place::file(path),
        source,
    };
    let (file, size) = match open_confined(path) {
        Err(LinkError::Read(error)) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(_) if is_no_file(path) => return Err(SaveError::NotAFile(Place::file(path))),
        opened => opened.map_err(|error| refused(path, error, failed))?,
    };
    let size = usize::try_from(size.min(MAX_LOCK_FILE_SIZE)).unwrap_or(0);
    let mut bytes = Vec::with_capacity(size);
    file.take(MAX_LOCK_FILE_SIZE + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_LOCK_FILE_SIZE {
        return Err(SaveError::TooLarge(Place::file(path)));
    }
    Ok(Some(bytes))
}

/// Whether something other than a file has the name; links are for [`refused`] to tell.
fn is_no_file(path: &Path) -> bool {
    let is_other = |found: fs::Metadata| !found.is_file() && !found.is_symlink();
    resolve_link(path).is_ok_and(|path| fs::symlink_metadata(path).is_ok_and(is_other))
}

/// A link that leads where no lock file is, or what the system says.
fn refused(
    path: &Path,
    error: LinkError,
    failed: impl FnOnce(io::Error) -> SaveError,
) -> SaveError {
    let place = Place::file(path);
    match error {
        LinkError::Outside => SaveError::LinkOutside(place),
        LinkError::Internal(directory) => SaveError::LinkInternal { place, directory },
        LinkError::Read(source) => failed(source),
    }
}

/// Gives the file at `path` this content, if it still has the content `old`, which the new one was made from. A link is written
/// through to its target.
pub fn save(
    path: &Path,
    old: Option<&[u8]>,
    content: &[u8],
    owner: &Owner,
) -> Result<Saved, SaveError> {
    let failed = |source| SaveError::Write {
        place: Place::file(path),
        source,
    };
    let target = target(path)?;
    let Ok(_turn) = Turn::take(directory_of(&target)) else {
        return Ok(Saved::Busy);
    };
    if read(path)?.as_deref() != old {
        return Ok(Saved::Outdated);
    }
    match old {
        Some(old) if old == content => Ok(Saved::Unchanged),
        Some(_) => {
            let temporary = write_temporary(&target, content, owner).map_err(failed)?;
            rename(temporary, &target).map_err(failed)?;
            Ok(Saved::Replaced)
        }
        None => {
            let temporary = write_temporary(&target, content, owner).map_err(failed)?;
            let is_created = rename_to_free_name(temporary, &target).map_err(failed)?;
            Ok(if is_created {
                Saved::Created
            } else {
                Saved::Outdated
            })
        }
    }
}

/// The file to replace: `path` itself, or what it links to.
fn target(path: &Path) -> Result<PathBuf, SaveError> {
    match resolve_link(path) {
        Err(LinkError::Read(error)) if error.kind() == io::ErrorKind::NotFound => {
            Err(SaveError::DanglingLink(Place::file(path)))
        }
        target => target.map_err(|error| {
            refused(path, error, |source| SaveError::Write {
                place: Place::file(path),
                source,
            })
        }),
    }
}

/// A file with this content beside `target`. If anything fails it is removed.
fn write_temporary(target: &Path, content: &[u8], owner: &Owner) -> io::Result<TempPath> {
    let mut temporary = tempfile::Builder::new()
        .prefix(&owner.prefix(STEM))
        .make_in(directory_of(target), create)?;
    // Through the file itself, whose errors do not name the temporary path: it says nothing to anybody.
    temporary.as_file_mut().write_all(content)?;
    #[cfg(unix)]
    set_mode(temporary.as_file())?;
    // Closed before the renaming: Windows would not have it otherwise.
    Ok(temporary.into_temp_path())
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
            for directory in ["repository/.git", "repository/a", "outside"] {
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

        /// Saves what was made from the content that the file has now.
        fn save(&self, path: &str, content: &str) -> Result<Saved, SaveError> {
            let old = read(&self.path(path))?;
            self.save_over(path, old.as_deref(), content)
        }

        fn save_over(
            &self,
            path: &str,
            old: Option<&[u8]>,
            content: &str,
        ) -> Result<Saved, SaveError> {
            let owner = Owner::new("here", 1);
            save(&self.path(path), old, content.as_bytes(), &owner)
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
    fn what_another_process_has_written_stays() {
        let tree = Tree::new();
        for (on_disk, old, saved) in [
            (Some("other"), Some("one"), Saved::Outdated),
            (Some("other"), None, Saved::Outdated),
            (None, Some("one"), Saved::Outdated),
            (Some("one"), Some("one"), Saved::Replaced),
            (None, None, Saved::Created),
        ] {
            let _ = fs::remove_file(tree.path(LOCK));
            if let Some(text) = on_disk {
                tree.write(LOCK, text);
            }
            let old = old.map(str::as_bytes);
            assert_eq!(
                tree.save_over(LOCK, old, "two").unwrap(),
                saved,
                "{on_disk:?}"
            );
            let left = fs::read_to_string(tree.path(LOCK)).ok();
            let expected = if saved == Saved::Outdated {
                on_disk
            } else {
                Some("two")
            };
            assert_eq!(left.as_deref(), expected);
            assert!(tree.names().len() <= 1);
        }
    }

    #[test]
    fn while_another_process_has_its_turn_nothing_is_written() {
        let tree = Tree::new();
        let turn = Turn::take(&tree.path("repository/a")).unwrap();
        assert_eq!(tree.save(LOCK, "one").unwrap(), Saved::Busy);
        assert_eq!(tree.names(), Vec::<String>::new());
        drop(turn);
        assert_eq!(tree.save(LOCK, "one").unwrap(), Saved::Created);
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
        fn other_links_are_refused() {
            let tree = Tree::new();
            let target = tree.write("outside/lock.hcl", "one");
            tree.write("repository/.git/config", "one");
            let leaves = "a link leads out of the repository";
            for (to, expected) in [
                (target.to_str().unwrap(), leaves),
                ("../../outside/lock.hcl", leaves),
                ("../../outside/missing.hcl", leaves),
                ("/dev/zero", leaves),
                (".terraform.lock.hcl", leaves), // a loop leads nowhere
                ("../.git/config", "a link leads into `.git`"),
                ("../.git/missing", "a link leads into `.git`"),
                ("..", "it is not a regular file"),
            ] {
                let _ = fs::remove_file(tree.path(LOCK));
                symlink(to, tree.path(LOCK)).unwrap();
                for error in [
                    read(&tree.path(LOCK)).unwrap_err(),
                    tree.save_over(LOCK, Some(b"one"), "two").unwrap_err(),
                ] {
                    assert!(error.to_string().ends_with(expected), "{to}: {error}");
                    assert!(error.to_string().starts_with("cannot use `"), "{error}");
                    assert!(error.place().is_some());
                }
            }
            assert_eq!(fs::read_to_string(&target).unwrap(), "one");
            assert_eq!(tree.names(), [".terraform.lock.hcl"]);
        }

        #[test]
        fn a_link_to_nothing_is_no_lock_file_and_is_not_written_through() {
            let tree = Tree::new();
            symlink("missing.hcl", tree.path(LOCK)).unwrap();
            assert_eq!(read(&tree.path(LOCK)).unwrap(), None);
            let error = tree.save(LOCK, "one").expect_err("dangling");
            assert!(matches!(error, SaveError::DanglingLink(_)), "{error}");
        }

        #[test]
        fn special_files_are_not_opened() {
            let tree = Tree::new();
            let made = std::process::Command::new("mkfifo")
                .arg(tree.path(LOCK))
                .status();
            assert!(made.unwrap().success());
            assert!(matches!(
                read(&tree.path(LOCK)),
                Err(SaveError::NotAFile(_))
            ));
            assert!(matches!(
                tree.save_over(LOCK, None, "one"),
                Err(SaveError::NotAFile(_))
            ));
        }

        #[test]
        fn a_failure_to_write_names_the_file_and_leaves_nothing() {
            let tree = Tree::new();
            let missing = tree.path("repository/missing/.terraform.lock.hcl");
            let error =
                save(&missing, None, b"one", &Owner::new("here", 1)).expect_err("no directory");
            assert!(matches!(&error, SaveError::Write { .. }), "{error}");
            assert_eq!(
                error.to_string(),
                format!("cannot write lock file `{}`", missing.display())
            );
        }
    }
}
