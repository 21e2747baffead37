//! JSON values as expressions.

use crate::span::Span;

use super::super::argument_value::Strings;
use super::super::error::{SyntaxFault, SyntaxProblem};
use super::super::expr::{Expr, ExprKind, MAX_DEPTH, ObjectEntry, TemplatePart};
use super::super::number::Number;
use super::super::parse_template;
use super::{JsonFile, JsonId, JsonKind};

impl JsonFile {
    /// Converts a value of the file with this text. Fails for a string that is not a valid template, and for nesting beyond
    /// [`MAX_DEPTH`].
    pub(in crate::syntax) fn expression(
        &self,
        text: &[u8],
        value: JsonId,
        strings: Strings,
    ) -> Result<Expr, SyntaxFault> {
        let converter = Converter {
            json: self,
            text,
            strings,
        };
        converter.expression(value, MAX_DEPTH)
    }
}

struct Converter<'a> {
    json: &'a JsonFile,
    text: &'a [u8],
    strings: Strings,
}

impl Converter<'_> {
    fn expression(&self, value: JsonId, depth_left: usize) -> Result<Expr, SyntaxFault> {
        let value = &self.json.values[value];
        let span = value.span;
        let Some(left) = depth_left.checked_sub(1) else {
            return Err(SyntaxProblem::TooDeep(MAX_DEPTH).at(span));
        };
        let (kind, parts_depth) = match &value.kind {
            JsonKind::Null => (ExprKind::Null, 0),
            JsonKind::Bool(value) => (ExprKind::Bool(*value), 0),
            JsonKind::Number => (ExprKind::Number(self.number(span)?), 0),
            JsonKind::String(text) => return self.string(text, span),
            JsonKind::Array(values) => {
                let elements = values.iter().map(|&value| self.expression(value, left));
                let elements = elements.collect::<Result<Vec<_>, _>>()?;
                let depth = elements.iter().map(Expr::depth).max();
                (ExprKind::Tuple(elements), depth.unwrap_or(0))
            }
            JsonKind::Object(properties) => {
                let entries = properties.iter().map(|property| {
                    let key = self.string(&property.name, property.name_span)?;
                    let value = self.expression(property.value, left)?;
                    Ok(ObjectEntry { key, value })
                });
                let entries = entries.collect::<Result<Vec<_>, SyntaxFault>>()?;
                let depths = entries
                    .iter()
                    .map(|entry| entry.key.depth.max(entry.value.depth));
                let depth = depths.max();
                (ExprKind::Object(entries), depth.unwrap_or(0))
            }
        };
        let depth = parts_depth + 1;
        Ok(Expr { span, kind, depth })
    }

    fn number(&self, span: Span) -> Result<Number, SyntaxFault> {
        let text = String::from_utf8_lossy(&self.text[span.start..span.end]);
        Number::parse(&text).ok_or(SyntaxProblem::InvalidNumber.at(span))
    }

    /// Faults in a template mark the whole string, because their spans refer to the decoded text.
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
        evaluate(&value.tree(strings).ok()?, &Constants).ok()
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
