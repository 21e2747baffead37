//! What HCL 1 and JSON have in common: items with keys and a value.
//!
//! `a "b" { c = 1 }` is one item with the keys `a`, `b` and an object. JSON has no labels; there the keys of nested
//! objects take their place, which `decode` undoes.

use crate::span::Span;

/// Nested objects and lists deeper than this are refused: no real configuration has more than five levels, and the parsers
/// recurse.
pub(super) const MAX_DEPTH: usize = 64;

/// One `key... value` of a body.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    /// At least one.
    pub(super) keys: Vec<ItemKey>,
    /// Written with `=`. In JSON never, since there it says nothing.
    pub(super) assigned: bool,
    pub(super) value: SpannedValue,
}

/// A key or label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ItemKey {
    pub(super) text: String,
    pub(super) span: Span,
}

/// A value and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SpannedValue {
    pub(super) value: ConfigValue,
    pub(super) span: Span,
}

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ConfigValue {
    /// A string or heredoc, escapes undone.
    String(String),
    /// A number as written.
    Number(String),
    /// `true` or `false`.
    Bool(bool),
    /// JSON only. Counts as an empty string where a string is wanted, as in Terraform.
    Null,
    /// `[...]`.
    List(Vec<SpannedValue>),
    /// `{...}`.
    Object(Vec<Item>),
}

impl ConfigValue {
    /// What the value is called in messages.
    pub(super) const fn kind(&self) -> &'static str {
        match self {
            Self::String(_) => "a string",
            Self::Number(_) => "a number",
            Self::Bool(_) => "a boolean",
            Self::Null => "null",
            Self::List(_) => "a list",
            Self::Object(_) => "an object",
        }
    }
}

/// A parsed file.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ConfigTree {
    pub(super) items: Vec<Item>,
    /// JSON has no way to tell a block from an argument, so rules about the form of blocks do not apply.
    pub(super) is_json: bool,
}

/// Why a text is not HCL 1 or JSON.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ConfigSyntaxError {
    pub(super) problem: String,
    pub(super) span: Span,
}

impl ConfigSyntaxError {
    pub(super) fn new(problem: impl Into<String>, span: Span) -> Self {
        Self {
            problem: problem.into(),
            span,
        }
    }
}
