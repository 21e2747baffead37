//! HCL native syntax: a parser that finds and checks the structure of whole files, and the values of small expressions.
//!
//! ```text
//! bytes -> lexer -> parser -> document (blocks, arguments as byte ranges)
//!                       `---> tree (expressions, only where asked for) -> eval -> Value
//! ```
//!
//! Every file is checked completely, because a syntax error anywhere stops Terraform; only the few expressions that decide
//! about providers become trees. The parser is our own: hcl-rs and hcl-edit refuse some valid Terraform (duplicate keys,
//! byte order marks, newlines around operators in `{for}`, text after a heredoc marker) and cost ten times the time.

mod body;
mod budget;
mod error;
mod eval;
mod expr;
mod expression;
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

pub use body::{Argument, Block, Body, Label};
pub use budget::{BudgetResource, EvalBudget, Exceeded, RunBudget};
pub use error::{SyntaxError, SyntaxFault, SyntaxProblem};
pub use eval::{
    BoundedConstants, Constants, EvalFault, EvalProblem, EvalScope, Refusal, check_references,
    evaluate,
};
pub use expr::{
    BinaryOperator, Expr, ExprKind, ForExpr, FunctionCall, MAX_DEPTH, MAX_EXPRESSION, ObjectEntry,
    TemplatePart, UnaryOperator,
};
pub use expression::{Expression, Strings};
pub use lexer::is_identifier;
pub use number::Number;
pub use source_file::{SourceFile, Spot};
pub use value::Value;

use parser::Parser;
use tree::TreeBuilder;

/// Reads `text` as one expression. Newlines count nowhere in it, as in parentheses.
pub fn parse_expression(text: &str) -> Result<Expr, SyntaxFault> {
    Parser::whole_expression(text.as_bytes(), TreeBuilder::new(text.as_bytes()))
        .and_then(TreeBuilder::finish)
}

/// Reads `text` as a template without quotes around it, as strings in JSON syntax are.
pub fn parse_template(text: &str) -> Result<Expr, SyntaxFault> {
    Parser::whole_template(text.as_bytes(), TreeBuilder::new(text.as_bytes()))
        .and_then(TreeBuilder::finish)
}

/// How many bytes of an expression become a node of its tree, at least: `[1,1,1]`.
const BYTES_OF_NODE: usize = 2;

/// How many bytes of an expression are read in the time of a step.
const BYTES_OF_STEP: usize = 4;

/// Takes from a budget what the tree of an expression of so many bytes costs. A tree takes room only as long as its value is
/// computed.
pub fn pay_for_tree(bytes: usize, budget: &EvalBudget) -> Result<(), Exceeded> {
    budget.steps(bytes / BYTES_OF_STEP)?;
    budget.room_for(bytes / BYTES_OF_NODE, bytes)
}
