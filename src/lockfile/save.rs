//! Replaces a lock file, either completely or not at all.
//!
//! The new content is written to a temporary file in the same directory, which is then renamed. Before that, the old file is
//! compared with the content from which the new one was computed. The directory is locked during comparison and renaming, so that
//! no process overwrites what another has just written. `fsync` is not called: the content can be computed again, and `fsync`
//! would dominate a run over thousands of directories. On Unix, the mode becomes 0644, as with Terraform and OpenTofu.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

use tempfile::TempPath;

use super::directory_lock::lock_directory;
use super::error::SaveError;
use super::read::{link_error, read};
use super::temporary::STEM;
use crate::access::{LinkError, resolve_link};
use crate::span::Place;
use crate::temporary_file::{Owner, rename, rename_to_free_name};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    Written,
    /// Another process has changed the file since it was read. Nothing was written.
    Outdated,
    /// Another process has locked the directory. Nothing was written.
    Busy,
}

/// Writes the new content to `path`, unless the file no longer has the content `old` from which the new content was computed.
/// `old` is `None` if there was no file. If `path` is a symlink, its target is replaced. Callers skip files that would not
/// change.
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
    let target = match resolve_link(path) {
        Err(LinkError::Read(error)) if error.kind() == io::ErrorKind::NotFound => {
            return Err(SaveError::DanglingLink(Place::file(path)));
        }
        target => target.map_err(|error| link_error(path, error, failed))?,
    };
    let Ok(_lock) = lock_directory(directory_of(&target)) else {
        return Ok(Saved::Busy);
    };
    if read(path)?.as_deref() != old {
        return Ok(Saved::Outdated);
    }
    let temporary = write_temporary(&target, content, owner).map_err(failed)?;
    if old.is_some() {
        rename(temporary, &target).map_err(failed)?;
    } else if !rename_to_free_name(temporary, &target).map_err(failed)? {
        return Ok(Saved::Outdated);
    }
    Ok(Saved::Written)
}

/// Writes a temporary file next to `target`. It is removed if anything fails.
fn write_temporary(target: &Path, content: &[u8], owner: &Owner) -> io::Result<TempPath> {
    let mut temporary = tempfile::Builder::new()
        .prefix(&owner.prefix(STEM))
        .make_in(directory_of(target), create)?;
    // The content is written through the inner file, because the errors of `NamedTempFile` contain the temporary path.
    temporary.as_file_mut().write_all(content)?;
    #[cfg(unix)]
    set_mode(temporary.as_file())?;
    // The file is closed before it is renamed, because Windows cannot rename open files.
    Ok(temporary.into_temp_path())
}

/// Returns the directory of a file. A bare name is in the current directory.
fn directory_of(file: &Path) -> &Path {
    match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

/// Creates a file that only this process can use: on Windows, no other process can remove it before it is closed.
fn create(path: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    #[cfg(windows)]
    std::os::windows::fs::OpenOptionsExt::share_mode(&mut options, 0);
    options.open(path)
}

/// Sets the mode that Terraform and OpenTofu use, regardless of the umask.
#[cfg(unix)]
fn set_mode(file: &File) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;

    file.set_permissions(fs::Permissions::from_mode(0o644))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::lockfile::error::MAX_LOCK_FILE_SIZE;
    use crate::span::Explain as _;

    /// A temporary directory with `repository/` and `outside/`.
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

        /// Saves content that was computed from the current content of the file.
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

        /// Returns the names of all files in the directory of the lock file.
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
        assert_eq!(tree.save(LOCK, "one").unwrap(), Saved::Written);
        assert_eq!(tree.save(LOCK, "two").unwrap(), Saved::Written);
        assert_eq!(
            read(&tree.path(LOCK)).unwrap().as_deref(),
            Some("two".as_bytes())
        );
        assert_eq!(tree.names(), [".terraform.lock.hcl"]);
    }

    #[test]
    fn changes_of_other_processes_are_kept() {
        let tree = Tree::new();
        for (on_disk, old, saved) in [
            (Some("other"), Some("one"), Saved::Outdated),
            (Some("other"), None, Saved::Outdated),
            (None, Some("one"), Saved::Outdated),
            (Some("one"), Some("one"), Saved::Written),
            (None, None, Saved::Written),
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
    fn nothing_is_written_while_another_process_has_locked_the_directory() {
        let tree = Tree::new();
        let lock = lock_directory(&tree.path("repository/a")).unwrap();
        assert_eq!(tree.save(LOCK, "one").unwrap(), Saved::Busy);
        assert_eq!(tree.names(), Vec::<String>::new());
        drop(lock);
        assert_eq!(tree.save(LOCK, "one").unwrap(), Saved::Written);
    }

    #[test]
    fn a_bare_name_is_in_the_current_directory() {
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
            assert_eq!(tree.save(LOCK, "two").unwrap(), Saved::Written);
            assert_eq!(mode(&path), 0o644);
        }

        #[test]
        fn a_link_is_written_through_inside_the_repository() {
            let tree = Tree::new();
            let target = tree.write("repository/shared.hcl", "one");
            symlink("../shared.hcl", tree.path(LOCK)).unwrap();
            assert_eq!(tree.save(LOCK, "two").unwrap(), Saved::Written);
            assert_eq!(fs::read_to_string(&target).unwrap(), "two");
            assert!(fs::symlink_metadata(tree.path(LOCK)).unwrap().is_symlink());
            assert_eq!(tree.names(), [".terraform.lock.hcl"]);
        }

        #[test]
        fn other_links_are_refused() {
            let tree = Tree::new();
            let target = tree.write("outside/lock.hcl", "one");
            tree.write("repository/.git/config", "one");
            let leaves = "a symlink points outside the repository";
            for (to, expected) in [
                (target.to_str().unwrap(), leaves),
                ("../../outside/lock.hcl", leaves),
                ("../../outside/missing.hcl", leaves),
                ("/dev/zero", leaves),
                (".terraform.lock.hcl", leaves), // a loop
                ("../.git/config", "a symlink points into `.git`"),
                ("../.git/missing", "a symlink points into `.git`"),
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
        fn a_dangling_link_is_not_a_lock_file_and_is_not_written_through() {
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
