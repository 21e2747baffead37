//! Recognizes HCL native syntax, the whole of it, without recursion.
//!
//! The parser is a machine with a stack of [`Frame`]s on the heap: nesting costs memory, never call stack, and every step
//! consumes text or pops a frame, so time is linear. A frame is something that is open: a block, an argument, a parenthesis,
//! an operator that waits for its right side, a string. [`ParserStep`] says what comes next in the frame on top. Blocks and
//! arguments are noted as [`NativeItem`]s; expressions are told to a [`EventSink`].
//!
//! The grammar follows <https://github.com/hashicorp/hcl/blob/main/hclsyntax/spec.md>; where that is loose, what
//! Terraform's parser accepts decides.

mod body;
mod for_expression;
mod operand;
mod operator;
pub(super) mod sink;
mod template;

use crate::span::Span;

use super::error::{SyntaxFault, SyntaxProblem};
use super::expr::{BinaryOperator, UnaryOperator};
use super::lexer::{Lexer, Token, TokenKind};
use super::native::NativeItem;
use for_expression::ForFrame;
use sink::{Event, EventSink, NoTree};
use template::{OpenDirective, TemplateFrame};

/// What the machine does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParserStep {
    /// Read an item of a body.
    Item,
    /// Read the start of an expression.
    Operand,
    /// An expression is complete unless an operator continues it.
    Operator,
    /// Read the text of a string.
    Text,
    /// All is read.
    Done,
}

/// Something open: what it is, where it began, and whether newlines counted around it.
struct Frame {
    state: FrameState,
    start: usize,
    outer_newlines: bool,
}

/// What a frame waits for.
enum FrameState {
    Block {
        item: usize,
    },
    Argument {
        item: usize,
        one_line: bool,
    },
    /// An expression that is the whole text.
    Whole,
    /// One expression somewhere in a text; what follows it is not looked at.
    Part,
    Parentheses,
    Tuple {
        count: usize,
    },
    Key {
        count: usize,
    },
    Entry {
        count: usize,
    },
    Index,
    Call {
        name: Span,
        count: usize,
    },
    For(ForFrame),
    Splat,
    Unary(UnaryOperator),
    Binary(BinaryOperator),
    IfTrue,
    IfFalse,
    Template(TemplateFrame),
    Interpolation {
        trim: bool,
    },
    Directive {
        directive: sink::Directive,
        trim: bool,
    },
}

/// The machine.
pub(super) struct Parser<'a, S> {
    lexer: Lexer<'a>,
    peeked: Option<Token>,
    /// Whether a newline is a token here.
    newlines: bool,
    /// Where the latest consumed token ended.
    last_end: usize,
    frames: Vec<Frame>,
    directives: Vec<OpenDirective>,
    items: Vec<NativeItem>,
    labels: Vec<Span>,
    sink: S,
}

impl<'a> Parser<'a, NoTree> {
    /// Reads a whole file: its items and the labels that they refer to.
    pub(super) fn file(text: &'a [u8]) -> Result<(Vec<NativeItem>, Vec<Span>), SyntaxFault> {
        let start = if text.starts_with(BYTE_ORDER_MARK) {
            BYTE_ORDER_MARK.len()
        } else {
            0
        };
        let mut parser = Parser::new(text, start, NoTree);
        parser.run(ParserStep::Item)?;
        Ok((parser.items, parser.labels))
    }
}

/// How deep blocks and expressions may be in each other: nobody writes a thousandth of that.
pub(super) const MAX_NESTING: usize = 200_000;

/// How many arguments, blocks and labels a file may have: more than the largest file with lines of usual length.
const MAX_ITEMS: usize = 1_000_000;

