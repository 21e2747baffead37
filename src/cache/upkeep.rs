//! How much the cache holds, and how it is emptied. Links are never followed: what they lead to is not the cache's.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::error::CacheError;
use super::store::{Kind, LAYOUT, Store, TEMPORARY};

/// Some entries, and what they take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// How many.
    pub entries: u64,
    /// The sizes of all their files.
    pub bytes: u64,
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.entries += other.entries;
        self.bytes += other.bytes;
    }
}

/// What a kind of entries may take; see [`Store::trim`].
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Entries written before this go.
    pub since: SystemTime,
    /// Of the others the oldest go, until no more than this many bytes are left.
    pub bytes: u64,
}

/// How the names of layouts begin that are being removed.
const LEAVING: &str = "leaving-";

/// How often a directory is emptied again because somebody wrote to it meanwhile.
const ATTEMPTS: usize = 10;

/// What lies in the cache `base`, by kind. What is being written, or was left behind by a process that was killed, is no
/// entry, but takes its bytes.
pub fn usage(base: &Path) -> BTreeMap<Kind, Usage> {
    let of = |kind: Kind| {
        let mut usage = Usage::default();
        for entry in entries(&base.join(LAYOUT).join(kind.name())) {
            usage += entry.usage();
        }
        (kind, usage)
    };
    Kind::ALL.map(of).into()
}

/// Removes the whole layout, or only entries written before `since`, and tells what was removed. Other layouts and
/// whatever else lies in `base` stay.
pub fn clean(base: &Path, since: Option<SystemTime>) -> Result<Usage, CacheError> {
    let layout = base.join(LAYOUT);
    let failed = |source| CacheError::Clean {
        path: base.to_path_buf(),
        source,
    };
    let mut freed = Usage::default();
    if let Some(since) = since {
        for kind in Kind::ALL {
            let directory = layout.join(kind.name());
            freed += trim(
                &directory,
                &Bounds {
                    since,
                    bytes: u64::MAX,
                },
            )
            .map_err(failed)?;
        }
        return Ok(freed);
    }
    for of_kind in usage(base).into_values() {
        freed += of_kind;
    }
    remove_layout(base).map_err(failed)?;
    Ok(freed)
}

/// Removes the layout from where others write to it in one step, and then for good, so that however many they are, they cannot
/// keep it from becoming empty. What an earlier process that was killed left of its layout goes, too.
fn remove_layout(base: &Path) -> io::Result<()> {
    let layout = base.join(LAYOUT);
    if fs::symlink_metadata(&layout).is_ok() {
        let aside = tempfile::Builder::new()
            .prefix(LEAVING)
            .tempdir_in(base)?
            .keep();
        match fs::rename(&layout, aside.join(LAYOUT)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                // Windows does not move a directory in which somebody has a file open.
                remove(&layout)?;
            }
            _ => {}
        }
        remove(&aside)?;
    }
    for entry in fs::read_dir(base).into_iter().flatten().flatten() {
        let is_leaving = entry.file_name().to_string_lossy().starts_with(LEAVING);
        // Without a layout in it, it is another process's that is about to move one there.
        if is_leaving && fs::symlink_metadata(entry.path().join(LAYOUT)).is_ok() {
            remove(&entry.path())?;
        }
    }
    Ok(())
}

impl Store {
    /// Removes entries of a kind that are too old or too many, and tells what was removed.
    pub fn trim(&self, kind: Kind, bounds: &Bounds) -> io::Result<Usage> {
        trim(&self.directory(kind)?, bounds)
    }
}

fn trim(directory: &Path, bounds: &Bounds) -> io::Result<Usage> {
    let mut entries = entries(directory);
    entries.sort_by_key(|entry| std::cmp::Reverse(entry.written));
    let (mut kept, mut freed) = (0, Usage::default());
    for entry in entries {
        let usage = entry.usage();
        if entry.written >= bounds.since && kept + usage.bytes <= bounds.bytes {
            kept += usage.bytes;
        } else {
            remove(&entry.path)?;
            freed += usage;
        }
    }
    Ok(freed)
}

