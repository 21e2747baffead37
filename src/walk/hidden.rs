//! Hidden directories. See section 1 of docs/rules/terragrunt.md.
//!
//! They contain no root modules, but Terragrunt finds units in them. Searching them costs time in trees without units, so the
//! walk notes them, and enters them only if it has found a unit. The units that a stack generates are always searched for.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::parallel::lock;

use super::{DirectoryFacts, FactsByPath, WalkError, WalkOptions, collect_facts};

/// The directory into which Terragrunt generates the units of a stack.
const STACK_DIRECTORY: &str = ".terragrunt-stack";

/// Directories of programs. They can contain copies of units and modules, which have no lock files of their own.
const NEVER_ENTERED: [&str; 3] = [".git", ".terraform", ".terragrunt-cache"];

/// What a walk does with hidden directories.
#[derive(Clone)]
pub(super) enum HiddenDirectories {
    /// Adds the paths of the hidden directories to a list, without entering them.
    Note(Arc<Mutex<Vec<PathBuf>>>),
    Enter,
}

impl HiddenDirectories {
    /// Returns whether the walk enters the directory with this path and name. With [`Self::Note`], adds the path of a hidden
    /// directory to the list instead.
    pub(super) fn allows(&self, path: &Path, name: &str) -> bool {
        if !name.starts_with('.') {
            return true;
        }
        if NEVER_ENTERED.contains(&name) {
            return false;
        }
        match self {
            Self::Note(noted) => {
                lock(noted).push(path.to_path_buf());
                false
            }
            Self::Enter => true,
        }
    }
}

/// Adds the units in and below the hidden directories of a tree.
pub(super) fn add_hidden_units(
    facts: &mut FactsByPath,
    hidden: Vec<PathBuf>,
    errors: &mut Vec<WalkError>,
    options: &WalkOptions,
) {
    let has_units = facts.values().any(|facts| facts.has_unit_file);
    let entered = hidden
        .into_iter()
        .filter(|path| has_units || path.ends_with(STACK_DIRECTORY));
    let mut found: FactsByPath = entered
        .map(|path| (path, DirectoryFacts::default()))
        .collect();
    collect_facts(&mut found, errors, options, &HiddenDirectories::Enter);
    for (path, found) in found {
        if found.has_unit_file || found.has_config_file {
            facts
                .entry(path)
                .or_default()
                .merge(found.without_modules());
        }
    }
}
