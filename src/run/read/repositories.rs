//! Finds the repository of each directory, with one search per parent directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crate::access::repository_root;
use crate::parallel::lock;

#[derive(Default)]
pub(super) struct Repositories {
    /// Repository roots by parent directory. `None` outside of all repositories.
    known: Mutex<BTreeMap<PathBuf, Option<PathBuf>>>,
}

impl Repositories {
    /// Returns the root of the repository that contains a directory. Outside of all repositories, this is the directory itself.
    pub(super) fn root(&self, absolute: &Path) -> PathBuf {
        let parent = absolute.parent().unwrap_or(absolute).to_path_buf();
        if absolute.join(".git").exists() {
            return absolute.to_path_buf();
        }
        let mut known = lock(&self.known);
        let look_up = || {
            let root = repository_root(&parent);
            root.join(".git").exists().then_some(root)
        };
        let root = known.entry(parent.clone()).or_insert_with(look_up);
        root.clone().unwrap_or_else(|| absolute.to_path_buf())
    }
}
