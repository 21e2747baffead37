//! The arguments and blocks of a file in native syntax.
//!
//! Arguments and blocks form one list in source order, and each block stores the range of its content in that list. Building,
//! walking and dropping the list therefore never recurses, however deeply blocks are nested. Argument values stay byte ranges.

use std::ops::Range;

use crate::span::Span;

use super::body::{Argument, Block, Body, BodySyntax, Label};
use super::source_file::SourceFile;
use super::strings::decode;

/// An argument or a block.
#[derive(Clone, Debug)]
pub(super) enum NativeItem {
    Argument {
        name: Span,
        value: Span,
    },
    Block {
        kind: Span,
        /// Positions in [`NativeFile::labels`].
        labels: Range<usize>,
        /// Positions in [`NativeFile::items`].
        content: Range<usize>,
    },
}

/// The arguments, blocks and labels of a file.
#[derive(Debug, Default)]
pub(super) struct NativeFile {
    pub(super) items: Vec<NativeItem>,
    pub(super) labels: Vec<Span>,
}

impl NativeFile {
    /// Returns the items of a body, without the contents of its blocks.
    fn body_items(&self, body: Range<usize>) -> impl Iterator<Item = &NativeItem> {
        let mut next = body.start;
        std::iter::from_fn(move || {
            if next >= body.end {
                return None;
            }
            let item = &self.items[next];
            next = match item {
                NativeItem::Argument { .. } => next + 1,
                NativeItem::Block { content, .. } => content.end,
            };
            Some(item)
        })
    }

    /// Returns the first argument name that already occurs earlier in the same body. `start` is the index of the body's first item.
    pub(super) fn repeated_argument(&self, start: usize, text: &[u8]) -> Option<Span> {
        let mut names: Vec<(&[u8], Span)> = self
            .body_items(start..self.items.len())
            .filter_map(|item| match item {
                NativeItem::Argument { name, .. } => Some((&text[name.start..name.end], *name)),
                NativeItem::Block { .. } => None,
            })
            .collect();
        names.sort_unstable_by_key(|&(name, span)| (name, span.start));
        names
            .windows(2)
            .filter(|pair| pair[0].0 == pair[1].0)
            .map(|pair| pair[1].1)
            .min_by_key(|span| span.start)
    }
}

/// The content of a file or block in native syntax.
#[derive(Clone, Debug)]
pub(super) struct NativeBody<'a> {
    pub(super) file: &'a SourceFile,
    native: &'a NativeFile,
    /// Positions in [`NativeFile::items`].
    content: Range<usize>,
}

impl<'a> NativeBody<'a> {
    pub(super) const fn of_file(file: &'a SourceFile, native: &'a NativeFile) -> Self {
        Self {
            file,
            native,
            content: 0..native.items.len(),
        }
    }

    /// Returns the arguments whose names `matches` accepts, in source order.
    pub(super) fn arguments<F: Fn(&[u8]) -> bool>(
        &self,
        matches: F,
    ) -> impl Iterator<Item = Argument<'a>> + use<'a, F> {
        let file = self.file;
        self.native
            .body_items(self.content.clone())
            .filter_map(move |item| match item {
                &NativeItem::Argument { name, value } => {
                    let text = text_of(file, name);
                    matches(text).then(|| Argument {
                        file,
                        name: identifier(text),
                        name_span: name,
                        value,
                        json_value: None,
                    })
                }
                NativeItem::Block { .. } => None,
            })
    }

    /// Returns the blocks whose kinds `matches` accepts, in source order.
    pub(super) fn blocks<F: Fn(&[u8]) -> bool>(
        &self,
        matches: F,
    ) -> impl Iterator<Item = Block<'a>> + use<'a, F> {
        let (file, native) = (self.file, self.native);
        native
            .body_items(self.content.clone())
            .filter_map(move |item| match item {
                NativeItem::Block {
                    kind,
                    labels,
                    content,
                } => {
                    let text = text_of(file, *kind);
                    matches(text).then(|| Block {
                        kind: identifier(text),
                        labels: native.labels[labels.clone()]
                            .iter()
                            .map(|&span| label(file, span))
                            .collect(),
                        span: *kind,
                        body: Body(BodySyntax::Native(Self {
                            file,
                            native,
                            content: content.clone(),
                        })),
                    })
                }
                NativeItem::Argument { .. } => None,
            })
    }
}

fn text_of(file: &SourceFile, span: Span) -> &[u8] {
    &file.text()[span.start..span.end]
}

/// Converts an identifier, which the parser has checked to be UTF-8.
fn identifier(text: &[u8]) -> &str {
    std::str::from_utf8(text).unwrap_or_default()
}

fn label(file: &SourceFile, span: Span) -> Label {
    let text = match text_of(file, span) {
        [b'"', inner @ .., b'"'] => decode(inner, true),
        word => String::from_utf8_lossy(word).into_owned(),
    };
    Label { text, span }
}

