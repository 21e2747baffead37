//! A tree of items, each with keys and a value, which represents both HCL 1 and JSON.
//!
//! `a "b" { c = 1 }` is one item with the keys `a` and `b` and an object as its value. JSON uses keys of nested objects instead of
//! labels; `decode` treats both alike.

use crate::span::Span;

/// The maximum nesting depth of objects and lists. The parsers are recursive, and real configurations have at most five levels.
pub(super) const MAX_DEPTH: usize = 64;

/// An attribute or block: one or more keys, followed by a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    /// The key and any labels; at least one element.
    pub(super) keys: Vec<ItemKey>,
    /// Whether the item is written with `=`. Always false in JSON.
    pub(super) assigned: bool,
    pub(super) value: SpannedValue,
}

/// A key or label.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ItemKey {
    pub(super) text: String,
    pub(super) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct SpannedValue {
    pub(super) value: ConfigValue,
    pub(super) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum ConfigValue {
    /// The content of a string or heredoc, with escapes decoded.
    String(String),
    /// A number as written.
    Number(String),
    Bool(bool),
    /// The value `null`, which occurs only in JSON. Where a string is expected, `null` counts as an empty string, as in Terraform.
    Null,
    List(Vec<SpannedValue>),
    Object(Vec<Item>),
}

impl ConfigValue {
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

#[derive(Clone, Debug, PartialEq)]
pub(super) struct ConfigTree {
    pub(super) items: Vec<Item>,
    /// Whether the file is JSON, which does not distinguish blocks from arguments. The syntax rules for blocks do not apply to it.
    pub(super) is_json: bool,
}

/// The reason why a file is neither valid HCL 1 nor valid JSON.
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
