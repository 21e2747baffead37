//! Bodies in JSON syntax.

use std::collections::HashSet;

use crate::span::Span;

use super::super::body::{Argument, Block, Body, BodySyntax, Label};
use super::super::error::{SyntaxError, SyntaxProblem};
use super::super::source_file::SourceFile;
use super::{JsonFile, JsonId, JsonKind, JsonValue, OBJECTS_REQUIRED, Property};

/// A property with this name is a comment.
const COMMENT: &str = "//";

const LABEL_REQUIRED: &str = "expected a property whose name is the label of the block";
const OBJECT_REQUIRED: &str = "expected an object";

/// An object, or an array of objects that are merged.
#[derive(Clone, Copy, Debug)]
pub(in crate::syntax) struct JsonBody<'a> {
    pub(in crate::syntax) file: &'a SourceFile,
    json: &'a JsonFile,
    value: JsonId,
}

impl<'a> JsonBody<'a> {
    pub(in crate::syntax) const fn of_file(file: &'a SourceFile, json: &'a JsonFile) -> Self {
        Self {
            file,
            json,
            value: json.root,
        }
    }

    /// Returns all properties as arguments. The body must be a single object without duplicate names.
    pub(in crate::syntax) fn arguments(&self) -> Result<Vec<Argument<'a>>, SyntaxError> {
        let value = self.json_value(self.value);
        let JsonKind::Object(properties) = &value.kind else {
            return Err(self.error(value.span, SyntaxProblem::Json(OBJECT_REQUIRED)));
        };
        let mut names = HashSet::with_capacity(properties.len());
        properties
            .iter()
            .filter(|property| property.name != COMMENT)
            .map(|property| {
                if names.insert(property.name.as_str()) {
                    Ok(self.as_argument(property))
                } else {
                    Err(self.redefined(property))
                }
            })
            .collect()
    }

    /// Returns all properties as arguments, including those that the caller reads as blocks.
    pub(in crate::syntax) fn mixed_arguments(&self) -> Result<Vec<Argument<'a>>, SyntaxError> {
        let properties = self.properties(self.value)?.into_iter();
        Ok(properties
            .filter(|property| property.name != COMMENT)
            .map(|property| self.as_argument(property))
            .collect())
    }

    /// Returns the argument with this name. Fails if the name occurs more than once.
    pub(in crate::syntax) fn argument(
        &self,
        name: &str,
    ) -> Result<Option<Argument<'a>>, SyntaxError> {
        let properties = self.properties(self.value)?;
        let mut named = properties.iter().filter(|property| property.name == name);
        match (named.next(), named.next()) {
            (_, Some(second)) => Err(self.redefined(second)),
            (first, None) => Ok(first.map(|property| self.as_argument(property))),
        }
    }

    /// Returns the blocks of this kind. The next `labels` levels of property names become their labels.
    pub(in crate::syntax) fn blocks(
        &self,
        kind: &str,
        labels: usize,
    ) -> Result<Vec<Block<'a>>, SyntaxError> {
        let mut blocks = Vec::new();
        for property in self.properties(self.value)? {
            if property.name == kind {
                self.add_blocks(property, property, labels, &mut Vec::new(), &mut blocks)?;
            }
        }
        Ok(blocks)
    }

    /// Adds the blocks in `property`. This is `block` itself, or a property nested in it whose name is a label. Recurses once per
    /// label; no block has more than three labels.
    fn add_blocks(
        &self,
        block: &'a Property,
        property: &'a Property,
        labels_left: usize,
        labels: &mut Vec<Label>,
        blocks: &mut Vec<Block<'a>>,
    ) -> Result<(), SyntaxError> {
        let value = self.json_value(property.value);
        if labels_left > 0 {
            let keys = self.properties(property.value)?;
            if keys.is_empty() {
                return Err(self.error(value.span, SyntaxProblem::Json(LABEL_REQUIRED)));
            }
            for key in keys {
                labels.push(Label {
                    text: key.name.clone(),
                    span: key.name_span,
                });
                self.add_blocks(block, key, labels_left - 1, labels, blocks)?;
                labels.pop();
            }
            return Ok(());
        }
        let contents = match &value.kind {
            JsonKind::Null => &[],
            JsonKind::Object(_) => std::slice::from_ref(&property.value),
            JsonKind::Array(values) => values.as_slice(),
            _ => return Err(self.error(value.span, SyntaxProblem::Json(OBJECTS_REQUIRED))),
        };
        blocks.extend(contents.iter().map(|&value| Block {
            kind: &block.name,
            labels: labels.clone(),
            span: labels.last().map_or(block.name_span, |label| label.span),
            body: Body(BodySyntax::Json(Self { value, ..*self })),
        }));
        Ok(())
    }

    /// Returns the properties of an object, or of all objects in an array. `null` has no properties.
    fn properties(&self, id: JsonId) -> Result<Vec<&'a Property>, SyntaxError> {
        let value = self.json_value(id);
        match &value.kind {
            JsonKind::Null => Ok(Vec::new()),
            JsonKind::Object(properties) => Ok(properties.iter().collect()),
            JsonKind::Array(values) => {
                let mut merged = Vec::new();
                for &value in values {
                    let value = self.json_value(value);
                    let JsonKind::Object(properties) = &value.kind else {
                        return Err(self.error(value.span, SyntaxProblem::Json(OBJECT_REQUIRED)));
                    };
                    merged.extend(properties);
                }
                Ok(merged)
            }
            _ => Err(self.error(value.span, SyntaxProblem::Json(OBJECTS_REQUIRED))),
        }
    }

    fn as_argument(&self, property: &'a Property) -> Argument<'a> {
        Argument {
            file: self.file,
            name: &property.name,
            name_span: property.name_span,
            value: self.json_value(property.value).span,
            json_value: Some(property.value),
        }
    }

    fn json_value(&self, id: JsonId) -> &'a JsonValue {
        &self.json.values[id]
    }

    fn redefined(&self, property: &Property) -> SyntaxError {
        let problem = SyntaxProblem::AttributeRedefined(property.name.clone());
        self.error(property.name_span, problem)
    }

    fn error(&self, span: Span, problem: SyntaxProblem) -> SyntaxError {
        self.file.error(problem.at(span))
    }
}
