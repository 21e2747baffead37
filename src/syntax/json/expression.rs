//! JSON values as expressions.

use crate::span::Span;

use super::super::error::{Problem, SyntaxError};
use super::super::expr::{Entry, Expr, ExprKind, MAX_DEPTH, MAX_EXPRESSION, Part};
use super::super::number::Number;
use super::super::parse_template;
use super::{JsonDocument, NodeId, NodeKind};

/// What strings in JSON syntax are, which depends on where they stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strings {
    /// Text as it is.
    Plain,
    /// Templates, with `${}`.
    Templates,
}

impl JsonDocument {
    /// A value as an expression. Fails for a string that is no valid template, for nesting beyond [`MAX_DEPTH`], and for a
    /// length beyond [`MAX_EXPRESSION`].
    pub fn expression(&self, value: NodeId, strings: Strings) -> Result<Expr, SyntaxError> {
        let span = self.node(value).span;
        if span.end - span.start > MAX_EXPRESSION {
            return Err(self.error(span, Problem::TooLong(MAX_EXPRESSION)));
        }
        self.convert(value, strings, MAX_DEPTH)
    }

    fn convert(
        &self,
        id: NodeId,
        strings: Strings,
        depth_left: usize,
    ) -> Result<Expr, SyntaxError> {
        let node = self.node(id);
        let Some(left) = depth_left.checked_sub(1) else {
            return Err(self.error(node.span, Problem::TooDeep(MAX_DEPTH)));
        };
        let leaf = |kind| {
            Ok(Expr {
                span: node.span,
                kind,
                depth: 1,
            })
        };
        match &node.kind {
            NodeKind::Null => leaf(ExprKind::Null),
            NodeKind::Bool(value) => leaf(ExprKind::Bool(*value)),
            NodeKind::Number => {
                let text = String::from_utf8_lossy(&self.text[node.span.start..node.span.end]);
                let number = Number::parse(&text)
                    .ok_or_else(|| self.error(node.span, Problem::InvalidNumber))?;
                leaf(ExprKind::Number(number))
            }
            NodeKind::String(text) => self.string(text, node.span, strings),
            NodeKind::Array(values) => {
                let elements = values
                    .iter()
                    .map(|&value| self.convert(value, strings, left));
                let elements = elements.collect::<Result<Vec<_>, _>>()?;
                let depth = 1 + elements.iter().map(Expr::depth).max().unwrap_or(0);
                Ok(Expr {
                    span: node.span,
                    kind: ExprKind::Tuple(elements),
                    depth,
                })
            }
            NodeKind::Object(properties) => {
                let entries = properties.iter().map(|property| {
                    let key = self.string(&property.name, property.name_span, strings)?;
                    Ok(Entry {
                        key,
                        value: self.convert(property.value, strings, left)?,
                    })
                });
                let entries = entries.collect::<Result<Vec<_>, SyntaxError>>()?;
                let deepest = entries
                    .iter()
                    .flat_map(|entry| [entry.key.depth, entry.value.depth])
                    .max();
                let depth = 1 + deepest.unwrap_or(0);
                Ok(Expr {
                    span: node.span,
                    kind: ExprKind::Object(entries),
                    depth,
                })
            }
        }
    }

    /// Spans inside of a string would be those of the decoded text, so faults get the place of the whole string.
    fn string(&self, text: &str, span: Span, strings: Strings) -> Result<Expr, SyntaxError> {
        match strings {
            Strings::Plain => {
                let kind = ExprKind::Template(vec![Part::Text(text.to_owned())]);
                Ok(Expr {
                    span,
                    kind,
                    depth: 1,
                })
            }
            Strings::Templates => match parse_template(text) {
                Ok(template) => Ok(Expr { span, ..template }),
                Err(fault) => Err(self.error(span, fault.problem)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::{Constants, evaluate};

    fn value(text: &str, strings: Strings) -> Result<crate::syntax::Value, String> {
        let document =
            JsonDocument::parse("a.tf.json", text.into()).map_err(|error| error.to_string())?;
        let argument = document
            .body()
            .argument("a")
            .map_err(|error| error.to_string())?
            .ok_or("no `a`")?;
        let expr = document
            .expression(argument.value(), strings)
            .map_err(|error| error.to_string())?;
        evaluate(&expr, &Constants).map_err(|fault| fault.problem.to_string())
    }

    #[test]
    fn strings_are_templates_only_where_asked_for() {
        assert_eq!(value(r#"{"a": "${1}"}"#, Strings::Plain), Ok("${1}".into()));
        assert_eq!(
            value(r#"{"a": "x${1}"}"#, Strings::Templates),
            Ok("x1".into())
        );
        assert_eq!(
            value(r#"{"a": "$${1}"}"#, Strings::Templates),
            Ok("${1}".into())
        );
        assert!(value(r#"{"a": "${"}"#, Strings::Templates).is_err());
    }

    #[test]
    fn arguments_do_not_repeat() {
        assert!(value(r#"{"a": 1, "a": 2}"#, Strings::Plain).is_err());
        assert!(value(r#"[{"a": 1}, {"a": 2}]"#, Strings::Plain).is_err());
    }
}
