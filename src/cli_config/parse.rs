//! The grammar of HCL 1: `key... { items }`, `key = value`, lists and objects.
//!
//! No line breaks are required between items, and a comma may follow each item. List elements must be separated by commas, and a
//! comma may follow the last one. An item with labels cannot have `=`.

use crate::cli_config::json;
use crate::cli_config::scan::{Hcl1Scanner, Hcl1Token};
use crate::cli_config::tree::{
    ConfigSyntaxError, ConfigTree, ConfigValue, Item, ItemKey, MAX_DEPTH, SpannedValue,
};
use crate::span::Span;

/// Parses a file. It is parsed as JSON if its first visible character is `{`, regardless of the file name.
pub(super) fn parse(text: &str) -> Result<ConfigTree, ConfigSyntaxError> {
    if text.trim_start().starts_with('{') {
        return json::parse(text);
    }
    let mut parser = Hcl1Parser {
        scanner: Hcl1Scanner::new(text),
        peeked: None,
    };
    let items = parser.items(0)?;
    match parser.take()? {
        (Hcl1Token::End, _) => Ok(ConfigTree {
            items,
            is_json: false,
        }),
        (other, span) => Err(expected("a key", &other, span)),
    }
}

struct Hcl1Parser<'a> {
    scanner: Hcl1Scanner<'a>,
    peeked: Option<(Hcl1Token, Span)>,
}

impl Hcl1Parser<'_> {
    fn take(&mut self) -> Result<(Hcl1Token, Span), ConfigSyntaxError> {
        self.peeked.take().map_or_else(|| self.scanner.next(), Ok)
    }

    fn peek(&mut self) -> Result<&Hcl1Token, ConfigSyntaxError> {
        if self.peeked.is_none() {
            self.peeked = Some(self.scanner.next()?);
        }
        Ok(self
            .peeked
            .as_ref()
            .map_or(&Hcl1Token::End, |(token, _)| token))
    }

    /// Parses items up to `}` or the end of the file. The caller consumes that token.
    fn items(&mut self, depth: usize) -> Result<Vec<Item>, ConfigSyntaxError> {
        let mut items = Vec::new();
        while !matches!(self.peek()?, Hcl1Token::End | Hcl1Token::Sign('}')) {
            items.push(self.item(depth)?);
            if matches!(self.peek()?, Hcl1Token::Sign(',')) {
                self.take()?;
            }
        }
        Ok(items)
    }

    fn item(&mut self, depth: usize) -> Result<Item, ConfigSyntaxError> {
        let mut keys = Vec::new();
        loop {
            let (token, span) = self.take()?;
            match token {
                Hcl1Token::Ident(text) | Hcl1Token::String(text) => {
                    keys.push(ItemKey { text, span });
                }
                Hcl1Token::Sign('=') if keys.len() == 1 => {
                    let token = self.take()?;
                    let value = self.value(token, depth)?;
                    return Ok(Item {
                        keys,
                        assigned: true,
                        value,
                    });
                }
                Hcl1Token::Sign('{') if !keys.is_empty() => {
                    let value = self.value((token, span), depth)?;
                    return Ok(Item {
                        keys,
                        assigned: false,
                        value,
                    });
                }
                other => {
                    let wanted = match keys.len() {
                        0 => "a key",
                        1 => "a label, `=` or `{`",
                        _ => "a label or `{`",
                    };
                    return Err(expected(wanted, &other, span));
                }
            }
        }
    }

    /// Parses the value that begins with the given token.
    fn value(
        &mut self,
        (token, span): (Hcl1Token, Span),
        depth: usize,
    ) -> Result<SpannedValue, ConfigSyntaxError> {
        if depth > MAX_DEPTH {
            return Err(ConfigSyntaxError::new(
                format!("more than {MAX_DEPTH} levels of nesting"),
                span,
            ));
        }
        let value = match token {
            Hcl1Token::String(text) | Hcl1Token::Heredoc(text) => ConfigValue::String(text),
            Hcl1Token::Number(text) => ConfigValue::Number(text),
            Hcl1Token::Bool(value) => ConfigValue::Bool(value),
            Hcl1Token::Sign('{') => {
                let items = self.items(depth + 1)?;
                return match self.take()? {
                    (Hcl1Token::Sign('}'), end) => Ok(SpannedValue {
                        value: ConfigValue::Object(items),
                        span: span.to(end),
                    }),
                    (other, at) => Err(expected("`}`", &other, at)),
                };
            }
            Hcl1Token::Sign('[') => return self.list(span, depth),
            other => return Err(expected("a value", &other, span)),
        };
        Ok(SpannedValue { value, span })
    }

    fn list(&mut self, start: Span, depth: usize) -> Result<SpannedValue, ConfigSyntaxError> {
        let mut elements = Vec::new();
        let mut separated = true;
        loop {
            let (token, span) = self.take()?;
            match token {
                Hcl1Token::Sign(']') => {
                    return Ok(SpannedValue {
                        value: ConfigValue::List(elements),
                        span: start.to(span),
                    });
                }
                Hcl1Token::Sign(',') => separated = true,
                other if separated => {
                    elements.push(self.value((other, span), depth + 1)?);
                    separated = false;
                }
                other => return Err(expected("`,` or `]`", &other, span)),
            }
        }
    }
}

