//! Selects the directories to process with `--changed` and `--failed`.

use std::path::PathBuf;

use crate::config::{self, clean};
use crate::lockfile::{self, FILE_NAME};
use crate::run::changed::{Candidate, ChangeFilter};
use crate::run::units::engine_of_unit;
use crate::settings::{Area, WorkingSet};
use crate::walk::WalkedDirectory;

use super::directory_reader::DirectoryReader;
use super::engine_detector::EngineClues;

pub(super) struct WorkingSetFilter<'a> {
    reader: &'a DirectoryReader<'a>,
    changed: Option<ChangeFilter>,
}

impl<'a> WorkingSetFilter<'a> {
    pub(super) fn new(reader: &'a DirectoryReader<'a>) -> Self {
        let changed = reader.settings.working_set.changed.as_deref();
        Self {
            reader,
            changed: changed.map(ChangeFilter::new),
        }
    }

    /// Returns whether a directory is in the working set.
    pub(super) fn includes(&self, area: &Area, found: &WalkedDirectory) -> bool {
        let settings = self.reader.settings;
        let WorkingSet { changed, failed } = &settings.working_set;
        if changed.is_none() && failed.is_none() {
            return true;
        }
        let absolute = settings.working_directory.join(&found.path);
        // A missing or inaccessible directory is reported when it is read.
        let Ok(real) = absolute.canonicalize() else {
            return true;
        };
        failed
            .as_ref()
            .is_none_or(|failed| failed.directories.contains(&real))
            && self.can_have_changed(area, found, [clean(&absolute), real])
    }

    fn can_have_changed(&self, area: &Area, found: &WalkedDirectory, names: [PathBuf; 2]) -> bool {
        let Some(changed) = &self.changed else {
            return true;
        };
        let reader = self.reader;
        let repository = reader.repositories.root(&names[1]);
        let path = found.path.join(FILE_NAME);
        let lock = if found.has_lock_file {
            lockfile::read(&path).ok().flatten()
        } else {
            None
        };
        let outcome = match found.has_unit_file.then(|| reader.units.read(&found.path)) {
            // It is unknown which files the unit reads. The error is reported when the unit is read again.
            Some(Err(_)) => return true,
            Some(Ok(outcome)) => Some(outcome),
            None => None,
        };
        let clues = EngineClues {
            lock: lock.as_deref(),
            unit: outcome.as_ref().and_then(engine_of_unit),
        };
        let engines = &reader.engines;
        let detected = engines.detect(area, found, &names[1], &repository, clues);
        let options = area.read_options(detected.engine);
        let (modules, unit_files) = if let Some(outcome) = &outcome {
            let inputs = reader.units.inputs(outcome, &options, &reader.cache);
            (inputs.modules, Some(inputs.files))
        } else {
            let modules = config::local_modules(&found.path, &options, &reader.cache);
            (modules.directories, None)
        };
        let absolute = |module: &PathBuf| clean(&reader.settings.working_directory.join(module));
        changed.affects(&Candidate {
            modules: modules.iter().map(absolute).collect(),
            unit_files,
            repository: &repository,
            names,
            reason: detected.reason,
            area,
            options,
        })
    }
}
