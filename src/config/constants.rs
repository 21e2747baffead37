//! Evaluates constant values of arguments, and creates errors about them.

use crate::span::Span;
use crate::syntax::{self, ArgumentValue, EvalFault, EvalProblem, Exceeded, Expr, Strings, Value};

use super::{BlockProblem, ConfigError};

impl ArgumentValue {
    /// Evaluates `tree`, which is part of the expression, without variables or functions.
    pub(super) fn part_value(&self, tree: &Expr) -> Result<Value, ConfigError> {
        let failed = |fault: EvalFault| self.value_error("a constant", fault.span, fault.problem);
        self.evaluate_constant(tree).map_err(failed)
    }

    /// Evaluates the expression without variables or functions. `what` names the value in messages.
    pub(super) fn constant(
        &self,
        what: &'static str,
        strings: Strings,
    ) -> Result<Value, ConfigError> {
        let failed = |fault: EvalFault| self.value_error(what, fault.span, fault.problem);
        self.evaluate_constant(&self.tree(strings)?).map_err(failed)
    }

    /// Creates the error for a failed evaluation. It points to `part` of the expression.
    pub(super) fn value_error(
        &self,
        what: &'static str,
        part: Span,
        source: EvalProblem,
    ) -> ConfigError {
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

    /// Parses the expression as a reference, which may also be written in a string. This is the old form, and the only one in
    /// JSON syntax. If the string is not a valid expression, the error is `problem`.
    pub(super) fn reference(&self, problem: BlockProblem) -> Result<Expr, ConfigError> {
        let tree = self.tree(Strings::Plain)?;
        match tree.as_text() {
            Some(text) => syntax::parse_expression(&text).map_err(|_fault| self.invalid(problem)),
            None if self.is_json() => Err(self.invalid(problem)),
            None => Ok(tree),
        }
    }

    pub(super) fn exceeded(&self, budget: Exceeded) -> ConfigError {
        let place = Box::new(self.place());
        ConfigError::Exceeded { place, budget }
    }

    pub(super) fn invalid(&self, problem: BlockProblem) -> ConfigError {
        ConfigError::invalid(self.place(), problem)
    }
}
