//! Repositories on this machine, whose symlinks and settings can refer to other files.

use std::fs;
use std::path::{Path, PathBuf};

use super::{MAX_REPOSITORY_ENTRIES, VersionControl};

/// The files through which a repository uses the history or the settings of another one.
const FILES_OF_GIT: [&str; 3] = [
    "objects/info/alternates",
    "objects/info/http-alternates",
    "commondir",
];
const FILES_OF_MERCURIAL: [&str; 1] = ["sharedpath"];

/// Whether `program` reads only files of the repository at `path` when it fetches the repository. This is the case if the data of the
/// repository contains no symlinks, and if its history is not that of another repository.
pub(in crate::modules) fn is_self_contained(program: VersionControl, path: &Path) -> bool {
    match program {
        VersionControl::Git => git_directories(path)
            .iter()
            .all(|directory| is_closed(directory, &FILES_OF_GIT)),
        VersionControl::Mercurial => is_closed(&path.join(".hg"), &FILES_OF_MERCURIAL),
    }
}

/// Returns the directories in which git looks for the repository. `.git` may also be a file that names a directory.
fn git_directories(path: &Path) -> Vec<PathBuf> {
    let mut with_suffix = path.as_os_str().to_owned();
    with_suffix.push(".git");
    let with_suffix = PathBuf::from(with_suffix);
    let places = [
        path.join(".git/.git"),
        path.join(".git"),
        with_suffix.join(".git"),
        with_suffix,
        path.to_path_buf(),
    ];
    let exists = |path: &Path| fs::symlink_metadata(path).is_ok();
    let is_bare = |path: &PathBuf| exists(&path.join("HEAD")) && exists(&path.join("objects"));
    let is_repository = |path: &PathBuf| path.ends_with(".git") || is_bare(path);
    places.into_iter().filter(is_repository).collect()
}

/// Whether a directory contains neither symlinks nor one of the `files`. True if the directory does not exist.
fn is_closed(directory: &Path, files: &[&str]) -> bool {
    let exists = |file: &&str| fs::symlink_metadata(directory.join(file)).is_ok();
    if files.iter().any(exists) {
        return false;
    }
    let mut waiting = vec![directory.to_path_buf()];
    let mut entries = 0;
    while let Some(next) = waiting.pop() {
        let Ok(metadata) = fs::symlink_metadata(&next) else {
            continue;
        };
        entries += 1;
        let is_root = next == directory;
        if metadata.is_symlink()
            || entries > MAX_REPOSITORY_ENTRIES
            || is_root && !metadata.is_dir()
        {
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

    use super::VersionControl::{Git, Mercurial};
    use super::*;

    #[test]
    fn links_and_shares_lead_to_other_files() {
        for (program, path, is_link, expected) in [
            (Mercurial, ".hg/store/00changelog.i", false, true),
            (Mercurial, ".hg/store/00changelog.i", true, false),
            (Mercurial, ".hg/sharedpath", false, false),
            (Mercurial, "link.tf", true, true),
            (Git, ".git/objects/pack/a.pack", false, true),
            (Git, ".git/objects/pack/a.pack", true, false),
            (Git, ".git/objects/info/alternates", false, false),
            (Git, ".git/commondir", false, false),
            (Git, ".git", false, false),
            (Git, "link.tf", true, true),
            (Git, "objects", true, false),
            (Git, "objects/info/alternates", false, false),
        ] {
            let directory = tempfile::tempdir().unwrap();
            let file = directory.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            if path.starts_with("objects") {
                fs::write(directory.path().join("HEAD"), "ref: refs/heads/main").unwrap();
            }
            if is_link {
                symlink("/etc/passwd", &file).unwrap();
            } else {
                fs::write(&file, "x").unwrap();
            }
            let found = is_self_contained(program, directory.path());
            assert_eq!(found, expected, "{program:?} {path} {is_link}");
        }
        assert!(is_self_contained(Git, Path::new("/nowhere")));
    }
}
