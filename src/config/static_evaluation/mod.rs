//! Statically evaluates the `source` and `version` of module calls. See section 8 of docs/rules/config.md.
//!
//! An [`Instance`] is a module together with one call of it. Its variables have the values that the call sets, evaluated in the caller.
//! Each value is computed when it is first used.
//!
//! Some values are not known before apply. Terraform treats them as unknown, and fails only if the `source` or `version` is then unknown.
//! OpenTofu rejects references to them.

mod hidden_origins;
mod instance_scope;
mod root_context;
mod type_constraint;
mod variable_values;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::functions::Functions;
use crate::provider::Engine;
use crate::span::Span;
use crate::syntax::{self, ArgumentValue, Constants, EvalProblem, Expr, Strings, Value};

use super::{ConfigError, Location, Module, ModuleCall, Variable};
use hidden_origins::HiddenOrigin;
pub(in crate::config) use hidden_origins::HiddenOrigins;
pub(in crate::config) use instance_scope::ExpressionPosition;
use instance_scope::{InstanceScope, undeclared};
pub(in crate::config) use root_context::RootContext;
use type_constraint::TypeConstraint;
pub use variable_values::is_variable_file;

type SharedValue = Result<Rc<Value>, EvalProblem>;

#[derive(Clone, Debug)]
struct TracedValue {
    value: SharedValue,
    origins: HiddenOrigins,
}

/// A root module, or a module together with a call of it.
pub(super) struct Instance<'a> {
    pub(super) module: &'a Module,
    context: &'a RootContext<'a>,
    /// The calling instance and the call; `None` for the root module.
    caller: Option<(&'a Self, &'a ModuleCall)>,
    /// The value of `path.module`.
    path: String,
    functions: Functions,
    variables: RefCell<BTreeMap<String, TracedValue>>,
    /// The locals that have been used, by name. `None` while the value is being computed.
    locals: RefCell<BTreeMap<String, Option<TracedValue>>>,
}

