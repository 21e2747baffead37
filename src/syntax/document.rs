//! A file in native syntax as blocks and arguments.
//!
//! The structure is one list in the order of the text, in which a block says where its content ends: no recursion to build,
//! walk or drop, whatever the nesting. Values of arguments are byte ranges until someone asks ([`Argument::expression`]).

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::span::{Lines, Place, Span};

use super::budget::FileBudget;
use super::error::{Fault, Problem, SyntaxError};
use super::expr::{Expr, MAX_EXPRESSION};
use super::parser::Parser;
use super::strings::decode;
use super::tree::TreeBuilder;

/// An item of a body.
#[derive(Clone, Debug)]
pub(super) enum Node {
    Argument {
        name: Span,
        value: Span,
    },
    Block {
        kind: Span,
        /// Its labels, in the document's list.
        labels: Range<usize>,
        /// The first node behind its content.
        end: usize,
        /// The closing brace.
        close: Span,
    },
}

/// The name of an argument that `nodes[range]` sets twice, not counting nested bodies.
pub(super) fn repeated_argument(nodes: &[Node], range: Range<usize>, text: &[u8]) -> Option<Span> {
    let mut names: Vec<(&[u8], Span)> = Vec::new();
    let mut at = range.start;
    while at < range.end {
        at = match &nodes[at] {
            Node::Argument { name, .. } => {
                names.push((&text[name.start..name.end], *name));
                at + 1
            }
            Node::Block { end, .. } => *end,
        };
    }
    names.sort_unstable_by_key(|&(name, span)| (name, span.start));
    let repeated = names
        .windows(2)
        .filter(|pair| pair[0].0 == pair[1].0)
        .map(|pair| pair[1].1);
    repeated.min_by_key(|span| span.start)
}

/// A file in native syntax, free of syntax errors.
#[derive(Clone, Debug)]
pub struct Document {
    path: PathBuf,
    text: Vec<u8>,
    nodes: Vec<Node>,
    labels: Vec<Span>,
    lines: OnceLock<Lines>,
    constants: FileBudget,
}

impl Document {
    /// Reads `text`, the content of the file at `path`. The first syntax error anywhere in it is the result, as in Terraform.
    pub fn parse(path: impl Into<PathBuf>, text: Vec<u8>) -> Result<Self, SyntaxError> {
        let path = path.into();
        match Parser::file(&text) {
            Ok((nodes, labels)) => Ok(Self {
                path,
                text,
                nodes,
                labels,
                lines: OnceLock::new(),
                constants: FileBudget::default(),
            }),
            Err(fault) => Err(fault.in_file(&path, &text)),
        }
    }

    /// The body of the file.
    pub fn body(&self) -> Body<'_> {
        Body {
            document: self,
            range: 0..self.nodes.len(),
            end: Span::new(self.text.len(), self.text.len()),
        }
    }

    /// What its constants may cost.
    pub const fn constants(&self) -> &FileBudget {
        &self.constants
    }

    /// The path as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The place of a range of this file.
    pub fn place(&self, span: Span) -> Place {
        Place::indexed(&self.lines, &self.path, &self.text, span)
    }

    /// The value of an argument ([`Argument::value_span`]) as a tree. The text was checked when the file was read, so the only
    /// errors are nesting beyond [`super::MAX_DEPTH`]
    /// or a length beyond [`super::MAX_EXPRESSION`].
    pub fn expression(&self, value: Span) -> Result<Expr, SyntaxError> {
        if value.end.saturating_sub(value.start) > MAX_EXPRESSION {
            let fault = Fault::new(value, Problem::TooLong(MAX_EXPRESSION));
            return Err(fault.in_file(&self.path, &self.text));
        }
        Parser::expression_at(&self.text, value.start, TreeBuilder::new(&self.text))
            .and_then(TreeBuilder::finish)
            .map_err(|fault| fault.in_file(&self.path, &self.text))
    }

    fn text_of(&self, span: Span) -> &[u8] {
        &self.text[span.start..span.end]
    }

    /// Identifiers were checked to be UTF-8 by the parser.
    fn name_of(&self, span: Span) -> &str {
        std::str::from_utf8(self.text_of(span)).unwrap_or_default()
    }
}

/// The content of a file or block.
#[derive(Clone, Debug)]
pub struct Body<'a> {
    document: &'a Document,
    range: Range<usize>,
    end: Span,
}

