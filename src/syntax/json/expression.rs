//! Converts JSON values to expressions.

use crate::span::Span;

use super::super::argument_value::Strings;
use super::super::error::{SyntaxFault, SyntaxProblem};
use super::super::expr::{Expr, ExprKind, MAX_DEPTH, ObjectEntry, TemplatePart};
use super::super::number::Number;
use super::super::parse_template;
use super::{JsonFile, JsonId, JsonKind, JsonValue};

/// Converts the JSON values of one file to expressions.
pub(in crate::syntax) struct JsonConverter<'a> {
    pub(in crate::syntax) json: &'a JsonFile,
    /// The content of the file.
    pub(in crate::syntax) text: &'a [u8],
    pub(in crate::syntax) strings: Strings,
}

impl JsonConverter<'_> {
    /// Converts a value that is nested `outer_depth` levels deep. Fails if a string is not a valid template, or if the nesting
    /// exceeds [`MAX_DEPTH`].
    pub(in crate::syntax) fn expression(
        &self,
        value: JsonId,
        outer_depth: usize,
    ) -> Result<Expr, SyntaxFault> {
        let JsonValue { span, ref kind } = self.json.values[value];
        if outer_depth >= MAX_DEPTH {
            return Err(SyntaxProblem::TooDeep(MAX_DEPTH).at(span));
        }
        let convert = |value: JsonId| self.expression(value, outer_depth + 1);
        let (kind, parts_depth) = match kind {
            JsonKind::Null => (ExprKind::Null, 0),
            JsonKind::Bool(value) => (ExprKind::Bool(*value), 0),
            JsonKind::Number => {
                let text = String::from_utf8_lossy(&self.text[span.start..span.end]);
                let number = Number::parse(&text).ok_or(SyntaxProblem::InvalidNumber.at(span))?;
                (ExprKind::Number(number), 0)
            }
            JsonKind::String(text) => return self.string(text, span),
            JsonKind::Array(values) => {
                let elements: Vec<_> = values
                    .iter()
                    .copied()
                    .map(convert)
                    .collect::<Result<_, _>>()?;
                let depth = elements.iter().map(Expr::depth).max();
                (ExprKind::Tuple(elements), depth.unwrap_or(0))
            }
            JsonKind::Object(properties) => {
                let mut entries = Vec::with_capacity(properties.len());
                let mut depth = 0;
                for property in properties {
                    let key = self.string(&property.name, property.name_span)?;
                    let value = convert(property.value)?;
                    depth = depth.max(key.depth).max(value.depth);
                    entries.push(ObjectEntry { key, value });
                }
                (ExprKind::Object(entries), depth)
            }
        };
        let depth = parts_depth + 1;
        Ok(Expr { span, kind, depth })
    }

    /// Converts a string. Faults in a template are reported for the whole string, because their spans refer to the decoded text.
    fn string(&self, text: &str, span: Span) -> Result<Expr, SyntaxFault> {
        match self.strings {
            Strings::Plain => Ok(Expr {
                span,
                kind: ExprKind::Template(vec![TemplatePart::Text(text.to_owned())]),
                depth: 1,
            }),
            Strings::Templates => match parse_template(text) {
                Ok(template) => Ok(Expr { span, ..template }),
                Err(fault) => Err(fault.problem.at(span)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::{Constants, SourceFile, Value, evaluate};

    fn value(text: &str, strings: Strings) -> Option<Value> {
        let file = SourceFile::parse("a.tf.json", text.into()).ok()?;
        let value = file.body().value("a").ok()??;
        evaluate(&value.tree(strings).ok()?, &Constants(None)).ok()
    }

    #[test]
    fn strings_are_templates_on_request() {
        let templates = |text| value(text, Strings::Templates);
        assert_eq!(
            value(r#"{"a": "${1}"}"#, Strings::Plain),
            Some("${1}".into())
        );
        assert_eq!(templates(r#"{"a": "x${1}"}"#), Some("x1".into()));
        assert_eq!(templates(r#"{"a": "$${1}"}"#), Some("${1}".into()));
        assert_eq!(templates(r#"{"a": "${"}"#), None);
    }

    #[test]
    fn arguments_do_not_repeat() {
        assert_eq!(value(r#"{"a": 1, "a": 2}"#, Strings::Plain), None);
        assert_eq!(value(r#"[{"a": 1}, {"a": 2}]"#, Strings::Plain), None);
    }
}
