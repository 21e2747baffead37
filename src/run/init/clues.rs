//! What the repository reveals about its platforms, its engine and its ignored paths.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::display::{counted, shown_path};
use crate::provider::{Engine, Platform};

/// All clues, each with the paths where it was found.
pub(super) struct Clues {
    /// The directory to which these paths are relative.
    top: PathBuf,
    pub(super) platforms: BTreeMap<Platform, CluePlaces>,
    pub(super) engines: BTreeMap<Engine, CluePlaces>,
    /// Names of directories whose modules need no lock files.
    pub(super) ignored_names: BTreeMap<&'static str, CluePlaces>,
    /// Names of the same kind that are not ignored, because directories with these names have lock files.
    pub(super) locked_names: BTreeMap<&'static str, CluePlaces>,
    /// The largest number of `h1` hashes of one provider in a lock file, and the path of that file. Each hash stands for one
    /// platform, but does not name it.
    pub(super) hashed_platforms: Option<(usize, String)>,
    /// Files and directories that could not be read, with the reason.
    pub(super) unread: Vec<String>,
}

/// The first path where a clue was found, and the number of other paths. The path is safe to print and to write into a comment.
pub(super) struct CluePlaces {
    first: String,
    others: usize,
}

impl Clues {
    pub(super) fn new(top: &Path) -> Self {
        Self {
            top: top.to_path_buf(),
            platforms: BTreeMap::new(),
            engines: BTreeMap::new(),
            ignored_names: BTreeMap::new(),
            locked_names: BTreeMap::new(),
            hashed_platforms: None,
            unread: Vec::new(),
        }
    }

    /// Formats a path relative to `top`.
    pub(super) fn place(&self, path: &Path) -> String {
        shown_path(path.strip_prefix(&self.top).unwrap_or(path))
    }

    pub(super) fn add_platform(&mut self, platform: Platform, place: &str) {
        add(&mut self.platforms, platform, place);
    }

    pub(super) fn add_engine(&mut self, engine: Engine, place: &str) {
        add(&mut self.engines, engine, place);
    }

    pub(super) fn add_ignored_name(&mut self, name: &'static str, place: &str) {
        add(&mut self.ignored_names, name, place);
    }

    pub(super) fn add_locked_name(&mut self, name: &'static str, place: &str) {
        add(&mut self.locked_names, name, place);
    }

    pub(super) fn add_unread(&mut self, path: &Path, why: &dyn fmt::Display) {
        self.unread.push(format!("{}: {why}", self.place(path)));
    }
}

fn add<K: Ord>(clues: &mut BTreeMap<K, CluePlaces>, key: K, place: &str) {
    if let Some(known) = clues.get_mut(&key) {
        known.others += 1;
    } else {
        let first = place.to_owned();
        clues.insert(key, CluePlaces { first, others: 0 });
    }
}

impl fmt::Display for CluePlaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.first)?;
        match self.others {
            0 => Ok(()),
            others => write!(f, ", and {}", counted(others, "more place", "more places")),
        }
    }
}
