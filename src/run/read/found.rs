//! Which directories there are: those of each area.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use crate::config::{self, ConfigError, Named, WalkOptions};
use crate::diagnostic::Diagnostic;
use crate::settings::{Area, TreeSettings};
use crate::span::Explain as _;

use super::{Directory, Task};

/// A directory, and what holds for it.
pub(super) type InArea = (Arc<Area>, config::Directory);

/// What there is to read.
pub(super) struct Found {
    /// By path.
    pub(super) directories: Vec<InArea>,
    /// Those that could not even be looked into.
    pub(super) unreadable: Vec<Directory>,
}

/// Walks through all areas.
pub(super) fn all(settings: &TreeSettings) -> Found {
    let (mut directories, mut unreadable) = (BTreeMap::new(), Vec::new());
    for area in &settings.areas {
        let walk = walk(area);
        for directory in walk.directories {
            // A directory that is reached from two areas belongs to the first.
            directories
                .entry(directory.path.clone())
                .or_insert((Arc::clone(area), directory));
        }
        let unread = |error| unread(settings, area, &error);
        unreadable.extend(walk.errors.into_iter().map(unread));
    }
    Found {
        directories: directories.into_values().collect(),
        unreadable,
    }
}

/// The directories with a configuration or a lock file that `--ignore-path` leaves out.
pub(in crate::run) fn ignored(settings: &TreeSettings) -> BTreeSet<PathBuf> {
    let mut left_out = BTreeSet::new();
    for area in &settings.areas {
        if area.ignore_paths.is_empty() || !area.recursive {
            continue;
        }
        let mut everything = Area::clone(area);
        everything.ignore_paths.clear();
        let all = walk(&everything).directories.into_iter();
        left_out.extend(all.map(|directory| directory.path));
        for directory in walk(area).directories {
            left_out.remove(&directory.path);
        }
    }
    left_out
}

/// The directories of one area.
fn walk(area: &Area) -> config::Walk {
    let options = WalkOptions {
        recursive: area.recursive,
        ignore: area.ignore_paths.clone(),
    };
    let mut walk = config::walk(&area.paths, &options);
    if area.recursive {
        // With -r, a named directory is where the search begins, and no more than any other.
        for directory in &mut walk.directories {
            if directory.named == Named::Directly {
                directory.named = Named::Walked;
            }
        }
        walk.directories
            .retain(|directory| directory.has_configuration || directory.has_lock_file);
    }
    walk
}

/// A directory that could not even be looked into.
fn unread(settings: &TreeSettings, area: &Arc<Area>, error: &ConfigError) -> Directory {
    let path = error
        .place()
        .map_or_else(PathBuf::new, |place| place.path.clone());
    Directory {
        area: Arc::clone(area),
        moved_modules: Vec::new(),
        diagnostics: vec![Diagnostic::of(error, &path)],
        repository: settings.working_directory.clone(),
        named: Named::Directly,
        engine: None,
        task: Task::Fail,
        path,
    }
}
