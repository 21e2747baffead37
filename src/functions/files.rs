//! File and path functions. Relative paths are relative to the root module's directory.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::access::{AccessError, ReadAccess, open_regular, read_limited};
use crate::syntax::{Refusal, Value};

use super::file_access::ReadableFile;
use super::{FunctionError, FunctionResult, Functions, text};

impl Functions {
    pub(super) fn read(&self, path: &Value) -> Result<Vec<u8>, FunctionError> {
        let path = text(path)?;
        let access = self.files.get();
        let unreadable = |error: AccessError| unreadable_file(&path, access, &error);
        let located = self.files.locate(&self.root.join(&path));
        let file = match located.map_err(unreadable)? {
            ReadableFile::OnDisk(real) => open_regular(&real),
            ReadableFile::Text(text) => {
                self.budget.bytes(text.len())?;
                return Ok(text);
            }
            ReadableFile::Unknown => return Err(FunctionError::Unsupported),
        };
        let file = file.map_err(|error| unreadable(error.into()))?;
        let unreadable = |error: io::Error| unreadable(error.into());
        let length = file.metadata().map_err(unreadable)?.len();
        self.budget
            .bytes(usize::try_from(length).unwrap_or(usize::MAX))?;
        read_whole(file, length).map_err(unreadable)
    }

    /// Whether a file exists. Fails for files that the module may not read.
    pub(super) fn is_file(&self, path: &Value) -> Result<bool, FunctionError> {
        let path = text(path)?;
        let access = self.files.get();
        match self.files.locate(&self.root.join(&path)) {
            Ok(ReadableFile::OnDisk(real)) => Ok(real.is_file()),
            Ok(ReadableFile::Text(_) | ReadableFile::Unknown) => Ok(true),
            Err(AccessError::Read(_missing)) => Ok(false),
            Err(error) => Err(unreadable_file(&path, access, &error)),
        }
    }

    pub(super) fn read_text(&self, path: &Value) -> Result<String, FunctionError> {
        String::from_utf8(self.read(path)?)
            .map_err(|error| format!("the file is not valid UTF-8: {error}").into())
    }
}

/// The maximum size of a file that a function reads, as for configuration files.
const MAX_FILE_SIZE: u64 = 16 << 20;

/// Reads an open file of the given length. Fails if it is larger than [`MAX_FILE_SIZE`] bytes.
fn read_whole(file: File, length: u64) -> io::Result<Vec<u8>> {
    let too_large = || io::Error::other(format!("it is larger than {MAX_FILE_SIZE} bytes"));
    read_limited(file, length, MAX_FILE_SIZE)?.ok_or_else(too_large)
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
    if functions.files.is_assembled() {
        return Err(FunctionError::Unsupported);
    }
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

/// Removes `.`, double slashes and `x/..` from a path. An empty result becomes `.`.
pub fn clean_path(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => drop(parts.pop()),
            ".." if rooted => {}
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    match (rooted, joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".to_owned(),
        (false, false) => joined,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_cleaned_from_their_root() {
        for (path, expected) in [
            ("/../a/./b//c", "/a/b/c"),
            ("/..", "/"),
            ("a/../..", ".."),
            ("a/..", "."),
            ("../../a/..", "../.."),
        ] {
            assert_eq!(clean_path(path), expected, "{path}");
        }
    }
}
