//! Parses HCL in native and JSON syntax, and evaluates the few expressions that affect providers.
//!
//! ```text
//! bytes -> lexer -> parser -> native -.
//! bytes ------------> json -----------+-> source_file, body (blocks, arguments as byte ranges)
//!                                          `-> argument_value -> tree (Expr, on demand) -> eval -> Value
//! ```
//!
//! Every file is checked completely, because Terraform fails on a syntax error anywhere in a file. Trees are built only for the
//! few expressions that affect providers. The crates hcl-rs and hcl-edit are not used: they reject some valid code (duplicate
//! keys, byte order marks, newlines around operators in `{for}`, text after a heredoc marker) and are ten times slower.

mod argument_value;
mod body;
mod budget;
mod error;
mod eval;
mod expr;
mod json;
mod lexer;
mod native;
mod number;
mod parser;
#[cfg(test)]
mod properties;
mod source_file;
mod strings;
mod templates;
mod tree;
mod unify;
mod value;
mod value_set;
mod value_type;

pub use argument_value::{ArgumentValue, Strings};
pub use body::{Argument, Block, Body, Label};
pub use budget::{BudgetResource, EvalBudget, Exceeded, RunBudget};
pub use error::{SyntaxError, SyntaxFault, SyntaxProblem};
pub use eval::{Constants, EvalFault, EvalProblem, EvalScope, Refusal, check_references, evaluate};
pub use expr::{
    BinaryOperator, Expr, ExprKind, ForExpr, ForVariables, FunctionCall, MAX_DEPTH, MAX_EXPRESSION,
    ObjectEntry, TemplatePart, UnaryOperator,
};
pub use lexer::is_identifier;
pub use number::Number;
pub use source_file::{SourceFile, SourceRange, TextOrigin};
pub use unify::unify;
pub use value::{HOLE_END, HOLE_START, Value, normalized};
pub use value_type::ValueType;

use parser::Parser;
use tree::TreeBuilder;

/// Parses `text` as a single expression. As in parentheses, newlines are insignificant.
pub fn parse_expression(text: &str) -> Result<Expr, SyntaxFault> {
    Parser::whole_expression(text.as_bytes(), TreeBuilder::new(text.as_bytes()))
        .and_then(TreeBuilder::finish)
}

/// Parses `text` as a template without surrounding quotes, which is how strings in JSON syntax are interpreted.
pub fn parse_template(text: &str) -> Result<Expr, SyntaxFault> {
    Parser::whole_template(text.as_bytes(), TreeBuilder::new(text.as_bytes()))
        .and_then(TreeBuilder::finish)
}

/// The minimum number of source bytes per tree node, as in `[1,1,1]`.
const BYTES_PER_NODE: usize = 2;

/// The number of source bytes that can be parsed in the time of one evaluation step.
const BYTES_PER_STEP: usize = 4;

/// Deducts the cost of parsing an expression of this length from a budget. The memory for the tree is only checked against the
/// budget, not deducted, because the tree is dropped after evaluation.
pub fn pay_for_tree(bytes: usize, budget: &EvalBudget) -> Result<(), Exceeded> {
    budget.steps(bytes / BYTES_PER_STEP)?;
    budget.room_for(bytes / BYTES_PER_NODE, bytes)
}
