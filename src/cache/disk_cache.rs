//! Reads and writes cache entries: files and directories named after the digest of their key.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::entry_format;
use super::error::CacheError;
use super::private_directory;
use crate::provider::Digest;

/// The directory name of this layout. It must change whenever the layout or a format changes.
pub(super) const LAYOUT: &str = "v1";

/// The prefix of temporary names. The name of an entry never starts with it.
pub(super) const TEMPORARY: &str = ".tmp-";

/// The maximum size of a file entry. A checksum list may be up to 2 MiB and a registry's keys 8 MiB; real entries are about 10 KB.
pub(super) const MAX_ENTRY_BYTES: u64 = 16 << 20;

/// A part of the cache with its own directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CacheArea {
    /// Content hashes of zips.
    Hashes,
    /// Registries' descriptions of packages.
    Answers,
    /// Records of a hash index.
    IndexRecords,
    /// Fetched modules, as files or directories.
    Modules,
}

impl CacheArea {
    pub const ALL: [Self; 4] = [
        Self::Hashes,
        Self::Answers,
        Self::IndexRecords,
        Self::Modules,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Hashes => "hashes",
            Self::Answers => "answers",
            Self::IndexRecords => "index-records",
            Self::Modules => "modules",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CacheKey {
    area: CacheArea,
    digest: Digest,
}

impl CacheKey {
    /// Creates a key from these parts. The boundaries between parts matter: `["a", "b"]` and `["ab"]` give different keys.
    pub fn new(area: CacheArea, parts: &[&str]) -> Self {
        let mut sha = Sha256::new();
        for part in [area.name()].iter().chain(parts) {
            sha.update(part.len().to_le_bytes());
            sha.update(part);
        }
        let digest = Digest::new(sha.finalize().into());
        Self { area, digest }
    }
}

/// The cache of one user. Threads and processes can use it at the same time.
#[derive(Debug)]
pub struct DiskCache {
    layout: PathBuf,
    write_error: OnceLock<CacheError>,
}

impl DiskCache {
    /// Opens the cache in the directory `base`, which is created if it does not exist.
    pub fn open(base: &Path) -> Result<Self, CacheError> {
        let layout = base.join(LAYOUT);
        private_directory::prepare(base, &layout)?;
        Ok(Self {
            layout,
            write_error: OnceLock::new(),
        })
    }

    /// Checks whether `base` can be used, without creating or changing anything.
    pub fn inspect(base: &Path) -> Result<(), CacheError> {
        private_directory::inspect(base, &base.join(LAYOUT))
    }

    /// Returns the first failure to write an entry. Such failures have no other effect.
    pub fn write_error(&self) -> Option<&CacheError> {
        self.write_error.get()
    }

    /// Reads the parts of a file entry. `None` if it is missing, damaged, too large or not a regular file.
    pub fn read(&self, key: &CacheKey) -> Option<Vec<Vec<u8>>> {
        let path = self.path(key);
        // Reading a pipe would block.
        if !fs::metadata(&path).ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        let mut file = File::open(&path).ok()?.take(MAX_ENTRY_BYTES + 1);
        file.read_to_end(&mut bytes).ok()?;
        if bytes.len() as u64 > MAX_ENTRY_BYTES {
            return None;
        }
        let parts = entry_format::decode(&key.digest, &bytes);
        if parts.is_none() {
            tracing::debug!(path = %path.display(), "ignoring a damaged cache entry");
        }
        parts
    }

    /// Writes or replaces a file entry, unless it is too large. [`DiskCache::write_error`] returns the first failure.
    pub fn write(&self, key: &CacheKey, parts: &[&[u8]]) {
        let bytes = entry_format::encode(&key.digest, parts);
        if bytes.len() as u64 > MAX_ENTRY_BYTES {
            return;
        }
        let mut written = self.replace(key, &bytes);
        if matches!(&written, Err(error) if error.kind() == io::ErrorKind::NotFound) {
            written = self.replace(key, &bytes);
        }
        match written {
            Ok(()) => {}
            // Another process has just removed the directory twice; the entry is not worth a third attempt.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => {
                let path = self.layout.clone();
                // Only the first failure is kept, because later ones probably have the same cause.
                let _ = self.write_error.set(CacheError::Write { path, source });
            }
        }
    }

    fn replace(&self, key: &CacheKey, bytes: &[u8]) -> io::Result<()> {
        let mut temporary = tempfile::Builder::new()
            .prefix(TEMPORARY)
            .tempfile_in(self.directory(key.area)?)?;
        temporary.write_all(bytes)?;
        // Closes the file, because Windows does not rename open files.
        temporary.into_temp_path().persist(self.path(key))?;
        Ok(())
    }

    /// Returns the path of the directory entry with this key, if it exists. The caller checks that its content is complete.
    pub fn find(&self, key: &CacheKey) -> Option<PathBuf> {
        let path = self.path(key);
        let is_directory = fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
        is_directory.then_some(path)
    }

    /// Creates a private temporary directory in the area. It is removed unless it is [adopted](DiskCache::adopt).
    pub fn stage(&self, area: CacheArea) -> io::Result<TempDir> {
        let directory = self.directory(area)?;
        tempfile::Builder::new()
            .prefix(TEMPORARY)
            .tempdir_in(directory)
    }

    /// Turns a temporary directory into the entry with this key, and returns its path. If another process created the entry first,
    /// that entry is kept.
    pub fn adopt(&self, key: &CacheKey, staged: TempDir) -> io::Result<PathBuf> {
        let path = self.path(key);
        match fs::rename(staged.path(), &path) {
            Ok(()) => {
                // Prevents the removal of the temporary name, which no longer exists.
                let _gone = staged.keep();
                Ok(path)
            }
            Err(_) if self.find(key).is_some() => Ok(path),
            Err(error) => Err(error),
        }
    }

    /// Removes an entry, whether it is a file or a directory.
    pub fn remove(&self, key: &CacheKey) -> io::Result<()> {
        super::usage::remove(&self.path(key))
    }

    /// Returns the directory of an area, which is created if it is missing.
    pub(super) fn directory(&self, area: CacheArea) -> io::Result<PathBuf> {
        let path = self.layout.join(area.name());
        if !path.is_dir() {
            private_directory::create_private(&self.layout)?;
            private_directory::create_private(&path)?;
        }
        Ok(path)
    }

    fn path(&self, key: &CacheKey) -> PathBuf {
        let CacheKey { area, digest } = key;
        self.layout.join(area.name()).join(digest.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> (TempDir, DiskCache) {
        let base = tempfile::tempdir().unwrap();
        let store = DiskCache::open(base.path()).unwrap();
        (base, store)
    }

    fn key(part: &str) -> CacheKey {
        CacheKey::new(CacheArea::Answers, &[part])
    }

    fn read(store: &DiskCache, part: &str) -> Option<String> {
        let parts = store.read(&key(part))?;
        Some(String::from_utf8(parts.concat()).unwrap())
    }

    #[test]
    fn keys_depend_on_the_boundaries_of_parts() {
        let keys = [
            CacheKey::new(CacheArea::Answers, &["a", "b"]),
            CacheKey::new(CacheArea::Answers, &["ab"]),
            CacheKey::new(CacheArea::Answers, &["ab", ""]),
            CacheKey::new(CacheArea::Hashes, &["ab"]),
        ];
        for (index, key) in keys.iter().enumerate() {
            assert!(!keys[..index].contains(key), "{key:?}");
        }
        assert_eq!(keys[1], CacheKey::new(CacheArea::Answers, &["ab"]));
    }

    #[test]
    fn entries_are_shared_and_replaced() {
        let (base, store) = store();
        assert_eq!(read(&store, "a"), None);
        store.write(&key("a"), &[b"one", b" part"]);
        store.write(&key("b"), &[b"other"]);
        let beside = DiskCache::open(base.path()).unwrap();
        assert_eq!(read(&beside, "a").as_deref(), Some("one part"));
        beside.write(&key("a"), &[b"two"]);
        assert_eq!(read(&store, "a").as_deref(), Some("two"));
        let names = fs::read_dir(base.path().join("v1/answers")).unwrap();
        assert_eq!(names.count(), 2, "no temporary files are left");
        assert!(store.write_error().is_none());
    }

    #[test]
    fn damaged_entries_are_ignored_and_replaced() {
        let (_base, store) = store();
        store.write(&key("other"), &[b"other"]);
        let other = fs::read(store.path(&key("other"))).unwrap();
        let path = store.path(&key("a"));
        let too_large = vec![0; (16 << 20) + 1];
        let rows: [(&str, &[u8]); 4] = [
            ("empty", b""),
            ("cut", &other[..other.len() - 1]),
            ("that of another key", &other),
            ("too large", &too_large),
        ];
        for (name, content) in rows {
            fs::write(&path, content).unwrap();
            assert_eq!(read(&store, "a"), None, "{name}");
            store.write(&key("a"), &[b"sound"]);
            assert_eq!(read(&store, "a").as_deref(), Some("sound"), "{name}");
        }
        assert!(store.write_error().is_none());
    }

    #[test]
    fn large_entries_are_not_written() {
        let (_base, store) = store();
        store.write(&key("a"), &[&vec![0; 16 << 20]]);
        assert!(!store.path(&key("a")).exists() && store.write_error().is_none());
    }

    /// Writing fails because a file cannot replace a directory.
    #[test]
    fn the_first_failure_to_write_is_stored() {
        let (_base, store) = store();
        fs::create_dir_all(store.path(&key("a")).join("full")).unwrap();
        store.write(&key("a"), &[b"x"]);
        assert_eq!(read(&store, "a"), None);
        let write_error = store.write_error().unwrap().to_string();
        assert!(
            write_error.starts_with("cannot write to the cache `"),
            "{write_error}"
        );
    }

    #[test]
    fn a_cleaned_cache_is_created_again() {
        let (base, store) = store();
        store.write(&key("a"), &[b"x"]);
        super::super::clean(base.path(), None).unwrap();
        assert_eq!(read(&store, "a"), None);
        store.write(&key("a"), &[b"x"]);
        assert_eq!(read(&store, "a").as_deref(), Some("x"));
        DiskCache::inspect(base.path()).unwrap();
    }

    #[test]
    fn the_first_directory_is_kept() {
        let (_base, store) = store();
        let key = CacheKey::new(CacheArea::Modules, &["m"]);
        assert_eq!(store.find(&key), None);
        let stage = |text: &str| {
            let staged = store.stage(CacheArea::Modules).unwrap();
            fs::write(staged.path().join("main.tf"), text).unwrap();
            staged
        };
        let first = store.adopt(&key, stage("first")).unwrap();
        let second = store.adopt(&key, stage("second")).unwrap();
        assert_eq!(
            (Some(first.clone()), first),
            (store.find(&key), second.clone())
        );
        assert_eq!(fs::read_to_string(second.join("main.tf")).unwrap(), "first");
        assert_eq!(fs::read_dir(second.parent().unwrap()).unwrap().count(), 1);
        store.remove(&key).unwrap();
        assert_eq!(store.find(&key), None);
    }
}
