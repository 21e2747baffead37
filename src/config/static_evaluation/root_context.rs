//! The context in which a root module and the modules that it calls are evaluated.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use crate::access::ReadRules;
use crate::config::{
    ConfigError, EnvironmentValue, Location, Module, ReadOptions, Variable, VariableOption,
    module_files,
};
use crate::functions::{FileAccess, Functions};
use crate::provider::Engine;
use crate::span::Place;
use crate::syntax::{EvalBudget, EvalProblem, Exceeded, RunBudget, Value};

use super::hidden_origins::{HiddenOrigin, HiddenOrigins};
use super::variable_values::{self, VariableValues};

/// Returns which files the functions of a root module may read.
fn file_access(location: &Location, rules: Arc<ReadRules>) -> FileAccess {
    let directory = &location.shown;
    match &location.tree {
        None => FileAccess::of_root(directory, rules),
        Some(tree) => {
            let (own, package) = (tree.own_directories(), tree.package());
            FileAccess::of_assembled(directory, rules, Arc::clone(tree) as _, own, package)
        }
    }
}

/// The data that all instances below one root module share.
pub(in crate::config) struct RootContext<'a> {
    /// The directory of the root module. In an assembled tree, this is a path below the mount of the tree, and nothing exists there on
    /// disk.
    pub(in crate::config) root: &'a Path,
    location: &'a Location,
    pub(in crate::config) options: &'a ReadOptions,
    pub(super) functions: Functions,
    pub(in crate::config) files: FileAccess,
    /// The evaluation budget of the root module and of all modules that it calls.
    pub(super) budget: Rc<EvalBudget>,
    /// The position of the expression that exceeded the budget.
    pub(super) exceeded_at: OnceCell<Place>,
    /// The first unsupported function that was called. Its result is unknown, but only an unknown source or version is an error.
    pub(super) unsupported: OnceCell<String>,
    values: OnceCell<Result<VariableValues, ConfigError>>,
    workspace: OnceCell<(Value, HiddenOrigins)>,
}

impl<'a> RootContext<'a> {
    pub(in crate::config) fn new(
        location: &'a Location,
        options: &'a ReadOptions,
        run: &Arc<RunBudget>,
    ) -> Self {
        let root = match location.tree {
            Some(_) => &location.real,
            None => &location.shown,
        };
        let budget = Rc::new(EvalBudget::of_root(Arc::clone(run)));
        let files = file_access(location, Arc::clone(&options.files));
        let functions = Functions::new(root, options.engine, Rc::clone(&budget));
        Self {
            root,
            location,
            options,
            functions: functions.with_files(files.clone()),
            files,
            budget,
            exceeded_at: OnceCell::new(),
            unsupported: OnceCell::new(),
            values: OnceCell::new(),
            workspace: OnceCell::new(),
        }
    }

    /// Whether the root module is assembled in memory and has no directory of its own.
    pub(in crate::config) const fn is_assembled(&self) -> bool {
        self.location.tree.is_some()
    }

    pub(super) fn engine(&self) -> Engine {
        self.options.engine
    }

    pub(in crate::config) fn steps(&self, count: usize) -> Result<(), Exceeded> {
        self.budget.steps(count)
    }

    /// Whether the budget is used up. The tree reader then stops and reports one error.
    pub(in crate::config) fn is_exceeded(&self) -> bool {
        self.budget.exceeded().is_some()
    }

    /// Returns the values that the user has set. They are read when first used.
    pub(super) fn values(&self) -> Result<&VariableValues, EvalProblem> {
        let problem = |error| EvalProblem::Reference(variable_values::problem(error));
        self.read_values().map_err(problem)
    }

    fn read_values(&self) -> Result<&VariableValues, &ConfigError> {
        let read = || {
            let directory = self.location.directory();
            VariableValues::read(&directory, self.options, self.files.get())
        };
        self.values.get_or_init(read).as_ref()
    }

    /// Checks the variable files of the root module, even if no expression needs a value from them. Two problems are reported only if a
    /// value is needed: an option names a file that does not exist, and the configuration must not use a file.
    pub(in crate::config) fn check_variable_files(
        &self,
        module: &Module,
    ) -> Result<(), ConfigError> {
        if !module.has_variable_files && self.options.variables.is_empty() {
            return Ok(());
        }
        let is_named = |path: &Path| {
            let root = self.location.directory().shown();
            let mut options = self.options.variables.iter();
            options.any(
                |option| matches!(option, VariableOption::File(named) if root.join(named) == path),
            )
        };
        let values = match self.read_values() {
            Ok(values) => values,
            Err(ConfigError::UntrackedVariables { .. } | ConfigError::LinkOutside { .. }) => {
                return Ok(());
            }
            Err(error @ ConfigError::ReadFile { path, .. })
                if error.is_not_found() && is_named(path) =>
            {
                return Ok(());
            }
            Err(error) => {
                let problem = variable_values::problem(error);
                return Err(ConfigError::InvalidVariables(problem));
            }
        };
        let checks = |variable: &&Variable| {
            let is_const = variable.constant == Some(true);
            self.engine().checks_unneeded_value(is_const)
        };
        let variables = module.variables.values().filter(checks);
        let checked = values.check(variables, &self.budget);
        checked.map_err(ConfigError::InvalidVariables)
    }

    /// Returns the name of the workspace: from the environment, or else from the data directory, or else `default`. Messages do not
    /// show the name unless it is this default, because it may come from the environment.
    pub(super) fn workspace(&self) -> &(Value, HiddenOrigins) {
        self.workspace.get_or_init(|| {
            let recorded = || {
                let path = self.data_directory().join("environment");
                let text = String::from_utf8(module_files::read(&path).ok()?).ok()?;
                let name = Some(text.trim()).filter(|name| !name.is_empty());
                name.map(Value::from)
            };
            let name = match &self.options.workspace {
                Some(EnvironmentValue::Known(name)) => Some(name.as_str().into()),
                Some(EnvironmentValue::Withheld) => Some(Value::Unknown),
                None if self.options.is_untrusted || self.is_assembled() => None,
                None => recorded(),
            };
            let mut origins = HiddenOrigins::default();
            if name.is_some() {
                origins.add(HiddenOrigin::Workspace);
            }
            (name.unwrap_or_else(|| "default".into()), origins)
        })
    }

    /// Returns `path.module` for an installed or fetched module: relative to the root module, or absolute.
    pub(in crate::config) fn path_of(&self, location: &Location) -> String {
        let shown = match location.shown.strip_prefix(self.root) {
            Ok(inner) => inner,
            // If the root is `.`, the shown paths below it do not start with `.`.
            Err(_) if self.root == Path::new(".") => &location.shown,
            Err(_) => &location.real,
        };
        shown.to_string_lossy().into_owned()
    }

    /// Returns the path of the data directory: `TF_DATA_DIR`, or `.terraform` in the root module.
    pub(in crate::config) fn data_directory(&self) -> PathBuf {
        match &self.options.data_directory {
            Some(directory) => self.root.join(directory),
            None => self.root.join(".terraform"),
        }
    }
}
