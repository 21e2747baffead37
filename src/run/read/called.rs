//! Directories without a lock file that others call as a local module: their callers lock for them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::{self, Named, ReadOptions, WalkOptions, local_callers};
use crate::run::callers::Called;
use crate::settings::{Area, Create};

use super::reader::{Read, Reader};
use super::{Directory, Task};

/// Skips directories without a lock file that another directory of the repository calls as a local module. Callers are looked
/// for in the whole repository, also where only a part of it is worked on.
pub(super) fn without_called_modules(reader: &Reader<'_>, read: Vec<Read>) -> Vec<Directory> {
    let repositories: BTreeMap<PathBuf, Arc<Area>> = read
        .iter()
        .filter(|read| is_undecided(read))
        .map(|read| {
            let Directory {
                repository, area, ..
            } = &read.directory;
            (repository.clone(), Arc::clone(area))
        })
        .collect();
    let mut called = Called::default();
    for read in &read {
        called.note(&read.directory.path, read.calls.iter());
    }
    for (repository, area) in repositories {
        for (module, callers) in calls_within(reader, &repository, &area, &read) {
            for caller in callers {
                let shown = caller.strip_prefix(&reader.settings.working_directory);
                called.note(shown.unwrap_or(&caller), [&module]);
            }
        }
    }
    let skip_called = |mut read: Read| {
        if is_undecided(&read)
            && let Ok(real) = std::fs::canonicalize(&read.directory.path)
            && let Some(why) = called.of(&real)
            && let Task::Lock { job, .. } = read.directory.task
        {
            read.directory.task = Task::Skip { why, job };
        }
        read.directory
    };
    read.into_iter().map(skip_called).collect()
}

/// Whether a directory gets a lock file only if nobody calls it.
fn is_undecided(read: &Read) -> bool {
    read.directory.area.create == Create::Auto
        && read.directory.named != Named::Directly
        && matches!(read.directory.task, Task::Lock { old: None, .. })
}

/// The local modules that directories of a repository call which are not worked on themselves, and which these are.
fn calls_within(
    reader: &Reader<'_>,
    repository: &Path,
    area: &Area,
    read: &[Read],
) -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
    let absolute = |path: &Path| reader.settings.working_directory.join(path);
    let known = read.iter().map(|read| absolute(&read.directory.path));
    let known: BTreeSet<PathBuf> = known.collect();
    let options = WalkOptions {
        recursive: true,
        ..WalkOptions::default()
    };
    let walk = config::walk(&[repository.to_path_buf()], &options);
    let others: Vec<(PathBuf, ReadOptions)> = walk
        .directories
        .into_iter()
        .filter(|directory| directory.has_configuration && !known.contains(&directory.path))
        .map(|directory| {
            let path = &directory.path;
            let (engine, _) = reader.engines.of(area, &directory, path, repository, None);
            (directory.path, area.read_options(engine))
        })
        .collect();
    local_callers(&others, &reader.cache)
}
