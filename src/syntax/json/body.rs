//! Bodies in JSON syntax.

use std::collections::HashSet;

use crate::span::{Place, Span};

use super::super::document::Label;
use super::super::error::{Problem, SyntaxError};
use super::{JsonDocument, NodeId, NodeKind, Property};

/// A property of this name is a comment.
const COMMENT: &str = "//";

/// An object, or an array of objects that count as one.
#[derive(Clone, Copy, Debug)]
pub struct JsonBody<'a> {
    document: &'a JsonDocument,
    node: NodeId,
}

impl<'a> JsonBody<'a> {
    pub(super) const fn new(document: &'a JsonDocument, node: NodeId) -> Self {
        Self { document, node }
    }

    /// All properties as arguments, for bodies that hold nothing else. Such a body is one object, and names do not repeat.
    pub fn arguments(&self) -> Result<Vec<JsonArgument<'a>>, SyntaxError> {
        let node = self.document.node(self.node);
        let NodeKind::Object(properties) = &node.kind else {
            return Err(self.wrong(node.span, "an object is required here"));
        };
        let mut arguments: Vec<JsonArgument<'a>> = Vec::with_capacity(properties.len());
        let mut names = HashSet::with_capacity(properties.len());
        for property in properties
            .iter()
            .filter(|property| property.name != COMMENT)
        {
            if !names.insert(property.name.as_str()) {
                let problem = Problem::AttributeRedefined(property.name.clone());
                return Err(self.document.error(property.name_span, problem));
            }
            arguments.push(JsonArgument {
                document: self.document,
                property,
            });
        }
        Ok(arguments)
    }

    /// All properties as arguments, for bodies that hold blocks as well: what is what, the caller knows.
    pub fn properties_as_arguments(&self) -> Result<Vec<JsonArgument<'a>>, SyntaxError> {
        let properties = self
            .properties()?
            .into_iter()
            .filter(|property| property.name != COMMENT);
        Ok(properties
            .map(|property| JsonArgument {
                document: self.document,
                property,
            })
            .collect())
    }

    /// The argument of that name; an error if there are several.
    pub fn argument(&self, name: &str) -> Result<Option<JsonArgument<'a>>, SyntaxError> {
        let mut found = None;
        for property in self
            .properties()?
            .into_iter()
            .filter(|property| property.name == name)
        {
            if found.is_some() {
                return Err(self.document.error(
                    property.name_span,
                    Problem::AttributeRedefined(name.to_owned()),
                ));
            }
            found = Some(JsonArgument {
                document: self.document,
                property,
            });
        }
        Ok(found)
    }

    /// The blocks of that kind, whose labels are `labels` levels of keys.
    pub fn blocks(&self, kind: &str, labels: usize) -> Result<Vec<JsonBlock<'a>>, SyntaxError> {
        let mut blocks = Vec::new();
        for property in self
            .properties()?
            .into_iter()
            .filter(|property| property.name == kind)
        {
            self.unpack(property, labels, &mut Vec::new(), &mut blocks)?;
        }
        Ok(blocks)
    }

    /// Names and places of all properties that are no comments.
    pub fn names(&self) -> Result<Vec<(&'a str, Span)>, SyntaxError> {
        let names = self
            .properties()?
            .into_iter()
            .map(|property| (property.name.as_str(), property.name_span));
        Ok(names.filter(|(name, _)| *name != COMMENT).collect())
    }

    /// The file that it is part of.
    pub const fn document(&self) -> &'a JsonDocument {
        self.document
    }

    /// Where it ends.
    pub fn end(&self) -> Place {
        let end = self.document.node(self.node).span.end;
        self.document.place(Span::new(end.saturating_sub(1), end))
    }

    fn wrong(&self, span: Span, message: &'static str) -> SyntaxError {
        self.document.error(span, Problem::Json(message))
    }

    fn properties(&self) -> Result<Vec<&'a Property>, SyntaxError> {
        self.merged(self.node)
    }

    /// The properties of an object, or of all objects in an array; none of `null`.
    fn merged(&self, id: NodeId) -> Result<Vec<&'a Property>, SyntaxError> {
        let document = self.document;
        let node = document.node(id);
        match &node.kind {
            NodeKind::Null => Ok(Vec::new()),
            NodeKind::Object(properties) => Ok(properties.iter().collect()),
            NodeKind::Array(values) => {
                let mut all = Vec::new();
                for &value in values {
                    let node = document.node(value);
                    match &node.kind {
                        NodeKind::Object(properties) => all.extend(properties),
                        _ => return Err(self.wrong(node.span, "an object is required here")),
                    }
                }
                Ok(all)
            }
            _ => Err(self.wrong(
                node.span,
                "an object or an array of objects is required here",
            )),
        }
    }

    /// Recurses once for each label; a block has three at most.
    fn unpack(
        &self,
        property: &'a Property,
        labels_left: usize,
        labels: &mut Vec<Label>,
        blocks: &mut Vec<JsonBlock<'a>>,
    ) -> Result<(), SyntaxError> {
        let node = self.document.node(property.value);
        if labels_left > 0 {
            let keys = self.merged(property.value)?;
            if keys.is_empty() {
                return Err(self.wrong(
                    node.span,
                    "a block needs a property whose name is its label",
                ));
            }
            for key in keys {
                labels.push(Label {
                    text: key.name.clone(),
                    span: key.name_span,
                });
                self.unpack(key, labels_left - 1, labels, blocks)?;
                labels.pop();
            }
            return Ok(());
        }
        let kind_span = property.name_span;
        let mut add = |id| {
            let body = JsonBody::new(self.document, id);
            blocks.push(JsonBlock {
                labels: labels.clone(),
                kind_span,
                body,
            });
        };
        match &node.kind {
            NodeKind::Null => {}
            NodeKind::Object(_) => add(property.value),
            NodeKind::Array(values) => values.iter().copied().for_each(add),
            _ => {
                return Err(self.wrong(
                    node.span,
                    "an object or an array of objects is required here",
                ));
            }
        }
        Ok(())
    }
}

