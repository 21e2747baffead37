//! Copies of packages, and packages taking the place of what was there.

use std::path::Path;
use std::{fs, io};

/// Copies a file, or a directory with all that is below it. Links become what they lead to, since that is what counts of
/// them; permissions of files stay.
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

/// Gives `new` the name `place` in one step. If a directory was there, it has the name `new` afterwards.
pub(super) fn take_place(new: &Path, place: &Path) -> io::Result<()> {
    let directory = place.parent().unwrap_or(place);
    loop {
        fs::create_dir_all(directory)?;
        match fs::rename(new, place) {
            // Somebody who prunes has just removed the directory, because it was empty.
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

/// Elsewhere there is a moment in which nothing has the name.
#[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    let aside = one.with_extension("old");
    fs::rename(other, &aside)?;
    fs::rename(one, other)?;
    fs::rename(&aside, one)
}
