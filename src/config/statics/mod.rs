//! Static evaluation: what `source` and `version` of module calls may depend on. docs/rules/config.md 8.
//!
//! An [`Instance`] is a module in the place where it is called: its variables have the values that the call gives, evaluated
//! in the caller. Values are computed when they are asked for and kept. Terraform leaves most values unknown and fails only
//! if the result is; OpenTofu refuses the reference.

mod origins;
mod scope;
pub(in crate::config) mod types;
mod values;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use crate::provider::Engine;
use crate::span::{Place, Span};
use crate::syntax::{
    self, BoundedConstants, EvalBudget, EvalProblem, Exceeded, Expr, Expression, RunBudget,
    Strings, Value,
};

use super::calls::{ModuleCall, Variable};
use super::error::ConfigError;
use super::expression::ConfigExpression as _;
use super::files;
use super::functions::{FileAccess, Functions};
use super::location::Location;
use super::module::Module;
use super::options::{EnvironmentValue, ReadOptions};
use origins::Origin;
pub(in crate::config) use origins::Origins;
pub(in crate::config) use scope::Position;
use scope::{Names, undeclared};
use types::Type;
use values::Values;
pub use values::is_variable_file;

/// A value that is computed once.
type Shared = Result<Rc<Value>, EvalProblem>;

/// What all instances below one root share.
pub(super) struct RootContext<'a> {
    pub(super) root: &'a Path,
    pub(super) options: &'a ReadOptions,
    /// The functions of the root module.
    functions: Functions,
    /// Which files the root module may have read.
    pub(super) files: FileAccess,
    /// What all that is evaluated below the root may cost.
    budget: Rc<EvalBudget>,
    /// What needed more than there was.
    exceeded_at: OnceCell<Place>,
    /// The first function that was called and is not supported. Its value is unknown, which does no harm where a result does
    /// not need it: beside a version in an object of locals, say.
    unsupported: OnceCell<String>,
    values: OnceCell<Result<Values, EvalProblem>>,
    workspace: OnceCell<(Value, Origins)>,
}

/// The result of an evaluation, and the origins that it depends on. Their values must not be shown.
#[derive(Clone, Debug)]
struct Traced {
    value: Shared,
    origins: Origins,
}

/// A module as it is called, or the root.
pub(super) struct Instance<'a> {
    pub(super) module: &'a Module,
    context: &'a RootContext<'a>,
    /// The caller and its call; none for the root.
    caller: Option<(&'a Self, &'a ModuleCall)>,
    /// `path.module`.
    path: String,
    functions: Functions,
    variables: RefCell<BTreeMap<String, Traced>>,
    /// `None` while the value is being computed.
    locals: RefCell<BTreeMap<String, Option<Traced>>>,
}

impl Traced {
    /// A value that depends on nothing that is not shown.
    fn plain(value: Shared) -> Self {
        let origins = Origins::default();
        Self { value, origins }
    }
}

