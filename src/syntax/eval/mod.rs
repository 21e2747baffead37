//! Values of expressions.
//!
//! Evaluation follows HCL: strings and numbers convert into each other where one is needed, a template that is one
//! interpolation keeps its type, and unknown values spread ([`Value::Unknown`]). The recursion is bounded by
//! [`super::MAX_DEPTH`], the depth of every tree.

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
use super::expr::{Expr, ExprKind, FunctionCall};
use super::value::Value;
pub use scope::{BoundedConstants, Constants, EvalScope};
use scope::{Locals, at};

/// Why an expression has no value, and where in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalFault {
    /// The bytes to mark.
    pub span: Span,
    /// What is wrong.
    pub problem: EvalProblem,
}

/// Why an expression has no value.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum EvalProblem {
    /// A reference where only constants may be.
    #[error("variables are not allowed here, and `{0}` is one")]
    VariablesNotAllowed(String),
    /// A call where only constants may be.
    #[error("function calls are not allowed here, and `{0}()` is one")]
    CallsNotAllowed(String),
    /// A function that nobody knows.
    #[error("there is no function `{0}`")]
    NoSuchFunction(String),
    /// A function that Terraform has and tflock has not.
    #[error("the function `{0}` is not supported")]
    UnsupportedFunction(String),
    /// A reference that the scope refuses.
    #[error("{0}")]
    Reference(String),
    /// What a function says.
    #[error("`{name}` failed: {message}")]
    Function {
        /// Its name.
        name: String,
        /// What it says.
        message: String,
    },
    /// A value of another type than needed.
    #[error("{wanted} is needed here, and this is {found}")]
    WrongType {
        /// What is needed.
        wanted: &'static str,
        /// What it is.
        found: &'static str,
    },
    /// An attribute or key that is not there.
    #[error("there is no attribute or key `{0}` in this value")]
    NoSuchKey(String),
    /// An index outside of a list.
    #[error("the index {0} is outside of this list")]
    NoSuchIndex(String),
    /// The same key twice in a `for` object.
    #[error("the key `{0}` was already produced by this `for` expression")]
    DuplicateKey(String),
    /// A division by zero, or digits beyond measure.
    #[error("this has no number as its result")]
    Arithmetic,
    /// Syntax, in a text that is evaluated.
    #[error("{0}")]
    Syntax(super::error::SyntaxProblem),
    /// A file that a function cannot read.
    #[error("`{function}` cannot read {}: {why}", shown_file(path.as_deref()))]
    File {
        /// The function.
        function: String,
        /// The path as the expression has it; `None` if it is not shown.
        path: Option<String>,
        /// What is wrong, in words that quote nothing.
        why: String,
        /// Whether the file is out of bounds, or else why it cannot be read. `try` and `can` do not catch a refusal.
        refusal: Option<Refusal>,
    },
    /// A failure whose text would quote a value that is never shown.
    #[error("it depends on {0}, and what that is worth is not shown")]
    Concealed(String),
    /// It takes more than it may.
    #[error(transparent)]
    Exceeded(#[from] Exceeded),
}

/// Why a function may not read a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The file is outside of the directories that may be read.
    Outside,
    /// The file belongs to a tool.
    Internal,
    /// Git does not track the file, and the run is `--untrusted`.
    Untracked,
}

fn shown_file(path: Option<&str>) -> String {
    path.map_or_else(
        || "a file whose path is not shown".to_owned(),
        |path| format!("`{path}`"),
    )
}

/// How many characters of a name or message are kept: errors are kept with what failed, and copied with it.
const MAX_MESSAGE: usize = 1000;

impl EvalProblem {
    /// Whether `try` and `can` let it pass.
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

    /// The same without the text of any value, for an expression whose value depends on `origins`.
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
            // They consist of names in the configuration and of our own words.
            Self::VariablesNotAllowed(_)
            | Self::CallsNotAllowed(_)
            | Self::NoSuchFunction(_)
            | Self::UnsupportedFunction(_)
            | Self::Reference(_)
            | Self::WrongType { .. }
            | Self::Arithmetic
            | Self::Exceeded(_)
            | Self::Concealed(_) => self,
        }
    }

    /// The same with texts of bounded length.
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

