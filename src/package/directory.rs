//! Hashes a package that is already unpacked, in a filesystem mirror or plugin cache.
//!
//! All files below the directory are hashed, even those that do not belong to the package. A symlink to a file is hashed like its
//! target; other symlinks are errors. Empty directories are ignored. The directory itself may be a symlink.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::package::PackageError;
use crate::package::archive::digest_of_file;
use crate::package::limits::MAX_ENTRIES;
use crate::package::package_tree::hash_files;
use crate::provider::{Digest, Hash};

/// Computes the `h1` hash of an unpacked package. `type_name` is the type in the provider's address.
pub fn hash_directory(directory: &Path, type_name: &str) -> Result<Hash, PackageError> {
    let mut files = Vec::new();
    // Directories to read, with their paths in the package.
    let mut pending = vec![(directory.to_path_buf(), Vec::new())];
    while let Some((directory, inside)) = pending.pop() {
        for entry in fs::read_dir(&directory).map_err(unreadable(&directory))? {
            let entry = entry.map_err(unreadable(&directory))?;
            let path = entry.path();
            let name = join(&inside, entry.file_name().as_encoded_bytes());
            if entry.file_type().map_err(unreadable(&path))?.is_dir() {
                pending.push((path, name));
            } else if files.len() == MAX_ENTRIES {
                return Err(PackageError::TooManyEntries { limit: MAX_ENTRIES });
            } else {
                files.push((name, digest(path)?));
            }
        }
    }
    hash_files(files, type_name)
}

fn join(directory: &[u8], name: &[u8]) -> Vec<u8> {
    if directory.is_empty() {
        return name.to_vec();
    }
    [directory, b"/", name].concat()
}

/// Computes the digest of a file or of a symlink's target. Other kinds of files are not opened, because a pipe could block.
fn digest(path: PathBuf) -> Result<Digest, PackageError> {
    if !fs::metadata(&path).map_err(unreadable(&path))?.is_file() {
        return Err(PackageError::NotAFile { path });
    }
    let file = File::open(&path).map_err(unreadable(&path))?;
    match digest_of_file(&file) {
        Err(PackageError::Read(source)) => Err(PackageError::ReadUnpacked { path, source }),
        digested => digested.map(|(digest, _)| digest),
    }
}

fn unreadable(path: &Path) -> impl FnOnce(io::Error) -> PackageError {
    let path = path.to_path_buf();
    |source| PackageError::ReadUnpacked { path, source }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;
    use crate::package::h1::{h1, sha256};

    const EXE: &str = "terraform-provider-p_v1.0.0";

    fn package(files: &[(&str, &str)]) -> TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, content) in [(EXE, "exe")].iter().chain(files) {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        root
    }

    fn hash(root: &TempDir) -> Result<String, PackageError> {
        hash_directory(root.path(), "p").map(|hash| hash.to_string())
    }

    fn expected(files: &[(&str, &str)]) -> String {
        let lines = files
            .iter()
            .map(|(name, content)| (name.as_bytes(), sha256(content.as_bytes())));
        h1(lines).to_string()
    }

    #[test]
    fn all_files_are_hashed_and_directories_are_ignored() {
        let root = package(&[]);
        let alone = Ok("h1:Oj1eh1N9nbmmxii3XU5c/6EwLuYwJZZymBjmnaipDuI=".to_owned());
        assert_eq!(hash(&root), alone);
        fs::create_dir_all(root.path().join("empty/inner")).unwrap();
        assert_eq!(hash(&root), alone);
        let root = package(&[("a/b/c", "1"), ("a/b-c", "2"), (".hidden", "3"), ("z", "")]);
        let files = [
            (".hidden", "3"),
            ("a/b-c", "2"),
            ("a/b/c", "1"),
            (EXE, "exe"),
            ("z", ""),
        ];
        assert_eq!(hash(&root), Ok(expected(&files)));
    }

    #[test]
    fn the_executable_must_be_at_the_top() {
        let root = package(&[("d/terraform-provider-q", "x")]);
        let type_name = "q".to_owned();
        let expected = Err(PackageError::NoExecutable { type_name });
        assert_eq!(hash_directory(root.path(), "q"), expected);
    }

    #[test]
    fn a_missing_directory_is_an_error() {
        let path = tempfile::tempdir().unwrap().path().join("missing");
        assert!(is_unreadable(hash_directory(&path, "p"), &path));
    }

    fn is_unreadable<T>(result: Result<T, PackageError>, expected: &Path) -> bool {
        matches!(result, Err(PackageError::ReadUnpacked { path, .. }) if path == expected)
    }

    #[cfg(unix)]
    #[test]
    fn links() {
        use std::os::unix::fs::symlink;

        let elsewhere = package(&[("a", "A")]);
        let target = elsewhere.path().join("a");
        let root = package(&[]);
        let link = root.path().join("link");
        symlink(&target, &link).unwrap();
        let followed = Ok(expected(&[("link", "A"), (EXE, "exe")]));
        assert_eq!(hash(&root), followed, "a symlink to a file");
        let other = tempfile::tempdir().unwrap();
        symlink(root.path(), other.path().join("package")).unwrap();
        let through_link = hash_directory(&other.path().join("package"), "p");
        let through_link = through_link.map(|hash| hash.to_string());
        assert_eq!(
            through_link,
            hash(&root),
            "the directory itself is a symlink"
        );

        fs::remove_file(&link).unwrap();
        symlink(elsewhere.path(), &link).unwrap();
        let not_a_file = Err(PackageError::NotAFile { path: link.clone() });
        assert_eq!(hash(&root), not_a_file, "a symlink to a directory");
        fs::remove_file(&link).unwrap();
        symlink("nowhere", &link).unwrap();
        assert!(is_unreadable(hash(&root), &link), "a dangling symlink");
        fs::remove_file(&link).unwrap();
        fs::remove_file(root.path().join(EXE)).unwrap();
        symlink(elsewhere.path().join(EXE), root.path().join(EXE)).unwrap();
        let linked = Ok(expected(&[(EXE, "exe")]));
        assert_eq!(hash(&root), linked, "a symlinked executable");
    }

    #[cfg(unix)]
    #[test]
    fn names_are_bytes() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt as _;

        let root = package(&[("a\\b", "A")]);
        assert!(hash(&root).unwrap().starts_with("h1:8fT9HazCPkl"));
        let root = package(&[]);
        // Some file systems reject such a name.
        if fs::write(root.path().join(OsStr::from_bytes(b"caf\xe9")), "A").is_ok() {
            assert!(hash(&root).unwrap().starts_with("h1:MfSzc7oolwU"));
        }
        let root = package(&[("a\nb", "A")]);
        let name = "a\\nb".to_owned();
        assert_eq!(hash(&root), Err(PackageError::NewlineInName { name }));
    }
}
