//! HCL in native and JSON syntax: parses files, and evaluates the expressions that matter.
//!
//! ```text
//! bytes -> lexer -> parser -> native -.
//! bytes ------------> json -----------+-> source_file, body (blocks, arguments as byte ranges)
//!                                          `-> argument_value -> tree (Expr, on demand) -> eval -> Value
//! ```
//!
//! Every file is checked completely, because Terraform stops at a syntax error anywhere in it. Only the few expressions that
//! affect providers become trees. hcl-rs and hcl-edit are not used: they reject some valid Terraform (duplicate keys, byte order
//! marks, newlines around operators in `{for}`, text after a heredoc marker), and take ten times as long.

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
mod value;

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
pub use source_file::{SourceFile, SourceRange};
pub use value::Value;

use parser::Parser;
use tree::TreeBuilder;

/// Parses `text` as one expression. Newlines are insignificant, as in parentheses.
pub fn parse_expression(text: &str) -> Result<Expr, SyntaxFault> {
    Parser::whole_expression(text.as_bytes(), TreeBuilder::new(text.as_bytes()))
        .and_then(TreeBuilder::finish)
}

/// Parses `text` as a template without surrounding quotes, the form of strings in JSON syntax.
pub fn parse_template(text: &str) -> Result<Expr, SyntaxFault> {
    Parser::whole_template(text.as_bytes(), TreeBuilder::new(text.as_bytes()))
        .and_then(TreeBuilder::finish)
}

/// The fewest bytes of source text per node of a tree, as in `[1,1,1]`.
const BYTES_PER_NODE: usize = 2;

/// How many bytes of source text are parsed in the time of one evaluation step.
const BYTES_PER_STEP: usize = 4;

/// Takes the cost of parsing an expression of this length from a budget. Memory for the tree is only checked against the
/// budget, not taken, because the tree is dropped after evaluation.
pub fn pay_for_tree(bytes: usize, budget: &EvalBudget) -> Result<(), Exceeded> {
    budget.steps(bytes / BYTES_PER_STEP)?;
    budget.room_for(bytes / BYTES_PER_NODE, bytes)
}
