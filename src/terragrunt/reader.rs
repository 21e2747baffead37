//! Reads the units of a run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::access::ReadRules;
use crate::config::{EnvironmentValue, clean};
use crate::parallel::lock;
use crate::syntax::RunBudget;

use super::error::Failure;
use super::evaluation::{FileRole, evaluate_file};
use super::schema::FILE;
use super::scope::is_missing_values;
use super::shared_files::{SharedFiles, parse};
use super::unit_builder::build_unit;
use super::unit_run::UnitRun;
use super::{UNIT_FILE, UNIT_FILE_JSON, Unit, UnitError, UnitOutcome};

/// The input for the evaluation of units, in addition to their files.
#[derive(Clone, Debug, Default)]
pub struct UnitOptions {
    /// The environment variables by name. A variable whose value is withheld counts as unknown.
    pub environment: BTreeMap<String, EnvironmentValue>,
    /// The working directory. Messages show paths inside it as relative paths.
    pub working_directory: PathBuf,
    /// The rules for which files the configuration can read.
    pub files: Arc<ReadRules>,
}

/// Reads the units of a run. Files that several units share are parsed once.
#[derive(Debug, Default)]
pub struct UnitReader {
    pub(super) options: UnitOptions,
    pub(super) budget: Arc<RunBudget>,
    pub(super) shared: SharedFiles,
    /// The absolute paths of all files that units include.
    parents: Mutex<BTreeSet<PathBuf>>,
}

impl UnitReader {
    pub fn new(options: UnitOptions, budget: Arc<RunBudget>) -> Self {
        Self {
            options,
            budget,
            shared: SharedFiles::default(),
            parents: Mutex::default(),
        }
    }

    /// Evaluates the unit in `directory`, a path as the user would write it.
    ///
    /// # Errors
    /// Fails if Terragrunt would fail, or if the configuration refers to a file that it must not read.
    pub fn read(&self, directory: &Path) -> Result<UnitOutcome, Vec<UnitError>> {
        let failed = |error| vec![UnitError::Directory(error)];
        let absolute = std::path::absolute(self.options.working_directory.join(directory));
        let absolute = clean(&absolute.map_err(failed)?);
        let real = absolute.canonicalize().map_err(failed)?;
        let access = self.shared.access(&self.options.files, &real);
        let run = UnitRun::new(self, absolute, access);
        let result = Self::evaluate(&run, directory);
        let files_read = run.into_files_read();
        match result {
            Ok(unit) => Ok(UnitOutcome::Known(Box::new(Unit {
                directory: directory.to_path_buf(),
                files_read,
                ..unit
            }))),
            Err(Failure::Unknown(mut unknown)) => {
                unknown.files_read = files_read;
                Ok(UnitOutcome::Unknown(unknown))
            }
            Err(Failure::Error(UnitError::Value { source, .. })) if is_missing_values(&source) => {
                Ok(UnitOutcome::Template { files_read })
            }
            Err(Failure::Error(error)) => Err(vec![error]),
        }
    }

    fn evaluate(run: &UnitRun<'_>, directory: &Path) -> Result<Unit, Failure> {
        let json = run.directory.join(UNIT_FILE_JSON);
        let name = if json.is_file() {
            UNIT_FILE_JSON
        } else {
            UNIT_FILE
        };
        let path = run.directory.join(name);
        run.record_read(&path);
        let shown = directory.join(name);
        let real = run
            .access
            .rules
            .locate(&path)
            .map_err(|source| UnitError::Read {
                path: shown.clone(),
                place: None,
                source,
            })?;
        let file = Arc::new(parse(&path, &real, shown, &FILE)?);
        let config = evaluate_file(run, &path, Some(file), FileRole::Unit)?;
        build_unit(run, &config)
    }

    /// Returns the absolute paths of the files that the units read so far include.
    pub fn parents(&self) -> BTreeSet<PathBuf> {
        lock(&self.parents).clone()
    }

    pub(super) fn record_parent(&self, path: &Path) {
        let mut parents = lock(&self.parents);
        if !parents.contains(path) {
            parents.insert(path.to_path_buf());
        }
    }

    /// Returns the path by which messages refer to an absolute path.
    pub(super) fn shown(&self, path: &Path) -> PathBuf {
        let base = &self.options.working_directory;
        match path.strip_prefix(base) {
            Ok(inner) if !base.as_os_str().is_empty() => inner.to_path_buf(),
            _ => path.to_path_buf(),
        }
    }
}