impl<'a> Body<'a> {
    /// Its arguments, in the order of the text.
    pub fn arguments(&self) -> impl Iterator<Item = Argument<'a>> + use<'a> {
        let document = self.document;
        self.nodes().filter_map(move |at| match document.nodes[at] {
            Node::Argument { name, value } => Some(Argument {
                document,
                name,
                value,
            }),
            Node::Block { .. } => None,
        })
    }

    /// Its blocks, in the order of the text.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'a>> + use<'a> {
        let document = self.document;
        self.nodes().filter_map(move |at| match document.nodes[at] {
            Node::Argument { .. } => None,
            Node::Block { .. } => Some(Block { document, at }),
        })
    }

    /// The argument of that name.
    pub fn argument(&self, name: &str) -> Option<Argument<'a>> {
        self.arguments().find(|argument| argument.name() == name)
    }

    /// The file that it is part of.
    pub fn document(&self) -> &'a Document {
        self.document
    }

    /// Where it ends: the place to blame for something missing.
    pub fn end(&self) -> Place {
        self.document.place(self.end)
    }

    fn nodes(&self) -> impl Iterator<Item = usize> + use<'a> {
        let document = self.document;
        let end = self.range.end;
        let mut at = self.range.start;
        std::iter::from_fn(move || {
            let current = at;
            if current >= end {
                return None;
            }
            at = match &document.nodes[current] {
                Node::Argument { .. } => current + 1,
                Node::Block { end, .. } => *end,
            };
            Some(current)
        })
    }
}

/// `name = value`.
#[derive(Clone, Copy, Debug)]
pub struct Argument<'a> {
    document: &'a Document,
    name: Span,
    value: Span,
}

impl<'a> Argument<'a> {
    /// Its name.
    pub fn name(&self) -> &'a str {
        self.document.name_of(self.name)
    }

    /// The place of its name.
    pub fn place(&self) -> Place {
        self.document.place(self.name)
    }

    /// The range of its name.
    pub const fn name_span(&self) -> Span {
        self.name
    }

    /// The range of its value.
    pub const fn value_span(&self) -> Span {
        self.value
    }

    /// The place of its value.
    pub fn value_place(&self) -> Place {
        self.document.place(self.value)
    }

    /// The file that it is part of.
    pub const fn document(&self) -> &'a Document {
        self.document
    }

    /// Its value as a tree ([`Document::expression`]).
    pub fn expression(&self) -> Result<Expr, SyntaxError> {
        self.document.expression(self.value)
    }
}

/// `kind "label" ... { }`.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a> {
    document: &'a Document,
    at: usize,
}

impl<'a> Block<'a> {
    fn parts(&self) -> (Span, Range<usize>, usize, Span) {
        match &self.document.nodes[self.at] {
            Node::Block {
                kind,
                labels,
                end,
                close,
            } => (*kind, labels.clone(), *end, *close),
            Node::Argument { name, .. } => (*name, 0..0, self.at + 1, *name),
        }
    }

    /// The word that it begins with.
    pub fn kind(&self) -> &'a str {
        self.document.name_of(self.parts().0)
    }

    /// The range of that word.
    pub fn span(&self) -> Span {
        self.parts().0
    }

    /// The place of that word.
    pub fn place(&self) -> Place {
        self.document.place(self.parts().0)
    }

    /// Its labels.
    pub fn labels(&self) -> impl ExactSizeIterator<Item = Label> + use<'a> {
        let document = self.document;
        document.labels[self.parts().1].iter().map(move |&span| {
            let text = match document.text_of(span) {
                [b'"', inner @ .., b'"'] => decode(inner, true),
                word => String::from_utf8_lossy(word).into_owned(),
            };
            Label { text, span }
        })
    }

    /// Its content.
    pub fn body(&self) -> Body<'a> {
        let (_, _, end, close) = self.parts();
        Body {
            document: self.document,
            range: self.at + 1..end,
            end: close,
        }
    }

    /// The file that it is part of.
    pub const fn document(&self) -> &'a Document {
        self.document
    }
}

