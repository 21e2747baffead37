//! Measures and empties the cache. Symlinks are never followed, because their targets do not belong to the cache.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::disk_cache::{CacheArea, DiskCache, LAYOUT, TEMPORARY};
use super::error::CacheError;

/// The number and total size of cache entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EntryUsage {
    pub entries: u64,
    /// The total size in bytes, including temporary files.
    pub bytes: u64,
}

impl AddAssign for EntryUsage {
    fn add_assign(&mut self, other: Self) {
        self.entries += other.entries;
        self.bytes += other.bytes;
    }
}

/// The limits for the entries of an area; see [`DiskCache::trim`].
#[derive(Clone, Copy, Debug)]
pub struct TrimLimits {
    /// Entries written before this time are removed.
    pub since: SystemTime,
    /// The maximum number of bytes to keep; the oldest entries are removed first.
    pub bytes: u64,
}

/// The name prefix of layouts that are being removed.
const LEAVING: &str = "leaving-";

/// The maximum number of attempts to remove a directory while other processes write to it.
const ATTEMPTS: usize = 10;

/// Measures the cache in `base`, by area. Temporary files of running or killed processes count as bytes, but not as entries.
pub fn usage(base: &Path) -> BTreeMap<CacheArea, EntryUsage> {
    let of = |area: CacheArea| {
        let mut usage = EntryUsage::default();
        for entry in entries(&base.join(LAYOUT).join(area.name())) {
            usage += entry.usage();
        }
        (area, usage)
    };
    CacheArea::ALL.map(of).into()
}

/// Removes the whole layout, or only entries written before `since`. Returns what was removed. Other layouts and other files in
/// `base` are kept.
pub fn clean(base: &Path, since: Option<SystemTime>) -> Result<EntryUsage, CacheError> {
    let layout = base.join(LAYOUT);
    let failed = |source| CacheError::Clean {
        path: base.to_path_buf(),
        source,
    };
    let mut freed = EntryUsage::default();
    if let Some(since) = since {
        for area in CacheArea::ALL {
            let directory = layout.join(area.name());
            let bytes = u64::MAX;
            freed += trim(&directory, &TrimLimits { since, bytes }).map_err(failed)?;
        }
        return Ok(freed);
    }
    for of_area in usage(base).into_values() {
        freed += of_area;
    }
    remove_layout(base).map_err(failed)?;
    Ok(freed)
}

/// Renames the layout before removing it, so that processes writing to the cache cannot keep it from becoming empty. Also removes
/// renamed layouts that killed processes have left behind.
fn remove_layout(base: &Path) -> io::Result<()> {
    let layout = base.join(LAYOUT);
    if fs::symlink_metadata(&layout).is_ok() {
        let aside = tempfile::Builder::new()
            .prefix(LEAVING)
            .tempdir_in(base)?
            .keep();
        match fs::rename(&layout, aside.join(LAYOUT)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                // Windows cannot rename a directory that contains open files.
                remove(&layout)?;
            }
            _ => {}
        }
        remove(&aside)?;
    }
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let is_leaving = entry.file_name().to_string_lossy().starts_with(LEAVING);
        // If it contains no layout, another process is about to move its layout there.
        if is_leaving && fs::symlink_metadata(entry.path().join(LAYOUT)).is_ok() {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

impl DiskCache {
    /// Removes the entries of an area that exceed the limits, and returns what was removed.
    pub fn trim(&self, area: CacheArea, limits: &TrimLimits) -> io::Result<EntryUsage> {
        trim(&self.directory(area)?, limits)
    }
}

fn trim(directory: &Path, limits: &TrimLimits) -> io::Result<EntryUsage> {
    let mut entries = entries(directory);
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.written));
    let (mut kept, mut freed) = (0, EntryUsage::default());
    for entry in entries {
        let usage = entry.usage();
        if entry.written >= limits.since && kept + usage.bytes <= limits.bytes {
            kept += usage.bytes;
        } else {
            remove(&entry.path)?;
            freed += usage;
        }
    }
    Ok(freed)
}

/// Removes a file, a symlink, or a directory with its content. A missing path is not an error.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    let attempt = || match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    let mut result = attempt();
    for _ in 1..ATTEMPTS {
        match &result {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => result = attempt(),
            _ => break,
        }
    }
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// An entry or a temporary file.
struct StoredEntry {
    path: PathBuf,
    written: SystemTime,
    is_temporary: bool,
}

impl StoredEntry {
    fn usage(&self) -> EntryUsage {
        EntryUsage {
            entries: u64::from(!self.is_temporary),
            bytes: bytes_of(&self.path),
        }
    }
}

/// Lists the entries in an area's directory. Entries that cannot be inspected are skipped.
fn entries(directory: &Path) -> Vec<StoredEntry> {
    let is_directory = fs::symlink_metadata(directory).is_ok_and(|found| found.is_dir());
    let listed = is_directory.then(|| fs::read_dir(directory).ok()).flatten();
    let found = listed.into_iter().flatten().flatten().filter_map(|entry| {
        let name = entry.file_name();
        Some(StoredEntry {
            path: entry.path(),
            written: entry.metadata().ok()?.modified().ok()?,
            is_temporary: name.to_string_lossy().starts_with(TEMPORARY),
        })
    });
    found.collect()
}

