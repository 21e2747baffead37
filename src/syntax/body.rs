//! Bodies, blocks and arguments: a common interface for native and JSON syntax.

use crate::span::{Place, Span};

use super::argument_value::ArgumentValue;
use super::error::SyntaxError;
use super::json::{JsonBody, JsonId};
use super::native::NativeBody;
use super::source_file::{SourceFile, SourceRange};

/// The content of a file or block.
///
/// JSON syntax does not distinguish arguments from blocks, or labels from names. Callers therefore state what they expect, and
/// most methods fail if the JSON has a different structure. They never fail for native syntax.
#[derive(Clone, Debug)]
pub struct Body<'a>(pub(super) BodySyntax<'a>);

#[derive(Clone, Debug)]
pub(super) enum BodySyntax<'a> {
    Native(NativeBody<'a>),
    Json(JsonBody<'a>),
}

impl<'a> Body<'a> {
    const fn file(&self) -> &'a SourceFile {
        match &self.0 {
            BodySyntax::Native(body) => body.file,
            BodySyntax::Json(body) => body.file,
        }
    }

    /// Returns the argument with this name.
    pub fn argument(&self, name: &str) -> Result<Option<Argument<'a>>, SyntaxError> {
        match &self.0 {
            BodySyntax::Native(body) => Ok(body.arguments(|found| found == name.as_bytes()).next()),
            BodySyntax::Json(body) => body.argument(name),
        }
    }

    /// Returns the value of the argument with this name.
    pub fn value(&self, name: &str) -> Result<Option<ArgumentValue>, SyntaxError> {
        Ok(self.argument(name)?.map(|argument| argument.value()))
    }

    /// Returns all arguments. In JSON syntax, every property counts as an argument.
    pub fn arguments(&self) -> Result<Vec<Argument<'a>>, SyntaxError> {
        match &self.0 {
            BodySyntax::Native(body) => Ok(body.arguments(|_| true).collect()),
            BodySyntax::Json(body) => body.arguments(),
        }
    }

    /// Like [`Body::arguments`], but for a body that can also contain blocks. In JSON syntax, the result includes blocks, and a
    /// name may occur more than once.
    pub fn mixed_arguments(&self) -> Result<Vec<Argument<'a>>, SyntaxError> {
        match &self.0 {
            BodySyntax::Native(_) => self.arguments(),
            BodySyntax::Json(body) => body.mixed_arguments(),
        }
    }

    /// Returns the blocks of this kind. In JSON syntax, the next `labels` levels of property names become their labels. In
    /// native syntax, blocks keep the labels that are written in the file, which can be more or fewer.
    pub fn blocks(&self, kind: &str, labels: usize) -> Result<Vec<Block<'a>>, SyntaxError> {
        match &self.0 {
            BodySyntax::Native(body) => Ok(body.blocks(|found| found == kind.as_bytes()).collect()),
            BodySyntax::Json(body) => body.blocks(kind, labels),
        }
    }

    /// Returns all blocks in native syntax. Returns nothing in JSON syntax, which does not distinguish blocks from arguments.
    pub fn native_blocks(&self) -> impl Iterator<Item = Block<'a>> + use<'a> {
        let native = match &self.0 {
            BodySyntax::Native(body) => Some(body.blocks(|_| true)),
            BodySyntax::Json(_) => None,
        };
        native.into_iter().flatten()
    }

    /// Returns the names of all arguments and the kinds of all blocks.
    pub fn names(&self) -> Result<Vec<(&'a str, SourceRange)>, SyntaxError> {
        let arguments = self.mixed_arguments()?.into_iter();
        let arguments = arguments.map(|argument| (argument.name, argument.range()));
        let blocks = self
            .native_blocks()
            .map(|block| (block.kind, block.range()));
        Ok(arguments.chain(blocks).collect())
    }
}

/// `name = value`, or a property in JSON syntax.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a> {
    pub(super) file: &'a SourceFile,
    pub(super) name: &'a str,
    pub(super) name_span: Span,
    pub(super) value: Span,
    /// `None` in native syntax.
    pub(super) json_value: Option<JsonId>,
}

impl<'a> Argument<'a> {
    pub const fn name(&self) -> &'a str {
        self.name
    }

    /// Returns the byte range of the name.
    pub fn range(&self) -> SourceRange {
        SourceRange::new(self.file.clone(), self.name_span)
    }

    pub fn place(&self) -> Place {
        self.file.place(self.name_span)
    }

    pub fn value(&self) -> ArgumentValue {
        ArgumentValue::new(self.file.clone(), self.value, self.json_value)
    }
}

/// `kind "label" ... { }`, or the equivalent nested objects in JSON syntax.
#[derive(Clone, Debug)]
pub struct Block<'a> {
    pub(super) kind: &'a str,
    pub(super) labels: Vec<Label>,
    pub(super) span: Span,
    pub(super) body: Body<'a>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The text without quotes.
    pub text: String,
    /// The byte range, including the quotes.
    pub span: Span,
}

impl<'a> Block<'a> {
    /// Returns the keyword at the start of the block.
    pub const fn kind(&self) -> &'a str {
        self.kind
    }

    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// Returns the text of the label at `index`, or an empty string if the block has fewer labels.
    pub fn label(&self, index: usize) -> &str {
        self.labels
            .get(index)
            .map_or("", |label| label.text.as_str())
    }

    /// Returns the byte range of the label at `index`, or [`Block::range`] if the block has fewer labels.
    pub fn label_range(&self, index: usize) -> SourceRange {
        let span = self.labels.get(index).map_or(self.span, |label| label.span);
        SourceRange::new(self.body.file().clone(), span)
    }

    /// Returns the byte range of the keyword. For a block with labels in JSON syntax, returns the range of the last label instead.
    pub fn range(&self) -> SourceRange {
        SourceRange::new(self.body.file().clone(), self.span)
    }

    pub fn place(&self) -> Place {
        self.body.file().place(self.span)
    }

    pub const fn body(&self) -> &Body<'a> {
        &self.body
    }
}