/// A label of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// What it says, without quotes.
    pub text: String,
    /// Where it stands, with quotes.
    pub span: Span,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: impl AsRef<[u8]>) -> Result<Document, SyntaxError> {
        Document::parse("a.tf", text.as_ref().to_vec())
    }

    /// `kind label(argument, kind2(...))`.
    fn outline(body: &Body<'_>) -> String {
        let mut items: Vec<(usize, String)> = Vec::new();
        for argument in body.arguments() {
            items.push((argument.name.start, argument.name().to_owned()));
        }
        for block in body.blocks() {
            let labels = block
                .labels()
                .fold(String::new(), |all, label| all + " " + &label.text);
            items.push((
                block.span().start,
                format!("{}{labels}({})", block.kind(), outline(&block.body())),
            ));
        }
        items.sort();
        items
            .into_iter()
            .map(|(_, text)| text)
            .collect::<Vec<_>>()
            .join(", ")
    }

    #[test]
    fn valid_files_and_their_structure() {
        for (text, expected) in [
            ("", ""),
            ("\u{feff}a = 1", "a"),
            ("a = 1\r\nb = 2\r\n", "a, b"),
            ("a { b = 1 }\nc {}\n", "a(b), c()"),
            ("a b \"c\\t\" {\n  d {\n  }\n  e = 1\n}", "a b c\t(d(), e)"),
            ("a = <<EOT\nx\nEOT;\n  EOT\nb = 1\n", "a, b"), // a line may begin with the marker and go on
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
            let document = parse(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
            assert_eq!(outline(&document.body()), expected, "{text:?}");
        }
        assert!(parse(b"# not UTF-8: \xff\na = 1\n").is_ok());
    }

    #[test]
    fn syntax_errors_and_their_places() {
        use Problem as P;
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
            (
                "a = 1\nb = 2\na = 3\n",
                "3:1",
                P::AttributeRedefined("a".to_owned()),
            ),
            ("\"a\" = 1\n", "1:1", P::QuotedArgumentName),
            ("a = 'b'\n", "1:5", P::InvalidCharacter('\'')),
            ("a = 1;\n", "1:6", P::InvalidCharacter(';')),
            ("a = 1\rb = 2\n", "1:6", P::InvalidCharacter('\r')),
            ("a = \u{0}\n", "1:5", P::InvalidCharacter('\0')),
            ("a = \"b\nc\"\n", "1:7", P::MultiLineString),
            ("a = \"b", "1:5", P::UnterminatedTemplate),
            ("a = <<EOT\nb\nEOT", "1:5", P::UnterminatedTemplate), // the marker line needs its newline
            ("a = <<EOT\nb\rc\nEOT\n", "2:2", P::InvalidCharacter('\r')),
            ("a = <<EOT\n\r EOT\nEOT\n", "2:1", P::InvalidCharacter('\r')),
            ("a = \"\\q\"\n", "1:6", P::InvalidEscape),
            ("a = \"${b\"\n", "1:6", P::UnclosedInterpolation),
            ("a = \"${b c}\"\n", "1:10", P::ExtraInInterpolation),
            ("a = \"%{ if b }c\"\n", "1:9", P::UnbalancedDirectives),
            (
                "a = \"%{ if b }${\"%{ endif }\"}\"\n",
                "1:21",
                P::UnbalancedDirectives,
            ),
            ("a = \"%{ endfor }\"\n", "1:9", P::UnbalancedDirectives),
            ("a = \"%{ loop }\"\n", "1:9", P::InvalidDirective),
            ("a = [1 2]\n", "1:8", P::MissingItemSeparator),
            ("a = [1", "1:5", P::UnterminatedTuple),
            ("a = { b 1 }\n", "1:9", P::MissingKeyValueSeparator),
            (
                "a = { b = 1 c = 2 }\n",
                "1:13",
                P::MissingAttributeSeparator,
            ),
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
            (
                "a = [for x in y : k => v]\n",
                "1:21",
                P::InvalidFor("a tuple takes no keys"),
            ),
            (
                "a = {for x in y : v}\n",
                "1:20",
                P::InvalidFor("an object needs keys, with `=>`"),
            ),
        ] {
            let error = parse(text).expect_err(text);
            assert_eq!(
                format!("{}:{}", error.place.line, error.place.column),
                place,
                "{text:?}"
            );
            assert_eq!(error.problem, problem, "{text:?}");
        }
        assert_eq!(
            parse(b"a = \"\xff\"\n")
                .map(drop)
                .map_err(|error| error.problem),
            Err(P::InvalidEncoding)
        );
    }

    #[test]
    fn nesting_is_bounded_by_memory_and_not_by_the_stack() {
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
            let document = parse(&text).unwrap_or_else(|error| panic!("{open}: {}", error.problem));
            let argument = document.body().argument("a").expect("just written");
            let tree = argument.expression().map_err(|error| error.problem);
            assert_eq!(
                tree,
                Err(Problem::TooDeep(crate::syntax::MAX_DEPTH)),
                "{open}"
            );
        }
        let blocks = format!("{}{}", "a {\n".repeat(LEVELS), "}\n".repeat(LEVELS));
        assert!(parse(&blocks).is_ok());
        assert!(parse("a {\n".repeat(LEVELS)).is_err());
    }
}
