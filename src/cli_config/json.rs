//! The JSON form of the CLI configuration, into the same tree as HCL 1.
//!
//! As lenient as the tools are: a comma may be left after the last element, and what follows the first value is ignored.

use crate::cli_config::escape;
use crate::cli_config::tree::{Item, Key, MAX_DEPTH, Node, SyntaxError, Tree, Value};
use crate::span::Span;

/// Parses a text that begins with `{`.
pub(super) fn parse(text: &str) -> Result<Tree, SyntaxError> {
    let mut parser = Parser { text, at: 0 };
    match parser.node(0)?.value {
        Value::Object(items) => Ok(Tree {
            items,
            is_json: true,
        }),
        other => Err(parser.error(format!("expected an object, found {}", other.kind()))),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn error(&self, problem: impl Into<String>) -> SyntaxError {
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        SyntaxError::new(problem, Span::new(self.at, self.at + length))
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_blank(&mut self) {
        self.at = self.text.len()
            - self
                .rest()
                .trim_start_matches([' ', '\t', '\r', '\n'])
                .len();
    }

    /// Takes `sign` and the blanks around it, if it comes next.
    fn take(&mut self, sign: char) -> bool {
        self.skip_blank();
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len_utf8();
            self.skip_blank();
        }
        found
    }

    fn node(&mut self, depth: usize) -> Result<Node, SyntaxError> {
        if depth > MAX_DEPTH {
            return Err(self.error(format!("more than {MAX_DEPTH} levels of nesting")));
        }
        self.skip_blank();
        let start = self.at;
        let value = match self.rest().bytes().next() {
            Some(b'{') => Value::Object(self.object(depth)?),
            Some(b'[') => Value::List(self.list(depth)?),
            Some(b'"') => Value::String(self.string()?),
            _ => self.word()?,
        };
        Ok(Node {
            value,
            span: Span::new(start, self.at),
        })
    }

    fn object(&mut self, depth: usize) -> Result<Vec<Item>, SyntaxError> {
        let mut items = Vec::new();
        self.take('{');
        while !self.take('}') {
            let start = self.at;
            if !self.rest().starts_with('"') {
                return Err(self.error("expected a quoted key or `}`"));
            }
            let text = self.string()?;
            let key = Key {
                text,
                span: Span::new(start, self.at),
            };
            if !self.take(':') {
                return Err(self.error("expected `:`"));
            }
            let value = self.node(depth + 1)?;
            items.push(Item {
                keys: vec![key],
                assigned: false,
                value,
            });
            if !self.take(',') && !self.rest().starts_with('}') {
                return Err(self.error("expected `,` or `}`"));
            }
        }
        Ok(items)
    }

    fn list(&mut self, depth: usize) -> Result<Vec<Node>, SyntaxError> {
        let mut elements = Vec::new();
        self.take('[');
        while !self.take(']') {
            elements.push(self.node(depth + 1)?);
            if !self.take(',') && !self.rest().starts_with(']') {
                return Err(self.error("expected `,` or `]`"));
            }
        }
        Ok(elements)
    }

    fn string(&mut self) -> Result<String, SyntaxError> {
        let Some(raw) = escape::quoted(&self.rest()[1..]) else {
            return Err(self.error("this string does not end on its line"));
        };
        let start = self.at + 1;
        self.at = start + raw.len() + 1;
        escape::unescape(raw).map_err(|at| {
            SyntaxError::new(
                "unknown escape sequence",
                Span::new(start + at, start + at + 2),
            )
        })
    }

    /// A number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<Value, SyntaxError> {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
            .unwrap_or(rest.len());
        let word = &rest[..length];
        let value = match word {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            "null" => Value::Null,
            _ if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                Value::Number(word.to_owned())
            }
            _ => return Err(self.error("expected a value")),
        };
        self.at += length;
        Ok(value)
    }
}
