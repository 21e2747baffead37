//! The names that an expression can refer to.

use std::rc::Rc;

use crate::span::Span;

use super::super::budget::EvalBudget;
use super::super::expr::Expr;
use super::super::value::Value;
use super::{EvalFault, EvalProblem};

/// Resolves the names in an expression, except the variables of `for` expressions.
pub trait EvalScope {
    /// Returns the value of `root.attribute`, or of `root` alone. May be called repeatedly for the same reference.
    fn reference(&self, root: &str, attribute: Option<&str>) -> Result<Rc<Value>, EvalProblem>;

    /// Returns the budget for evaluation. If `None`, each evaluation has a small budget of its own.
    fn budget(&self) -> Option<&EvalBudget>;

    /// Checks that the function exists and may be called. Applies to all calls, including those in branches that are not taken.
    fn check_function(&self, name: &str) -> Result<(), EvalProblem>;

    fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, EvalProblem>;

    /// Checks the expressions of the arguments of a call before they are evaluated.
    fn check_arguments(&self, name: &str, arguments: &[Expr]) -> Result<(), EvalProblem> {
        let _ = (name, arguments);
        Ok(())
    }

    /// Returns a hole: a placeholder for unknown text in a template. It consists of [`HOLE_START`](super::super::HOLE_START), a
    /// description of the text's origin, and [`HOLE_END`](super::super::HOLE_END). `is_block` is set if the unknown text can have any
    /// number of lines. If `None`, a template with an unknown part is unknown as a whole.
    fn hole(&self, is_block: bool) -> Option<String> {
        let _ = is_block;
        None
    }

    /// Calls `convert(value, type)`, whose second argument is a type expression.
    fn convert(&self, value: Value, target: &Expr) -> Result<Value, EvalProblem> {
        let _ = (value, target);
        Err(EvalProblem::UnsupportedFunction("convert".to_owned()))
    }
}

/// A scope without variables or functions, as Terraform uses it for `required_providers`. Without a budget, each evaluation has a small
/// budget of its own.
#[derive(Clone, Copy, Debug)]
pub struct Constants<'a>(pub Option<&'a EvalBudget>);

impl EvalScope for Constants<'_> {
    fn reference(&self, root: &str, _: Option<&str>) -> Result<Rc<Value>, EvalProblem> {
        Err(EvalProblem::VariablesNotAllowed(root.to_owned()))
    }

    fn budget(&self) -> Option<&EvalBudget> {
        self.0
    }

    fn check_function(&self, name: &str) -> Result<(), EvalProblem> {
        Err(EvalProblem::CallsNotAllowed(name.to_owned()))
    }

    fn call(&self, name: &str, _: &[Value]) -> Result<Value, EvalProblem> {
        Err(EvalProblem::CallsNotAllowed(name.to_owned()))
    }
}

/// The `for` variables and splat elements in scope, innermost last.
#[derive(Clone, Debug, Default)]
pub(super) struct Locals {
    pub(super) names: Vec<(String, Rc<Value>)>,
    /// The current elements of enclosing splats.
    pub(super) items: Vec<Rc<Value>>,
}

impl Locals {
    pub(super) fn find(&self, name: &str) -> Option<Rc<Value>> {
        let found = self.names.iter().rev().find(|(known, _)| known == name);
        found.map(|(_, value)| Rc::clone(value))
    }

    pub(super) fn push(&mut self, name: &str, value: Value) {
        self.names.push((name.to_owned(), Rc::new(value)));
    }
}

/// Adds the source range to an error.
pub(super) fn at<T, E>(span: Span, result: Result<T, E>) -> Result<T, EvalFault>
where
    EvalProblem: From<E>,
{
    result.map_err(|problem| EvalProblem::from(problem).at(span))
}
