//! Which directories there are: those of each area, each once, by whatever names it is reached.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use crate::access::{LinkError, confine};
use crate::config;
use crate::diagnostic::Diagnostic;
use crate::parallel;
use crate::settings::{Area, TreeSettings};
use crate::span::Explain;
use crate::walk::{self, FoundBy, WalkOptions, WalkResult, WalkedDirectory};

use super::{ReadDirectory, Task};

/// A directory, and what holds for it.
pub(super) type InArea = (Arc<Area>, WalkedDirectory);

/// What there is to read.
pub(super) struct DiscoveredDirectories {
    /// By path.
    pub(super) directories: Vec<InArea>,
    /// Those that could not even be looked into.
    pub(super) unreadable: Vec<ReadDirectory>,
}

/// Walks through all areas.
pub(super) fn all(settings: &TreeSettings) -> DiscoveredDirectories {
    let (mut directories, mut unreadable) = (Vec::new(), Vec::new());
    for area in &settings.areas {
        let (walk, leaving) = walk(area);
        let config_files = config_files(settings, area, walk.config_files);
        let mut areas = AreasBelow::new(settings, area, &config_files);
        let found = walk.directories.into_iter();
        directories.extend(found.map(|directory| (areas.of(&directory.path), directory)));
        let unread = |path, error| unread(settings, area, path, error);
        unreadable.extend(walk.errors.into_iter().map(|error| {
            let diagnostic = Diagnostic::of(&error, &error.path);
            unread(error.path, diagnostic)
        }));
        unreadable.extend(leaving.into_iter().map(|error| {
            let told = Diagnostic::of(&error, &error.path);
            unread(error.path, told)
        }));
    }
    let names = settings.areas.iter().map(|area| area.paths.len());
    // One name leads to no directory twice, since links are not followed.
    if names.sum::<usize>() > 1 {
        directories = each_once(directories, &settings.working_directory);
    }
    DiscoveredDirectories {
        directories,
        unreadable,
    }
}

/// The walked directories with a config file in the tree, or in the revision that comes before it.
fn config_files(
    settings: &TreeSettings,
    area: &Area,
    mut in_tree: BTreeSet<PathBuf>,
) -> BTreeSet<PathBuf> {
    for (path, real) in area.paths.iter().zip(&area.real_paths) {
        for directory in settings.other_config_directories(real) {
            if let Ok(below) = directory.strip_prefix(real) {
                in_tree.insert(config::clean(&path.join(below)));
            }
        }
    }
    in_tree
}

/// What holds for the directories that are found for an area: config files further down add their `[signers]`.
struct AreasBelow<'a> {
    settings: &'a TreeSettings,
    area: &'a Arc<Area>,
    config_files: &'a BTreeSet<PathBuf>,
    below: BTreeMap<&'a Path, Arc<Area>>,
}

impl<'a> AreasBelow<'a> {
    const fn new(
        settings: &'a TreeSettings,
        area: &'a Arc<Area>,
        config_files: &'a BTreeSet<PathBuf>,
    ) -> Self {
        Self {
            settings,
            area,
            config_files,
            below: BTreeMap::new(),
        }
    }

    fn of(&mut self, directory: &Path) -> Arc<Area> {
        let mut above = directory.ancestors();
        let nearest = above.find_map(|path| match path.to_str() {
            Some("") => self.config_files.get(Path::new(".")),
            _ => self.config_files.get(path),
        });
        let Some(nearest) = nearest else {
            return Arc::clone(self.area);
        };
        let (settings, area) = (self.settings, self.area);
        let below = self.below.entry(nearest).or_insert_with(|| {
            let absolute = settings.working_directory.join(nearest);
            // What has no real path now fails by its name when it is read.
            let real = absolute.canonicalize().unwrap_or(absolute);
            if area.real_paths.contains(&real) {
                Arc::clone(area)
            } else {
                Arc::new(settings.area_below(area, &real))
            }
        });
        Arc::clone(below)
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
        let all = walk(&everything).0.directories.into_iter();
        left_out.extend(all.map(|directory| directory.path));
        for directory in walk(area).0.directories {
            left_out.remove(&directory.path);
        }
    }
    left_out
}