/// The value of `expr` in `scope`. References of branches that are not taken do not matter ([`check_references`]).
///
/// Fails if the budget is used up, whatever `try()` made of that.
pub fn evaluate(expr: &Expr, scope: &dyn EvalScope) -> Result<Value, EvalFault> {
    let own;
    let budget = if let Some(budget) = scope.budget() {
        budget
    } else {
        own = EvalBudget::of_constant();
        &own
    };
    let mut evaluator = Evaluator {
        scope,
        budget,
        locals: Locals::default(),
        exceeded_at: None,
    };
    let result = evaluator.value(expr);
    match budget.exceeded() {
        Some(exceeded) => Err(EvalFault {
            span: evaluator.exceeded_at.unwrap_or(expr.span),
            problem: exceeded.into(),
        }),
        None => result,
    }
}

/// Fails with the first reference or function of `expr` that the scope refuses, whether or not its value needs it.
pub fn check_references(expr: &Expr, scope: &dyn EvalScope) -> Result<(), EvalFault> {
    let checked = references::check(expr, scope, &mut Vec::new());
    // Values that are referred to may have used it up.
    match scope.budget().and_then(EvalBudget::exceeded) {
        Some(exceeded) => Err(EvalFault {
            span: checked.err().map_or(expr.span, |fault| fault.span),
            problem: exceeded.into(),
        }),
        None => checked,
    }
}

struct Evaluator<'a> {
    scope: &'a dyn EvalScope,
    budget: &'a EvalBudget,
    locals: Locals,
    /// The innermost expression that found the budget used up.
    exceeded_at: Option<Span>,
}

impl Evaluator<'_> {
    fn value(&mut self, expr: &Expr) -> Result<Value, EvalFault> {
        at(expr.span, self.budget.steps(1).map_err(EvalProblem::from))?;
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
            ExprKind::Number(number) => Ok(Value::Number(*number)),
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
            ExprKind::Binary(operator, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                at(expr.span, operators::binary(*operator, &left, &right))
            }
            ExprKind::Conditional(parts) => self.conditional(parts),
            ExprKind::For(parts) => self.for_expression(parts, expr.span),
        }
    }

    fn values(&mut self, exprs: &[Expr]) -> Result<Vec<Value>, EvalFault> {
        exprs.iter().map(|expr| self.value(expr)).collect()
    }

    /// Takes values and bytes of text from the budget, before they are there.
    fn pay(&self, span: Span, values: usize, bytes: usize) -> Result<(), EvalFault> {
        let paid = self.budget.values(values);
        at(
            span,
            paid.and_then(|()| self.budget.bytes(bytes))
                .map_err(EvalProblem::from),
        )
    }

    /// Both branches are evaluated, as HCL does, and unify in type where both are primitive: `true ? 1 : "a"` is `"1"`.
    fn conditional(&mut self, parts: &[Expr; 3]) -> Result<Value, EvalFault> {
        let [condition, yes, no] = parts;
        let decides = self.value(condition)?;
        let (yes_value, no_value) = (self.value(yes), self.value(no));
        let as_text = [&yes_value, &no_value]
            .iter()
            .any(|value| matches!(value, Ok(Value::String(_))));
        let chosen = if decides.is_unknown() {
            return yes_value.and(no_value).map(|_| Value::Unknown);
        } else if at(condition.span, operators::boolean(&decides))? {
            yes_value?
        } else {
            no_value?
        };
        Ok(if as_text {
            chosen.to_text().map_or(chosen, Value::String)
        } else {
            chosen
        })
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
                let mut arguments = self.values(&call.arguments)?;
                if call.expand {
                    match arguments.pop() {
                        Some(Value::Tuple(elements)) => arguments.extend(elements),
                        Some(Value::Unknown | Value::Sensitive(_)) => return Ok(Value::Unknown),
                        other => {
                            let found = other.unwrap_or(Value::Null).type_name();
                            return at(
                                span,
                                Err(EvalProblem::WrongType {
                                    wanted: "a list",
                                    found,
                                }),
                            );
                        }
                    }
                }
                at(span, self.scope.call(name, &arguments))
            }
        }
    }

    /// The first argument that has a value.
    fn try_each(&mut self, arguments: &[Expr], span: Span) -> Result<Value, EvalFault> {
        let name = "try".to_owned();
        let message = "it needs an argument".to_owned();
        let mut last = EvalFault {
            span,
            problem: EvalProblem::Function { name, message },
        };
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
            let problem = EvalProblem::Function {
                name: "can".to_owned(),
                message: "it takes one argument".to_owned(),
            };
            return Err(EvalFault { span, problem });
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
