//! Static evaluation: what `source` and `version` of module calls may depend on. spec/config.md 8.
//!
//! An [`Instance`] is a module in the place where it is called: its variables have the values that the call gives, evaluated
//! in the caller. Values are computed when they are asked for and kept. Terraform leaves most values unknown and fails only
//! if the result is; OpenTofu refuses the reference.

mod scope;
pub(in crate::config) mod types;
mod values;

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;

use crate::provider::Engine;
use crate::span::Span;
use crate::syntax::{self, EvalProblem, Expr, Strings, Value};

use super::calls::{Call, Variable};
use super::error::ConfigError;
use super::expression::Expression;
use super::functions::Functions;
use super::module::Module;
use super::options::ReadOptions;
pub(in crate::config) use scope::Position;
use scope::{Names, undeclared};
use types::Type;
use values::Values;
pub use values::is_variable_file;

/// What all instances below one root share.
pub(super) struct Environment<'a> {
    pub(super) root: &'a Path,
    pub(super) options: &'a ReadOptions,
    pub(super) functions: Functions,
    /// The first function that was called and is not supported. Its value is unknown, which does no harm where a result does
    /// not need it: beside a version in an object of locals, say.
    unsupported: OnceCell<String>,
    values: OnceCell<Result<Values, EvalProblem>>,
    workspace: OnceCell<String>,
}

/// A module as it is called, or the root.
pub(super) struct Instance<'a> {
    pub(super) module: &'a Module,
    environment: &'a Environment<'a>,
    /// The caller and its call; none for the root.
    caller: Option<(&'a Self, &'a Call)>,
    /// `path.module`.
    path: String,
    variables: RefCell<BTreeMap<String, Result<Value, EvalProblem>>>,
    /// `None` while the value is being computed.
    locals: RefCell<BTreeMap<String, Option<Result<Value, EvalProblem>>>>,
}

impl<'a> Environment<'a> {
    pub(super) fn new(root: &'a Path, options: &'a ReadOptions) -> Self {
        Self {
            root,
            options,
            functions: Functions::new(root, options.engine),
            unsupported: OnceCell::new(),
            values: OnceCell::new(),
            workspace: OnceCell::new(),
        }
    }

    fn engine(&self) -> Engine {
        self.options.engine
    }

    /// Broken variable files matter only when a value is asked for.
    fn values(&self) -> Result<&Values, EvalProblem> {
        let read = || {
            Values::read(self.root, self.options).map_err(|error| {
                let place = crate::span::Explain::place(&error)
                    .map(|place| format!("{place}: "))
                    .unwrap_or_default();
                EvalProblem::Reference(format!("{place}{error}"))
            })
        };
        self.values.get_or_init(read).as_ref().map_err(Clone::clone)
    }

    /// The name of the workspace: the environment's, else that of the data directory, else `default`.
    fn workspace(&self) -> &str {
        self.workspace.get_or_init(|| {
            let given = self
                .options
                .workspace
                .clone()
                .filter(|name| !name.is_empty());
            let path = self.data_directory().join("environment");
            let chosen = || {
                if self.options.confined_to.is_some() {
                    return None;
                }
                std::fs::read_to_string(path)
                    .ok()
                    .map(|text| text.trim().to_owned())
            };
            given
                .or_else(chosen)
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| "default".to_owned())
        })
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
    pub(super) fn root(module: &'a Module, environment: &'a Environment<'a>) -> Self {
        Self {
            module,
            environment,
            caller: None,
            path: ".".to_owned(),
            variables: RefCell::default(),
            locals: RefCell::default(),
        }
    }

