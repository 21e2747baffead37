//! The names that a static expression may use, by engine and position.

use std::cell::RefCell;
use std::rc::Rc;

use crate::functions::Functions;
use crate::provider::Engine;
use crate::syntax::{EvalBudget, EvalProblem, EvalScope, Expr, ExprKind, Value};

use super::hidden_origins::{HiddenOrigin, HiddenOrigins};
use super::type_constraint::TypeConstraint;
use super::{Instance, SharedValue, TracedValue};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::config) enum ExpressionPosition {
    Source,
    Version,
    Local,
    Argument,
}

impl ExpressionPosition {
    pub(super) const fn what(self) -> &'static str {
        match self {
            Self::Source => "the module source",
            Self::Version => "the module version",
            Self::Local => "a local",
            Self::Argument => "an argument",
        }
    }

    /// Whether a value that is not known before apply counts as unknown at this position in Terraform, instead of being an error.
    const fn is_indirect(self) -> bool {
        matches!(self, Self::Local | Self::Argument)
    }
}

/// The names in an instance that an expression in `position` may use.
pub(super) struct InstanceScope<'a> {
    pub(super) instance: &'a Instance<'a>,
    pub(super) position: ExpressionPosition,
    /// The nesting depth that remains for the values that the expression refers to.
    pub(super) depth: usize,
    /// The origins of the hidden values that the evaluation has found so far.
    pub(super) origins: RefCell<HiddenOrigins>,
}

pub(super) fn undeclared(root: &str, name: &str) -> EvalProblem {
    EvalProblem::Reference(format!("`{root}.{name}` is not declared in this module"))
}

impl InstanceScope<'_> {
    /// Returns a value and adds its origins to those of the expression.
    fn record(&self, traced: TracedValue) -> SharedValue {
        self.origins.borrow_mut().join(&traced.origins);
        traced.value
    }

    fn refused(&self, root: &str, attribute: Option<&str>) -> Result<Value, EvalProblem> {
        if self.instance.context.engine() == Engine::Terraform && self.position.is_indirect() {
            return Ok(Value::Unknown);
        }
        let name = attribute.map_or_else(
            || root.to_owned(),
            |attribute| format!("{root}.{attribute}"),
        );
        Err(EvalProblem::Reference(format!(
            "`{name}` is not known before apply and cannot be used here"
        )))
    }

    fn path(&self, name: &str) -> Result<Value, EvalProblem> {
        let context = self.instance.context;
        if self.position == ExpressionPosition::Version && context.engine() == Engine::Terraform {
            return self.refused("path", Some(name));
        }
        match name {
            "module" => Ok(self.instance.path().into()),
            "root" => Ok(".".into()),
            // The engine runs in a different directory, whose path is unknown.
            "cwd" if context.is_assembled() => self.refused("path", Some(name)),
            "cwd" => match std::path::absolute(context.root) {
                Ok(path) => Ok(path.to_string_lossy().into_owned().into()),
                Err(_) => self.refused("path", Some(name)),
            },
            _ => Err(undeclared("path", name)),
        }
    }
}

impl EvalScope for InstanceScope<'_> {
    fn reference(&self, root: &str, attribute: Option<&str>) -> Result<Rc<Value>, EvalProblem> {
        let context = self.instance.context;
        match (root, attribute) {
            ("var", Some(name)) => self.record(self.instance.variable(name, self.depth)),
            ("local", Some(name)) => self.record(self.instance.local(name, self.depth)),
            ("path", Some(name)) => self.path(name).map(Rc::new),
            ("terraform" | "tofu", Some("workspace")) if context.engine() == Engine::Tofu => {
                let (name, origins) = context.workspace();
                self.origins.borrow_mut().join(origins);
                Ok(Rc::new(name.clone()))
            }
            _ => self.refused(root, attribute).map(Rc::new),
        }
    }

    fn budget(&self) -> Option<&EvalBudget> {
        Some(&self.instance.context.budget)
    }

    fn check_function(&self, name: &str) -> Result<(), EvalProblem> {
        match self.instance.functions.check(name) {
            Err(EvalProblem::UnsupportedFunction(_)) => Ok(()),
            checked => checked,
        }
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, EvalProblem> {
        let context = self.instance.context;
        let called = self.instance.functions.call(name, arguments);
        if Functions::reads_files(name) && !matches!(called, Err(EvalProblem::File { .. })) {
            let origin = HiddenOrigin::Function(name.to_owned());
            self.origins.borrow_mut().add(origin);
        }
        match called {
            Err(EvalProblem::UnsupportedFunction(name)) => {
                // Messages name only the first unsupported function.
                let _ = context.unsupported.set(name);
                Ok(Value::Unknown)
            }
            called => called,
        }
    }

    fn check_arguments(&self, name: &str, arguments: &[Expr]) -> Result<(), EvalProblem> {
        self.instance.functions.check_arguments(name, arguments)
    }

    fn convert(&self, value: Value, target: &Expr) -> Result<Value, EvalProblem> {
        let budget = &self.instance.context.budget;
        // Only the `type` of a variable may be written as a string.
        let is_quoted = matches!(target.kind, ExprKind::Template(_));
        let target = (!is_quoted).then(|| TypeConstraint::parse(target, budget));
        let converted = target
            .flatten()
            .and_then(|target| target.convert(value, budget));
        let message = "the value cannot be converted to this type".to_owned();
        converted.ok_or(EvalProblem::Function {
            name: "convert".to_owned(),
            message,
        })
    }
}
