//! Why a directory of packages cannot be filled or looked at.

use std::io;
use std::path::{Path, PathBuf};

use crate::access::LinkError;
use crate::package::PackageError;
use crate::span::Explain;

/// Why a directory of packages cannot be filled or looked at.
#[derive(Debug, thiserror::Error)]
pub enum MirrorError {
    /// The directory itself cannot be made or used.
    #[error("cannot use `{}` as a mirror", path.display())]
    Unusable {
        /// As given.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A link that comes with the tree leads out of it.
    #[error("cannot use `{}` as a mirror", path.display())]
    Confined {
        /// As given.
        path: PathBuf,
        /// Where it leads.
        source: LinkError,
    },
    /// Something in it is a link: what it leads to is no part of the mirror.
    #[error("cannot use `{}` in a mirror: it is a link", path.display())]
    Link {
        /// The link.
        path: PathBuf,
    },
    /// Something in it cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// What.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Something cannot be written.
    #[error("cannot write `{}`", path.display())]
    Write {
        /// What.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A package cannot be unpacked.
    #[error("cannot unpack the package for `{}`", path.display())]
    Unpack {
        /// Where it was to be.
        path: PathBuf,
        /// Why.
        source: PackageError,
    },
    /// The source has the package unpacked, and the zip that it was cannot be made again.
    #[error("cannot pack `{}`: only the zip that its author signed can be kept", path.display())]
    NoZip {
        /// The unpacked package.
        path: PathBuf,
    },
    /// What was copied has changed meanwhile.
    #[error("cannot copy `{}`: it has changed meanwhile", path.display())]
    Changed {
        /// The unpacked package.
        path: PathBuf,
    },
    /// The thread that writes has ended without a result.
    #[error("writing to the mirror stopped unexpectedly")]
    Interrupted,
    /// Others write to the index all the time.
    #[error("cannot finish `{}`: other processes keep changing the directory", path.display())]
    Restless {
        /// The directory of the provider.
        path: PathBuf,
    },
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
            Self::NoZip { .. } => Some("`--layout unpacked` keeps it as it is".to_owned()),
            Self::Confined { .. } => Some("name the directory that the link leads to".to_owned()),
            Self::Link { .. } => Some("remove the link, and run the command again".to_owned()),
            Self::Restless { .. } => {
                Some("packages are in place; run the command again for the index".to_owned())
            }
            Self::Unpack { source, .. } => source.hint(),
            _ => None,
        }
    }
}
