//! Functions of files and paths. Relative paths are relative to the root module's directory.

use std::io;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::access::{AccessError, ReadAccess};
use crate::syntax::{Refusal, Value};

use super::super::files;
use super::super::source::clean_path;
use super::{Failure, Function, Functions, Outcome, arity, text};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "file" => |functions, arguments| functions.read_text(one(arguments)?).map(Value::String),
        "filebase64" => |functions, arguments| {
            functions
                .read(one(arguments)?)
                .map(|bytes| STANDARD.encode(bytes).into())
        },
        "fileexists" => |functions, arguments| functions.is_file(one(arguments)?).map(Value::Bool),
        "abspath" => |functions, arguments| abspath(functions, one(arguments)?),
        "basename" => |_, arguments| Ok(basename(&text(one(arguments)?)?).into()),
        "dirname" => |_, arguments| Ok(dirname(&text(one(arguments)?)?).into()),
        _ => return None,
    })
}

fn one(arguments: &[Value]) -> Result<&Value, Failure> {
    match arguments {
        [argument] => Ok(argument),
        _ => Err(arity()),
    }
}

impl Functions {
    /// The bytes of a file.
    pub(super) fn read(&self, path: &Value) -> Result<Vec<u8>, Failure> {
        let path = text(path)?;
        let access = self.files.get();
        let file = access.open(&self.root.join(&path));
        let file = file.map_err(|error| unread(&path, access, &error))?;
        let unreadable = |error: io::Error| unread(&path, access, &error.into());
        let length = file.metadata().map_err(unreadable)?.len();
        self.budget
            .bytes(usize::try_from(length).unwrap_or(usize::MAX))?;
        files::read_whole(file, length).map_err(unreadable)
    }

    /// Whether there is a file. Of files that it may not read it says nothing.
    fn is_file(&self, path: &Value) -> Result<bool, Failure> {
        let path = text(path)?;
        let access = self.files.get();
        match access.locate(&self.root.join(&path)) {
            Ok(real) => Ok(real.is_file()),
            Err(AccessError::Read(_missing)) => Ok(false),
            Err(error) => Err(unread(&path, access, &error)),
        }
    }

    /// The content of a file as text.
    pub(super) fn read_text(&self, path: &Value) -> Result<String, Failure> {
        String::from_utf8(self.read(path)?)
            .map_err(|error| format!("the file is not UTF-8: {error}").into())
    }
}

/// Why a file cannot be read, and whether that is a refusal.
fn unread(path: &str, access: &ReadAccess, error: &AccessError) -> Failure {
    let (why, refusal) = match error {
        AccessError::Outside => (access.outside_message().to_owned(), Some(Refusal::Outside)),
        AccessError::Internal(_) => (error.to_string(), Some(Refusal::Internal)),
        AccessError::Untracked => (error.to_string(), Some(Refusal::Untracked)),
        AccessError::Read(error) => (error.to_string(), None),
    };
    Failure::File {
        path: Some(path.to_owned()),
        why,
        refusal,
    }
}

fn abspath(functions: &Functions, path: &Value) -> Outcome {
    let absolute =
        std::path::absolute(functions.root.join(text(path)?)).map_err(|error| error.to_string())?;
    Ok(clean_path(&absolute.to_string_lossy()).into())
}

/// The last element of a path; trailing slashes do not count.
fn basename(path: &str) -> &str {
    let trimmed = path.trim_end_matches('/');
    match (path, trimmed) {
        ("", _) => ".",
        (_, "") => "/",
        _ => trimmed.rsplit('/').next().unwrap_or(trimmed),
    }
}

/// All but the last element, cleaned.
fn dirname(path: &str) -> String {
    let directory = path.rsplit_once('/').map_or("", |(directory, _)| directory);
    if directory.is_empty() && Path::new(path).has_root() {
        return "/".to_owned();
    }
    clean_path(directory)
}