impl<'a> RootContext<'a> {
    pub(super) fn new(root: &'a Path, options: &'a ReadOptions, run: &Arc<RunBudget>) -> Self {
        let budget = Rc::new(EvalBudget::of_root(Arc::clone(run)));
        let files = FileAccess::of_root(root, Arc::clone(&options.files));
        let functions = Functions::new(root, options.engine, Rc::clone(&budget));
        Self {
            root,
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

    fn engine(&self) -> Engine {
        self.options.engine
    }

    /// Takes steps from the budget.
    pub(super) fn steps(&self, count: usize) -> Result<(), Exceeded> {
        self.budget.steps(count)
    }

    /// Whether the budget is used up. The reader then stops, and reports it once.
    pub(super) fn is_exceeded(&self) -> bool {
        self.budget.exceeded().is_some()
    }

    /// Broken variable files matter only when a value is asked for.
    fn values(&self) -> Result<&Values, EvalProblem> {
        let read = || {
            let values = Values::read(self.root, self.options, self.files.get());
            values.map_err(|error| EvalProblem::Reference(values::problem(&error)))
        };
        self.values.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    /// The name of the workspace: the environment's, else that of the data directory, else `default`, which alone is no secret.
    fn workspace(&self) -> &(Value, Origins) {
        self.workspace.get_or_init(|| {
            let given = match &self.options.workspace {
                Some(EnvironmentValue::Known(name)) => Some(Value::from(name.as_str())),
                Some(EnvironmentValue::Withheld) => Some(Value::Unknown),
                None => None,
            };
            let path = self.data_directory().join("environment");
            let chosen = || {
                let text = String::from_utf8(files::read(&path).ok()?).ok()?;
                let name = Some(text.trim()).filter(|name| !name.is_empty());
                name.map(Value::from)
            };
            let chosen = || (!self.options.is_untrusted).then(chosen).flatten();
            let name = given.or_else(chosen);
            let mut origins = Origins::default();
            if name.is_some() {
                origins.add(Origin::Workspace);
            }
            (name.unwrap_or_else(|| "default".into()), origins)
        })
    }

    /// The directory of an installed or fetched module as functions take it: relative to the root module, or absolute.
    pub(super) fn path_of(&self, location: &Location) -> String {
        let shown = match location.shown.strip_prefix(self.root) {
            Ok(inner) => inner,
            // Paths below this directory are not written with it.
            Err(_) if self.root == Path::new(".") => &location.shown,
            Err(_) => &location.real,
        };
        shown.to_string_lossy().into_owned()
    }

    /// `.terraform`, or what `TF_DATA_DIR` says.
    pub(super) fn data_directory(&self) -> std::path::PathBuf {
        match &self.options.data_directory {
            Some(directory) => self.root.join(directory),
            None => self.root.join(".terraform"),
        }
    }
}

impl<'a> Instance<'a> {
    pub(super) fn root(module: &'a Module, context: &'a RootContext<'a>) -> Self {
        Self {
            module,
            context,
            caller: None,
            path: ".".to_owned(),
            functions: context.functions.clone(),
            variables: RefCell::default(),
            locals: RefCell::default(),
        }
    }

    pub(super) fn child<'b>(
        &'b self,
        module: &'b Module,
        call: &'b ModuleCall,
        path: String,
        location: &Location,
    ) -> Instance<'b> {
        Instance {
            module,
            context: self.context,
            caller: Some((self, call)),
            path,
            functions: self.functions.of_called(location),
            variables: RefCell::default(),
            locals: RefCell::default(),
        }
    }

    /// Whose rules apply.
    pub(super) fn engine(&self) -> Engine {
        self.context.engine()
    }

    pub(super) fn context(&self) -> &'a RootContext<'a> {
        self.context
    }

    /// `path.module`.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The value of a `source` or `version`, and what it depends on that is not shown.
    pub(super) fn evaluate(
        &self,
        value: &Expression,
        position: Position,
    ) -> Result<(Value, Origins), ConfigError> {
        let what = position.what();
        value
            .pay_for_tree(&self.context.budget)
            .map_err(|budget| value.exceeded(budget))?;
        let tree = value.tree(Strings::Templates)?;
        let (result, origins) = self.tree_value(&tree, position, syntax::MAX_DEPTH);
        if let Err((_, EvalProblem::Exceeded(budget))) = result
            && let Some(inner) = self.context.exceeded_at.get()
        {
            let place = Box::new(inner.clone());
            return Err(ConfigError::Exceeded { place, budget });
        }
        let result = match (result, self.context.unsupported.get()) {
            (Ok(Value::Unknown), Some(name)) => {
                let problem = EvalProblem::UnsupportedFunction(name.clone());
                Err((tree.span, problem))
            }
            (result, _) => result,
        };
        let result = result.map_err(|(span, problem)| {
            let shown = if origins.is_empty() {
                problem
            } else {
                problem.concealed(&origins)
            };
            value.value_error(what, span, shown)
        });
        result.map(|value| (value, origins))
    }

    /// The value of an expression without variables and functions, from the budget of the root; strings in JSON are plain.
    pub(super) fn constant(
        &self,
        value: &Expression,
        what: &'static str,
    ) -> Result<Value, ConfigError> {
        let budget = &self.context.budget;
        value
            .pay_for_tree(budget)
            .map_err(|budget| value.exceeded(budget))?;
        let tree = value.tree(Strings::Plain)?;
        syntax::evaluate(&tree, &BoundedConstants(budget))
            .map_err(|fault| value.value_error(what, fault.span, fault.problem))
    }

    fn tree_value(
        &self,
        tree: &Expr,
        position: Position,
        depth: usize,
    ) -> (Result<Value, (Span, EvalProblem)>, Origins) {
        let Some(depth) = depth.checked_sub(tree.depth()) else {
            let message = "these values refer to each other too deeply".to_owned();
            let problem = EvalProblem::Reference(message);
            return (Err((tree.span, problem)), Origins::default());
        };
        let names = Names {
            instance: self,
            position,
            depth,
            origins: RefCell::default(),
        };
        let value = syntax::check_references(tree, &names)
            .and_then(|()| syntax::evaluate(tree, &names))
            .map_err(|fault| (fault.span, fault.problem));
        (value, names.origins.into_inner())
    }

    /// The value of a local or argument, for another expression.
    fn inner_value(&self, expression: &Expression, position: Position, depth: usize) -> Traced {
        let (value, origins) = self.paid_value(expression, position, depth);
        let value = value.map(Rc::new);
        Traced { value, origins }
    }

    fn paid_value(
        &self,
        expression: &Expression,
        position: Position,
        depth: usize,
    ) -> (Result<Value, EvalProblem>, Origins) {
        // The innermost one comes first.
        let exceeded_at = |place| drop(self.context.exceeded_at.set(place));
        let mut own = Origins::default();
        own.add_file_of(expression);
        let failed = |problem, own| (Err(problem), own);
        if let Err(exceeded) = expression.pay_for_tree(&self.context.budget) {
            exceeded_at(expression.place());
            return failed(exceeded.into(), own);
        }
        let tree = match expression.tree(Strings::Templates) {
            Ok(tree) => tree,
            Err(error) => return failed(EvalProblem::Syntax(error.problem), own),
        };
        let (result, origins) = self.tree_value(&tree, position, depth);
        let result = result.map_err(|(span, problem)| {
            if matches!(problem, EvalProblem::Exceeded(_)) {
                exceeded_at(expression.place_of(span));
            }
            problem
        });
        own.join(&origins);
        (result, own)
    }

    fn local(&self, name: &str, depth: usize) -> Traced {
        match self.locals.borrow().get(name) {
            Some(Some(known)) => return known.clone(),
            Some(None) => {
                let message = format!("`local.{name}` refers to itself");
                return Traced::plain(Err(EvalProblem::Reference(message)));
            }
            None => {}
        }
        let Some(local) = self.module.locals.get(name) else {
            return Traced::plain(Err(undeclared("local", name)));
        };
        self.locals.borrow_mut().insert(name.to_owned(), None);
        let value = self.inner_value(&local.value, Position::Local, depth);
        self.locals
            .borrow_mut()
            .insert(name.to_owned(), Some(value.clone()));
        value
    }

    fn variable(&self, name: &str, depth: usize) -> Traced {
        if let Some(known) = self.variables.borrow().get(name) {
            return known.clone();
        }
        let Some(variable) = self.module.variables.get(name) else {
            return Traced::plain(Err(undeclared("var", name)));
        };
        let mut origins = Origins::default();
        let value = self.variable_value(variable, depth, &mut origins);
        let value = value.map(Rc::new);
        let value = Traced { value, origins };
        self.variables
            .borrow_mut()
            .insert(name.to_owned(), value.clone());
        value
    }

    /// Terraform has values for constant variables only. Sensitive values must not get into addresses.
    fn variable_value(
        &self,
        variable: &Variable,
        depth: usize,
        origins: &mut Origins,
    ) -> Result<Value, EvalProblem> {
        let name = &variable.name;
        let problem = |message: &str| EvalProblem::Reference(format!("`var.{name}` {message}"));
        match (self.context.engine(), variable.constant) {
            (Engine::Terraform, Some(true)) | (Engine::Tofu, None | Some(true)) => {}
            (Engine::Terraform, _) => return Ok(Value::Unknown),
            (Engine::Tofu, Some(false)) => return Err(problem("has `const = false`")),
        }
        let budget = &self.context.budget;
        let constraint = self
            .constraint(variable)
            .ok_or_else(|| problem("has a type that is none"))?;
        let given = self.given(variable, &constraint, depth, origins)?;
        let given = given.filter(|value| *value != Value::Null || variable.nullable != Some(false));
        let value = match (given, &variable.default) {
            (Some(value), _) => value,
            (None, Some(default)) => {
                origins.add_file_of(default);
                default.pay_for_tree(budget)?;
                let tree = default
                    .tree(Strings::Plain)
                    .map_err(|error| EvalProblem::Syntax(error.problem))?;
                syntax::evaluate(&tree, &BoundedConstants(budget)).map_err(|fault| fault.problem)?
            }
            (None, None) => return Err(problem("has no value")),
        };
        let value = constraint
            .convert(value, budget)
            .ok_or_else(|| problem("has a value that is not of its type"))?;
        let is_secret = variable.sensitive == Some(true) || variable.ephemeral == Some(true);
        Ok(if is_secret {
            Value::Sensitive(Box::new(value))
        } else {
            value
        })
    }

    fn constraint(&self, variable: &Variable) -> Option<Type> {
        let budget = &self.context.budget;
        match &variable.type_constraint {
            None => Some(Type::Any),
            Some(value) => {
                value.pay_for_tree(budget).ok()?;
                Type::parse(&value.tree(Strings::Plain).ok()?, budget)
            }
        }
    }

    /// What the call or the user gives.
    fn given(
        &self,
        variable: &Variable,
        constraint: &Type,
        depth: usize,
        origins: &mut Origins,
    ) -> Result<Option<Value>, EvalProblem> {
        let Some((caller, call)) = self.caller else {
            let budget = &self.context.budget;
            let given = self.context.values()?.get(variable, constraint, budget)?;
            if given.is_some() {
                origins.add(Origin::Variable(variable.name.clone()));
            }
            return Ok(given);
        };
        let Some(argument) = call.arguments.get(&variable.name) else {
            return Ok(None);
        };
        let (value, its_origins) = caller.paid_value(argument, Position::Argument, depth);
        origins.join(&its_origins);
        value.map(Some)
    }
}
