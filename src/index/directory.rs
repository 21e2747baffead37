//! An index in a directory, which may be on a network file system that many machines share.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use tempfile::TempPath;

use super::error::IndexError;
use super::note::MAX_NOTE_BYTES;
use crate::access::open_regular;
use crate::temporary_file::{Owner, rename, rename_to_free_name};

/// The stem of the names of temporary files.
const TEMPORARY: &str = ".tflock-record";

/// Reads a record. Stops one byte after the maximum size, so that the caller can recognize a larger file. `None` if the file does
/// not exist. Fails if the directory of the index does not exist.
pub(super) async fn read(base: &Arc<Path>, path: String) -> Result<Option<Bytes>, IndexError> {
    let base = Arc::clone(base);
    let read = run_blocking(move || match open_regular(&base.join(path)) {
        Ok(file) => {
            let mut content = Vec::new();
            file.take(MAX_NOTE_BYTES + 1).read_to_end(&mut content)?;
            Ok(Some(content.into()))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound && base.is_dir() => Ok(None),
        Err(error) => Err(error),
    });
    read.await
        .map_err(|error| IndexError::ReadFile(Arc::new(error)))
}

/// Creates the file. Returns false if it exists.
pub(super) async fn create(
    base: &Arc<Path>,
    path: String,
    content: String,
) -> Result<bool, IndexError> {
    write(base, path, content, rename_to_free_name).await
}

/// Creates the file or replaces it.
pub(super) async fn replace(
    base: &Arc<Path>,
    path: String,
    content: String,
) -> Result<(), IndexError> {
    write(base, path, content, rename).await
}

/// Writes the file under a temporary name and moves it with `finish`, so that readers never see a part of it.
async fn write<T: Send + 'static>(
    base: &Arc<Path>,
    path: String,
    content: String,
    finish: impl FnOnce(TempPath, &Path) -> io::Result<T> + Send + 'static,
) -> Result<T, IndexError> {
    let base = Arc::clone(base);
    let write = run_blocking(move || {
        let target = base.join(path);
        let directory = target.parent().unwrap_or(&base);
        fs::create_dir_all(directory)?;
        let prefix = Owner::current().prefix(TEMPORARY);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            // The other users of the index must be able to read the file, unless the umask forbids it.
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        let mut temporary = builder.tempfile_in(directory)?;
        temporary.write_all(content.as_bytes())?;
        finish(temporary.into_temp_path(), &target)
    });
    write
        .await
        .map_err(|error| IndexError::WriteFile(Arc::new(error)))
}

async fn run_blocking<T: Send + 'static>(
    job: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    let done = tokio::task::spawn_blocking(job).await;
    // Joining fails only if the runtime shuts down or the task panicked.
    done.unwrap_or_else(|error| Err(io::Error::other(error)))
}