#[cfg(test)]
mod tests {
    use crate::span::Explain as _;
    use crate::syntax::{Body, MAX_DEPTH, SourceFile, Strings, SyntaxError, SyntaxProblem};

    fn parse(text: impl AsRef<[u8]>) -> Result<SourceFile, SyntaxError> {
        SourceFile::parse("a.tf", text.as_ref().to_vec())
    }

    /// Describes the structure of a body, such as `argument, kind label(argument, kind2())`.
    fn outline(body: &Body<'_>) -> String {
        let mut items: Vec<(usize, String)> = Vec::new();
        for argument in body.arguments().unwrap() {
            items.push((argument.name_span.start, argument.name().to_owned()));
        }
        for block in body.native_blocks() {
            let labels = block.labels().iter();
            let labels = labels.fold(String::new(), |all, label| all + " " + &label.text);
            let text = format!("{}{labels}({})", block.kind(), outline(block.body()));
            items.push((block.span.start, text));
        }
        items.sort();
        let texts: Vec<String> = items.into_iter().map(|(_, text)| text).collect();
        texts.join(", ")
    }

    #[test]
    fn valid_files_and_their_structure() {
        for (text, expected) in [
            ("", ""),
            ("\u{feff}a = 1", "a"),
            ("a = 1\r\nb = 2\r\n", "a, b"),
            ("a { b = 1 }\nc {}\n", "a(b), c()"),
            ("a b \"c\\t\" {\n  d {\n  }\n  e = 1\n}", "a b c\t(d(), e)"),
            ("a = <<EOT\nx\nEOT;\n  EOT\nb = 1\n", "a, b"), // the marker ends a heredoc only if nothing follows it on its line
            ("a = \"${{ b = \"}\" }[\"b\"]}\"\n", "a"),
            ("a = {for k in y : k =>\n x\n ? 1\n : 2}\n", "a"), // newlines around operators
            ("a = {\n b = 1, c : 2\n (d) = 3\n\n}\n", "a"),
            ("a = { b = 1, b = 2 }\n", "a"), // duplicate keys
            ("a = f(1,\n[2]...\n)\n", "a"),
            ("a = b::c(\n)[*].d.0[1].*.e\n", "a"),
            ("# \u{0}\ra = ?\nb = 1 /* \n */\n", "b"),
            ("a = <<-E\n %{ for x in y ~}\n${x}%{ endfor }\n E\n", "a"),
            ("é-1 \"ü\" {\n}\n", "é-1 ü()"),
            ("a = 1 == 2 ? b : c ? -d : !e\n", "a"),
            ("a = (\n 1 +\n 2\n)\n", "a"),
        ] {
            let file = parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
            assert_eq!(outline(&file.body()), expected, "{text:?}");
        }
        assert!(parse(b"# not UTF-8: \xff\na = 1\n").is_ok());
    }

