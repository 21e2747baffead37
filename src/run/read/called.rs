//! Skips local modules and parents of Terragrunt units: directories that have no lock file and that other directories use. The
//! lock files of those other directories cover them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::{ReadOptions, clean, literal_local_sources, local_callers};
use crate::options::Create;
use crate::parallel;
use crate::run::callers::CalledModules;
use crate::run::units::UnitInputs;
use crate::settings::Area;
use crate::terragrunt::{UNIT_FILE, UNIT_FILE_JSON};
use crate::walk::{FoundBy, WalkOptions, WalkedDirectory, walk};

use super::directory_reader::{DirectoryReader, ReadWithCalls};
use super::engine_detector::EngineClues;
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
    let others = other_directories(reader, &search_roots(&read), &read);
    for (unit, inputs) in units_of_other_directories(reader, &others) {
        called.add(unit, &inputs.modules);
    }
    let parents = reader.units.parents();
    for (module, callers) in local_callers(&configured(&others), &reader.cache) {
        for caller in callers {
            let relative = caller.strip_prefix(&reader.settings.working_directory);
            called.add(relative.unwrap_or(&caller), [&module]);
        }
    }
    let skip_called = |mut read: ReadWithCalls| {
        if is_undecided(&read) && is_parent(&read, &parents) {
            read.directory.skip_as_parent();
            return read.directory;
        }
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
        && match read.directory.task {
            Task::Lock { old: None, .. } => true,
            // The file of a parent is often invalid as a unit, so reading it may have failed.
            Task::Fail => read.is_unit && !read.directory.lock_file().exists(),
            _ => false,
        }
}

/// Returns whether other units include the unit file in a directory.
fn is_parent(read: &ReadWithCalls, parents: &BTreeSet<PathBuf>) -> bool {
    let files = [UNIT_FILE, UNIT_FILE_JSON].map(|name| read.directory.path.join(name));
    read.is_unit
        && files
            .iter()
            .filter_map(|file| std::path::absolute(file).ok())
            .any(|file| parents.contains(&clean(&file)))
}

/// Returns the repository roots below which to search for callers, each with the area of one of its directories. A nested
/// repository is searched as part of the outer one. A directory that is not in a repository is its own root.
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

/// A directory outside the run, with the options for reading it as a root module.
type OtherDirectory = (WalkedDirectory, ReadOptions);

/// Returns the directories below the roots that are outside the run. One walk covers all roots, because there may be many:
/// outside repositories, every directory is a root.
fn other_directories(
    reader: &DirectoryReader<'_>,
    roots: &BTreeMap<PathBuf, Arc<Area>>,
    read: &[ReadWithCalls],
) -> Vec<OtherDirectory> {
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
    walk(&paths, &options)
        .directories
        .into_iter()
        .filter(|directory| directory.has_configuration || directory.has_unit_file)
        .filter(|directory| !known.contains(&directory.path))
        .filter_map(|directory| {
            let path = &directory.path;
            // Roots are not nested, so only the last root at or before the path in sort order can contain it.
            let (root, area) = roots.range(..=path.clone()).next_back()?;
            let clues = EngineClues::default();
            let detected = reader.engines.detect(area, &directory, path, root, clues);
            let options = area.read_options(detected.engine);
            Some((directory, options))
        })
        .collect()
}

/// Returns the directories that contain a root module and not a unit.
fn configured(others: &[OtherDirectory]) -> Vec<(PathBuf, ReadOptions)> {
    let configured = others
        .iter()
        .filter(|(directory, _)| !directory.has_unit_file);
    configured
        .map(|(directory, options)| (directory.path.clone(), options.clone()))
        .collect()
}

/// Returns the units outside the run, each with the files and modules that it uses.
fn units_of_other_directories<'a>(
    reader: &DirectoryReader<'_>,
    others: &'a [OtherDirectory],
) -> Vec<(&'a Path, UnitInputs)> {
    let units: Vec<_> = others
        .iter()
        .filter(|(directory, _)| directory.has_unit_file)
        .collect();
    let inputs = parallel::map(&units, |(directory, options)| {
        // Errors are ignored here. A run that includes the unit reports them.
        let outcome = reader.units.read(&directory.path).ok()?;
        Some(reader.units.inputs(&outcome, options, &reader.cache))
    });
    let paths = units.iter().map(|(directory, _)| {
        let relative = directory
            .path
            .strip_prefix(&reader.settings.working_directory);
        relative.unwrap_or(&directory.path)
    });
    paths
        .zip(inputs)
        .filter_map(|(path, inputs)| Some((path, inputs?)))
        .collect()
}