/// Removes a file, a link, or a directory with all that is in it. What is not there is gone already.
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

/// One entry on disk.
struct Found {
    path: PathBuf,
    written: SystemTime,
    is_temporary: bool,
}

impl Found {
    fn usage(&self) -> Usage {
        Usage {
            entries: u64::from(!self.is_temporary),
            bytes: bytes_of(&self.path),
        }
    }
}

/// The entries in the directory of a kind. What cannot be looked at, or vanishes meanwhile, is left out.
fn entries(directory: &Path) -> Vec<Found> {
    let is_directory = fs::symlink_metadata(directory).is_ok_and(|found| found.is_dir());
    let listed = is_directory.then(|| fs::read_dir(directory).ok()).flatten();
    let found = listed.into_iter().flatten().flatten().filter_map(|entry| {
        let name = entry.file_name();
        Some(Found {
            path: entry.path(),
            written: entry.metadata().ok()?.modified().ok()?,
            is_temporary: name.to_string_lossy().starts_with(TEMPORARY),
        })
    });
    found.collect()
}

/// The size of a file, or of all files below a directory.
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
    use crate::cache::Key;

    /// A cache with these file entries: name, length, and how many days ago it was written.
    fn filled(rows: &[(&str, usize, u64)]) -> (tempfile::TempDir, Store) {
        let base = tempfile::tempdir().unwrap();
        let store = Store::open(base.path()).unwrap();
        for (name, length, days) in rows {
            let path = store.directory(Kind::Modules).unwrap().join(name);
            fs::write(&path, vec![0; *length]).unwrap();
            let file = fs::File::options().write(true).open(path).unwrap();
            file.set_modified(ago(*days)).unwrap();
        }
        (base, store)
    }

    fn ago(days: u64) -> SystemTime {
        SystemTime::now() - Duration::from_secs(days * 86_400)
    }

    fn names(store: &Store) -> Vec<String> {
        let mut names: Vec<String> = entries(&store.directory(Kind::Modules).unwrap())
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
    fn cleaning_leaves_nothing_behind_also_not_of_a_clean_that_was_killed() {
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
    fn trimming_takes_the_old_and_then_the_oldest() {
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
            store.trim(Kind::Modules, &Bounds { since, bytes }).unwrap();
            assert_eq!(names(&store), left, "{days} days, {bytes} bytes");
        }
    }

    #[test]
    fn entries_are_counted_and_taken_away() {
        let (base, store) = filled(&[("a", 10, 0), ("b", 5, 9), (".tmp-c", 3, 0)]);
        store.write(&Key::new(Kind::Answers, &["q"]), &[b"x"]);
        let staged = store.stage(Kind::Modules).unwrap();
        fs::create_dir(staged.path().join("sub")).unwrap();
        fs::write(staged.path().join("sub/main.tf"), "1234").unwrap();
        store
            .adopt(&Key::new(Kind::Modules, &["m"]), staged)
            .unwrap();

        let count = |entries, bytes| Usage { entries, bytes };
        let found = usage(base.path());
        assert_eq!(found[&Kind::Modules], count(3, 22));
        assert_eq!(
            (found[&Kind::Hashes], found[&Kind::Answers].entries),
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
    fn links_are_taken_away_and_not_followed() {
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
            let found = usage(base.path())[&Kind::Hashes];
            assert_eq!(found.bytes, if is_entry { length } else { 0 });
            clean(base.path(), Some(ago(0))).unwrap();
            assert_eq!(fs::symlink_metadata(&link).is_ok(), !is_entry);
            clean(base.path(), None).unwrap();
            assert!(fs::symlink_metadata(&link).is_err());
            assert!(precious.exists());
        }
    }
}
