//! Parses all of HCL native syntax, without recursion.
//!
//! The parser is a state machine with a stack of [`Frame`]s on the heap. Nesting uses heap memory but no call stack. Each step
//! consumes text or pops a frame, so parsing takes linear time. A frame is an unfinished construct: a block, an argument, a
//! parenthesis, an operator without its right operand, or a string. [`ParserStep`] says what to read next in the top frame.
//! Blocks and arguments become items of a [`NativeFile`]; expressions are reported to an [`EventSink`].
//!
//! The grammar follows <https://github.com/hashicorp/hcl/blob/main/hclsyntax/spec.md>; where that specification is vague, the
//! parser accepts what Terraform accepts.

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
use super::native::NativeFile;
use for_expression::ForFrame;
use sink::{Event, EventSink, NoTree};
use template::{OpenDirective, TemplateFrame};

/// What the parser does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParserStep {
    /// Read an argument or block of a body.
    Item,
    /// Read the start of an expression.
    Operand,
    /// Read an operator, or complete the expression.
    Operator,
    /// Read the text of a string.
    Text,
    /// The text is complete.
    Done,
}

/// An unfinished construct.
struct Frame {
    state: FrameState,
    start: usize,
    /// Whether newlines are significant around the construct.
    outer_newlines: bool,
}

/// The kind of an unfinished construct, and how far it has been read. `item` is the construct's index in [`NativeFile::items`],
/// and `count` is the number of its completed parts. `trim` is set after `${~` and `%{~`.
enum FrameState {
    Block {
        item: usize,
    },
    Argument {
        item: usize,
        one_line: bool,
    },
    /// An expression that makes up the whole text.
    Whole,
    /// An expression that other text may follow. Parsing stops after the expression.
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

pub(super) struct Parser<'a, S> {
    lexer: Lexer<'a>,
    peeked: Option<Token>,
    /// Whether newlines are significant at the current position.
    newlines: bool,
    /// The end of the latest consumed token.
    last_end: usize,
    frames: Vec<Frame>,
    directives: Vec<OpenDirective>,
    native: NativeFile,
    sink: S,
}

type StepResult = Result<ParserStep, SyntaxFault>;

impl<'a> Parser<'a, NoTree> {
    /// Parses a whole file. Returns the first syntax error anywhere in the file, like Terraform.
    pub(super) fn file(text: &'a [u8]) -> Result<NativeFile, SyntaxFault> {
        let start = text
            .strip_prefix(BYTE_ORDER_MARK)
            .map_or(0, |_| BYTE_ORDER_MARK.len());
        let mut parser = Parser::new(text, start, NoTree);
        parser.run(ParserStep::Item)?;
        Ok(parser.native)
    }
}

/// The maximum nesting depth of blocks and expressions, a thousand times that of real files.
pub(super) const MAX_NESTING: usize = 200_000;

/// The maximum number of arguments, blocks and labels in a file. A file of the maximum size stays below it if its lines have a
/// normal length.
const MAX_ITEMS: usize = 1_000_000;

/// The UTF-8 byte order mark, which is ignored at the start of a file.
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
            native: NativeFile::default(),
            sink,
        }
    }

    /// Parses the argument value that starts at the offset `at`, and ignores the text after it.
    pub(super) fn expression_at(text: &'a [u8], at: usize, sink: S) -> Result<S, SyntaxFault> {
        let mut parser = Self::new(text, at, sink);
        parser.push(FrameState::Part, at);
        parser.run(ParserStep::Operand)?;
        Ok(parser.sink)
    }

    /// Parses `text` as a single expression. Newlines are insignificant.
    pub(super) fn whole_expression(text: &'a [u8], sink: S) -> Result<S, SyntaxFault> {
        let mut parser = Self::new(text, 0, sink);
        parser.push_without_newlines(FrameState::Whole, 0);
        parser.run(ParserStep::Operand)?;
        Ok(parser.sink)
    }

    /// Parses `text` as a template without surrounding quotes.
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

    /// Limits memory use: frames and items take up to 100 times as much memory as their text.
    #[inline]
    fn check_size(&self) -> Result<(), SyntaxFault> {
        let here = Span::new(self.last_end, self.last_end);
        if self.frames.len() > MAX_NESTING {
            return Err(SyntaxProblem::TooNested(MAX_NESTING).at(here));
        }
        if self.native.items.len() + self.native.labels.len() > MAX_ITEMS {
            return Err(SyntaxProblem::TooManyItems(MAX_ITEMS).at(here));
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

    /// Consumes a token of this kind, or fails with `problem` at the token found instead.
    fn expect(&mut self, kind: TokenKind, problem: SyntaxProblem) -> Result<Span, SyntaxFault> {
        let token = self.next()?;
        if token.kind == kind {
            Ok(token.span)
        } else {
            Err(problem.at(token.span))
        }
    }

    /// Consumes the next token if it is of this kind.
    fn take_if(&mut self, kind: TokenKind) -> Result<Option<Span>, SyntaxFault> {
        if self.peek()?.kind != kind {
            return Ok(None);
        }
        self.next().map(|token| Some(token.span))
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

    fn state(&self) -> Option<&FrameState> {
        self.frames.last().map(|frame| &frame.state)
    }

    fn set_state(&mut self, state: FrameState) {
        if let Some(frame) = self.frames.last_mut() {
            frame.state = state;
        }
    }

    /// Returns the span of the first byte of the top frame.
    fn opening(&self) -> Span {
        let start = self.frames.last().map_or(0, |frame| frame.start);
        Span::new(start, start + 1)
    }

    /// Removes the top frame and returns its range, which ends with the latest token.
    fn pop(&mut self) -> Span {
        let frame = self.frames.pop();
        let start = frame.map_or(0, |frame| {
            self.newlines = frame.outer_newlines;
            frame.start
        });
        Span::new(start, self.last_end)
    }

    /// Completes the expression of the top frame.
    fn complete(&mut self, event: Event) -> StepResult {
        let span = self.pop();
        self.leaf(event, span)
    }

    fn leaf(&mut self, event: Event, span: Span) -> StepResult {
        self.sink.event(event, span)?;
        Ok(ParserStep::Operator)
    }
}