/// A PATH that a link in the tree leads out of it.
#[derive(Debug, thiserror::Error)]
#[error("cannot work on `{}`", path.display())]
struct LeavingPath {
    path: PathBuf,
    source: LinkError,
}

impl Explain for LeavingPath {
    fn hint(&self) -> Option<String> {
        Some("name the directory that the link leads to".to_owned())
    }
}

/// The paths of an area, and those that links in the tree lead out of it. Links below them are not followed.
fn confined(area: &Area) -> (Vec<PathBuf>, Vec<LeavingPath>) {
    let (mut paths, mut leaving) = (Vec::new(), Vec::new());
    for path in &area.paths {
        let parent = path.parent().unwrap_or(path);
        let directory = if path.is_dir() { path } else { parent };
        match confine(directory) {
            Err(source @ (LinkError::Outside | LinkError::Internal(_))) => {
                let path = path.clone();
                leaving.push(LeavingPath { path, source });
            }
            // What cannot be read is told when it is read.
            Ok(_) | Err(LinkError::Read(_)) => paths.push(path.clone()),
        }
    }
    (paths, leaving)
}

/// The directories of one area.
fn walk(area: &Area) -> (WalkResult, Vec<LeavingPath>) {
    let options = WalkOptions {
        recursive: area.recursive,
        ignore: area.ignore_paths.clone(),
    };
    let (paths, leaving) = confined(area);
    let mut walk = walk::walk(&paths, &options);
    if area.recursive {
        // With -r, a named directory is where the search begins, and no more than any other.
        for directory in &mut walk.directories {
            if directory.found_by == FoundBy::DirectoryArgument {
                directory.found_by = FoundBy::Walk;
            }
        }
        walk.directories
            .retain(|directory| directory.has_configuration || directory.has_lock_file);
    }
    (walk, leaving)
}

/// Each directory once, in the order of their paths: `a`, `../repository/a` and a link to it are one. It belongs to the first area
/// that reaches it, has the plainest of its names there, and counts as named in the strongest way that it was.
fn each_once(found: Vec<InArea>, working_directory: &Path) -> Vec<InArea> {
    let real = parallel::map(&found, |(_, directory)| {
        let absolute = working_directory.join(&directory.path);
        // What has no real path now fails by its name when it is read.
        absolute.canonicalize().unwrap_or(absolute)
    });
    let mut once: BTreeMap<PathBuf, InArea> = BTreeMap::new();
    for (real, (area, directory)) in real.into_iter().zip(found) {
        let Some((first, known)) = once.get_mut(&real) else {
            once.insert(real, (area, directory));
            continue;
        };
        let found_by = known.found_by.max(directory.found_by);
        let is_plainer = plainness(&directory.path) < plainness(&known.path);
        if is_plainer && Arc::ptr_eq(first, &area) {
            *known = directory;
        }
        known.found_by = found_by;
    }
    let mut found: Vec<InArea> = once.into_values().collect();
    found.sort_by(|(_, a), (_, b)| a.path.cmp(&b.path));
    found
}

/// Relative names come before absolute ones, then those that do not go up, then short ones.
fn plainness(path: &Path) -> (bool, bool, usize, &Path) {
    let goes_up = path.components().any(|part| part == Component::ParentDir);
    (path.has_root(), goes_up, path.components().count(), path)
}

/// A directory that could not even be looked into.
fn unread(
    settings: &TreeSettings,
    area: &Arc<Area>,
    path: PathBuf,
    error: Diagnostic,
) -> ReadDirectory {
    ReadDirectory {
        area: Arc::clone(area),
        moved_modules: Vec::new(),
        chosen_modules: BTreeMap::new(),
        diagnostics: vec![error],
        repository: settings.working_directory.clone(),
        found_by: FoundBy::DirectoryArgument,
        engine: None,
        task: Task::Fail,
        path,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_name_comes_first() {
        let names = ["a", "z", "a/b", "../a", "../w/a", "/w/a"];
        let mut sorted = names.map(Path::new);
        sorted.reverse();
        sorted.sort_by_key(|name| plainness(name));
        assert_eq!(sorted, names.map(Path::new));
    }
}
