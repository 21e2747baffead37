//! HCL's JSON syntax: `.tf.json`, `.tofu.json`, `.tftest.json` and `.tfvars.json` files.
//!
//! The text is plain JSON; which property is an argument and which a block, and how many levels of keys are labels, only the
//! reader of a body knows ([`JsonBody::blocks`]). Keys may repeat and then add up, arrays of objects merge, `null` is no
//! block, and `"//"` is a comment.

mod body;
mod expression;
mod reader;

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::span::{Lines, Place, Span};

use super::budget::FileBudget;
use super::error::{Fault, Problem, SyntaxError};
pub use body::{JsonArgument, JsonBlock, JsonBody};
pub use expression::Strings;

/// A value in the document's list, by its position.
type NodeId = usize;

/// A JSON value.
#[derive(Clone, Debug)]
struct Node {
    span: Span,
    kind: NodeKind,
}

#[derive(Clone, Debug)]
enum NodeKind {
    Null,
    Bool(bool),
    /// Its text is in the file.
    Number,
    String(String),
    Array(Vec<NodeId>),
    Object(Vec<Property>),
}

/// `"name": value`.
#[derive(Clone, Debug)]
struct Property {
    name: String,
    name_span: Span,
    value: NodeId,
}

/// A file in JSON syntax. Values refer to each other by position, so nothing recurses to build or drop them.
#[derive(Clone, Debug)]
pub struct JsonDocument {
    path: PathBuf,
    text: Vec<u8>,
    nodes: Vec<Node>,
    root: NodeId,
    lines: OnceLock<Lines>,
    constants: FileBudget,
}

impl JsonDocument {
    /// Reads `text`, the content of the file at `path`. Its root must be an object, or an array of objects.
    pub fn parse(path: impl Into<PathBuf>, text: Vec<u8>) -> Result<Self, SyntaxError> {
        let path = path.into();
        let parsed = reader::read(&text).and_then(|(nodes, root)| match nodes[root].kind {
            NodeKind::Object(_) | NodeKind::Array(_) => Ok((nodes, root)),
            _ => Err(Fault::new(
                nodes[root].span,
                Problem::Json("the root must be an object"),
            )),
        });
        match parsed {
            Ok((nodes, root)) => Ok(Self {
                path,
                text,
                nodes,
                root,
                lines: OnceLock::new(),
                constants: FileBudget::default(),
            }),
            Err(fault) => Err(fault.in_file(&path, &text)),
        }
    }

    /// The body of the file.
    pub fn body(&self) -> JsonBody<'_> {
        JsonBody::new(self, self.root)
    }

    /// What its constants may cost.
    pub const fn constants(&self) -> &FileBudget {
        &self.constants
    }

    /// The path as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The place of a range of this file.
    pub fn place(&self, span: Span) -> Place {
        Place::indexed(&self.lines, &self.path, &self.text, span)
    }

    /// The range of a value ([`JsonArgument::value`]).
    pub fn value_span(&self, value: usize) -> Span {
        self.node(value).span
    }

    /// The place of a value ([`JsonArgument::value`]).
    pub fn value_place(&self, value: usize) -> Place {
        self.place(self.node(value).span)
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id]
    }

    fn error(&self, span: Span, problem: Problem) -> SyntaxError {
        Fault::new(span, problem).in_file(&self.path, &self.text)
    }
}
