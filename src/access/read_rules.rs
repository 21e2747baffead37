//! The user's rules for the files that root modules may read.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What the user permits the configuration to read during a run.
#[derive(Clone, Debug, Default)]
pub struct ReadRules {
    /// Directories that a root module outside any repository may read: the working directory and those that the user named.
    pub named: Vec<PathBuf>,
    /// Additional files and directories, from `--allow-read`.
    pub allowed: Vec<PathBuf>,
    /// With `--untrusted`: which files of a repository may be read.
    pub listed: Option<FileList>,
}

/// A predicate that selects files by path. The paths contain no symlinks.
#[derive(Clone)]
pub struct FileList(Arc<IsListed>);

type IsListed = dyn Fn(&Path) -> io::Result<bool> + Send + Sync;

impl FileList {
    pub fn new(is_listed: impl Fn(&Path) -> io::Result<bool> + Send + Sync + 'static) -> Self {
        Self(Arc::new(is_listed))
    }

    pub(super) fn contains(&self, path: &Path) -> io::Result<bool> {
        (self.0)(path)
    }
}

impl fmt::Debug for FileList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FileList")
    }
}
