//! Skips local modules: directories that have no lock file and that other directories call. The callers' lock files cover them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::{ReadOptions, literal_local_sources, local_callers};
use crate::options::Create;
use crate::run::callers::CalledModules;
use crate::settings::Area;
use crate::walk::{FoundBy, WalkOptions, walk};

use super::directory_reader::{DirectoryReader, ReadWithCalls};
use super::{ReadDirectory, Task};

/// Skips each directory that has no lock file and that another directory in the repository calls as a local module. Searches
/// the whole repository for callers, even if the run covers only part of it.
pub(super) fn skip_called_modules(
    reader: &DirectoryReader<'_>,
    read: Vec<ReadWithCalls>,
) -> Vec<ReadDirectory> {
    let mut called = CalledModules::default();
    for read in &read {
        called.add(&read.directory.path, read.calls.iter());
        if matches!(read.directory.task, Task::Fail) {
            let calls = literal_local_sources(&read.directory.path);
            called.add(&read.directory.path, &calls);
        }
    }
    for (module, callers) in calls_of_other_directories(reader, &search_roots(&read), &read) {
        for caller in callers {
            let relative = caller.strip_prefix(&reader.settings.working_directory);
            called.add(relative.unwrap_or(&caller), [&module]);
        }
    }
    let skip_called = |mut read: ReadWithCalls| {
        if is_undecided(&read)
            && let Ok(real) = std::fs::canonicalize(&read.directory.path)
            && let Some(why) = called.skip_reason(&real)
            && let Task::Lock { job, .. } = read.directory.task
        {
            read.directory.task = Task::Skip { why, job };
        }
        read.directory
    };
    read.into_iter().map(skip_called).collect()
}

/// Returns whether a directory gets a lock file only if no other directory calls it.
fn is_undecided(read: &ReadWithCalls) -> bool {
    read.directory.area.options.create.value == Create::Auto
        && read.directory.found_by != FoundBy::DirectoryArgument
        && matches!(read.directory.task, Task::Lock { old: None, .. })
}

/// Returns the repository roots below which to search for callers, each with an area of the run. A nested repository is searched
/// as part of the outer one. A directory that is not in a repository is its own root.
fn search_roots(read: &[ReadWithCalls]) -> BTreeMap<PathBuf, Arc<Area>> {
    let repositories: BTreeMap<&PathBuf, &Arc<Area>> = read
        .iter()
        .filter(|read| is_undecided(read))
        .map(|read| (&read.directory.repository, &read.directory.area))
        .collect();
    let mut roots = BTreeMap::<PathBuf, Arc<Area>>::new();
    // The map is sorted, so nested repositories directly follow the outer one.
    for (root, area) in repositories {
        let last = roots.last_key_value();
        if !last.is_some_and(|(last, _)| root.starts_with(last)) {
            roots.insert(root.clone(), Arc::clone(area));
        }
    }
    roots
}

/// Returns the local modules that directories outside this run call, with their callers. One walk covers all roots, because
/// there may be many: outside repositories, every directory is a root.
fn calls_of_other_directories(
    reader: &DirectoryReader<'_>,
    roots: &BTreeMap<PathBuf, Arc<Area>>,
    read: &[ReadWithCalls],
) -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
    let absolute = |path: &Path| reader.settings.working_directory.join(path);
    let known: BTreeSet<PathBuf> = read
        .iter()
        .map(|read| absolute(&read.directory.path))
        .collect();
    let options = WalkOptions {
        recursive: true,
        ..WalkOptions::default()
    };
    let paths: Vec<PathBuf> = roots.keys().cloned().collect();
    let others: Vec<(PathBuf, ReadOptions)> = walk(&paths, &options)
        .directories
        .into_iter()
        .filter(|directory| directory.has_configuration && !known.contains(&directory.path))
        .filter_map(|directory| {
            let path = &directory.path;
            // Roots are not nested, so only the last root at or before the path in sort order can contain it.
            let (root, area) = roots.range(..=path.clone()).next_back()?;
            let detected = reader.engines.detect(area, &directory, path, root, None);
            Some((directory.path, area.read_options(detected.engine)))
        })
        .collect();
    local_callers(&others, &reader.cache)
}
