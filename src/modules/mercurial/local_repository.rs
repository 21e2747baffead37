//! Repositories on this machine, which may lead to other files of this machine.

use std::fs;
use std::path::Path;

use crate::modules::repository::MAX_REPOSITORY_ENTRIES;

/// Whether Mercurial reads only files below `path` if it fetches this repository or bundle: it contains no symlinks, and its history is
/// not that of another repository.
pub(in crate::modules) fn is_self_contained(path: &Path) -> bool {
    let mut waiting = vec![path.join(".hg")];
    let mut entries = 0;
    while let Some(next) = waiting.pop() {
        let Ok(metadata) = fs::symlink_metadata(&next) else {
            continue;
        };
        entries += 1;
        if metadata.is_symlink() || entries > MAX_REPOSITORY_ENTRIES {
            return false;
        }
        // This file names the repository whose history is shared.
        if next.ends_with(".hg/sharedpath") {
            return false;
        }
        if metadata.is_dir() {
            let inner = fs::read_dir(&next).into_iter().flatten().flatten();
            waiting.extend(inner.map(|entry| entry.path()));
        }
    }
    true
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn links_and_shares_lead_to_other_files() {
        for (path, is_link, expected) in [
            (".hg/store/00changelog.i", false, true),
            (".hg/store/00changelog.i", true, false),
            (".hg/sharedpath", false, false),
            ("link.tf", true, true),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let file = directory.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            if is_link {
                symlink("/etc/passwd", &file).unwrap();
            } else {
                fs::write(&file, "x").unwrap();
            }
            assert_eq!(
                is_self_contained(directory.path()),
                expected,
                "{path} {is_link}"
            );
        }
        assert!(is_self_contained(Path::new("/nowhere")));
    }
}
