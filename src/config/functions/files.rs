//! File and path functions. Relative paths are relative to the root module's directory.

use std::io;
use std::path::Path;

use crate::access::{AccessError, ReadAccess};
use crate::config::module_files;
use crate::config::module_source::clean_path;
use crate::syntax::{Refusal, Value};

use super::{FunctionError, FunctionResult, Functions, text};

impl Functions {
    pub(super) fn read(&self, path: &Value) -> Result<Vec<u8>, FunctionError> {
        let path = text(path)?;
        let access = self.files.get();
        let file = access.open(&self.root.join(&path));
        let file = file.map_err(|error| unreadable_file(&path, access, &error))?;
        let unreadable = |error: io::Error| unreadable_file(&path, access, &error.into());
        let length = file.metadata().map_err(unreadable)?.len();
        self.budget
            .bytes(usize::try_from(length).unwrap_or(usize::MAX))?;
        module_files::read_whole(file, length).map_err(unreadable)
    }

    /// Whether a file exists. Fails for files that the module may not read.
    pub(super) fn is_file(&self, path: &Value) -> Result<bool, FunctionError> {
        let path = text(path)?;
        let access = self.files.get();
        match access.locate(&self.root.join(&path)) {
            Ok(real) => Ok(real.is_file()),
            Err(AccessError::Read(_missing)) => Ok(false),
            Err(error) => Err(unreadable_file(&path, access, &error)),
        }
    }

    pub(super) fn read_text(&self, path: &Value) -> Result<String, FunctionError> {
        String::from_utf8(self.read(path)?)
            .map_err(|error| format!("the file is not valid UTF-8: {error}").into())
    }
}

fn unreadable_file(path: &str, access: &ReadAccess, error: &AccessError) -> FunctionError {
    let (why, refusal) = match error {
        AccessError::Outside => (access.outside_message().to_owned(), Some(Refusal::Outside)),
        AccessError::Internal(_) => (error.to_string(), Some(Refusal::Internal)),
        AccessError::Untracked => (error.to_string(), Some(Refusal::Untracked)),
        AccessError::Read(error) => (error.to_string(), None),
    };
    FunctionError::File {
        path: Some(path.to_owned()),
        why,
        refusal,
    }
}

pub(super) fn abspath(functions: &Functions, path: &Value) -> FunctionResult {
    let absolute =
        std::path::absolute(functions.root.join(text(path)?)).map_err(|error| error.to_string())?;
    Ok(clean_path(&absolute.to_string_lossy()).into())
}

/// Returns the last element of a path, ignoring trailing slashes.
pub(super) fn basename(path: &str) -> String {
    let trimmed = path.trim_end_matches('/');
    let name = match (path, trimmed) {
        ("", _) => ".",
        (_, "") => "/",
        _ => trimmed.rsplit('/').next().unwrap_or(trimmed),
    };
    name.to_owned()
}

/// Returns all but the last element of a path, without `.` and, where possible, without `..`.
pub(super) fn dirname(path: &str) -> String {
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    if directory.is_empty() && Path::new(path).has_root() {
        return "/".to_owned();
    }
    clean_path(directory)
}