impl TracedValue {
    fn plain(value: SharedValue) -> Self {
        let origins = HiddenOrigins::default();
        Self { value, origins }
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
            functions: match &location.tree {
                Some(_) => self.functions.clone(),
                None => self
                    .functions
                    .for_called_module(&location.real, location.package.as_deref()),
            },
            variables: RefCell::default(),
            locals: RefCell::default(),
        }
    }

    pub(super) fn engine(&self) -> Engine {
        self.context.engine()
    }

    pub(super) fn context(&self) -> &'a RootContext<'a> {
        self.context
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Evaluates a `source` or `version`. Also returns the origins of the hidden values on which it depends.
    pub(super) fn evaluate(
        &self,
        value: &ArgumentValue,
        position: ExpressionPosition,
    ) -> Result<(Value, HiddenOrigins), ConfigError> {
        let what = position.what();
        if value.has_unknown_parts() {
            return Ok((Value::Unknown, HiddenOrigins::default()));
        }
        value
            .pay_for_tree(&self.context.budget)
            .map_err(|budget| value.exceeded(budget))?;
        let tree = value.tree(Strings::Templates)?;
        let (result, mut origins) = self.tree_value(&tree, position, syntax::MAX_DEPTH);
        origins.add_text_of(value);
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

    /// Evaluates an expression without variables or functions. Strings in JSON syntax are literal.
    pub(super) fn constant(
        &self,
        value: &ArgumentValue,
        what: &'static str,
    ) -> Result<Value, ConfigError> {
        let budget = &self.context.budget;
        value
            .pay_for_tree(budget)
            .map_err(|budget| value.exceeded(budget))?;
        let tree = value.tree(Strings::Plain)?;
        syntax::evaluate(&tree, &Constants(Some(budget)))
            .map_err(|fault| value.value_error(what, fault.span, fault.problem))
    }

    fn tree_value(
        &self,
        tree: &Expr,
        position: ExpressionPosition,
        depth: usize,
    ) -> (Result<Value, (Span, EvalProblem)>, HiddenOrigins) {
        let Some(depth) = depth.checked_sub(tree.depth()) else {
            let message = "the references between these values are nested too deeply".to_owned();
            let problem = EvalProblem::Reference(message);
            return (Err((tree.span, problem)), HiddenOrigins::default());
        };
        let names = InstanceScope {
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

    /// Evaluates a local or an argument that another expression refers to.
    fn inner_value(
        &self,
        expression: &ArgumentValue,
        position: ExpressionPosition,
        depth: usize,
    ) -> (Result<Value, EvalProblem>, HiddenOrigins) {
        // The innermost expression sets the position first, and later calls do not change it.
        let exceeded_at = |place| drop(self.context.exceeded_at.set(place));
        let mut own = HiddenOrigins::default();
        own.add_file_of(expression);
        if expression.has_unknown_parts() {
            return (Ok(Value::Unknown), own);
        }
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

    fn local(&self, name: &str, depth: usize) -> TracedValue {
        match self.locals.borrow().get(name) {
            Some(Some(known)) => return known.clone(),
            Some(None) => {
                let message = format!("`local.{name}` refers to itself");
                return TracedValue::plain(Err(EvalProblem::Reference(message)));
            }
            None => {}
        }
        let Some(local) = self.module.locals.get(name) else {
            return TracedValue::plain(Err(undeclared("local", name)));
        };
        self.locals.borrow_mut().insert(name.to_owned(), None);
        let (value, origins) = self.inner_value(&local.value, ExpressionPosition::Local, depth);
        let value = value.map(Rc::new);
        let value = TracedValue { value, origins };
        self.locals
            .borrow_mut()
            .insert(name.to_owned(), Some(value.clone()));
        value
    }

    fn variable(&self, name: &str, depth: usize) -> TracedValue {
        if let Some(known) = self.variables.borrow().get(name) {
            return known.clone();
        }
        let Some(variable) = self.module.variables.get(name) else {
            return TracedValue::plain(Err(undeclared("var", name)));
        };
        let mut origins = HiddenOrigins::default();
        let value = self.variable_value(variable, depth, &mut origins);
        let value = value.map(Rc::new);
        let value = TracedValue { value, origins };
        self.variables
            .borrow_mut()
            .insert(name.to_owned(), value.clone());
        value
    }

    /// Evaluates a variable. For Terraform, all variables that are not constant are unknown. Sensitive values stay marked, which
    /// keeps them out of addresses.
    fn variable_value(
        &self,
        variable: &Variable,
        depth: usize,
        origins: &mut HiddenOrigins,
    ) -> Result<Value, EvalProblem> {
        let name = &variable.name;
        let problem = |message: &str| EvalProblem::Reference(format!("`var.{name}` {message}"));
        match (self.context.engine(), variable.constant) {
            (Engine::Terraform, Some(true)) | (Engine::Tofu, None | Some(true)) => {}
            (Engine::Terraform, _) => return Ok(Value::Unknown),
            (Engine::Tofu, Some(false)) => {
                return Err(problem("cannot be used here: it has `const = false`"));
            }
        }
        let budget = &self.context.budget;
        let constraint = self
            .constraint(variable)
            .ok_or_else(|| problem("has an invalid type"))?;
        let given = self.given(variable, &constraint, depth, origins)?;
        let given = given.filter(|value| *value != Value::Null || variable.nullable != Some(false));
        let value = match (given, &variable.default) {
            (Some(value), _) => value,
            (None, Some(default)) if default.has_unknown_parts() => return Ok(Value::Unknown),
            (None, Some(default)) => {
                origins.add_file_of(default);
                default.pay_for_tree(budget)?;
                let tree = default
                    .tree(Strings::Plain)
                    .map_err(|error| EvalProblem::Syntax(error.problem))?;
                syntax::evaluate(&tree, &Constants(Some(budget))).map_err(|fault| fault.problem)?
            }
            (None, None) => return Err(problem("has no value")),
        };
        let value = constraint
            .convert(value, budget)
            .ok_or_else(|| problem("has a value that does not match its type"))?;
        let is_secret = variable.sensitive == Some(true) || variable.ephemeral == Some(true);
        Ok(if is_secret {
            Value::Sensitive(Box::new(value))
        } else {
            value
        })
    }

    fn constraint(&self, variable: &Variable) -> Option<TypeConstraint> {
        let budget = &self.context.budget;
        match &variable.type_constraint {
            None => Some(TypeConstraint::Any),
            Some(value) => {
                value.pay_for_tree(budget).ok()?;
                TypeConstraint::parse(&value.tree(Strings::Plain).ok()?, budget)
            }
        }
    }

    /// Returns the value that a variable gets from the call or, in a root module, from the user.
    fn given(
        &self,
        variable: &Variable,
        constraint: &TypeConstraint,
        depth: usize,
        origins: &mut HiddenOrigins,
    ) -> Result<Option<Value>, EvalProblem> {
        let Some((caller, call)) = self.caller else {
            let budget = &self.context.budget;
            let given = self.context.values()?.get(variable, constraint, budget)?;
            if given.is_some() {
                origins.add(HiddenOrigin::Variable(variable.name.clone()));
            }
            return Ok(given);
        };
        let Some(argument) = call.arguments.get(&variable.name) else {
            return Ok(None);
        };
        let (value, its_origins) =
            caller.inner_value(argument, ExpressionPosition::Argument, depth);
        origins.join(&its_origins);
        value.map(Some)
    }
}
