//! One view of both syntaxes: bodies, blocks and arguments, native or JSON.

use std::path::Path;
use std::sync::Arc;

use crate::span::{Place, Span};
use crate::syntax::{self, Document, JsonBody, JsonDocument, Label, SyntaxError};

use super::error::{ConfigError, Problem};
use super::expression::Expression;

/// A file of a configuration, free of syntax errors.
#[derive(Clone, Debug)]
pub(super) enum File {
    Native(Arc<Document>),
    Json(Arc<JsonDocument>),
}

impl File {
    /// Reads `text`, in JSON syntax if the name of the file says so.
    pub(super) fn parse(path: &Path, text: Vec<u8>) -> Result<Self, SyntaxError> {
        if path
            .extension()
            .is_some_and(|extension| extension == "json")
        {
            return JsonDocument::parse(path, text).map(|document| Self::Json(Arc::new(document)));
        }
        Document::parse(path, text).map(|document| Self::Native(Arc::new(document)))
    }

    pub(super) fn body(&self) -> Body<'_> {
        match self {
            Self::Native(document) => Body::Native(document, document.body()),
            Self::Json(document) => Body::Json(document, document.body()),
        }
    }
}

/// Somewhere in a file. The place with its line is worked out only if someone asks: a large file has many declarations, and
/// few of them are ever told of.
#[derive(Clone, Debug)]
pub(super) struct Spot {
    file: File,
    span: Span,
}

impl Spot {
    pub(super) const fn native(document: Arc<Document>, span: Span) -> Self {
        Self {
            file: File::Native(document),
            span,
        }
    }

    pub(super) const fn json(document: Arc<JsonDocument>, span: Span) -> Self {
        Self {
            file: File::Json(document),
            span,
        }
    }

    pub(super) fn place(&self) -> Place {
        match &self.file {
            File::Native(document) => document.place(self.span),
            File::Json(document) => document.place(self.span),
        }
    }
}

/// The content of a file or block.
#[derive(Clone, Debug)]
pub(super) enum Body<'a> {
    Native(&'a Arc<Document>, syntax::Body<'a>),
    Json(&'a Arc<JsonDocument>, JsonBody<'a>),
}

/// A block and its labels.
#[derive(Clone, Debug)]
pub(super) struct Block<'a> {
    labels: Vec<Label>,
    spot: Spot,
    body: Body<'a>,
}

/// `name = value`.
#[derive(Clone, Debug)]
pub(super) struct Argument {
    pub(super) name: String,
    pub(super) spot: Spot,
    pub(super) value: Expression,
}

impl<'a> Body<'a> {
    /// The argument of that name.
    pub(super) fn argument(&self, name: &str) -> Result<Option<Argument>, SyntaxError> {
        match self {
            Self::Native(document, body) => Ok(body
                .argument(name)
                .map(|argument| native(document, &argument))),
            Self::Json(document, body) => Ok(body
                .argument(name)?
                .map(|argument| json(document, &argument))),
        }
    }

    /// All arguments of a body that holds nothing else, or whose blocks are of no interest.
    pub(super) fn arguments(&self) -> Result<Vec<Argument>, SyntaxError> {
        match self {
            Self::Native(document, body) => Ok(body
                .arguments()
                .map(|argument| native(document, &argument))
                .collect()),
            Self::Json(document, body) => Ok(body
                .arguments()?
                .iter()
                .map(|argument| json(document, argument))
                .collect()),
        }
    }

