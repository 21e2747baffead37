//! Parses JSON text (RFC 8259) into a list of values, without recursion.
//!
//! serde_json is not used: it reports no positions of values, keeps only one of several equal keys, and recurses.

use std::borrow::Cow;

use crate::span::Span;

use super::super::error::{SyntaxFault, SyntaxProblem};
use super::super::parser::MAX_NESTING;
use super::{JsonId, JsonKind, JsonValue, Property};

/// An array or object whose closing bracket has not been read.
struct OpenContainer {
    start: usize,
    kind: ContainerKind,
}

enum ContainerKind {
    Array(Vec<JsonId>),
    /// The properties so far, and the name of the property whose value comes next.
    Object(Vec<Property>, Option<(String, Span)>),
}

/// The maximum number of values in a file, ten times that of a file of a few megabytes.
const MAX_VALUES: usize = 500_000;

struct JsonParser<'a> {
    text: &'a [u8],
    at: usize,
    values: Vec<JsonValue>,
    open: Vec<OpenContainer>,
}

/// Returns the values of a text, and the position of its root.
pub(super) fn parse(text: &[u8]) -> Result<(Vec<JsonValue>, JsonId), SyntaxFault> {
    let mut reader = JsonParser {
        text,
        at: 0,
        values: Vec::new(),
        open: Vec::new(),
    };
    let root = reader.run()?;
    reader.skip_blanks();
    if reader.at < text.len() {
        return Err(reader.fault("something follows the value"));
    }
    Ok((reader.values, root))
}

