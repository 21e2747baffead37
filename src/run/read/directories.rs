//! Discovers the directories of a run. A directory that is reachable under several names is listed once.

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

use super::ReadDirectory;

/// A directory with the area whose settings apply to it.
pub(super) type InArea = (Arc<Area>, WalkedDirectory);

/// Walks the paths of all areas. Returns the directories sorted by path, and a failed result for each path that cannot be listed.
pub(super) fn discover(settings: &TreeSettings) -> (Vec<InArea>, Vec<ReadDirectory>) {
    let (mut directories, mut unreadable) = (Vec::new(), Vec::new());
    for area in &settings.areas {
        let (walk, leaving) = walk(area);
        let config_files = config_files(settings, area, walk.config_files);
        let mut areas = AreasBelow {
            settings,
            area,
            config_files: &config_files,
            below: BTreeMap::new(),
        };
        for directory in walk.directories {
            directories.push((areas.area_of(&directory.path), directory));
        }
        let mut fail = |error: &dyn Explain, path: &Path| {
            let root = settings.working_directory.clone();
            let found_by = FoundBy::DirectoryArgument;
            let mut failed = ReadDirectory::unread(area, path.to_path_buf(), root, found_by);
            failed.diagnostics.push(Diagnostic::of(error, path));
            unreadable.push(failed);
        };
        for error in &walk.errors {
            fail(error, &error.path);
        }
        for error in &leaving {
            fail(error, &error.path);
        }
    }
    let path_count: usize = settings.areas.iter().map(|area| area.paths.len()).sum();
    // The walk of a single path finds each directory once, because it follows no symlinks.
    if path_count > 1 {
        directories = deduplicate(directories, &settings.working_directory);
    }
    (directories, unreadable)
}

/// Returns the directories that have a `.tflock.toml`, in the tree or in the trusted revision.
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

/// Determines the effective area of each directory below `area`. Config files in subdirectories can add `[signers]` to it.
struct AreasBelow<'a> {
    settings: &'a TreeSettings,
    area: &'a Arc<Area>,
    config_files: &'a BTreeSet<PathBuf>,
    below: BTreeMap<&'a Path, Arc<Area>>,
}

impl AreasBelow<'_> {
    fn area_of(&mut self, directory: &Path) -> Arc<Area> {
        let nearest = directory.ancestors().find_map(|path| match path.to_str() {
            Some("") => self.config_files.get(Path::new(".")),
            _ => self.config_files.get(path),
        });
        let Some(nearest) = nearest else {
            return Arc::clone(self.area);
        };
        let (settings, area) = (self.settings, self.area);
        let below = self.below.entry(nearest).or_insert_with(|| {
            let absolute = settings.working_directory.join(nearest);
            // A path that cannot be resolved here is reported when the directory is read.
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

/// Returns the directories that `--ignore-path` excludes although they have a configuration or a lock file.
pub(in crate::run) fn ignored(settings: &TreeSettings) -> BTreeSet<PathBuf> {
    let mut excluded = BTreeSet::new();
    for area in &settings.areas {
        if area.ignore_paths.is_empty() || !area.recursive {
            continue;
        }
        let mut whole_area = Area::clone(area);
        whole_area.ignore_paths.clear();
        for directory in walk(&whole_area).0.directories {
            excluded.insert(directory.path);
        }
        for directory in walk(area).0.directories {
            excluded.remove(&directory.path);
        }
    }
    excluded
}

/// A PATH argument that points outside the tree through a symlink.
#[derive(Debug, thiserror::Error)]
#[error("cannot process `{}`", path.display())]
struct LeavingPath {
    path: PathBuf,
    source: LinkError,
}

impl Explain for LeavingPath {
    fn hint(&self) -> Option<String> {
        Some("name the directory that the symlink points to".to_owned())
    }
}

/// Splits the paths of an area into those inside the tree and those that leave it through a symlink. Below these paths, the walk
/// does not follow symlinks.
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
            // An unreadable path is reported when it is read.
            Ok(_) | Err(LinkError::Read(_)) => paths.push(path.clone()),
        }
    }
    (paths, leaving)
}

fn walk(area: &Area) -> (WalkResult, Vec<LeavingPath>) {
    let options = WalkOptions {
        recursive: area.recursive,
        ignore: area.ignore_paths.clone(),
    };
    let (paths, leaving) = confined(area);
    let mut walk = walk::walk(&paths, &options);
    if area.recursive {
        // With -r, a named directory is only the start of the search. It is treated like the directories below it.
        for directory in &mut walk.directories {
            if directory.found_by == FoundBy::DirectoryArgument {
                directory.found_by = FoundBy::Walk;
            }
        }
        walk.directories.retain(|directory| {
            directory.has_configuration
                || directory.has_stack_files
                || directory.has_lock_file
                || directory.has_unit_file
        });
    }
    (walk, leaving)
}

/// Removes duplicates, such as `a`, `../repository/a` and a symlink to it, and sorts by path. A directory belongs to the first
/// area that reaches it. The result has its plainest path in that area (see [`plainness`]) and its greatest [`FoundBy`] value.
fn deduplicate(found: Vec<InArea>, working_directory: &Path) -> Vec<InArea> {
    let real_paths = parallel::map(&found, |(_, directory)| {
        let absolute = working_directory.join(&directory.path);
        // A path that cannot be resolved here is reported when the directory is read.
        absolute.canonicalize().unwrap_or(absolute)
    });
    let mut unique: BTreeMap<PathBuf, InArea> = BTreeMap::new();
    for (real, (area, directory)) in real_paths.into_iter().zip(found) {
        let Some((first, known)) = unique.get_mut(&real) else {
            unique.insert(real, (area, directory));
            continue;
        };
        let found_by = known.found_by.max(directory.found_by);
        let is_plainer = plainness(&directory.path) < plainness(&known.path);
        if is_plainer && Arc::ptr_eq(first, &area) {
            *known = directory;
        }
        known.found_by = found_by;
    }
    let mut sorted: Vec<InArea> = unique.into_values().collect();
    sorted.sort_by(|(_, a), (_, b)| a.path.cmp(&b.path));
    sorted
}

/// Returns a sort key that prefers relative paths, then paths without `..`, then short paths.
fn plainness(path: &Path) -> (bool, bool, usize, &Path) {
    let goes_up = path.components().any(|part| part == Component::ParentDir);
    (path.has_root(), goes_up, path.components().count(), path)
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
