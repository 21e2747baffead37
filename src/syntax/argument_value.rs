//! Argument values, before they are parsed into trees.

use std::path::Path;

use crate::span::{Place, Span};

use super::budget::{EvalBudget, Exceeded};
use super::error::{SyntaxError, SyntaxProblem};
use super::eval::{Constants, EvalFault, evaluate};
use super::expr::{Expr, MAX_EXPRESSION};
use super::json::{JsonConverter, JsonId};
use super::parser::Parser;
use super::source_file::{FileSyntax, SourceFile, SourceRange};
use super::tree::TreeBuilder;
use super::value::Value;

/// How to interpret strings in JSON syntax. Ignored for native syntax.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strings {
    /// Literal text.
    Plain,
    /// Templates with `${}`.
    Templates,
}

/// An argument value, stored as a byte range in its file. [`ArgumentValue::tree`] parses it.
#[derive(Clone, Debug)]
pub struct ArgumentValue {
    file: SourceFile,
    span: Span,
    /// `None` in native syntax.
    json_value: Option<JsonId>,
}

impl ArgumentValue {
    pub(super) const fn new(file: SourceFile, span: Span, json_value: Option<JsonId>) -> Self {
        Self {
            file,
            span,
            json_value,
        }
    }

    pub fn range(&self) -> SourceRange {
        SourceRange::new(self.file.clone(), self.span)
    }

    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// Returns the origins of the hidden values on which the text of a generated file depends ([`super::TextOrigin::hidden`]).
    pub fn hidden(&self) -> Option<&str> {
        self.file.hidden()
    }

    /// Whether parts of the expression are unknown, because it is in a generated file whose text is only partially known.
    pub fn has_unknown_parts(&self) -> bool {
        self.markers().next().is_some()
    }

    /// Returns the markers that occur in the expression. A marker is a word that stands for an unknown part of the text.
    pub fn markers(&self) -> impl Iterator<Item = &str> {
        self.file.markers_in(self.span)
    }

    pub const fn is_json(&self) -> bool {
        self.json_value.is_some()
    }

    pub fn place(&self) -> Place {
        self.file.place(self.span)
    }

    /// Returns the position of a part of the tree. In JSON syntax, returns the position of the whole value, because spans within
    /// strings refer to the decoded text.
    pub fn place_of(&self, part: Span) -> Place {
        self.file
            .place(if self.is_json() { self.span } else { part })
    }

    /// Deducts the cost of [`Self::tree`] from a budget.
    pub fn pay_for_tree(&self, budget: &EvalBudget) -> Result<(), Exceeded> {
        super::pay_for_tree(self.length(), budget)
    }

    /// Parses the value. Its syntax was checked with the rest of the file, so this fails only for nesting deeper than
    /// [`super::MAX_DEPTH`], for a length beyond [`MAX_EXPRESSION`], or for a JSON string that is not a valid template.
    pub fn tree(&self, strings: Strings) -> Result<Expr, SyntaxError> {
        if self.length() > MAX_EXPRESSION {
            let fault = SyntaxProblem::TooLong(MAX_EXPRESSION).at(self.span);
            return Err(self.file.error(fault));
        }
        let text = self.file.text();
        let tree = match (self.file.syntax(), self.json_value) {
            (FileSyntax::Json(json), Some(value)) => {
                let converter = JsonConverter {
                    json,
                    text,
                    strings,
                };
                converter.expression(value, 0)
            }
            _ => Parser::expression_at(text, self.span.start, TreeBuilder::new(text))
                .and_then(TreeBuilder::finish),
        };
        tree.map_err(|fault| self.file.error(fault))
    }

    /// Evaluates a part of the tree without variables or functions, within the budget for constant expressions in this file.
    pub fn evaluate_constant(&self, tree: &Expr) -> Result<Value, EvalFault> {
        self.file
            .constants()
            .evaluate(|budget| evaluate(tree, &Constants(Some(budget))))
    }

    const fn length(&self) -> usize {
        self.span.end.saturating_sub(self.span.start)
    }
}
