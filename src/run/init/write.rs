//! Creates the config file without ever replacing one.

use std::io::{self, Write as _};
use std::path::Path;

use tempfile::{Builder, TempPath};

use crate::settings::CONFIG_FILE_NAME;
use crate::temporary_file::{Owner, rename_to_free_name};

use super::InitError;

/// Creates `file`, which messages call `shown`. The file gets its name only when it is complete.
///
/// # Errors
/// [`InitError::Exists`] if `file` exists by then.
pub(super) fn create(file: &Path, shown: &Path, text: &str) -> Result<(), InitError> {
    let path = shown.to_path_buf();
    let created = temporary(file, text).and_then(|temporary| rename_to_free_name(temporary, file));
    match created {
        Ok(true) => Ok(()),
        Ok(false) => Err(InitError::Exists { path }),
        Err(source) => Err(InitError::Write { path, source }),
    }
}

/// Writes the text to a temporary file in the same directory, with the permissions that the umask allows.
fn temporary(file: &Path, text: &str) -> io::Result<TempPath> {
    let directory = file.parent().unwrap_or(file);
    let prefix = Owner::current().prefix(CONFIG_FILE_NAME);
    let mut builder = Builder::new();
    builder.prefix(&prefix);
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut temporary = builder.tempfile_in(directory)?;
    temporary.write_all(text.as_bytes())?;
    Ok(temporary.into_temp_path())
}
