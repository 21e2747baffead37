//! Entries: files under the digest of their question, and directories likewise.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

use super::entry;
use super::error::CacheError;
use super::place;
use crate::provider::Digest;

/// The directory of this layout. Whatever changes what is below it changes this name.
pub(super) const LAYOUT: &str = "v1";

/// What temporary names begin with. No entry is named so.
pub(super) const TEMPORARY: &str = ".tmp-";

/// The largest file of an entry, read or written. A checksum list may have 2 MiB, the keys of a registry 8; real entries
/// have some 10 KB.
pub(super) const MAX_ENTRY_BYTES: u64 = 16 << 20;

/// What entries are about; each kind has a directory of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The digest of a zip to its `h1`.
    Hashes,
    /// What registries say of packages.
    Answers,
    /// Fetched modules: directories, or files.
    Modules,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Hashes, Self::Answers, Self::Modules];

    /// The name of the directory.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hashes => "hashes",
            Self::Answers => "answers",
            Self::Modules => "modules",
        }
    }
}

/// Names an entry: the digest of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    kind: Kind,
    digest: Digest,
}

impl Key {
    /// The key of a question that consists of these parts. Different parts have different keys, wherever one ends and the
    /// next begins.
    pub fn new(kind: Kind, parts: &[&str]) -> Self {
        let mut sha = Sha256::new();
        for part in [kind.name()].iter().chain(parts) {
            sha.update(part.len().to_le_bytes());
            sha.update(part);
        }
        let digest = Digest::new(sha.finalize().into());
        Self { kind, digest }
    }
}

/// The cache of one user. Many may use it at the same time, in this process and in others.
#[derive(Debug)]
pub struct Store {
    layout: PathBuf,
    trouble: OnceLock<CacheError>,
}

impl Store {
    /// The cache in the directory `base`, which is made if it does not exist.
    pub fn open(base: &Path) -> Result<Self, CacheError> {
        let layout = base.join(LAYOUT);
        place::prepare(base, &layout)?;
        Ok(Self {
            layout,
            trouble: OnceLock::new(),
        })
    }

    /// Why `base` would not be used as it is now, if it would not. Nothing is made or changed.
    pub fn inspect(base: &Path) -> Result<(), CacheError> {
        place::inspect(base, &base.join(LAYOUT))
    }

    /// What went wrong first when an entry was written. Nothing failed because of it.
    pub fn trouble(&self) -> Option<&CacheError> {
        self.trouble.get()
    }

    /// The parts of a file entry. One that is damaged, too large or no regular file is as good as none.
    pub fn read(&self, key: &Key) -> Option<Vec<Vec<u8>>> {
        let path = self.path(key);
        // A pipe would keep the reader waiting.
        if !fs::metadata(&path).ok()?.is_file() {
            return None;
        }
        let mut bytes = Vec::new();
        let mut file = File::open(&path).ok()?.take(MAX_ENTRY_BYTES + 1);
        file.read_to_end(&mut bytes).ok()?;
        if bytes.len() as u64 > MAX_ENTRY_BYTES {
            return None;
        }
        let parts = entry::decode(&key.digest, &bytes);
        if parts.is_none() {
            tracing::debug!(path = %path.display(), "a damaged entry of the cache is ignored");
        }
        parts
    }

