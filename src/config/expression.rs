//! Values of arguments, kept as parts of their files.

use std::path::Path;
use std::sync::Arc;

use crate::span::{Place, Span};
use crate::syntax::{
    self, Document, EvalProblem, Expr, JsonDocument, Scope, Strings, SyntaxError, Value,
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

    /// As a tree.
    pub(super) fn tree(&self, strings: Strings) -> Result<Expr, SyntaxError> {
        match self {
            Self::Native(document, span) => document.expression(*span),
            Self::Json(document, value) => document.expression(*value, strings),
        }
    }

    /// Its value in a scope.
    pub(super) fn value(
        &self,
        what: &'static str,
        strings: Strings,
        scope: &dyn Scope,
    ) -> Result<Value, ConfigError> {
        let tree = self.tree(strings)?;
        syntax::evaluate(&tree, scope)
            .map_err(|fault| self.value_error(what, fault.span, fault.problem))
    }

    /// Its value without variables and functions; strings in JSON are plain.
    pub(super) fn constant(&self, what: &'static str) -> Result<Value, ConfigError> {
        self.value(what, Strings::Plain, &syntax::Constants)
    }

    pub(super) fn value_error(
        &self,
        what: &'static str,
        part: Span,
        source: EvalProblem,
    ) -> ConfigError {
        ConfigError::Value {
            what,
            place: Box::new(self.place_of(part)),
            source: Box::new(source),
        }
    }

    pub(super) fn invalid(&self, problem: Problem) -> ConfigError {
        ConfigError::invalid(self.place(), problem)
    }
}
