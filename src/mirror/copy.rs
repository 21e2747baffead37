//! Copies packages, and moves them to their final path.

use std::path::Path;
use std::{fs, io};

/// Copies a file, or a directory with everything below it. Links are replaced by copies of their targets, because hashes cover
/// the targets. Files keep their permissions.
pub(super) fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !fs::metadata(from)?.is_dir() {
        return fs::copy(from, to).map(drop);
    }
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))?;
    }
    Ok(())
}

/// Moves `new` to `place` in one step. A directory that was there is at `new` afterwards.
pub(super) fn move_to(new: &Path, place: &Path) -> io::Result<()> {
    let directory = place.parent().unwrap_or(place);
    loop {
        fs::create_dir_all(directory)?;
        match fs::rename(new, place) {
            // Another process that prunes has just removed the directory, because it was empty.
            Err(error) if error.kind() == io::ErrorKind::NotFound && new.exists() => {}
            Err(_) if fs::symlink_metadata(place).is_ok() => return exchange(new, place),
            renamed => return renamed,
        }
    }
}

/// Exchanges the names of two files or directories.
#[cfg(any(target_os = "linux", target_vendor = "apple"))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

/// Other systems cannot exchange names: for a moment `other` does not exist.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    let aside = one.with_extension("old");
    fs::rename(other, &aside)?;
    fs::rename(one, other)?;
    fs::rename(&aside, one)
}
