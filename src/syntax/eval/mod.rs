//! Evaluates expressions.
//!
//! Evaluation follows HCL: strings and numbers are converted to each other as needed, a template that consists of a single
//! interpolation keeps the type of its value, and a value computed from [`Value::Unknown`] is unknown. Recursion is bounded by
//! [`super::MAX_DEPTH`], the maximum depth of a tree.

mod collections;
mod operators;
mod references;
mod scope;
mod selection;
mod template;

use thiserror::Error;

use crate::span::Span;

use super::budget::{EvalBudget, Exceeded};
use super::error::SyntaxFault;
use super::expr::{BinaryOperator, Expr, ExprKind, FunctionCall};
use super::unify::unify;
use super::value::Value;
use super::value_type::ValueType;
use references::ReferenceCheck;
pub use scope::{Constants, EvalScope};
use scope::{Locals, at};

/// An evaluation error and its source range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalFault {
    pub span: Span,
    pub problem: EvalProblem,
}

#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum EvalProblem {
    /// A reference in a constant expression.
    #[error("variables are not allowed here, but `{0}` is one")]
    VariablesNotAllowed(String),
    /// A function call in a constant expression.
    #[error("function calls are not allowed here, but `{0}()` is one")]
    CallsNotAllowed(String),
    #[error("there is no function `{0}`")]
    NoSuchFunction(String),
    #[error("the function `{0}` is not supported")]
    UnsupportedFunction(String),
    /// A reference that the scope does not resolve.
    #[error("{0}")]
    Reference(String),
    #[error("`{name}` failed: {message}")]
    Function { name: String, message: String },
    #[error("{wanted} is required here, but this is {found}")]
    WrongType {
        /// The required type, with its article.
        wanted: &'static str,
        found: &'static str,
    },
    #[error("there is no attribute or key `{0}` in this value")]
    NoSuchKey(String),
    #[error("the index {0} is out of range for this list")]
    NoSuchIndex(String),
    /// A key that a `for` expression produces twice.
    #[error("the key `{0}` was already produced by this `for` expression")]
    DuplicateKey(String),
    /// Branches of a conditional that have no common type.
    #[error("the two results of this conditional have no common type")]
    InconsistentBranches,
    /// A division by zero, or a result with too many digits.
    #[error("the result cannot be represented as a number")]
    Arithmetic,
    /// Invalid syntax in text that is evaluated.
    #[error("{0}")]
    Syntax(super::error::SyntaxProblem),
    /// A file that a function cannot read.
    #[error("`{function}` cannot read {}: {why}", shown_file(path.as_deref()))]
    File {
        function: String,
        /// The path as the expression gives it, such as `./a.json`; `None` if it depends on a value that must not be shown.
        path: Option<String>,
        /// The reason. It quotes no file content.
        why: String,
        /// Why access was denied; `None` if reading failed. `try` and `can` do not catch a refusal.
        refusal: Option<Refusal>,
    },
    /// An error whose message would quote a value that must not be shown.
    #[error("it depends on {0}, whose value is not shown")]
    Concealed(String),
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
}

/// The reason why a function may not read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The file is outside the readable directories.
    Outside,
    /// The file is in an internal directory of git, Terraform or OpenTofu, such as `.git`.
    Internal,
    /// Git does not track the file, and `--untrusted` is set.
    Untracked,
}

fn shown_file(path: Option<&str>) -> String {
    path.map_or_else(
        || "a file whose path is not shown".to_owned(),
        |path| format!("`{path}`"),
    )
}

/// The maximum length of a name or message in an error, in bytes. This bounds memory, because errors are stored and copied like values.
const MAX_MESSAGE: usize = 1000;

impl EvalProblem {
    /// Creates the error for a value of the wrong type. `wanted` is the required type, with its article.
    pub const fn wrong_type(wanted: &'static str, value: &Value) -> Self {
        let found = value.type_name();
        Self::WrongType { wanted, found }
    }

    fn function(name: &str, message: &str) -> Self {
        Self::Function {
            name: name.to_owned(),
            message: message.to_owned(),
        }
    }

    /// Adds the source range.
    fn at(self, span: Span) -> EvalFault {
        let problem = self.shortened();
        EvalFault { span, problem }
    }

    /// Whether `try` and `can` pass this error on instead of catching it.
    pub const fn is_final(&self) -> bool {
        matches!(
            self,
            Self::UnsupportedFunction(_)
                | Self::Exceeded(_)
                | Self::File {
                    refusal: Some(_),
                    ..
                }
        )
    }

