//! Items with keys and a value: the structure of both HCL 1 and JSON.
//!
//! `a "b" { c = 1 }` is one item with the keys `a`, `b` and an object. JSON has no labels, but keys of nested objects
//! instead; `decode` treats both alike.

use crate::span::Span;

/// The maximum nesting of objects and lists. The parsers recurse, and real configurations have at most five levels.
pub(super) const MAX_DEPTH: usize = 64;

/// One `key... value` of a body.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    /// At least one.
    pub(super) keys: Vec<ItemKey>,
    /// Whether the item is written with `=`; always false in JSON.
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
    /// A string or heredoc without escapes.
    String(String),
    /// A number as written.
    Number(String),
    Bool(bool),
    /// JSON only. If a string is expected, it counts as an empty string, as in Terraform.
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
    /// JSON does not distinguish blocks from arguments, so the rules about the form of blocks do not apply.
    pub(super) is_json: bool,
}

/// The reason why a text is neither HCL 1 nor JSON.
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
