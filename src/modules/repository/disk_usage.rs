//! Measures how much a program has written to disk.

use std::fs;
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::modules) enum Excess {
    Bytes,
    Entries,
}

/// Checks whether the files below `directory` exceed a limit. Entries that disappear during the check do not count.
pub(super) fn find_excess(directory: &Path, max_bytes: u64, max_entries: usize) -> Option<Excess> {
    let mut waiting = vec![directory.to_path_buf()];
    let (mut bytes, mut entries) = (0_u64, 0_usize);
    while let Some(directory) = waiting.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            entries += 1;
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => waiting.push(entry.path()),
                Ok(metadata) => bytes = bytes.saturating_add(metadata.len()),
                Err(_) => {}
            }
            if bytes > max_bytes {
                return Some(Excess::Bytes);
            }
            if entries > max_entries {
                return Some(Excess::Entries);
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_and_entries_are_counted() {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir_all(directory.path().join("a/b")).unwrap();
        fs::write(directory.path().join("a/b/c"), "1234").unwrap();
        for (max_bytes, max_entries, expected) in [
            (4, 3, None),
            (3, 3, Some(Excess::Bytes)),
            (4, 2, Some(Excess::Entries)),
        ] {
            let found = find_excess(directory.path(), max_bytes, max_entries);
            assert_eq!(found, expected, "{max_bytes} {max_entries}");
        }
    }
}
