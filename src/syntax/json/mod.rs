//! HCL's JSON syntax: `.tf.json`, `.tofu.json`, `.tftest.json` and `.tfvars.json` files.
//!
//! The text is plain JSON. Only the caller of [`JsonBody::blocks`] knows which properties are blocks, and how many levels of
//! property names are labels. Repeated properties and the objects of an array are merged, `null` is not a block, and `"//"`
//! is a comment.

mod body;
mod expression;
mod parser;

use crate::span::Span;

use super::error::{SyntaxFault, SyntaxProblem};
pub(super) use body::JsonBody;
pub(super) use expression::JsonConverter;

const OBJECTS_REQUIRED: &str = "expected an object or an array of objects";

/// The index of a value in [`JsonFile::values`].
pub(super) type JsonId = usize;

#[derive(Debug)]
struct JsonValue {
    span: Span,
    kind: JsonKind,
}

#[derive(Debug)]
enum JsonKind {
    Null,
    Bool(bool),
    /// A number. Its text is in the file, at the span of the value.
    Number,
    String(String),
    Array(Vec<JsonId>),
    Object(Vec<Property>),
}

/// `"name": value`.
#[derive(Debug)]
struct Property {
    name: String,
    name_span: Span,
    value: JsonId,
}

/// A file in JSON syntax. Values refer to each other by index, so building and dropping them never recurses.
#[derive(Debug)]
pub(super) struct JsonFile {
    values: Vec<JsonValue>,
    root: JsonId,
}

impl JsonFile {
    /// Parses `text`. The root must be an object, or an array of objects.
    pub(super) fn parse(text: &[u8]) -> Result<Self, SyntaxFault> {
        let (values, root) = parser::parse(text)?;
        match values[root].kind {
            JsonKind::Object(_) | JsonKind::Array(_) => Ok(Self { values, root }),
            _ => Err(SyntaxProblem::Json(OBJECTS_REQUIRED).at(values[root].span)),
        }
    }
}