    #[test]
    fn syntax_errors_and_their_places() {
        use SyntaxProblem as P;
        let redefined = P::AttributeRedefined("a".to_owned());
        let no_keys =
            P::InvalidFor("`=>` is allowed only in a `for` expression that builds an object");
        let keys_needed = P::InvalidFor("an object must have keys, as in `key => value`");
        for (text, place, problem) in [
            ("a", "1:1", P::ItemRequired),
            ("a = 1 b = 2", "1:7", P::MissingNewlineAfterArgument),
            ("a {\n b = 1\n", "1:3", P::UnclosedBlock),
            ("a\n{\n}\n", "1:1", P::ItemRequired),
            ("a \"b\"\n{\n}\n", "1:6", P::InvalidBlock),
            ("a \"${b}\" {\n}\n", "1:4", P::TemplateInLabel),
            ("a { b = 1\n}\n", "1:10", P::InvalidOneLineBlock),
            ("a { b {} }\n", "1:5", P::InvalidOneLineBlock),
            ("a {\n} b = 1\n", "2:3", P::MissingNewlineAfterBlock),
            ("a = 1\nb = 2\na = 3\n", "3:1", redefined),
            ("\"a\" = 1\n", "1:1", P::QuotedArgumentName),
            ("a = 'b'\n", "1:5", P::InvalidCharacter('\'')),
            ("a = 1;\n", "1:6", P::InvalidCharacter(';')),
            ("a = 1\rb = 2\n", "1:6", P::InvalidCharacter('\r')),
            ("a = \u{0}\n", "1:5", P::InvalidCharacter('\0')),
            ("a = \"b\nc\"\n", "1:7", P::MultiLineString),
            ("a = \"b", "1:5", P::UnterminatedTemplate),
            ("a = <<EOT\nb\nEOT", "1:5", P::UnterminatedTemplate), // the marker line must end with a newline
            ("a = <<EOT\nb\rc\nEOT\n", "2:2", P::InvalidCharacter('\r')),
            ("a = <<EOT\n\r EOT\nEOT\n", "2:1", P::InvalidCharacter('\r')),
            ("a = \"\\q\"\n", "1:6", P::InvalidEscape),
            ("a = \"${b\"\n", "1:6", P::UnclosedInterpolation),
            ("a = \"${b c}\"\n", "1:10", P::ExtraInInterpolation),
            ("a = \"%{ if b }c\"\n", "1:9", P::UnbalancedDirectives),
            (
                "a = \"%{ if b }${\"%{ endif }\"}\"",
                "1:21",
                P::UnbalancedDirectives,
            ),
            ("a = \"%{ endfor }\"\n", "1:9", P::UnbalancedDirectives),
            ("a = \"%{ loop }\"\n", "1:9", P::InvalidDirective),
            ("a = [1 2]\n", "1:8", P::MissingItemSeparator),
            ("a = [1", "1:5", P::UnterminatedTuple),
            ("a = { b 1 }\n", "1:9", P::MissingKeyValueSeparator),
            ("a = { b = 1 c = 2 }", "1:13", P::MissingAttributeSeparator),
            ("a = { b = 1", "1:5", P::UnterminatedObject),
            ("a = f(1 2)\n", "1:9", P::MissingArgumentSeparator),
            ("a = f(1", "1:5", P::UnterminatedCall),
            ("a = f(b..., c)\n", "1:11", P::MissingCloseParenthesis),
            ("a = f::\n", "1:8", P::MissingFunctionName),
            ("a = f::g\n", "1:9", P::MissingOpenParenthesis),
            ("a = (1\n", "2:1", P::UnbalancedParentheses),
            ("a = b ? c\n", "1:10", P::MissingFalseExpression),
            ("a = b.\n", "1:7", P::AttributeNameRequired),
            ("a = b.0.1\n", "1:7", P::ChainedLegacyIndex),
            ("a = b[0\n", "2:1", P::MissingIndexBracket),
            ("a = 1.2.3\n", "1:5", P::InvalidNumber),
            ("a = \n", "1:5", P::ExpressionRequired),
            ("a = b *\n c\n", "1:8", P::ExpressionRequired),
            ("a = [for x in y : k => v]\n", "1:21", no_keys),
            ("a = {for x in y : v}\n", "1:20", keys_needed),
            (
                "a = [for x in y : v w]\n",
                "1:21",
                P::InvalidFor("expected a closing bracket or brace"),
            ),
        ] {
            let error = parse(text).expect_err(text);
            let found = format!("{}:{}", error.place.line, error.place.column);
            assert_eq!(
                (found.as_str(), error.problem),
                (place, problem),
                "{text:?}"
            );
        }
        let error = parse(b"a = \"\xff\"\n").expect_err("not UTF-8");
        assert_eq!(error.problem, P::InvalidEncoding);
    }

    #[test]
    fn hints_for_likely_mistakes() {
        let dollars = "to write a literal `${`, double the dollar sign";
        for (value, expected) in [
            ("'b'", Some("write strings in double quotes")),
            (
                "“b”",
                Some("replace curly quotes with straight double quotes"),
            ),
            ("b;", Some("separate arguments with newlines")),
            ("b\rc", Some("end lines with LF or CRLF")),
            ("\"${b\"", Some(dollars)),
            ("\"${b c}\"", Some(dollars)),
            (
                "\"b\nc\"",
                Some(
                    "add the missing `\"`; for a line break in the text, use `\\n` or a heredoc such as `<<EOT`",
                ),
            ),
            ("[1 2]", None),
        ] {
            let error = parse(format!("a = {value}\n")).expect_err(value);
            assert_eq!(error.hint().as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn deep_nesting_does_not_overflow_the_stack() {
        const LEVELS: usize = 50_000;
        for (open, middle, close) in [
            ("[", "1", "]"),
            ("(", "1", ")"),
            ("{ a = ", "1", " }"),
            ("f(", "1", ")"),
            ("a[", "1", "]"),
            ("!", "a", ""),
            ("1 + ", "1", ""),
            ("a ? b : ", "1", ""),
            ("\"${", "1", "}\""),
        ] {
            let text = format!(
                "a = {}{middle}{}\n",
                open.repeat(LEVELS),
                close.repeat(LEVELS)
            );
            let file = parse(&text).unwrap_or_else(|error| panic!("{open}: {}", error.problem));
            let value = file.body().value("a").unwrap().expect("just written");
            let tree = value.tree(Strings::Plain).map_err(|error| error.problem);
            assert_eq!(tree, Err(SyntaxProblem::TooDeep(MAX_DEPTH)), "{open}");
        }
        let blocks = format!("{}{}", "a {\n".repeat(LEVELS), "}\n".repeat(LEVELS));
        assert!(parse(&blocks).is_ok());
        assert!(parse("a {\n".repeat(LEVELS)).is_err());
    }
}
