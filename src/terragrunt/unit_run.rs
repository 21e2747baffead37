//! The evaluation of one unit: its budget, what it may read, and what it has read.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use crate::access::AccessError;
use crate::config::EnvironmentValue;
use crate::span::Place;
use crate::syntax::{self, ArgumentValue, EvalBudget, EvalProblem, Exceeded};

use super::origins::{Origin, Origins, names};
use super::schema::BodySchema;
use super::shared_files::{EvaluatedFile, SharedAccess};
use super::unit_config_file::UnitConfigFile;
use super::{UnitError, UnitReader, UnknownUnit};

pub(super) struct UnitRun<'r> {
    pub(super) reader: &'r UnitReader,
    pub(super) budget: Rc<EvalBudget>,
    pub(super) access: Arc<SharedAccess>,
    /// The absolute path of the unit's directory.
    pub(super) directory: PathBuf,
    /// The nesting depth that remains for expressions and for the files that they read.
    depth: Cell<usize>,
    files_read: RefCell<BTreeSet<PathBuf>>,
    /// The files that `read_terragrunt_config` has evaluated for this unit.
    evaluated: RefCell<HashMap<PathBuf, Arc<EvaluatedFile>>>,
    /// The files that `read_terragrunt_config` is evaluating, outermost first.
    reading: RefCell<Vec<PathBuf>>,
    /// Whether the values computed since this was last reset depend on the unit.
    depends_on_unit: Cell<bool>,
    /// The position of the expression that exceeded the budget.
    exceeded_at: OnceCell<Place>,
}

/// The nesting depth that reading a file adds to the expression that reads it.
const FILE_DEPTH: usize = 8;

const READS_ITSELF: &str = "the file reads itself, directly or through other files";

const TOO_DEEP: &str = "the files that read each other are nested too deeply";

impl<'r> UnitRun<'r> {
    pub(super) fn new(
        reader: &'r UnitReader,
        directory: PathBuf,
        access: Arc<SharedAccess>,
    ) -> Self {
        Self {
            reader,
            budget: Rc::new(EvalBudget::of_root(Arc::clone(&reader.budget))),
            access,
            directory,
            depth: Cell::new(syntax::MAX_DEPTH),
            files_read: RefCell::default(),
            evaluated: RefCell::default(),
            reading: RefCell::default(),
            depends_on_unit: Cell::new(false),
            exceeded_at: OnceCell::new(),
        }
    }

    pub(super) fn environment(&self, name: &str) -> Option<&'r EnvironmentValue> {
        self.reader.options.environment.get(name)
    }

    pub(super) fn record_read(&self, path: impl Into<PathBuf>) {
        self.files_read.borrow_mut().insert(path.into());
    }

    pub(super) fn into_files_read(self) -> BTreeSet<PathBuf> {
        self.files_read.into_inner()
    }

    pub(super) fn set_depends_on_unit(&self) {
        self.depends_on_unit.set(true);
    }

    /// Returns the error for an exceeded budget. Its position is that of the innermost expression that exceeded the budget.
    pub(super) fn exceeded(&self, place: Place, budget: Exceeded) -> UnitError {
        let place = Box::new(self.exceeded_at.get_or_init(|| place).clone());
        UnitError::Exceeded { place, budget }
    }

    /// Runs `inner` with a remaining depth that is reduced by `levels`.
    pub(super) fn nested<T>(
        &self,
        levels: usize,
        inner: impl FnOnce() -> T,
    ) -> Result<T, EvalProblem> {
        let before = self.depth.get();
        let Some(left) = before.checked_sub(levels) else {
            return Err(EvalProblem::Reference(TOO_DEEP.to_owned()));
        };
        self.depth.set(left);
        let result = inner();
        self.depth.set(before);
        Ok(result)
    }

    /// Returns the parsed file at `path`. Fails if the unit must not read it. `written` is the expression that names the file.
    pub(super) fn load(
        &self,
        path: &Path,
        schema: &'static BodySchema,
        written: Option<&ArgumentValue>,
    ) -> Result<Arc<UnitConfigFile>, UnitError> {
        self.record_read(path);
        let shown = || self.reader.shown(path);
        let loaded = self.access.load(&self.reader.shared, path, shown, schema);
        let refused = |source: AccessError| UnitError::Read {
            path: shown(),
            place: written.map(|written| Box::new(written.place())),
            source,
        };
        loaded.map_err(refused)?.map_err(UnitError::Shared)
    }

    /// Returns the earlier result of `read_terragrunt_config` for the file at `path`, from this or another unit, and charges its cost to
    /// the budget.
    pub(super) fn known_file(
        &self,
        path: &Path,
    ) -> Result<Option<Arc<EvaluatedFile>>, EvalProblem> {
        let known = self.evaluated.borrow().get(path).cloned();
        let Some(file) = known.or_else(|| self.access.evaluated(path)) else {
            return Ok(None);
        };
        let [steps, values, bytes] = file
            .cost
            .map(|cost| usize::try_from(cost).unwrap_or(usize::MAX));
        self.budget.steps(steps)?;
        self.budget.values(values)?;
        self.budget.bytes(bytes)?;
        self.files_read
            .borrow_mut()
            .extend(file.files_read.iter().cloned());
        Ok(Some(file))
    }

    /// Evaluates the file at `path` for `read_terragrunt_config`. If the result depends on the unit, it is kept for this unit, otherwise
    /// for all units.
    pub(super) fn evaluate_once(
        &self,
        path: &Path,
        evaluate: impl FnOnce() -> Result<EvaluatedFile, EvalProblem>,
    ) -> Result<Arc<EvaluatedFile>, EvalProblem> {
        if self.reading.borrow().iter().any(|open| open == path) {
            return Err(EvalProblem::Reference(READS_ITSELF.to_owned()));
        }
        self.reading.borrow_mut().push(path.to_path_buf());
        let outer_files = self.files_read.take();
        let outer_depends = self.depends_on_unit.replace(false);
        let before = self.budget.used();
        let result = self.nested(FILE_DEPTH, evaluate).and_then(|result| result);
        let after = self.budget.used();
        let depends = self.depends_on_unit.replace(outer_depends);
        let files_read = self.files_read.replace(outer_files);
        self.files_read
            .borrow_mut()
            .extend(files_read.iter().cloned());
        self.reading.borrow_mut().pop();
        let file = Arc::new(EvaluatedFile {
            files_read,
            cost: [0, 1, 2].map(|at: usize| after[at] - before[at]),
            ..result?
        });
        if depends {
            self.set_depends_on_unit();
        } else {
            self.access.keep_evaluated(path, &file);
        }
        self.evaluated
            .borrow_mut()
            .insert(path.to_path_buf(), Arc::clone(&file));
        Ok(file)
    }

    /// Returns the explanation for a value that must be known but is not.
    pub(super) fn unknown(&self, what: &str, origins: &Origins, place: Place) -> UnknownUnit {
        let variables = origins.unknown.iter().filter_map(|origin| match origin {
            Origin::Variable(name) => Some(name.as_str()),
            _ => None,
        });
        let hint = variables.clone().next().map(|name| {
            if self.environment(name).is_some() {
                format!("permit the variable with `--allow-env {name}`")
            } else {
                format!("set the environment variable `{name}`")
            }
        });
        let origins = if origins.unknown.is_empty() {
            "a value that is not known".to_owned()
        } else {
            names(&origins.unknown)
        };
        UnknownUnit {
            what: what.to_owned(),
            origins,
            place,
            hint,
            files_read: BTreeSet::new(),
        }
    }
}
