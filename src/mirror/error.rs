//! Errors from reading and writing a mirror.

use std::io;
use std::path::{Path, PathBuf};

use crate::access::LinkError;
use crate::package::PackageError;
use crate::span::Explain;

#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    #[error("cannot use `{}` as a mirror", path.display())]
    Unusable { path: PathBuf, source: io::Error },
    /// A symlink in the repository points outside it.
    #[error("cannot use `{}` as a mirror", path.display())]
    Confined { path: PathBuf, source: LinkError },
    #[error("cannot use `{}` in a mirror: it is a symlink", path.display())]
    Link { path: PathBuf },
    #[error("cannot read `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot unpack the package for `{}`", path.display())]
    Unpack { path: PathBuf, source: PackageError },
    /// The source has the package unpacked, and the original zip cannot be restored from its files.
    #[error("cannot mirror `{}` as a zip: it is unpacked, and the signed zip cannot be restored from its files", path.display())]
    NoZip { path: PathBuf },
    #[error("cannot copy `{}`: it changed during the copy", path.display())]
    Changed { path: PathBuf },
    #[error("writing to the mirror stopped unexpectedly")]
    Interrupted,
    #[error("cannot write the index of `{}`: other processes keep changing the directory", path.display())]
    KeepsChanging { path: PathBuf },
}

impl MirrorError {
    pub(super) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        |source| Self::Read { path, source }
    }

    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        |source| Self::Write { path, source }
    }
}

impl Explain for MirrorError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::NoZip { .. } => Some("use `--layout unpacked` to mirror it as it is".to_owned()),
            Self::Confined { .. } => {
                Some("use the directory that the symlink points to".to_owned())
            }
            Self::Link { .. } => Some("remove the symlink, and run the command again".to_owned()),
            Self::KeepsChanging { .. } => Some(
                "run the command again: the packages are complete, but the index may not be"
                    .to_owned(),
            ),
            Self::Unpack { source, .. } => source.hint(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_hints() {
        let path = || PathBuf::from("m");
        let errors = [
            MirrorError::Link { path: path() },
            MirrorError::NoZip { path: path() },
            MirrorError::Changed { path: path() },
            MirrorError::Interrupted,
            MirrorError::KeepsChanging { path: path() },
            MirrorError::Confined {
                path: path(),
                source: LinkError::Outside,
            },
        ];
        let found = errors.map(|error| format!("{error} | {}", error.hint().unwrap_or_default()));
        let expected = [
            "cannot use `m` in a mirror: it is a symlink | remove the symlink, and run the command again",
            "cannot mirror `m` as a zip: it is unpacked, and the signed zip cannot be restored from its files | use `--layout unpacked` to mirror it as it is",
            "cannot copy `m`: it changed during the copy | ",
            "writing to the mirror stopped unexpectedly | ",
            "cannot write the index of `m`: other processes keep changing the directory | run the command again: the packages are complete, but the index may not be",
            "cannot use `m` as a mirror | use the directory that the symlink points to",
        ];
        assert_eq!(found, expected);
    }
}
