//! Parses JSON text (RFC 8259) into a list of values, without recursion.
//!
//! serde_json is not used, because it reports no value positions, keeps only one of several duplicate keys, and recurses.

use crate::span::Span;

use super::super::error::{SyntaxFault, SyntaxProblem};
use super::super::parser::MAX_NESTING;
use super::{JsonId, JsonKind, JsonValue, Property};

/// An array or object whose closing bracket has not been read yet.
enum OpenContainer {
    Array(Vec<JsonId>),
    /// The properties so far, and the name of the property whose value comes next.
    Object(Vec<Property>, (String, Span)),
}

/// The maximum number of values in a file: ten times as many as in a file of a few megabytes.
const MAX_VALUES: usize = 500_000;

struct JsonParser<'a> {
    text: &'a [u8],
    at: usize,
    values: Vec<JsonValue>,
    /// The containers around the current position, each with the offset of its opening bracket.
    open: Vec<(usize, OpenContainer)>,
}

/// Parses a text. Returns its values and the index of the root value.
pub(super) fn parse(text: &[u8]) -> Result<(Vec<JsonValue>, JsonId), SyntaxFault> {
    let mut parser = JsonParser {
        text,
        at: 0,
        values: Vec::new(),
        open: Vec::new(),
    };
    let root = parser.run()?;
    parser.skip_blanks();
    if parser.at < text.len() {
        return Err(parser.fault("expected the end of the file"));
    }
    Ok((parser.values, root))
}

