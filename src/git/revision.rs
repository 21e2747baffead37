//! What a repository itself knows of its files: which it tracks, and what they were in a commit.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crate::access::find_repository;

use super::changes::Git;
use super::environment::GitSettings;
use super::error::GitError;
use super::repository::path_of;

/// The files that git tracks in the repositories of a run; each is asked once.
#[derive(Debug)]
pub struct TrackedFiles {
    settings: GitSettings,
    known: Mutex<BTreeMap<PathBuf, Arc<BTreeSet<PathBuf>>>>,
}

impl TrackedFiles {
    /// Nothing is asked yet.
    pub fn new(settings: GitSettings) -> Self {
        Self {
            settings,
            known: Mutex::default(),
        }
    }

    /// Whether git tracks the file at `path`, which is absolute and without links. Outside of any repository it tracks nothing.
    pub fn has(&self, path: &Path) -> io::Result<bool> {
        let Some(top) = path.parent().and_then(find_repository) else {
            return Ok(false);
        };
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(files) = known.get(top) {
            return Ok(files.contains(path));
        }
        let git = Git::open(&self.settings, top).map_err(io::Error::other)?;
        let files = git.paths("ls-files", &["-z", "--cached"]);
        let files = files.map_err(io::Error::other)?;
        let is_tracked = files.contains(path);
        known.insert(top.to_path_buf(), Arc::new(files));
        Ok(is_tracked)
    }
}

/// A commit of a repository.
pub struct Revision<'a> {
    git: Git<'a>,
    commit: String,
}

impl<'a> Revision<'a> {
    /// The commit that `revision` names in the repository that holds `directory`, an absolute path without links. Without a
    /// name: the commit in which HEAD left the default branch.
    pub fn open(
        settings: &'a GitSettings,
        directory: &Path,
        revision: Option<&str>,
    ) -> Result<Self, GitError> {
        let git = Git::open(settings, directory)?;
        let (_, commit) = git.start(revision)?;
        Ok(Self { git, commit })
    }

    /// The files of this name in all directories, by their absolute paths. The object is `None` for what is not a regular file.
    pub fn files_named(&self, name: &str) -> Result<BTreeMap<PathBuf, Option<String>>, GitError> {
        let list = ["-r", "-z", "--full-tree", &self.commit];
        let listed = self.git.output("ls-tree", &list)?;
        let entries = listed.split(|byte| *byte == 0).filter_map(read_entry);
        let named = entries.filter(|(path, _)| path.file_name().is_some_and(|found| found == name));
        let top = self.git.top();
        Ok(named
            .map(|(path, object)| (top.join(path), object))
            .collect())
    }

    /// The content of a file.
    pub fn content(&self, object: &str) -> Result<Vec<u8>, GitError> {
        self.git.output("cat-file", &["blob", object])
    }
}

/// Reads `MODE TYPE OBJECT<TAB>PATH`.
fn read_entry(entry: &[u8]) -> Option<(PathBuf, Option<String>)> {
    let tab = entry.iter().position(|byte| *byte == b'\t')?;
    let facts = String::from_utf8_lossy(&entry[..tab]);
    let mut facts = facts.split(' ');
    let is_regular = matches!(facts.next(), Some("100644" | "100755"));
    let object = facts.nth(1).filter(|_| is_regular);
    Some((path_of(&entry[tab + 1..]), object.map(str::to_owned)))
}
