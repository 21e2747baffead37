//! Directories without a lock file that others call as a local module: their callers lock for them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::{ReadOptions, local_callers};
use crate::options::Create;
use crate::run::callers::Called;
use crate::settings::Area;
use crate::walk::{FoundBy, WalkOptions, walk};

use super::directory_reader::{DirectoryReader, ReadWithCalls};
use super::{ReadDirectory, Task};

/// Skips directories without a lock file that another directory of the repository calls as a local module. Callers are looked
/// for in the whole repository, also where only a part of it is worked on.
pub(super) fn without_called_modules(
    reader: &DirectoryReader<'_>,
    read: Vec<ReadWithCalls>,
) -> Vec<ReadDirectory> {
    let mut called = Called::default();
    for read in &read {
        called.note(&read.directory.path, read.calls.iter());
    }
    for (module, callers) in calls_within(reader, &tops(&read), &read) {
        for caller in callers {
            let shown = caller.strip_prefix(&reader.settings.working_directory);
            called.note(shown.unwrap_or(&caller), [&module]);
        }
    }
    let skip_called = |mut read: ReadWithCalls| {
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

/// Whether a directory gets a lock file only if no module calls it.
fn is_undecided(read: &ReadWithCalls) -> bool {
    read.directory.area.options.create.value == Create::Auto
        && read.directory.found_by != FoundBy::DirectoryArgument
        && matches!(read.directory.task, Task::Lock { old: None, .. })
}

/// The tops of the repositories in which callers are looked for, by the areas that ask. One that lies in another is part of
/// it, and so is a directory outside of all repositories, which is its own.
fn tops(read: &[ReadWithCalls]) -> BTreeMap<PathBuf, Arc<Area>> {
    let undecided = read.iter().filter(|read| is_undecided(read));
    let all: BTreeMap<&PathBuf, &Arc<Area>> = undecided
        .map(|read| (&read.directory.repository, &read.directory.area))
        .collect();
    let mut tops = BTreeMap::<PathBuf, Arc<Area>>::new();
    // What lies in a directory follows it.
    for (top, area) in all {
        let last = tops.last_key_value();
        if !last.is_some_and(|(last, _)| top.starts_with(last)) {
            tops.insert(top.clone(), Arc::clone(area));
        }
    }
    tops
}

/// The local modules that directories of repositories call which are not worked on themselves, and which these are. All are
/// walked through at once: outside of repositories there are as many tops as directories.
fn calls_within(
    reader: &DirectoryReader<'_>,
    tops: &BTreeMap<PathBuf, Arc<Area>>,
    read: &[ReadWithCalls],
) -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
    let absolute = |path: &Path| reader.settings.working_directory.join(path);
    let known = read.iter().map(|read| absolute(&read.directory.path));
    let known: BTreeSet<PathBuf> = known.collect();
    let options = WalkOptions {
        recursive: true,
        ..WalkOptions::default()
    };
    let paths: Vec<PathBuf> = tops.keys().cloned().collect();
    let others: Vec<(PathBuf, ReadOptions)> = walk(&paths, &options)
        .directories
        .into_iter()
        .filter(|directory| directory.has_configuration && !known.contains(&directory.path))
        .filter_map(|directory| {
            let path = &directory.path;
            // The last top that is not behind it: tops do not lie in one another.
            let (top, area) = tops.range(..=path.clone()).next_back()?;
            let (engine, _) = reader.engines.of(area, &directory, path, top, None);
            Some((directory.path, area.read_options(engine)))
        })
        .collect();
    local_callers(&others, &reader.cache)
}
