//! Values of arguments, kept as parts of their files.

use std::path::Path;
use std::sync::Arc;

use crate::span::{Place, Span};
use crate::syntax::{
    self, BoundedConstants, Budget, Document, EvalProblem, Exceeded, Expr, JsonDocument, Strings,
    SyntaxError, Value,
};

use super::body::Spot;
use super::error::{ConfigError, Problem};

/// The value of an argument, kept as a part of its file until someone asks for more.
#[derive(Clone, Debug)]
pub(super) enum Expression {
    Native(Arc<Document>, Span),
    Json(Arc<JsonDocument>, usize),
}

impl Expression {
    pub(super) fn spot(&self) -> Spot {
        match self {
            Self::Native(document, span) => Spot::native(Arc::clone(document), *span),
            Self::Json(document, value) => {
                Spot::json(Arc::clone(document), document.value_span(*value))
            }
        }
    }

    /// The file that it is in.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Native(document, _) => document.path(),
            Self::Json(document, _) => document.path(),
        }
    }

    pub(super) fn place(&self) -> Place {
        match self {
            Self::Native(document, span) => document.place(*span),
            Self::Json(document, value) => document.value_place(*value),
        }
    }

    /// The place of a part of it; strings in JSON have no parts.
    pub(super) fn place_of(&self, part: Span) -> Place {
        match self {
            Self::Native(document, _) => document.place(part),
            Self::Json(document, value) => document.value_place(*value),
        }
    }

    /// Takes from a budget what its tree costs ([`syntax::pay_for_tree`]).
    pub(super) fn pay_for_tree(&self, budget: &Budget) -> Result<(), Exceeded> {
        let span = match self {
            Self::Native(_, span) => *span,
            Self::Json(document, value) => document.value_span(*value),
        };
        syntax::pay_for_tree(span.end - span.start, budget)
    }

    /// As a tree.
    pub(super) fn tree(&self, strings: Strings) -> Result<Expr, SyntaxError> {
        match self {
            Self::Native(document, span) => document.expression(*span),
            Self::Json(document, value) => document.expression(*value, strings),
        }
    }

    /// The value of a tree of this file, without variables and functions.
    pub(super) fn evaluate(&self, tree: &Expr) -> Result<Value, ConfigError> {
        self.constant_tree("a constant", tree)
    }

    /// Its value without variables and functions; strings in JSON are plain.
    pub(super) fn constant(&self, what: &'static str) -> Result<Value, ConfigError> {
        self.constant_with(what, Strings::Plain)
    }

    /// Its value without variables and functions.
    pub(super) fn constant_with(
        &self,
        what: &'static str,
        strings: Strings,
    ) -> Result<Value, ConfigError> {
        self.constant_tree(what, &self.tree(strings)?)
    }

    fn constant_tree(&self, what: &'static str, tree: &Expr) -> Result<Value, ConfigError> {
        let constants = match self {
            Self::Native(document, _) => document.constants(),
            Self::Json(document, _) => document.constants(),
        };
        let value = constants.constant(|budget| syntax::evaluate(tree, &BoundedConstants(budget)));
        value.map_err(|fault| self.value_error(what, fault.span, fault.problem))
    }

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

    pub(super) fn exceeded(&self, budget: Exceeded) -> ConfigError {
        let place = Box::new(self.place());
        ConfigError::Exceeded { place, budget }
    }

    pub(super) fn invalid(&self, problem: Problem) -> ConfigError {
        ConfigError::invalid(self.place(), problem)
    }
}