/// May stand before a file, and is no part of it.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl<'a, S: EventSink> Parser<'a, S> {
    fn new(text: &'a [u8], at: usize, sink: S) -> Self {
        Self {
            lexer: Lexer { text, at },
            peeked: None,
            newlines: true,
            last_end: at,
            frames: Vec::new(),
            directives: Vec::new(),
            items: Vec::new(),
            labels: Vec::new(),
            sink,
        }
    }

    /// Reads the expression that starts at `at`, as it stands in a body, and not what follows it.
    pub(super) fn expression_at(text: &'a [u8], at: usize, sink: S) -> Result<S, SyntaxFault> {
        let mut parser = Self::new(text, at, sink);
        parser.push(FrameState::Part, at);
        parser.run(ParserStep::Operand)?;
        Ok(parser.sink)
    }

    /// Reads a text that is one expression; newlines count nowhere in it.
    pub(super) fn whole_expression(text: &'a [u8], sink: S) -> Result<S, SyntaxFault> {
        let mut parser = Self::new(text, 0, sink);
        parser.push_without_newlines(FrameState::Whole, 0);
        parser.run(ParserStep::Operand)?;
        Ok(parser.sink)
    }

    /// Reads a text that is a template without quotes around it.
    pub(super) fn whole_template(text: &'a [u8], sink: S) -> Result<S, SyntaxFault> {
        let mut parser = Self::new(text, 0, sink);
        parser.push(FrameState::Whole, 0);
        let step = parser.open_template(TemplateFrame::bare(), 0)?;
        parser.run(step)?;
        Ok(parser.sink)
    }

    fn run(&mut self, mut step: ParserStep) -> Result<(), SyntaxFault> {
        loop {
            self.check_size()?;
            step = match step {
                ParserStep::Item => self.item()?,
                ParserStep::Operand => self.operand()?,
                ParserStep::Operator => self.operator()?,
                ParserStep::Text => self.template_text()?,
                ParserStep::Done => return Ok(()),
            };
        }
    }

    /// What is kept in mind takes up to a hundred times the memory of its text.
    #[inline]
    fn check_size(&self) -> Result<(), SyntaxFault> {
        let here = || Span::new(self.last_end, self.last_end);
        if self.frames.len() > MAX_NESTING {
            return Err(SyntaxFault::new(
                here(),
                SyntaxProblem::TooNested(MAX_NESTING),
            ));
        }
        if self.items.len() + self.labels.len() > MAX_ITEMS {
            return Err(SyntaxFault::new(
                here(),
                SyntaxProblem::TooManyItems(MAX_ITEMS),
            ));
        }
        Ok(())
    }

    fn peek(&mut self) -> Result<Token, SyntaxFault> {
        loop {
            let token = match self.peeked {
                Some(token) => token,
                None => self.lexer.token()?,
            };
            if token.kind == TokenKind::Newline && !self.newlines {
                self.peeked = None;
                continue;
            }
            self.peeked = Some(token);
            return Ok(token);
        }
    }

    fn next(&mut self) -> Result<Token, SyntaxFault> {
        let token = self.peek()?;
        self.peeked = None;
        self.last_end = token.span.end;
        Ok(token)
    }

    fn peek_is_word(&mut self, word: &[u8]) -> Result<bool, SyntaxFault> {
        let token = self.peek()?;
        Ok(token.kind == TokenKind::Identifier && self.text(token.span) == word)
    }

    /// Consumes a token of this kind, or fails with this problem at what stands there.
    fn expect(&mut self, kind: TokenKind, problem: SyntaxProblem) -> Result<Token, SyntaxFault> {
        let token = self.next()?;
        if token.kind == kind {
            Ok(token)
        } else {
            Err(SyntaxFault::new(token.span, problem))
        }
    }

    fn text(&self, span: Span) -> &'a [u8] {
        &self.lexer.text[span.start..span.end]
    }

    fn push(&mut self, state: FrameState, start: usize) {
        let outer_newlines = self.newlines;
        self.frames.push(Frame {
            state,
            start,
            outer_newlines,
        });
    }

    fn push_without_newlines(&mut self, state: FrameState, start: usize) {
        self.push(state, start);
        self.newlines = false;
    }

    /// Closes the frame on top: what it spans up to the latest token.
    fn pop(&mut self) -> Span {
        let frame = self.frames.pop();
        let start = frame.map_or(0, |frame| {
            self.newlines = frame.outer_newlines;
            frame.start
        });
        Span::new(start, self.last_end)
    }

    /// Closes the frame on top as a complete expression.
    fn complete(&mut self, event: Event) -> Result<ParserStep, SyntaxFault> {
        let span = self.pop();
        self.sink.event(event, span)?;
        Ok(ParserStep::Operator)
    }
}