    /// Removes quoted values from the error, because the expression depends on values that must not be shown. `origins` describes where
    /// these values come from.
    pub fn concealed(self, origins: &dyn std::fmt::Display) -> Self {
        match self {
            Self::Function { .. }
            | Self::NoSuchKey(_)
            | Self::NoSuchIndex(_)
            | Self::DuplicateKey(_)
            | Self::Syntax(_) => Self::Concealed(origins.to_string()),
            Self::File {
                function,
                why,
                refusal,
                ..
            } => Self::File {
                function,
                path: None,
                why,
                refusal,
            },
            // These errors contain only names from the configuration and constant text.
            Self::VariablesNotAllowed(_)
            | Self::CallsNotAllowed(_)
            | Self::NoSuchFunction(_)
            | Self::UnsupportedFunction(_)
            | Self::Reference(_)
            | Self::WrongType { .. }
            | Self::InconsistentBranches
            | Self::Arithmetic
            | Self::Exceeded(_)
            | Self::Concealed(_) => self,
        }
    }

    /// Truncates long names and messages.
    fn shortened(mut self) -> Self {
        if let Self::VariablesNotAllowed(text)
        | Self::CallsNotAllowed(text)
        | Self::NoSuchFunction(text)
        | Self::UnsupportedFunction(text)
        | Self::Reference(text)
        | Self::NoSuchKey(text)
        | Self::NoSuchIndex(text)
        | Self::DuplicateKey(text)
        | Self::Function { message: text, .. } = &mut self
            && text.len() > MAX_MESSAGE
        {
            let mut end = MAX_MESSAGE;
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            text.truncate(end);
            text.shrink_to_fit();
        }
        self
    }
}

impl From<SyntaxFault> for EvalFault {
    fn from(fault: SyntaxFault) -> Self {
        Self {
            span: fault.span,
            problem: EvalProblem::Syntax(fault.problem),
        }
    }
}

/// Evaluates `expr` in `scope`. Ignores references in branches that are not taken ([`check_references`] checks them).
///
/// Fails if the budget is exhausted, even within `try()`.
pub fn evaluate(expr: &Expr, scope: &dyn EvalScope) -> Result<Value, EvalFault> {
    let own = EvalBudget::of_constant();
    let budget = scope.budget().unwrap_or(&own);
    let mut evaluator = Evaluator {
        scope,
        budget,
        locals: Locals::default(),
        exceeded_at: None,
    };
    let result = evaluator.value(expr);
    match budget.exceeded() {
        Some(exceeded) => at(evaluator.exceeded_at.unwrap_or(expr.span), Err(exceeded)),
        None => result,
    }
}

/// Fails at the first reference or function in `expr` that the scope rejects, even if the value does not depend on it.
pub fn check_references(expr: &Expr, scope: &dyn EvalScope) -> Result<(), EvalFault> {
    let checked = ReferenceCheck::new(scope).check(expr);
    // Resolving the references may have exhausted the budget.
    match scope.budget().and_then(EvalBudget::exceeded) {
        Some(exceeded) => {
            let span = checked.err().map_or(expr.span, |fault| fault.span);
            at(span, Err(exceeded))
        }
        None => checked,
    }
}

struct Evaluator<'a> {
    scope: &'a dyn EvalScope,
    budget: &'a EvalBudget,
    locals: Locals,
    /// The innermost expression that exceeded the budget.
    exceeded_at: Option<Span>,
}

