//! Finds repositories by their `.git`, without running git.

use std::path::{Path, PathBuf};

/// The top of the repository that contains `directory` (absolute): the nearest ancestor with a `.git`. `None` outside of any
/// repository.
pub fn find_repository(directory: &Path) -> Option<&Path> {
    directory
        .ancestors()
        .find(|ancestor| ancestor.join(".git").exists())
}

/// The top of the repository that contains `directory` (absolute), or `directory` itself outside of any repository.
pub fn repository_root(directory: &Path) -> PathBuf {
    find_repository(directory)
        .unwrap_or(directory)
        .to_path_buf()
}
