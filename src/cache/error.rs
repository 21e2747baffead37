//! The reasons why the disk cache cannot be used. They never fail a run: tflock prints a warning and continues without it.

use std::io;
use std::path::PathBuf;

use crate::code::Code;
use crate::span::Explain;

#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The environment does not determine the location of the cache.
    #[error("cannot locate the cache: neither `TFLOCK_CACHE_DIR` nor a home directory is set")]
    NoPlace,
    #[error("cannot use `{}` as the cache", path.display())]
    Unusable { path: PathBuf, source: io::Error },
    /// The path is a file, or a symlink to a directory where tflock requires a real directory.
    #[error("cannot use `{}` as the cache: it is not a directory", path.display())]
    NotADirectory { path: PathBuf },
    /// A different user owns the directory, and could write content to it that would reach lock files. `owner` is that user's ID.
    #[error("cannot use `{}` as the cache: it belongs to the user with the ID {owner}", path.display())]
    Foreign { path: PathBuf, owner: u32 },
    /// The permissions give other users access.
    #[error("cannot use `{}` as the cache: its mode is {mode:04o}, but it must be accessible only to its owner", path.display())]
    NotPrivate { path: PathBuf, mode: u32 },
    #[error("cannot write to the cache `{}`", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("cannot clean the cache `{}`", path.display())]
    Clean { path: PathBuf, source: io::Error },
}

impl Explain for CacheError {
    fn code(&self) -> Code {
        Code::Cache
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::NotPrivate { path, .. } => Some(format!(
                "run `chmod 700 {}`; if another user may have written to the cache, empty it first with `tflock cache clean`",
                path.display()
            )),
            Self::Foreign { .. } => {
                Some("set `TFLOCK_CACHE_DIR` to a directory that you own".to_owned())
            }
            Self::NoPlace | Self::Unusable { .. } | Self::NotADirectory { .. } => Some(
                "set `TFLOCK_CACHE_DIR` to a different directory, or use `--no-cache`; without a cache, every run requests \
                 everything again"
                    .to_owned(),
            ),
            Self::Write { .. } | Self::Clean { .. } => None,
        }
    }
}