impl JsonParser<'_> {
    fn run(&mut self) -> Result<JsonId, SyntaxFault> {
        loop {
            self.check_size()?;
            let mut finished = self.value()?;
            // A finished value may complete the container around it.
            while let Some(id) = finished {
                match self.open.pop() {
                    None => return Ok(id),
                    Some((start, container)) => finished = self.add(start, container, id)?,
                }
            }
        }
    }

    /// Limits memory use: values and open containers take up to 100 times as much memory as their text.
    fn check_size(&self) -> Result<(), SyntaxFault> {
        let here = Span::new(self.at, self.at);
        if self.open.len() > MAX_NESTING {
            return Err(SyntaxProblem::TooNested(MAX_NESTING).at(here));
        }
        if self.values.len() > MAX_VALUES {
            return Err(SyntaxProblem::TooManyItems(MAX_VALUES).at(here));
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

    fn expect(&mut self, byte: u8, message: &'static str) -> Result<(), SyntaxFault> {
        if self.next_is(byte) {
            Ok(())
        } else {
            Err(self.fault(message))
        }
    }

    fn add_value(&mut self, start: usize, kind: JsonKind) -> JsonId {
        let span = Span::new(start, self.at);
        self.values.push(JsonValue { span, kind });
        self.values.len() - 1
    }

    /// Reads a complete value, or opens a container and returns `None`.
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
                    self.open.push((start, OpenContainer::Array(Vec::new())));
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
            _ => return Err(self.fault("expected a value")),
        };
        Ok(Some(self.add_value(start, kind)))
    }

    fn open_object(&mut self, start: usize) -> Result<Option<JsonId>, SyntaxFault> {
        if self.next_is(b'}') {
            return Ok(Some(self.add_value(start, JsonKind::Object(Vec::new()))));
        }
        let name = self.property_name()?;
        let container = OpenContainer::Object(Vec::new(), name);
        self.open.push((start, container));
        Ok(None)
    }

    fn property_name(&mut self) -> Result<(String, Span), SyntaxFault> {
        self.skip_blanks();
        let start = self.at;
        if self.text.get(start) != Some(&b'"') {
            return Err(self.fault("expected a property name in double quotes"));
        }
        let name = self.string()?;
        let span = Span::new(start, self.at);
        self.expect(b':', "expected a colon after the property name")?;
        Ok((name, span))
    }

    /// Adds a finished value to the container around it. Returns the container if it is now finished, too.
    fn add(
        &mut self,
        start: usize,
        container: OpenContainer,
        value: JsonId,
    ) -> Result<Option<JsonId>, SyntaxFault> {
        let unfinished = match container {
            OpenContainer::Array(mut values) => {
                values.push(value);
                if self.next_is(b']') {
                    return Ok(Some(self.add_value(start, JsonKind::Array(values))));
                }
                self.expect(b',', "expected a comma or `]`")?;
                OpenContainer::Array(values)
            }
            OpenContainer::Object(mut properties, (name, name_span)) => {
                properties.push(Property {
                    name,
                    name_span,
                    value,
                });
                if self.next_is(b'}') {
                    return Ok(Some(self.add_value(start, JsonKind::Object(properties))));
                }
                self.expect(b',', "expected a comma or `}`")?;
                OpenContainer::Object(properties, self.property_name()?)
            }
        };
        self.open.push((start, unfinished));
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
        Err(self.fault("expected `true`, `false`, `null` or another value"))
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.text.get(self.at).is_some_and(u8::is_ascii_digit) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<(), SyntaxFault> {
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
            Err(SyntaxProblem::Json("invalid number").at(Span::new(start, self.at)))
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
            text.push_str(&String::from_utf8_lossy(&self.text[run..self.at]));
            match self.text.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(text);
                }
                Some(b'\\') => text.push(self.escape()?),
                Some(_) => {
                    return Err(self.fault("control characters in strings must be escaped"));
                }
                None => {
                    let problem = SyntaxProblem::Json("this string has no closing quote");
                    return Err(problem.at(Span::new(start, start + 1)));
                }
            }
        }
    }

    fn escape(&mut self) -> Result<char, SyntaxFault> {
        let letter = match self.text.get(self.at + 1).copied() {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(letter @ (b'"' | b'\\' | b'/')) => char::from(letter),
            Some(b'u') => return self.unicode_escape(),
            _ => return Err(self.fault("unknown escape sequence")),
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
            return Err(self.fault("expected four hexadecimal digits after `\\u`"));
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
            "not UTF-8, which Go's reader accepts"
        );
        for (text, message) in [
            ("", "expected a value"),
            (" ", "expected a value"),
            ("{", "expected a property name in double quotes"),
            (r#"{"a"}"#, "expected a colon after the property name"),
            (r#"{"a": }"#, "expected a value"),
            (r#"{"a": 1,}"#, "expected a property name in double quotes"),
            ("[1,]", "expected a value"),
            ("[1 2]", "expected a comma or `]`"),
            (r#"{"a": 1 "b"}"#, "expected a comma or `}`"),
            ("{a: 1}", "expected a property name in double quotes"),
            ("{} {}", "expected the end of the file"),
            ("\u{feff}{}", "expected a value"),
            ("nul", "expected `true`, `false`, `null` or another value"),
            ("nullx", "expected `true`, `false`, `null` or another value"),
            (r#"{"a": 01}"#, "invalid number"),
            (r#"{"a": 1.}"#, "invalid number"),
            (r#"{"a": .5}"#, "expected a value"),
            (r#"{"a": +1}"#, "expected a value"),
            (
                "{\"a\": \"\n\"}",
                "control characters in strings must be escaped",
            ),
            (r#"{"a": "\x"}"#, "unknown escape sequence"),
            (
                r#"{"a": "\u12"}"#,
                "expected four hexadecimal digits after `\\u`",
            ),
            (r#"{"a": "b}"#, "this string has no closing quote"),
            ("{'a': 1}", "expected a property name in double quotes"),
            ("// c\n{}", "expected a value"),
            ("{\"a\": \u{0}1}", "expected a value"),
        ] {
            let fault = parse(text.as_bytes()).map(drop).expect_err(text);
            assert_eq!(fault.problem, SyntaxProblem::Json(message), "{text:?}");
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
