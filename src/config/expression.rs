//! Constant values of arguments, and errors about them.

use crate::span::Span;
use crate::syntax::{self, ArgumentValue, EvalFault, EvalProblem, Exceeded, Expr, Strings, Value};

use super::block_problem::BlockProblem;
use super::error::ConfigError;

/// Evaluates expressions without variables and functions, and makes errors of the configuration from failures.
pub(super) trait ConfigExpression {
    /// Evaluates a part of the expression's tree as a constant.
    fn evaluate(&self, tree: &Expr) -> Result<Value, ConfigError>;

    /// Evaluates the expression as a constant; strings in JSON syntax are literal. `what` names the value in messages.
    fn constant(&self, what: &'static str) -> Result<Value, ConfigError> {
        self.constant_with(what, Strings::Plain)
    }

    fn constant_with(&self, what: &'static str, strings: Strings) -> Result<Value, ConfigError>;

    /// The error for a failed evaluation, at a part of the expression.
    fn value_error(&self, what: &'static str, part: Span, source: EvalProblem) -> ConfigError;

    /// Parses the expression as a reference. A string is an old form of the reference in it, and the only form in JSON syntax.
    /// If it is not a valid expression, `problem` is the error.
    fn reference(&self, problem: BlockProblem) -> Result<Expr, ConfigError>;

    fn exceeded(&self, budget: Exceeded) -> ConfigError;

    fn invalid(&self, problem: BlockProblem) -> ConfigError;
}

impl ConfigExpression for ArgumentValue {
    fn evaluate(&self, tree: &Expr) -> Result<Value, ConfigError> {
        let failed = |fault: EvalFault| self.value_error("a constant", fault.span, fault.problem);
        self.evaluate_constant(tree).map_err(failed)
    }

    fn constant_with(&self, what: &'static str, strings: Strings) -> Result<Value, ConfigError> {
        let failed = |fault: EvalFault| self.value_error(what, fault.span, fault.problem);
        self.evaluate_constant(&self.tree(strings)?).map_err(failed)
    }

    fn value_error(&self, what: &'static str, part: Span, source: EvalProblem) -> ConfigError {
        let place = Box::new(self.place_of(part));
        match source {
            EvalProblem::Exceeded(budget) => ConfigError::Exceeded { place, budget },
            source => ConfigError::Value {
                what,
                place,
                source: Box::new(source),
            },
        }
    }

    fn reference(&self, problem: BlockProblem) -> Result<Expr, ConfigError> {
        let tree = self.tree(Strings::Plain)?;
        match tree.as_text() {
            Some(text) => syntax::parse_expression(&text).map_err(|_fault| self.invalid(problem)),
            None => Ok(tree),
        }
    }

    fn exceeded(&self, budget: Exceeded) -> ConfigError {
        let place = Box::new(self.place());
        ConfigError::Exceeded { place, budget }
    }

    fn invalid(&self, problem: BlockProblem) -> ConfigError {
        ConfigError::invalid(self.place(), problem)
    }
}
