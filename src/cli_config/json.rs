//! Parses the JSON form of the CLI configuration into the same tree as HCL 1.
//!
//! As in Terraform and OpenTofu, a comma may follow the last element, and text after the first value is ignored.

use crate::cli_config::escape;
use crate::cli_config::tree::{
    ConfigSyntaxError, ConfigTree, ConfigValue, Item, ItemKey, MAX_DEPTH, SpannedValue,
};
use crate::span::Span;

/// Parses a file whose first visible character is `{`.
pub(super) fn parse(text: &str) -> Result<ConfigTree, ConfigSyntaxError> {
    let mut parser = JsonConfigParser { text, at: 0 };
    match parser.node(0)?.value {
        ConfigValue::Object(items) => Ok(ConfigTree {
            items,
            is_json: true,
        }),
        other => Err(parser.error(format!("expected an object, found {}", other.kind()))),
    }
}

struct JsonConfigParser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> JsonConfigParser<'a> {
    fn error(&self, problem: impl Into<String>) -> ConfigSyntaxError {
        let length = self.rest().chars().next().map_or(0, char::len_utf8);
        ConfigSyntaxError::new(problem, Span::new(self.at, self.at + length))
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

    /// Skips white space. If `sign` comes next, consumes it and the white space after it, and returns true.
    fn take(&mut self, sign: char) -> bool {
        self.skip_blank();
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len_utf8();
            self.skip_blank();
        }
        found
    }

    fn node(&mut self, depth: usize) -> Result<SpannedValue, ConfigSyntaxError> {
        if depth > MAX_DEPTH {
            return Err(self.error(format!("more than {MAX_DEPTH} levels of nesting")));
        }
        self.skip_blank();
        let start = self.at;
        let value = match self.rest().bytes().next() {
            Some(b'{') => ConfigValue::Object(self.object(depth)?),
            Some(b'[') => ConfigValue::List(self.list(depth)?),
            Some(b'"') => ConfigValue::String(self.string()?),
            _ => self.word()?,
        };
        Ok(SpannedValue {
            value,
            span: Span::new(start, self.at),
        })
    }

    fn object(&mut self, depth: usize) -> Result<Vec<Item>, ConfigSyntaxError> {
        let mut items = Vec::new();
        self.take('{');
        while !self.take('}') {
            let start = self.at;
            if !self.rest().starts_with('"') {
                return Err(self.error("expected a quoted key or `}`"));
            }
            let text = self.string()?;
            let key = ItemKey {
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

    fn list(&mut self, depth: usize) -> Result<Vec<SpannedValue>, ConfigSyntaxError> {
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

    fn string(&mut self) -> Result<String, ConfigSyntaxError> {
        let Some(raw) = escape::quoted(&self.rest()[1..]) else {
            return Err(self.error("this string must end on its first line"));
        };
        let start = self.at + 1;
        self.at = start + raw.len() + 1;
        escape::unescape(raw).map_err(|at| {
            ConfigSyntaxError::new(
                "unknown escape sequence",
                Span::new(start + at, start + at + 2),
            )
        })
    }

    /// Parses a number, `true`, `false` or `null`.
    fn word(&mut self) -> Result<ConfigValue, ConfigSyntaxError> {
        let rest = self.rest();
        let length = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
            .unwrap_or(rest.len());
        let word = &rest[..length];
        let value = match word {
            "true" => ConfigValue::Bool(true),
            "false" => ConfigValue::Bool(false),
            "null" => ConfigValue::Null,
            _ if word.starts_with(|c: char| c.is_ascii_digit() || c == '-') => {
                ConfigValue::Number(word.to_owned())
            }
            _ => return Err(self.error("expected a value")),
        };
        self.at += length;
        Ok(value)
    }
}