    pub(super) fn child<'b>(
        &'b self,
        module: &'b Module,
        call: &'b Call,
        path: String,
    ) -> Instance<'b> {
        Instance {
            module,
            environment: self.environment,
            caller: Some((self, call)),
            path,
            variables: RefCell::default(),
            locals: RefCell::default(),
        }
    }

    /// Whose rules apply.
    pub(super) fn engine(&self) -> Engine {
        self.environment.engine()
    }

    /// `path.module`.
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// The value of a `source` or `version`.
    pub(super) fn evaluate(
        &self,
        value: &Expression,
        position: Position,
    ) -> Result<Value, ConfigError> {
        let what = position.what();
        let tree = value.tree(Strings::Templates)?;
        let result = self.tree_value(&tree, position, syntax::MAX_DEPTH);
        let result = match (result, self.environment.unsupported.get()) {
            (Ok(Value::Unknown), Some(name)) => {
                let problem = EvalProblem::UnsupportedFunction(name.clone());
                Err((tree.span, problem))
            }
            (result, _) => result,
        };
        result.map_err(|(span, problem)| value.value_error(what, span, problem))
    }

    fn tree_value(
        &self,
        tree: &Expr,
        position: Position,
        depth: usize,
    ) -> Result<Value, (Span, EvalProblem)> {
        let too_deep = || {
            (
                tree.span,
                EvalProblem::Reference("these values refer to each other too deeply".to_owned()),
            )
        };
        let depth = depth.checked_sub(tree.depth()).ok_or_else(too_deep)?;
        let names = Names {
            instance: self,
            position,
            depth,
        };
        syntax::check_references(tree, &names)
            .and_then(|()| syntax::evaluate(tree, &names))
            .map_err(|fault| (fault.span, fault.problem))
    }

    /// The value of a local or argument, for another expression.
    fn inner_value(
        &self,
        value: &Expression,
        position: Position,
        depth: usize,
    ) -> Result<Value, EvalProblem> {
        let tree = value
            .tree(Strings::Templates)
            .map_err(|error| EvalProblem::Syntax(error.problem))?;
        self.tree_value(&tree, position, depth)
            .map_err(|(_, problem)| problem)
    }

    fn local(&self, name: &str, depth: usize) -> Result<Value, EvalProblem> {
        match self.locals.borrow().get(name) {
            Some(Some(known)) => return known.clone(),
            Some(None) => {
                return Err(EvalProblem::Reference(format!(
                    "`local.{name}` refers to itself"
                )));
            }
            None => {}
        }
        let local = self
            .module
            .locals
            .get(name)
            .ok_or_else(|| undeclared("local", name))?;
        self.locals.borrow_mut().insert(name.to_owned(), None);
        let value = self.inner_value(&local.value, Position::Local, depth);
        self.locals
            .borrow_mut()
            .insert(name.to_owned(), Some(value.clone()));
        value
    }

    fn variable(&self, name: &str, depth: usize) -> Result<Value, EvalProblem> {
        if let Some(known) = self.variables.borrow().get(name) {
            return known.clone();
        }
        let variable = self
            .module
            .variables
            .get(name)
            .ok_or_else(|| undeclared("var", name))?;
        let value = self.variable_value(variable, depth);
        self.variables
            .borrow_mut()
            .insert(name.to_owned(), value.clone());
        value
    }

    /// Terraform has values for constant variables only. Sensitive values must not get into addresses.
    fn variable_value(&self, variable: &Variable, depth: usize) -> Result<Value, EvalProblem> {
        let name = &variable.name;
        let problem = |message: &str| EvalProblem::Reference(format!("`var.{name}` {message}"));
        match (self.environment.engine(), variable.constant) {
            (Engine::Terraform, Some(true)) | (Engine::Tofu, None | Some(true)) => {}
            (Engine::Terraform, _) => return Ok(Value::Unknown),
            (Engine::Tofu, Some(false)) => return Err(problem("has `const = false`")),
        }
        let constraint = self
            .constraint(variable)
            .ok_or_else(|| problem("has a type that is none"))?;
        let given = self.given(variable, &constraint, depth)?;
        let given = given.filter(|value| *value != Value::Null || variable.nullable != Some(false));
        let value = match (given, &variable.default) {
            (Some(value), _) => value,
            (None, Some(default)) => {
                let tree = default
                    .tree(Strings::Plain)
                    .map_err(|error| EvalProblem::Syntax(error.problem))?;
                syntax::evaluate(&tree, &syntax::Constants).map_err(|fault| fault.problem)?
            }
            (None, None) => return Err(problem("has no value")),
        };
        let value = constraint
            .convert(value)
            .ok_or_else(|| problem("has a value that is not of its type"))?;
        let is_secret = variable.sensitive == Some(true) || variable.ephemeral == Some(true);
        Ok(if is_secret {
            Value::Sensitive(Box::new(value))
        } else {
            value
        })
    }

    #[expect(
        clippy::unused_self,
        reason = "it belongs to the steps of `variable_value`"
    )]
    fn constraint(&self, variable: &Variable) -> Option<Type> {
        match &variable.type_constraint {
            None => Some(Type::Any),
            Some(value) => Type::parse(&value.tree(Strings::Plain).ok()?),
        }
    }

    /// What the call or the user gives.
    fn given(
        &self,
        variable: &Variable,
        constraint: &Type,
        depth: usize,
    ) -> Result<Option<Value>, EvalProblem> {
        match self.caller {
            None => self.environment.values()?.get(variable, constraint),
            Some((caller, call)) => match call.arguments.get(&variable.name) {
                None => Ok(None),
                Some(argument) => caller
                    .inner_value(argument, Position::Argument, depth)
                    .map(Some),
            },
        }
    }
}