    /// The blocks of a kind, each with so many labels.
    pub(super) fn blocks(&self, kind: &str, labels: usize) -> Result<Vec<Block<'a>>, ConfigError> {
        match self {
            Self::Native(document, body) => {
                let document: &'a Arc<Document> = document;
                let blocks = body.blocks().filter(|block| block.kind() == kind);
                blocks
                    .map(|block| native_block(document, block, labels))
                    .collect()
            }
            Self::Json(document, body) => {
                let document: &'a Arc<JsonDocument> = document;
                let blocks = body.blocks(kind, labels)?.into_iter();
                Ok(blocks
                    .map(|block| Block {
                        labels: block.labels().to_vec(),
                        spot: Spot::json(Arc::clone(document), block.span()),
                        body: Body::Json(document, block.body()),
                    })
                    .collect())
            }
        }
    }

    /// The first block, in native syntax; JSON cannot tell blocks from arguments.
    pub(super) fn first_block(&self) -> Option<Spot> {
        match self {
            Self::Native(document, body) => body
                .blocks()
                .next()
                .map(|block| Spot::native(Arc::clone(document), block.span())),
            Self::Json(..) => None,
        }
    }

    /// All arguments of a body that holds blocks as well; in JSON syntax the blocks are among them.
    pub(super) fn mixed_arguments(&self) -> Result<Vec<Argument>, SyntaxError> {
        match self {
            Self::Native(..) => self.arguments(),
            Self::Json(document, body) => Ok(body
                .properties_as_arguments()?
                .iter()
                .map(|argument| json(document, argument))
                .collect()),
        }
    }

    /// The names of all arguments and blocks.
    pub(super) fn names(&self) -> Result<Vec<(String, Spot)>, SyntaxError> {
        match self {
            Self::Native(document, body) => {
                let spot = |span| Spot::native(Arc::clone(document), span);
                let arguments = body
                    .arguments()
                    .map(|argument| (argument.name().to_owned(), spot(argument.name_span())));
                let blocks = body
                    .blocks()
                    .map(|block| (block.kind().to_owned(), spot(block.span())));
                Ok(arguments.chain(blocks).collect())
            }
            Self::Json(document, body) => {
                let spot = |span| Spot::json(Arc::clone(document), span);
                Ok(body
                    .names()?
                    .into_iter()
                    .map(|(name, span)| (name.to_owned(), spot(span)))
                    .collect())
            }
        }
    }
}

fn native(document: &Arc<Document>, argument: &syntax::Argument<'_>) -> Argument {
    Argument {
        name: argument.name().to_owned(),
        spot: Spot::native(Arc::clone(document), argument.name_span()),
        value: Expression::Native(Arc::clone(document), argument.value_span()),
    }
}

fn json(document: &Arc<JsonDocument>, argument: &syntax::JsonArgument<'_>) -> Argument {
    Argument {
        name: argument.name().to_owned(),
        spot: Spot::json(Arc::clone(document), argument.name_span()),
        value: Expression::Json(Arc::clone(document), argument.value()),
    }
}

fn native_block<'a>(
    document: &'a Arc<Document>,
    block: syntax::Block<'a>,
    wanted: usize,
) -> Result<Block<'a>, ConfigError> {
    let labels: Vec<Label> = block.labels().collect();
    if labels.len() != wanted {
        let problem = Problem::Labels {
            kind: block.kind().to_owned(),
            wanted,
            found: labels.len(),
        };
        return Err(ConfigError::invalid(block.place(), problem));
    }
    Ok(Block {
        labels,
        spot: Spot::native(Arc::clone(document), block.span()),
        body: Body::Native(document, block.body()),
    })
}

impl<'a> Block<'a> {
    /// A label by its position; the number of labels was checked when the block was found.
    pub(super) fn label(&self, at: usize) -> &str {
        self.labels.get(at).map_or("", |label| label.text.as_str())
    }

    /// Where a label is.
    pub(super) fn label_spot(&self, at: usize) -> Spot {
        match (&self.body, self.labels.get(at)) {
            (_, None) => self.spot.clone(),
            (Body::Native(document, _), Some(label)) => {
                Spot::native(Arc::clone(document), label.span)
            }
            (Body::Json(document, _), Some(label)) => Spot::json(Arc::clone(document), label.span),
        }
    }

    /// Where the block is.
    pub(super) const fn spot(&self) -> &Spot {
        &self.spot
    }

    /// The place of the block.
    pub(super) fn place(&self) -> Place {
        self.spot.place()
    }

    pub(super) const fn body(&self) -> &Body<'a> {
        &self.body
    }
}
