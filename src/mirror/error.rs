//! Errors of reading and writing a mirror.

use std::io;
use std::path::{Path, PathBuf};

use crate::access::LinkError;
use crate::package::PackageError;
use crate::span::Explain;

/// Why a mirror cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    #[error("cannot use `{}` as a mirror", path.display())]
    Unusable { path: PathBuf, source: io::Error },
    /// A link in the repository leads out of it.
    #[error("cannot use `{}` as a mirror", path.display())]
    Confined { path: PathBuf, source: LinkError },
    #[error("cannot use `{}` in a mirror: it is a link", path.display())]
    Link { path: PathBuf },
    #[error("cannot read `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("cannot write `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot unpack the package for `{}`", path.display())]
    Unpack { path: PathBuf, source: PackageError },
    /// The source stores the package unpacked, and the original zip cannot be made from its files.
    #[error("cannot pack `{}`: only the zip that its author signed can be kept", path.display())]
    NoZip { path: PathBuf },
    /// The package changed while it was copied.
    #[error("cannot copy `{}`: it has changed meanwhile", path.display())]
    Changed { path: PathBuf },
    #[error("writing to the mirror stopped unexpectedly")]
    Interrupted,
    /// Other processes kept changing the directory while the index was written.
    #[error("cannot finish `{}`: other processes keep changing the directory", path.display())]
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
            Self::NoZip { .. } => Some("use `--layout unpacked` to keep it as it is".to_owned()),
            Self::Confined { .. } => Some("name the directory that the link leads to".to_owned()),
            Self::Link { .. } => Some("remove the link, and run the command again".to_owned()),
            Self::KeepsChanging { .. } => Some(
                "run the command again: the packages are complete, only the index is missing"
                    .to_owned(),
            ),
            Self::Unpack { source, .. } => source.hint(),
            _ => None,
        }
    }
}