    /// Writes a file entry, in place of what is there. What cannot be written is not: see [`Store::trouble`].
    pub fn write(&self, key: &Key, parts: &[&[u8]]) {
        let bytes = entry::encode(&key.digest, parts);
        if bytes.len() as u64 > MAX_ENTRY_BYTES {
            return;
        }
        let mut written = self.replace(key, &bytes);
        if matches!(&written, Err(error) if error.kind() == io::ErrorKind::NotFound) {
            written = self.replace(key, &bytes);
        }
        match written {
            Ok(()) => {}
            // Somebody is cleaning the cache, twice in this moment: then so be it.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => {
                let path = self.layout.clone();
                // Only the first failure is of interest: the others will have the same cause.
                let _ = self.trouble.set(CacheError::Write { path, source });
            }
        }
    }

    fn replace(&self, key: &Key, bytes: &[u8]) -> io::Result<()> {
        let mut temporary = tempfile::Builder::new()
            .prefix(TEMPORARY)
            .tempfile_in(self.directory(key.kind)?)?;
        temporary.write_all(bytes)?;
        // Closed before the renaming: Windows would not have it otherwise.
        temporary.into_temp_path().persist(self.path(key))?;
        Ok(())
    }

    /// The directory entry of this key, if there is one. Whoever filled it knows how to tell whether it is whole.
    pub fn find(&self, key: &Key) -> Option<PathBuf> {
        let path = self.path(key);
        let is_directory = fs::symlink_metadata(&path).is_ok_and(|found| found.is_dir());
        is_directory.then_some(path)
    }

    /// A private directory to fill, beside the entries of the kind. It vanishes unless it is [adopted](Store::adopt).
    pub fn stage(&self, kind: Kind) -> io::Result<TempDir> {
        let directory = self.directory(kind)?;
        tempfile::Builder::new()
            .prefix(TEMPORARY)
            .tempdir_in(directory)
    }

    /// Makes a filled directory the entry of this key, and tells where it lies then. If another process was faster, its
    /// entry stays.
    pub fn adopt(&self, key: &Key, staged: TempDir) -> io::Result<PathBuf> {
        let path = self.path(key);
        match fs::rename(staged.path(), &path) {
            Ok(()) => {
                // The name that it would remove is gone.
                let _gone = staged.keep();
                Ok(path)
            }
            Err(_) if self.find(key).is_some() => Ok(path),
            Err(error) => Err(error),
        }
    }

    /// Takes an entry away, whatever it is.
    pub fn remove(&self, key: &Key) -> io::Result<()> {
        super::upkeep::remove(&self.path(key))
    }

    /// The directory of a kind, which is made if need be.
    pub(super) fn directory(&self, kind: Kind) -> io::Result<PathBuf> {
        let path = self.layout.join(kind.name());
        if !path.is_dir() {
            place::make_private(&self.layout)?;
            place::make_private(&path)?;
        }
        Ok(path)
    }

    fn path(&self, key: &Key) -> PathBuf {
        let Key { kind, digest } = key;
        self.layout.join(kind.name()).join(digest.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store() -> (TempDir, Store) {
        let base = tempfile::tempdir().unwrap();
        let store = Store::open(base.path()).unwrap();
        (base, store)
    }

    fn key(part: &str) -> Key {
        Key::new(Kind::Answers, &[part])
    }

    fn read(store: &Store, part: &str) -> Option<String> {
        let parts = store.read(&key(part))?;
        Some(String::from_utf8(parts.concat()).unwrap())
    }

    #[test]
    fn keys_know_where_one_part_ends() {
        let keys = [
            Key::new(Kind::Answers, &["a", "b"]),
            Key::new(Kind::Answers, &["ab"]),
            Key::new(Kind::Answers, &["ab", ""]),
            Key::new(Kind::Hashes, &["ab"]),
        ];
        for (index, key) in keys.iter().enumerate() {
            assert!(!keys[..index].contains(key), "{key:?}");
        }
        assert_eq!(keys[1], Key::new(Kind::Answers, &["ab"]));
    }

    #[test]
    fn entries_are_found_by_every_user_of_the_directory_and_replaced_whole() {
        let (base, store) = store();
        assert_eq!(read(&store, "a"), None);
        store.write(&key("a"), &[b"one", b" part"]);
        store.write(&key("b"), &[b"other"]);
        let beside = Store::open(base.path()).unwrap();
        assert_eq!(read(&beside, "a").as_deref(), Some("one part"));
        beside.write(&key("a"), &[b"two"]);
        assert_eq!(read(&store, "a").as_deref(), Some("two"));
        let names = fs::read_dir(base.path().join("v1/answers")).unwrap();
        assert_eq!(names.count(), 2, "nothing temporary is left");
        assert!(store.trouble().is_none());
    }

    #[test]
    fn what_is_no_sound_entry_is_ignored_and_replaced() {
        let (_base, store) = store();
        store.write(&key("other"), &[b"other"]);
        let other = fs::read(store.path(&key("other"))).unwrap();
        let path = store.path(&key("a"));
        let too_large = vec![0; (16 << 20) + 1];
        let rows: [(&str, &[u8]); 4] = [
            ("empty", b""),
            ("cut", &other[..other.len() - 1]),
            ("that of another question", &other),
            ("too large", &too_large),
        ];
        for (name, content) in rows {
            fs::write(&path, content).unwrap();
            assert_eq!(read(&store, "a"), None, "{name}");
            store.write(&key("a"), &[b"sound"]);
            assert_eq!(read(&store, "a").as_deref(), Some("sound"), "{name}");
        }
        assert!(store.trouble().is_none());
    }

    #[test]
    fn what_is_too_large_is_not_written() {
        let (_base, store) = store();
        store.write(&key("a"), &[&vec![0; 16 << 20]]);
        assert!(!store.path(&key("a")).exists() && store.trouble().is_none());
    }

    /// A directory cannot be replaced by a file: the entry is not written, and that is told once.
    #[test]
    fn what_cannot_be_written_is_told_and_fails_nothing() {
        let (_base, store) = store();
        fs::create_dir_all(store.path(&key("a")).join("full")).unwrap();
        store.write(&key("a"), &[b"x"]);
        assert_eq!(read(&store, "a"), None);
        let trouble = store.trouble().unwrap().to_string();
        assert!(
            trouble.starts_with("cannot write to the cache `"),
            "{trouble}"
        );
    }

    #[test]
    fn a_cache_that_was_cleaned_meanwhile_is_made_again() {
        let (base, store) = store();
        store.write(&key("a"), &[b"x"]);
        super::super::clean(base.path(), None).unwrap();
        assert_eq!(read(&store, "a"), None);
        store.write(&key("a"), &[b"x"]);
        assert_eq!(read(&store, "a").as_deref(), Some("x"));
        Store::inspect(base.path()).unwrap();
    }

    #[test]
    fn directories_are_adopted_by_the_first() {
        let (_base, store) = store();
        let key = Key::new(Kind::Modules, &["m"]);
        assert_eq!(store.find(&key), None);
        let stage = |text: &str| {
            let staged = store.stage(Kind::Modules).unwrap();
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