fn expected(wanted: &str, found: &Hcl1Token, span: Span) -> ConfigSyntaxError {
    ConfigSyntaxError::new(
        format!("expected {wanted}, found {}", found.describe()),
        span,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Renders items as compact text, such as `key key:{key=value}`.
    fn show(items: &[Item]) -> String {
        let shown = items.iter().map(|item| {
            let keys: Vec<_> = item.keys.iter().map(|key| key.text.as_str()).collect();
            let sign = if item.assigned { "=" } else { ":" };
            format!("{}{sign}{}", keys.join(" "), show_value(&item.value.value))
        });
        shown.collect::<Vec<_>>().join(";")
    }

    fn show_value(value: &ConfigValue) -> String {
        match value {
            ConfigValue::String(text) => format!("{text:?}"),
            ConfigValue::Number(text) => text.clone(),
            ConfigValue::Bool(value) => value.to_string(),
            ConfigValue::Null => "null".to_owned(),
            ConfigValue::List(list) => {
                let list: Vec<_> = list.iter().map(|node| show_value(&node.value)).collect();
                format!("[{}]", list.join(","))
            }
            ConfigValue::Object(items) => format!("{{{}}}", show(items)),
        }
    }

    #[test]
    fn the_grammar() {
        let rows = [
            ("", ""),
            ("a = 1", "a=1"),
            ("a = 1 b = 2", "a=1;b=2"),
            ("a = 1, b = 2,", "a=1;b=2"),
            ("a {}", "a:{}"),
            ("a \"b\" c {}", "a b c:{}"),
            ("\"a\" \"b\" { c = true d = false }", "a b:{c=true;d=false}"),
            ("a = { b = { c = \"d\" } }", "a={b={c=\"d\"}}"),
            ("a { providers.v1 = \"x\" }", "a:{providers.v1=\"x\"}"),
            ("a = [1, \"b\", { c = 1 }, [2],]", "a=[1,\"b\",{c=1},[2]]"),
            ("a = [,]", "a=[]"),
            ("a = -1.5e+3 b = 0x1F", "a=-1.5e+3;b=0x1F"),
            ("# c\na = 1 // d\n/* e\n */ b = 2 # f", "a=1;b=2"),
            ("a = 1\r\nb = 2\r\n", "a=1;b=2"),
            ("a = \"${b \"c\" {} \n}\"", "a=\"${b \\\"c\\\" {} \\n}\""),
            ("a = <<E\nx\ny\nE\nb = 1", "a=\"x\\ny\\n\";b=1"),
            ("a = <<-E\n  x\n    y\n  E\n", "a=\"x\\n  y\\n\""),
            ("a = <<E\r\nx\r\nE\r\n", "a=\"x\\r\\n\""),
            ("a = <<E\nEx\n E", "a=\"Ex\\n\""),
        ];
        for (text, expected) in rows {
            let tree = parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
            assert_eq!(show(&tree.items), expected, "{text}");
            assert!(!tree.is_json);
        }
    }

    #[test]
    fn the_grammar_of_json() {
        let rows = [
            ("{}", ""),
            (" \n{\"a\": {\"b\": 1}}", "a:{b:1}"),
            (
                "{\"a\": [1, -2.5e3, true, null, \"x\\u0041\\/\"], }",
                "a:[1,-2.5e3,true,null,\"xA/\"]",
            ),
            ("{\"a\": [{},],} and more", "a:[{}]"),
            ("{\"a b\" : \"\", \"a b\": 2}", "a b:\"\";a b:2"),
        ];
        for (text, expected) in rows {
            let tree = parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
            assert_eq!(show(&tree.items), expected, "{text}");
            assert!(tree.is_json);
        }
    }

    #[test]
    fn errors_have_a_place() {
        let rows = [
            ("a = [1 2]", 7, "expected `,` or `]`, found `2`"),
            ("a = b", 4, "expected a value, found `b`"),
            (
                "a",
                1,
                "expected a label, `=` or `{`, found the end of the file",
            ),
            ("a \"b\" = {}", 6, "expected a label or `{`, found `=`"),
            ("a {} }", 5, "expected a key, found `}`"),
            ("a {", 3, "expected `}`, found the end of the file"),
            ("{ a = 1 }", 2, "expected a quoted key or `}`"),
            ("// c\n{}", 5, "expected a key, found `{`"),
            ("a = \"b\nc\"", 4, "this string must end on its first line"),
            ("a = \"\\q\"", 5, "unknown escape sequence"),
            ("a = 1 /* b", 6, "this comment is not closed"),
            ("a = -", 4, "expected a number after `-`"),
            ("a = <<E\nx\n", 4, "this heredoc is not closed"),
            ("a = <<E", 4, "this heredoc has no lines"),
            ("a = <x", 4, "unexpected `<`"),
            ("a = 1 ?", 6, "unexpected `?`"),
            ("{\"a\" 1}", 5, "expected `:`"),
            ("{\"a\": x}", 6, "expected a value"),
            ("{\"a\": 1 \"b\": 2}", 8, "expected `,` or `}`"),
            ("{\"a\": [1 2]}", 9, "expected `,` or `]`"),
        ];
        for (text, at, problem) in rows {
            let error = parse(text).expect_err(text);
            assert_eq!(
                (error.span.start, error.problem.as_str()),
                (at, problem),
                "{text}"
            );
        }
    }

    #[test]
    fn nesting_has_a_limit() {
        for (open, close) in [("a = [", "]"), ("a = {a = ", "}"), ("{\"a\":", "}")] {
            let inner = open.trim_start_matches("a = ");
            let deep = format!("{open}{}1{}", inner.repeat(100_000), close.repeat(100_001));
            let error = parse(&deep).expect_err("too deep");
            assert_eq!(
                error.problem,
                format!("more than {MAX_DEPTH} levels of nesting")
            );
        }
    }

    proptest::proptest! {
        #[test]
        fn the_parser_never_panics(text in "\\PC*") {
            let _ = parse(&text);
        }

        #[test]
        fn the_parser_never_panics_on_similar_texts(
            text in "([a-c.\"=,{}\\[\\]\n #/*<$\\\\-]|<<-?E\n|\nE\n|\\$\\{|é|: ?|1|true|null){0,60}"
        ) {
            let _ = parse(&text);
            let _ = parse(&format!("{{{text}"));
        }
    }
}
