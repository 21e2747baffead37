//! Why there is no disk cache. Nothing here fails a run: it is slower, and says why.

use std::io;
use std::path::PathBuf;

use crate::code::Code;
use crate::span::Explain;

/// Why the cache, or a part of it, cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The environment names no place for it.
    #[error(
        "there is no place for the cache: neither `TFLOCK_CACHE_DIR` nor a home directory is set"
    )]
    NoPlace,
    /// The directory cannot be made or looked at.
    #[error("cannot use `{}` as the cache", path.display())]
    Unusable {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is something else, or a link where none may be.
    #[error("cannot use `{}` as the cache: it is not a directory", path.display())]
    NotADirectory {
        /// What should be a directory.
        path: PathBuf,
    },
    /// It belongs to somebody else, who could plant what ends up in lock files.
    #[error("the cache `{}` is not used: it belongs to the user with the number {owner}", path.display())]
    Foreign {
        /// The directory.
        path: PathBuf,
        /// Its owner.
        owner: u32,
    },
    /// Others may look into it or even write to it.
    #[error("the cache `{}` is not used: its mode is {mode:04o}, and it must be for its owner alone", path.display())]
    NotPrivate {
        /// The directory.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// An entry cannot be written.
    #[error("cannot write to the cache `{}`", path.display())]
    Write {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Entries cannot be removed.
    #[error("cannot clean the cache `{}`", path.display())]
    Clean {
        /// The directory.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

impl Explain for CacheError {
    fn code(&self) -> Code {
        Code::Cache
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::NotPrivate { path, .. } => Some(format!(
                "if nobody else has written to it, `chmod 700 {}` makes it private; `tflock cache clean` empties it",
                path.display()
            )),
            Self::Foreign { .. } => {
                Some("`TFLOCK_CACHE_DIR` can name a directory of your own".to_owned())
            }
            Self::NoPlace | Self::Unusable { .. } | Self::NotADirectory { .. } => Some(
                "without a cache every run asks the registries again; `TFLOCK_CACHE_DIR` can name another directory, and \
                 `--no-cache` does without one silently"
                    .to_owned(),
            ),
            Self::Write { .. } | Self::Clean { .. } => None,
        }
    }
}
