//! Reads a lock file from disk.

use std::io::{self, Read as _};
use std::path::Path;

use super::error::{MAX_LOCK_FILE_SIZE, SaveError};
use crate::access::{LinkError, open_confined, resolve_link};
use crate::span::Place;

/// Reads a lock file. Returns `None` if it does not exist. A symlink may point to a different file in the repository.
pub fn read(path: &Path) -> Result<Option<Vec<u8>>, SaveError> {
    let failed = |source| SaveError::Read {
        place: Place::file(path),
        source,
    };
    let (file, size) = match open_confined(path) {
        Err(LinkError::Read(error)) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(None);
        }
        Err(_) if is_no_file(path) => return Err(SaveError::NotAFile(Place::file(path))),
        opened => opened.map_err(|error| link_error(path, error, failed))?,
    };
    let size = usize::try_from(size.min(MAX_LOCK_FILE_SIZE)).unwrap_or(0);
    let mut bytes = Vec::with_capacity(size);
    file.take(MAX_LOCK_FILE_SIZE + 1)
        .read_to_end(&mut bytes)
        .map_err(failed)?;
    if bytes.len() as u64 > MAX_LOCK_FILE_SIZE {
        return Err(SaveError::TooLarge(Place::file(path)));
    }
    Ok(Some(bytes))
}

/// Whether `path` exists and is neither a file nor a symlink.
fn is_no_file(path: &Path) -> bool {
    let is_other = |found: std::fs::Metadata| !found.is_file() && !found.is_symlink();
    resolve_link(path).is_ok_and(|path| path.symlink_metadata().is_ok_and(is_other))
}

/// Converts the error about a forbidden symlink. `failed` converts system errors.
pub(super) fn link_error(
    path: &Path,
    error: LinkError,
    failed: impl FnOnce(io::Error) -> SaveError,
) -> SaveError {
    let place = Place::file(path);
    match error {
        LinkError::Outside => SaveError::LinkOutside(place),
        LinkError::Internal(directory) => SaveError::LinkInternal { place, directory },
        LinkError::Read(source) => failed(source),
    }
}