impl JsonParser<'_> {
    fn run(&mut self) -> Result<JsonId, SyntaxFault> {
        loop {
            self.check_size()?;
            let mut finished = self.value()?;
            // A finished value may finish the container around it.
            while let Some(id) = finished {
                match self.open.pop() {
                    None => return Ok(id),
                    Some(open) => finished = self.add(open, id)?,
                }
            }
        }
    }

    /// Bounds memory: values and open containers take up to 100 times the memory of their text.
    fn check_size(&self) -> Result<(), SyntaxFault> {
        let here = || Span::new(self.at, self.at);
        if self.open.len() > MAX_NESTING {
            return Err(SyntaxProblem::TooNested(MAX_NESTING).at(here()));
        }
        if self.values.len() > MAX_VALUES {
            return Err(SyntaxProblem::TooManyItems(MAX_VALUES).at(here()));
        }
        Ok(())
    }

    fn fault(&self, message: &'static str) -> SyntaxFault {
        let end = self.text.len().min(self.at + 1);
        SyntaxProblem::Json(message).at(Span::new(self.at.min(end), end))
    }

    fn skip_blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.text.get(self.at) {
            self.at += 1;
        }
    }

    fn next_is(&mut self, byte: u8) -> bool {
        self.skip_blanks();
        let found = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    fn add_value(&mut self, start: usize, kind: JsonKind) -> JsonId {
        self.values.push(JsonValue {
            span: Span::new(start, self.at),
            kind,
        });
        self.values.len() - 1
    }

    /// Reads a whole value, or opens a container and returns `None`.
    fn value(&mut self) -> Result<Option<JsonId>, SyntaxFault> {
        self.skip_blanks();
        let start = self.at;
        let kind = match self.text.get(start) {
            Some(b'{') => {
                self.at += 1;
                return self.open_object(start);
            }
            Some(b'[') => {
                self.at += 1;
                if !self.next_is(b']') {
                    self.open.push(OpenContainer {
                        start,
                        kind: ContainerKind::Array(Vec::new()),
                    });
                    return Ok(None);
                }
                JsonKind::Array(Vec::new())
            }
            Some(b'"') => JsonKind::String(self.string()?),
            Some(b'-' | b'0'..=b'9') => {
                self.number()?;
                JsonKind::Number
            }
            Some(b'a'..=b'z') => self.keyword()?,
            None => return Err(self.fault("a value is missing")),
            Some(_) => return Err(self.fault("this is not the start of a value")),
        };
        Ok(Some(self.add_value(start, kind)))
    }

    fn open_object(&mut self, start: usize) -> Result<Option<JsonId>, SyntaxFault> {
        if self.next_is(b'}') {
            return Ok(Some(self.add_value(start, JsonKind::Object(Vec::new()))));
        }
        let name = self.property_name()?;
        self.open.push(OpenContainer {
            start,
            kind: ContainerKind::Object(Vec::new(), Some(name)),
        });
        Ok(None)
    }

    fn property_name(&mut self) -> Result<(String, Span), SyntaxFault> {
        self.skip_blanks();
        let start = self.at;
        if self.text.get(start) != Some(&b'"') {
            return Err(self.fault("a property name in double quotes is expected"));
        }
        let name = self.string()?;
        let span = Span::new(start, self.at);
        if !self.next_is(b':') {
            return Err(self.fault("a colon is expected after the property name"));
        }
        Ok((name, span))
    }

    /// Adds a finished value to the container around it. Returns the container if that is finished, too.
    fn add(&mut self, open: OpenContainer, id: JsonId) -> Result<Option<JsonId>, SyntaxFault> {
        let OpenContainer { start, mut kind } = open;
        match &mut kind {
            ContainerKind::Array(values) => {
                values.push(id);
                if self.next_is(b']') {
                    let values = std::mem::take(values);
                    return Ok(Some(self.add_value(start, JsonKind::Array(values))));
                }
                if !self.next_is(b',') {
                    return Err(self.fault("a comma or `]` is expected"));
                }
            }
            ContainerKind::Object(properties, next) => {
                if let Some((name, name_span)) = next.take() {
                    properties.push(Property {
                        name,
                        name_span,
                        value: id,
                    });
                }
                if self.next_is(b'}') {
                    let properties = std::mem::take(properties);
                    return Ok(Some(self.add_value(start, JsonKind::Object(properties))));
                }
                if !self.next_is(b',') {
                    return Err(self.fault("a comma or `}` is expected"));
                }
                *next = Some(self.property_name()?);
            }
        }
        self.open.push(OpenContainer { start, kind });
        Ok(None)
    }

    fn keyword(&mut self) -> Result<JsonKind, SyntaxFault> {
        for (word, kind) in [
            (&b"null"[..], JsonKind::Null),
            (b"true", JsonKind::Bool(true)),
            (b"false", JsonKind::Bool(false)),
        ] {
            let rest = &self.text[self.at..];
            let next = rest.get(word.len());
            if rest.starts_with(word) && !next.is_some_and(u8::is_ascii_alphanumeric) {
                self.at += word.len();
                return Ok(kind);
            }
        }
        Err(self.fault("this word is not a value"))
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<(), SyntaxFault> {
        let invalid = SyntaxProblem::Json("this is not a number");
        let start = self.at;
        self.at += usize::from(self.text[start] == b'-');
        let leading_zero = self.text.get(self.at) == Some(&b'0');
        let whole = self.digits();
        let mut valid = whole == 1 || (whole > 1 && !leading_zero);
        if self.text.get(self.at) == Some(&b'.') {
            self.at += 1;
            valid &= self.digits() > 0;
        }
        if let Some(b'e' | b'E') = self.text.get(self.at) {
            self.at += 1;
            self.at += usize::from(matches!(self.text.get(self.at), Some(b'+' | b'-')));
            valid &= self.digits() > 0;
        }
        if valid {
            Ok(())
        } else {
            Err(invalid.at(Span::new(start, self.at)))
        }
    }

    /// Reads a string. Bytes that are not UTF-8 become replacement characters, as in Go.
    fn string(&mut self) -> Result<String, SyntaxFault> {
        let start = self.at;
        self.at += 1;
        let mut text = String::new();
        loop {
            let run = self.at;
            while !matches!(self.text.get(self.at), None | Some(b'"' | b'\\' | 0..0x20)) {
                self.at += 1;
            }
            let piece: Cow<'_, str> = String::from_utf8_lossy(&self.text[run..self.at]);
            text.push_str(&piece);
            match self.text.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => {
                    return Err(self.fault("a control character must be escaped in a string"));
                }
                None => {
                    let span = Span::new(start, start + 1);
                    return Err(SyntaxProblem::Json("this string has no closing quote").at(span));
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, SyntaxFault> {
        let selector = self.text.get(self.at + 1).copied();
        let letter = match selector {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(letter @ (b'"' | b'\\' | b'/')) => char::from(letter),
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.fault("this escape sequence is unknown")),
        };
        self.at += 2;
        Ok(letter)
    }

    /// Reads `\u1234`, or a surrogate pair of two such sequences. An unpaired surrogate becomes the replacement character, as
    /// in Go.
    fn unicode_escape(&mut self) -> Result<char, SyntaxFault> {
        let unit = |at: usize| -> Option<u32> {
            let digits = std::str::from_utf8(self.text.get(at + 2..at + 6)?).ok()?;
            let is_escape = self.text[at..].starts_with(b"\\u")
                && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
            u32::from_str_radix(digits, 16).ok().filter(|_| is_escape)
        };
        let Some(first) = unit(self.at) else {
            return Err(self.fault("`\\u` needs four hexadecimal digits"));
        };
        if let (0xd800..0xdc00, Some(second @ 0xdc00..0xe000)) = (first, unit(self.at + 6)) {
            self.at += 12;
            let code = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
            return Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
        }
        self.at += 6;
        Ok(char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn valid_and_invalid_json() {
        for text in [
            "{}",
            " [ {}, {} ]\r\n",
            r#"{"a": [1, -2.5e+3, true, false, null, "x\n\u00e9\ud83d\ude00"], "a": {"b": {}}}"#,
            r#"{"a": "\ud800"}"#,
        ] {
            assert!(parse(text.as_bytes()).is_ok(), "{text}");
        }
        assert!(
            parse(b"{\"a\": \"\xff\"}").is_ok(),
            "not UTF-8, which Go's reader lets pass"
        );
        for text in [
            "",
            " ",
            "{",
            "{\"a\"}",
            "{\"a\": }",
            "{\"a\": 1,}",
            "[1,]",
            "[1 2]",
            "{a: 1}",
            "{} {}",
            "\u{feff}{}",
            "nul",
            "nullx",
            "{\"a\": 01}",
            "{\"a\": 1.}",
            "{\"a\": .5}",
            "{\"a\": +1}",
            "{\"a\": \"\n\"}",
            "{\"a\": \"\\x\"}",
            "{\"a\": \"\\u12\"}",
            "{\"a\": \"b}",
            "{'a': 1}",
            "// c\n{}",
            "{\"a\": \u{0}1}",
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text:?}");
        }
    }

    #[test]
    fn deep_nesting_does_not_overflow_the_stack() {
        let levels = 200_000;
        let text = format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(
            parse(text.as_bytes()).map(|(values, _)| values.len()),
            Ok(levels)
        );
        assert!(parse("{\"a\":".repeat(levels).as_bytes()).is_err());
    }
}
