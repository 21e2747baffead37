//! Opens regular files without blocking on pipes or touching devices.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

/// Opens a regular file for reading. Other kinds of files are never opened: opening a pipe can block, and opening a device can
/// have side effects.
pub fn open_regular(path: &Path) -> io::Result<File> {
    Ok(open_checked(path, FinalLink::Follow)?.0)
}

/// Opens a regular file whose name came from a directory listing, and returns its length in bytes.
///
/// Accepts the same files as [`open_regular`], but needs one system call less for a file that is not a symlink: a working tree
/// can contain symlinks to devices, but no devices.
pub fn open_listed(path: &Path) -> io::Result<(File, u64)> {
    match open_checked(path, FinalLink::Refuse) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            open_checked(path, FinalLink::Follow)
        }
        opened => opened,
    }
}

/// Whether a symlink in the last component of a path is followed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FinalLink {
    Follow,
    Refuse,
}

/// Opens a regular file and returns its length in bytes.
///
/// The target of a symlink is checked before it is opened, because it may be a device. If another process replaces the file
/// between the check and the opening, `O_NONBLOCK` keeps this call from blocking, and the second check rejects the new file.
pub(super) fn open_checked(path: &Path, link: FinalLink) -> io::Result<(File, u64)> {
    match link {
        FinalLink::Follow => check_regular(&fs::metadata(path)?)?,
        FinalLink::Refuse if cfg!(unix) => {}
        FinalLink::Refuse => check_regular(&fs::symlink_metadata(path)?)?,
    }
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        let mut flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        flags.set(OFlags::NOFOLLOW, link == FinalLink::Refuse);
        options.custom_flags(flags.bits().cast_signed());
    }
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    check_regular(&metadata)?;
    Ok((file, metadata.len()))
}

/// Reads an open file of the given length. Returns `None` if it is larger than `limit` bytes.
pub fn read_limited(file: File, length: u64, limit: u64) -> io::Result<Option<Vec<u8>>> {
    if length > limit {
        return Ok(None);
    }
    let mut text = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
    file.take(limit + 1).read_to_end(&mut text)?;
    Ok((text.len() as u64 <= limit).then_some(text))
}

pub(super) fn check_regular(metadata: &fs::Metadata) -> io::Result<()> {
    if metadata.is_file() {
        Ok(())
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}