impl Evaluator<'_> {
    fn value(&mut self, expr: &Expr) -> Result<Value, EvalFault> {
        at(expr.span, self.budget.steps(1))?;
        let result = self.value_of_kind(expr);
        if result.is_err() && self.exceeded_at.is_none() && self.budget.exceeded().is_some() {
            self.exceeded_at = Some(expr.span);
        }
        result
    }

    fn value_of_kind(&mut self, expr: &Expr) -> Result<Value, EvalFault> {
        match &expr.kind {
            ExprKind::Null => Ok(Value::Null),
            ExprKind::Bool(value) => Ok(Value::Bool(*value)),
            ExprKind::Number(number) => Ok(Value::Number(number.clone())),
            ExprKind::Template(parts) => self.template(parts, expr.span),
            ExprKind::Variable(_)
            | ExprKind::Attribute(..)
            | ExprKind::Index(..)
            | ExprKind::Item => self.selection(expr),
            ExprKind::Splat(source, each) => self.splat(source, each),
            ExprKind::Call(call) => self.call(call, expr.span),
            ExprKind::Parentheses(inner) => self.value(inner),
            ExprKind::Tuple(elements) => {
                self.pay(expr.span, elements.len(), 0)?;
                self.values(elements).map(Value::Tuple)
            }
            ExprKind::Object(entries) => self.object(entries),
            ExprKind::Unary(operator, operand) => {
                let operand = self.value(operand)?;
                at(expr.span, operators::unary(*operator, &operand))
            }
            ExprKind::Binary(
                operator @ (BinaryOperator::And | BinaryOperator::Or),
                left,
                right,
            ) => self.logical(*operator, left, right, expr.span),
            ExprKind::Binary(operator, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                at(expr.span, self.budget.numbers(&left))?;
                at(expr.span, self.budget.numbers(&right))?;
                at(expr.span, operators::binary(*operator, &left, &right))
            }
            ExprKind::Conditional(parts) => self.conditional(parts),
            ExprKind::For(parts) => self.for_expression(parts, expr.span),
        }
    }

    fn values(&mut self, exprs: &[Expr]) -> Result<Vec<Value>, EvalFault> {
        exprs.iter().map(|expr| self.value(expr)).collect()
    }

    /// Deducts values and bytes of text from the budget before they are created.
    fn pay(&self, span: Span, values: usize, bytes: usize) -> Result<(), EvalFault> {
        at(span, self.budget.values(values))?;
        at(span, self.budget.bytes(bytes))
    }

    /// Evaluates `&&` or `||`. The error of an operand does not matter if the other operand decides the result.
    fn logical(
        &mut self,
        operator: BinaryOperator,
        left: &Expr,
        right: &Expr,
        span: Span,
    ) -> Result<Value, EvalFault> {
        let (left, right) = (self.value(left), self.value(right));
        let operands = [left.as_ref().ok(), right.as_ref().ok()];
        let result = at(span, operators::logical(operator, operands));
        let (left, right) = match (left, right) {
            (Err(fault), _) | (_, Err(fault)) if fault.problem.is_final() => return Err(fault),
            operands => operands,
        };
        if let Some(value) = result? {
            return Ok(value);
        }
        let (left, right) = (left?, right?);
        let null = if left == Value::Null { left } else { right };
        at(span, operators::boolean(&null).map(Value::Bool))
    }

    /// Evaluates both branches, like HCL, and converts the chosen one to their common type: `true ? 1 : "a"` is `"1"`.
    fn conditional(&mut self, parts: &[Expr; 3]) -> Result<Value, EvalFault> {
        let [condition, yes, no] = parts;
        let decides = self.value(condition)?;
        let (yes_value, no_value) = (self.value(yes), self.value(no));
        let common = match (&yes_value, &no_value) {
            (Ok(yes_value), Ok(no_value)) => self
                .common_type(yes_value, no_value)
                .map_err(|problem| problem.at(no.span))?,
            // The error of the other branch does not matter, and neither does its type.
            _ => ValueType::Dynamic,
        };
        let chosen = if decides.is_unknown() {
            return yes_value.and(no_value).map(|_| Value::Unknown);
        } else if at(condition.span, operators::boolean(&decides))? {
            yes_value?
        } else {
            no_value?
        };
        let inconsistent = || EvalProblem::InconsistentBranches.at(no.span);
        chosen
            .convert(&common, self.budget)
            .ok_or_else(inconsistent)
    }

    /// Returns the type to which both branches of a conditional convert. Null and unknown values have every type.
    fn common_type(&self, yes: &Value, no: &Value) -> Result<ValueType, EvalProblem> {
        let is_typed = |value: &Value| !matches!(value, Value::Null) && !value.is_unknown();
        if !is_typed(yes) || !is_typed(no) {
            return Ok(ValueType::Dynamic);
        }
        self.budget.steps(yes.cost().0 + no.cost().0)?;
        let types = [ValueType::of(yes), ValueType::of(no)];
        unify(&[&types[0], &types[1]], self.budget).ok_or(EvalProblem::InconsistentBranches)
    }

    fn call(&mut self, call: &FunctionCall, span: Span) -> Result<Value, EvalFault> {
        match call.name.strip_prefix("core::").unwrap_or(&call.name) {
            "try" => self.try_each(&call.arguments, span),
            "can" => self.can(&call.arguments, span),
            "convert" if call.arguments.len() == 2 => {
                let value = self.value(&call.arguments[0])?;
                at(span, self.scope.convert(value, &call.arguments[1]))
            }
            name => {
                at(span, self.scope.check_arguments(name, &call.arguments))?;
                let mut arguments = self.values(&call.arguments)?;
                if call.expand {
                    match arguments.pop().unwrap_or_default() {
                        Value::List(elements) | Value::Set(elements) | Value::Tuple(elements) => {
                            arguments.extend(elements);
                        }
                        Value::Unknown | Value::Sensitive(_) => return Ok(Value::Unknown),
                        other => return Err(EvalProblem::wrong_type("a list", &other).at(span)),
                    }
                }
                at(span, self.scope.call(name, &arguments))
            }
        }
    }

    /// Evaluates `try`: returns the first argument that can be evaluated.
    fn try_each(&mut self, arguments: &[Expr], span: Span) -> Result<Value, EvalFault> {
        let mut last = EvalProblem::function("try", "it requires at least one argument").at(span);
        for argument in arguments {
            match self.value(argument) {
                Ok(value) => return Ok(value),
                Err(fault) if fault.problem.is_final() => return Err(fault),
                Err(fault) => last = fault,
            }
        }
        Err(last)
    }

    fn can(&mut self, arguments: &[Expr], span: Span) -> Result<Value, EvalFault> {
        let [argument] = arguments else {
            return Err(EvalProblem::function("can", "it requires exactly one argument").at(span));
        };
        match self.value(argument) {
            Ok(value) if value.has_unknown() => Ok(Value::Unknown),
            Err(fault) if fault.problem.is_final() => Err(fault),
            result => Ok(Value::Bool(result.is_ok())),
        }
    }
}

#[cfg(test)]
mod tests;
