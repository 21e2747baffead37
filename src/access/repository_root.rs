//! Finds repositories by their `.git`, without running git.

use std::path::{Path, PathBuf};

/// Returns the root of the repository that contains `directory` (an absolute path): the nearest ancestor with a `.git`. Returns
/// `None` outside any repository.
pub fn find_repository(directory: &Path) -> Option<&Path> {
    directory
        .ancestors()
        .find(|ancestor| ancestor.join(".git").exists())
}

/// Returns the root of the repository that contains `directory` (an absolute path), or `directory` itself outside any repository.
pub fn repository_root(directory: &Path) -> PathBuf {
    find_repository(directory)
        .unwrap_or(directory)
        .to_path_buf()
}