/// A property as an argument.
#[derive(Clone, Copy, Debug)]
pub struct JsonArgument<'a> {
    pub(super) document: &'a JsonDocument,
    property: &'a Property,
}

impl<'a> JsonArgument<'a> {
    /// Its name.
    pub fn name(&self) -> &'a str {
        &self.property.name
    }

    /// The range of its name.
    pub const fn name_span(&self) -> Span {
        self.property.name_span
    }

    /// The place of its name.
    pub fn place(&self) -> Place {
        self.document.place(self.property.name_span)
    }

    /// The place of its value.
    pub fn value_place(&self) -> Place {
        self.document
            .place(self.document.node(self.property.value).span)
    }

    /// The position of its value in the document, for [`JsonDocument::expression`].
    pub const fn value(&self) -> usize {
        self.property.value
    }

    /// The file that it is part of.
    pub const fn document(&self) -> &'a JsonDocument {
        self.document
    }
}

/// A block in JSON syntax.
#[derive(Clone, Debug)]
pub struct JsonBlock<'a> {
    labels: Vec<Label>,
    kind_span: Span,
    body: JsonBody<'a>,
}

impl<'a> JsonBlock<'a> {
    /// Its labels.
    pub fn labels(&self) -> &[Label] {
        &self.labels
    }

    /// The range of its last label, or of its kind.
    pub fn span(&self) -> Span {
        self.labels
            .last()
            .map_or(self.kind_span, |label| label.span)
    }

    /// The place of its last label, or of its kind.
    pub fn place(&self) -> Place {
        let span = self
            .labels
            .last()
            .map_or(self.kind_span, |label| label.span);
        self.body.document.place(span)
    }

    /// Its content.
    pub const fn body(&self) -> JsonBody<'a> {
        self.body
    }
}
