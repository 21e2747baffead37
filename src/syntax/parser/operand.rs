//! How expressions begin: literals, names, calls, brackets.

use crate::span::Span;

use super::super::error::{Fault, Problem};
use super::super::expr::UnaryOperator;
use super::super::lexer::{Kind, Token};
use super::super::number::is_number;
use super::sink::{Event, Sink};
use super::template::TemplateFrame;
use super::{Parser, State, Step};

impl<S: Sink> Parser<'_, S> {
    /// The start of an expression.
    pub(super) fn operand(&mut self) -> Result<Step, Fault> {
        let token = self.next()?;
        let start = token.span.start;
        match token.kind {
            Kind::Number => self.number(token.span),
            Kind::Identifier => self.name(token.span),
            Kind::Quote => self.open_template(TemplateFrame::quoted(), start),
            Kind::Heredoc => {
                self.open_template(TemplateFrame::heredoc(token.span, self.lexer.text), start)
            }
            Kind::Minus => self.unary(UnaryOperator::Negate, start),
            Kind::Bang => self.unary(UnaryOperator::Not, start),
            Kind::OpenParen => {
                self.push_without_newlines(State::Parentheses, start);
                Ok(Step::Operand)
            }
            Kind::OpenBracket => self.open_tuple(start),
            Kind::OpenBrace => self.open_object(start),
            _ => Err(Fault::new(token.span, Problem::ExpressionRequired)),
        }
    }

    pub(super) fn leaf(&mut self, event: Event, span: Span) -> Result<Step, Fault> {
        self.sink.event(event, span)?;
        Ok(Step::Operator)
    }

    fn number(&mut self, span: Span) -> Result<Step, Fault> {
        if is_number(self.text(span)) {
            self.leaf(Event::Number, span)
        } else {
            Err(Fault::new(span, Problem::InvalidNumber))
        }
    }

    #[expect(
        clippy::unnecessary_wraps,
        reason = "it is one of the steps of `operand`"
    )]
    fn unary(&mut self, operator: UnaryOperator, start: usize) -> Result<Step, Fault> {
        self.push(State::Unary(operator), start);
        Ok(Step::Operand)
    }

    /// A constant, a variable, or the name of a function.
    fn name(&mut self, span: Span) -> Result<Step, Fault> {
        if matches!(self.peek()?.kind, Kind::OpenParen | Kind::DoubleColon) {
            return self.open_call(span);
        }
        let event = match self.text(span) {
            b"true" => Event::True,
            b"false" => Event::False,
            b"null" => Event::Null,
            _ => Event::Variable,
        };
        self.leaf(event, span)
    }

    fn open_call(&mut self, first: Span) -> Result<Step, Fault> {
        let mut name = first;
        let mut open = self.next()?;
        while open.kind == Kind::DoubleColon {
            let part = self.expect(Kind::Identifier, Problem::MissingFunctionName)?;
            name = name.to(part.span);
            open = self.next()?;
        }
        if open.kind != Kind::OpenParen {
            return Err(Fault::new(open.span, Problem::MissingOpenParenthesis));
        }
        self.push_without_newlines(State::Call { name, count: 0 }, first.start);
        self.argument_or_close(name, 0)
    }

    fn argument_or_close(&mut self, name: Span, count: usize) -> Result<Step, Fault> {
        if self.peek()?.kind != Kind::CloseParen {
            return Ok(Step::Operand);
        }
        self.next()?;
        self.complete(Event::Call {
            name,
            arguments: count,
            expand: false,
        })
    }

    /// An argument of a call is complete; `count` were complete before.
    pub(super) fn after_call_argument(&mut self, name: Span, count: usize) -> Result<Step, Fault> {
        let count = count + 1;
        let token = self.next()?;
        match token.kind {
            Kind::CloseParen => self.complete(Event::Call {
                name,
                arguments: count,
                expand: false,
            }),
            Kind::Ellipsis => {
                self.expect(Kind::CloseParen, Problem::MissingCloseParenthesis)?;
                self.complete(Event::Call {
                    name,
                    arguments: count,
                    expand: true,
                })
            }
            Kind::Comma => {
                self.set_state(State::Call { name, count });
                self.argument_or_close(name, count)
            }
            Kind::End => Err(Fault::new(name, Problem::UnterminatedCall)),
            _ => Err(Fault::new(token.span, Problem::MissingArgumentSeparator)),
        }
    }

    pub(super) fn set_state(&mut self, state: State) {
        if let Some(frame) = self.frames.last_mut() {
            frame.state = state;
        }
    }

    fn open_tuple(&mut self, start: usize) -> Result<Step, Fault> {
        self.push_without_newlines(State::Tuple { count: 0 }, start);
        if self.peek_is_word(b"for")? {
            return self.open_for(false);
        }
        self.element_or_close(0)
    }

    fn element_or_close(&mut self, count: usize) -> Result<Step, Fault> {
        if self.peek()?.kind != Kind::CloseBracket {
            return Ok(Step::Operand);
        }
        self.next()?;
        self.complete(Event::Tuple(count))
    }

    /// An element of a tuple is complete; `count` were complete before.
    pub(super) fn after_element(&mut self, count: usize) -> Result<Step, Fault> {
        let token = self.next()?;
        match token.kind {
            Kind::CloseBracket => self.complete(Event::Tuple(count + 1)),
            Kind::Comma => {
                self.set_state(State::Tuple { count: count + 1 });
                self.element_or_close(count + 1)
            }
            _ => Err(self.unfinished(
                token,
                Problem::UnterminatedTuple,
                Problem::MissingItemSeparator,
            )),
        }
    }

    /// At the end of the text the opening bracket is to blame, elsewhere the token.
    fn unfinished(&self, token: Token, at_end: Problem, elsewhere: Problem) -> Fault {
        if token.kind == Kind::End {
            let start = self.frames.last().map_or(0, |frame| frame.start);
            return Fault::new(Span::new(start, start + 1), at_end);
        }
        Fault::new(token.span, elsewhere)
    }

    fn open_object(&mut self, start: usize) -> Result<Step, Fault> {
        self.push(State::Key { count: 0 }, start);
        self.newlines = false;
        if self.peek_is_word(b"for")? {
            return self.open_for(true);
        }
        self.key_or_close(0)
    }

    fn key_or_close(&mut self, count: usize) -> Result<Step, Fault> {
        self.newlines = false;
        let token = self.peek()?;
        self.newlines = true;
        if token.kind != Kind::CloseBrace {
            return Ok(Step::Operand);
        }
        self.next()?;
        self.complete(Event::Object(count))
    }

    /// The key of an entry is complete.
    pub(super) fn after_key(&mut self, count: usize) -> Result<Step, Fault> {
        let token = self.next()?;
        match token.kind {
            Kind::Equal | Kind::Colon => {
                self.set_state(State::Entry { count });
                Ok(Step::Operand)
            }
            _ => Err(self.unfinished(
                token,
                Problem::UnterminatedObject,
                Problem::MissingKeyValueSeparator,
            )),
        }
    }

    /// The value of an entry is complete; `count` entries were complete before.
    pub(super) fn after_entry(&mut self, count: usize) -> Result<Step, Fault> {
        let token = self.next()?;
        match token.kind {
            Kind::CloseBrace => self.complete(Event::Object(count + 1)),
            Kind::Comma | Kind::Newline => {
                self.set_state(State::Key { count: count + 1 });
                self.key_or_close(count + 1)
            }
            _ => Err(self.unfinished(
                token,
                Problem::UnterminatedObject,
                Problem::MissingAttributeSeparator,
            )),
        }
    }
}
