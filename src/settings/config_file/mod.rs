//! `.tflock.toml`: what holds for a repository or a part of it (design, section 3).
//!
//! The file that governs a PATH is the nearest at or above it, up to the top of its repository. Outside of any repository it
//! is one in PATH itself only: a file in a parent that others share never governs a directory.
//!
//! ```toml
//! platforms = ["linux_amd64", "darwin_arm64"]
//! ignore-paths = ["^examples/"]      # regular expressions, on paths relative to this file
//! create = "auto"                    # auto, always, never
//! engine = "auto"                    # auto, terraform, tofu
//! missing-platform = "error"         # error, warn
//! missing-module = "error"           # error, warn
//! mismatch = "error"                 # nothing else: a file may tighten trust and never loosen it
//! prune = false
//! jobs = 8
//!
//! [signers]                          # whose keys may sign; the narrowest pattern counts
//! "hashicorp/*" = ["C874 011F 0AB4 0511 0D02  1055 3436 5D94 72D7 468F"]
//! ```
//!
//! `mismatch = "replace"` is refused like `"add"`: it would record a re-uploaded package in place of the one that was
//! reviewed, for everybody and without a word.

mod error;
mod read;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use regex::Regex;

use crate::locking::{Mismatch, Missing, Signers};
use crate::provider::{Engine, Platform};

use super::{Create, Sourced};

pub use error::{ConfigFileError, ValueError};

/// The name of a config file.
pub const NAME: &str = ".tflock.toml";

/// The most bytes of a config file: thousands of signers, and no mistake for something else.
const MAX_BYTES: u64 = 1024 * 1024;

/// All keys.
const KEYS: [&str; 10] = [
    "create",
    "engine",
    "ignore-paths",
    "jobs",
    "mismatch",
    "missing-module",
    "missing-platform",
    "platforms",
    "prune",
    "signers",
];

/// What one file says; `None` where it says nothing.
#[derive(Clone, Debug, Default)]
pub struct ConfigFile {
    /// The file as messages name it.
    pub shown: PathBuf,
    /// The directory that `ignore-paths` are relative to, without links.
    pub directory: PathBuf,
    /// `platforms`, each once.
    pub platforms: Option<Sourced<Vec<Platform>>>,
    /// `ignore-paths`.
    pub ignore_paths: Option<Sourced<Vec<Regex>>>,
    /// `create`.
    pub create: Option<Sourced<Create>>,
    /// `engine`; a value of `None` is `auto`.
    pub engine: Option<Sourced<Option<Engine>>>,
    /// `missing-platform`.
    pub missing_platform: Option<Sourced<Missing>>,
    /// `missing-module`.
    pub missing_module: Option<Sourced<Missing>>,
    /// `mismatch`.
    pub mismatch: Option<Sourced<Mismatch>>,
    /// `prune`.
    pub prune: Option<Sourced<bool>>,
    /// `jobs`.
    pub jobs: Option<Sourced<u16>>,
    /// `[signers]`.
    pub signers: Option<Sourced<Signers>>,
}

/// Finds and reads config files, each once.
pub(super) struct ConfigFiles<'a> {
    working_directory: &'a Path,
    by_directory: BTreeMap<PathBuf, Option<PathBuf>>,
    read: BTreeMap<PathBuf, Arc<ConfigFile>>,
}

impl<'a> ConfigFiles<'a> {
    /// `working_directory` is what files are named relative to, without links.
    pub(super) const fn new(working_directory: &'a Path) -> Self {
        Self {
            working_directory,
            by_directory: BTreeMap::new(),
            read: BTreeMap::new(),
        }
    }

    /// The file that governs `directory`, an absolute path without links.
    pub(super) fn governing(
        &mut self,
        directory: &Path,
    ) -> Result<Option<Arc<ConfigFile>>, ConfigFileError> {
        let found = self
            .by_directory
            .entry(directory.to_path_buf())
            .or_insert_with(|| find(directory));
        let Some(path) = found else {
            return Ok(None);
        };
        if let Some(known) = self.read.get(path) {
            return Ok(Some(Arc::clone(known)));
        }
        let shown = shown(path, self.working_directory);
        let mut file = read::parse(&shown, &text(path, &shown)?)?;
        file.directory = path.parent().unwrap_or(path).to_path_buf();
        let file = Arc::new(file);
        self.read.insert(path.clone(), Arc::clone(&file));
        Ok(Some(file))
    }
}

/// The nearest file at or above `directory` within its repository.
fn find(directory: &Path) -> Option<PathBuf> {
    let top = crate::access::repository_root(directory);
    let mut candidates = directory.ancestors();
    let within = candidates
        .by_ref()
        .take_while(|place| place.starts_with(&top));
    within
        .map(|place| place.join(NAME))
        .find(|path| path.symlink_metadata().is_ok())
}

/// The file as someone in `working_directory` would name it.
fn shown(path: &Path, working_directory: &Path) -> PathBuf {
    if let Ok(below) = path.strip_prefix(working_directory) {
        return below.to_path_buf();
    }
    let directory = path.parent().unwrap_or(path);
    match working_directory.strip_prefix(directory) {
        Ok(down) => down.iter().map(|_| "..").collect::<PathBuf>().join(NAME),
        Err(_) => path.to_path_buf(),
    }
}

fn text(path: &Path, shown: &Path) -> Result<Vec<u8>, ConfigFileError> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes));
    read.map_err(|source| ConfigFileError::Read {
        path: shown.to_path_buf(),
        source,
    })?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(ConfigFileError::TooLarge {
            path: shown.to_path_buf(),
        });
    }
    Ok(bytes)
}
