//! The repositories that directories lie in; looked up once per parent.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use crate::access::repository_root;

/// What is known so far: the top of the repository by directory, where there is one.
#[derive(Default)]
pub(super) struct Repositories {
    known: Mutex<BTreeMap<PathBuf, Option<PathBuf>>>,
}

impl Repositories {
    /// The top of the repository that holds a directory; outside of all repositories, the directory itself.
    pub(super) fn top(&self, absolute: &Path) -> PathBuf {
        let parent = absolute.parent().unwrap_or(absolute).to_path_buf();
        if absolute.join(".git").exists() {
            return absolute.to_path_buf();
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let look_up = || {
            let root = repository_root(&parent);
            root.join(".git").exists().then_some(root)
        };
        let root = known.entry(parent.clone()).or_insert_with(look_up);
        root.clone().unwrap_or_else(|| absolute.to_path_buf())
    }
}