/// Returns the size of a file, or of all files below a directory.
fn bytes_of(path: &Path) -> u64 {
    let Ok(found) = fs::symlink_metadata(path) else {
        return 0;
    };
    if !found.is_dir() {
        return found.len();
    }
    let below = fs::read_dir(path).into_iter().flatten().flatten();
    below.map(|entry| bytes_of(&entry.path())).sum()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::cache::CacheKey;

    /// Creates a cache with these file entries, given by name, length in bytes, and age in days.
    fn filled(rows: &[(&str, usize, u64)]) -> (tempfile::TempDir, DiskCache) {
        let base = tempfile::tempdir().unwrap();
        let store = DiskCache::open(base.path()).unwrap();
        for (name, length, days) in rows {
            let path = store.directory(CacheArea::Modules).unwrap().join(name);
            fs::write(&path, vec![0; *length]).unwrap();
            let file = fs::File::options().write(true).open(path).unwrap();
            file.set_modified(ago(*days)).unwrap();
        }
        (base, store)
    }

    fn ago(days: u64) -> SystemTime {
        SystemTime::now() - Duration::from_secs(days * 86_400)
    }

    fn names(store: &DiskCache) -> Vec<String> {
        let mut names: Vec<String> = entries(&store.directory(CacheArea::Modules).unwrap())
            .into_iter()
            .map(|entry| {
                entry
                    .path
                    .file_name()
                    .unwrap()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }

    #[test]
    fn cleaning_removes_leftovers_of_killed_processes() {
        let (base, _) = filled(&[("a", 10, 1)]);
        let left = base.path().join("leaving-1");
        fs::create_dir_all(left.join(LAYOUT).join("modules")).unwrap();
        let foreign = ["leaving-2", "other"].map(|name| base.path().join(name));
        for directory in &foreign {
            fs::create_dir(directory).unwrap();
        }
        clean(base.path(), None).unwrap();
        let mut names: Vec<PathBuf> = fs::read_dir(base.path())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        names.sort();
        assert_eq!(names, foreign);
        clean(&base.path().join("missing"), None).unwrap();
    }

    #[test]
    fn trimming_removes_old_entries_and_then_the_oldest() {
        let rows = [
            ("a", 10, 1),
            ("b", 10, 2),
            ("c", 10, 3),
            (".tmp-d", 10, 4),
            (".tmp-e", 10, 0),
        ];
        let table: [(u64, u64, &[&str]); 5] = [
            (9, u64::MAX, &[".tmp-d", ".tmp-e", "a", "b", "c"]),
            (3, u64::MAX, &[".tmp-e", "a", "b"]),
            (9, 30, &[".tmp-e", "a", "b"]),
            (9, 20, &[".tmp-e", "a"]),
            (0, u64::MAX, &[]),
        ];
        for (days, bytes, left) in table {
            let (_base, store) = filled(&rows);
            let since = ago(days);
            store
                .trim(CacheArea::Modules, &TrimLimits { since, bytes })
                .unwrap();
            assert_eq!(names(&store), left, "{days} days, {bytes} bytes");
        }
    }

    #[test]
    fn entries_are_counted_and_removed() {
        let (base, store) = filled(&[("a", 10, 0), ("b", 5, 9), (".tmp-c", 3, 0)]);
        store.write(&CacheKey::new(CacheArea::Answers, &["q"]), &[b"x"]);
        let staged = store.stage(CacheArea::Modules).unwrap();
        fs::create_dir(staged.path().join("sub")).unwrap();
        fs::write(staged.path().join("sub/main.tf"), "1234").unwrap();
        store
            .adopt(&CacheKey::new(CacheArea::Modules, &["m"]), staged)
            .unwrap();

        let count = |entries, bytes| EntryUsage { entries, bytes };
        let found = usage(base.path());
        assert_eq!(found[&CacheArea::Modules], count(3, 22));
        assert_eq!(
            (
                found[&CacheArea::Hashes],
                found[&CacheArea::Answers].entries
            ),
            (count(0, 0), 1)
        );

        assert_eq!(clean(base.path(), Some(ago(1))).unwrap(), count(1, 5));
        fs::write(base.path().join("mine"), "").unwrap();
        fs::create_dir(base.path().join("v2")).unwrap();
        assert_eq!(clean(base.path(), None).unwrap().entries, 3);
        assert_eq!(clean(base.path(), None).unwrap(), count(0, 0));
        let mut left: Vec<_> = fs::read_dir(base.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        left.sort();
        assert_eq!(left, ["mine", "v2"]);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_removed_and_not_followed() {
        use std::os::unix::fs::symlink;

        let outside = tempfile::tempdir().unwrap();
        let precious = outside.path().join("precious");
        for link in ["v1", "v1/hashes", "v1/hashes/entry"] {
            fs::write(&precious, "1234567890").unwrap();
            let base = tempfile::tempdir().unwrap();
            let link = base.path().join(link);
            fs::create_dir_all(link.parent().unwrap()).unwrap();
            symlink(outside.path(), &link).unwrap();
            let length = fs::symlink_metadata(&link).unwrap().len();
            let is_entry = link.ends_with("entry");
            let found = usage(base.path())[&CacheArea::Hashes];
            assert_eq!(found.bytes, if is_entry { length } else { 0 });
            clean(base.path(), Some(ago(0))).unwrap();
            assert_eq!(fs::symlink_metadata(&link).is_ok(), !is_entry);
            clean(base.path(), None).unwrap();
            assert!(fs::symlink_metadata(&link).is_err());
            assert!(precious.exists());
        }
    }
}
