//! Parses the start of an expression: a literal, name, call or bracket.

use crate::span::Span;

use super::super::error::{SyntaxFault, SyntaxProblem};
use super::super::expr::UnaryOperator;
use super::super::lexer::{Token, TokenKind};
use super::super::number::is_number;
use super::sink::{Event, EventSink};
use super::template::TemplateFrame;
use super::{FrameState, Parser, ParserStep, StepResult};

impl<S: EventSink> Parser<'_, S> {
    /// Reads the start of an expression.
    pub(super) fn operand(&mut self) -> StepResult {
        let token = self.next()?;
        let start = token.span.start;
        match token.kind {
            TokenKind::Number => return self.number(token.span),
            TokenKind::Identifier => return self.name(token.span),
            TokenKind::Quote => return self.open_template(TemplateFrame::quoted(), start),
            TokenKind::Heredoc => {
                let frame = TemplateFrame::heredoc(token.span, self.lexer.text);
                return self.open_template(frame, start);
            }
            TokenKind::Minus => self.push(FrameState::Unary(UnaryOperator::Negate), start),
            TokenKind::Bang => self.push(FrameState::Unary(UnaryOperator::Not), start),
            TokenKind::OpenParen => self.push_without_newlines(FrameState::Parentheses, start),
            TokenKind::OpenBracket => return self.open_tuple(start),
            TokenKind::OpenBrace => return self.open_object(start),
            _ => return Err(SyntaxProblem::ExpressionRequired.at(token.span)),
        }
        Ok(ParserStep::Operand)
    }

    fn number(&mut self, span: Span) -> StepResult {
        if is_number(self.text(span)) {
            self.leaf(Event::Number, span)
        } else {
            Err(SyntaxProblem::InvalidNumber.at(span))
        }
    }

    /// Reads a keyword, a variable, or the name of a function.
    fn name(&mut self, span: Span) -> StepResult {
        if let TokenKind::OpenParen | TokenKind::DoubleColon = self.peek()?.kind {
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

    fn open_call(&mut self, first: Span) -> StepResult {
        let mut name = first;
        let mut open = self.next()?;
        while open.kind == TokenKind::DoubleColon {
            let part = self.expect(TokenKind::Identifier, SyntaxProblem::MissingFunctionName)?;
            name = name.to(part);
            open = self.next()?;
        }
        if open.kind != TokenKind::OpenParen {
            return Err(SyntaxProblem::MissingOpenParenthesis.at(open.span));
        }
        self.push_without_newlines(FrameState::Call { name, count: 0 }, first.start);
        self.argument_or_close(name, 0)
    }

    fn argument_or_close(&mut self, name: Span, count: usize) -> StepResult {
        if self.take_if(TokenKind::CloseParen)?.is_none() {
            return Ok(ParserStep::Operand);
        }
        self.close_call(name, count, false)
    }

    fn close_call(&mut self, name: Span, arguments: usize, expand: bool) -> StepResult {
        self.complete(Event::Call {
            name,
            arguments,
            expand,
        })
    }

    /// Continues a call after an argument. `count` arguments came before it.
    pub(super) fn after_call_argument(&mut self, name: Span, count: usize) -> StepResult {
        let count = count + 1;
        let token = self.next()?;
        match token.kind {
            TokenKind::CloseParen => self.close_call(name, count, false),
            TokenKind::Ellipsis => {
                let problem = SyntaxProblem::MissingCloseParenthesis;
                self.expect(TokenKind::CloseParen, problem)?;
                self.close_call(name, count, true)
            }
            TokenKind::Comma => {
                self.set_state(FrameState::Call { name, count });
                self.argument_or_close(name, count)
            }
            TokenKind::End => Err(SyntaxProblem::UnterminatedCall.at(name)),
            _ => Err(SyntaxProblem::MissingArgumentSeparator.at(token.span)),
        }
    }

    fn open_tuple(&mut self, start: usize) -> StepResult {
        self.push_without_newlines(FrameState::Tuple { count: 0 }, start);
        if self.peek_is_word(b"for")? {
            return self.open_for(false);
        }
        self.element_or_close(0)
    }

    fn element_or_close(&mut self, count: usize) -> StepResult {
        if self.take_if(TokenKind::CloseBracket)?.is_none() {
            return Ok(ParserStep::Operand);
        }
        self.complete(Event::Tuple(count))
    }

    /// Continues a tuple after an element. `count` elements came before it.
    pub(super) fn after_element(&mut self, count: usize) -> StepResult {
        let token = self.next()?;
        match token.kind {
            TokenKind::CloseBracket => self.complete(Event::Tuple(count + 1)),
            TokenKind::Comma => {
                self.set_state(FrameState::Tuple { count: count + 1 });
                self.element_or_close(count + 1)
            }
            _ => Err(self.unfinished(
                token,
                SyntaxProblem::UnterminatedTuple,
                SyntaxProblem::MissingItemSeparator,
            )),
        }
    }

    /// Returns the fault for an unexpected token. At the end of the text, the fault marks the opening bracket.
    fn unfinished(
        &self,
        token: Token,
        at_end: SyntaxProblem,
        elsewhere: SyntaxProblem,
    ) -> SyntaxFault {
        match token.kind {
            TokenKind::End => at_end.at(self.opening()),
            _ => elsewhere.at(token.span),
        }
    }

    fn open_object(&mut self, start: usize) -> StepResult {
        self.push_without_newlines(FrameState::Key { count: 0 }, start);
        if self.peek_is_word(b"for")? {
            return self.open_for(true);
        }
        self.key_or_close(0)
    }

    fn key_or_close(&mut self, count: usize) -> StepResult {
        self.newlines = false;
        let token = self.peek()?;
        self.newlines = true;
        if token.kind != TokenKind::CloseBrace {
            return Ok(ParserStep::Operand);
        }
        self.next()?;
        self.complete(Event::Object(count))
    }

    /// Continues an object after a key.
    pub(super) fn after_key(&mut self, count: usize) -> StepResult {
        let token = self.next()?;
        match token.kind {
            TokenKind::Equal | TokenKind::Colon => {
                self.set_state(FrameState::Entry { count });
                Ok(ParserStep::Operand)
            }
            _ => Err(self.unfinished(
                token,
                SyntaxProblem::UnterminatedObject,
                SyntaxProblem::MissingKeyValueSeparator,
            )),
        }
    }

    /// Continues an object after a value. `count` entries came before it.
    pub(super) fn after_entry(&mut self, count: usize) -> StepResult {
        let token = self.next()?;
        match token.kind {
            TokenKind::CloseBrace => self.complete(Event::Object(count + 1)),
            TokenKind::Comma | TokenKind::Newline => {
                self.set_state(FrameState::Key { count: count + 1 });
                self.key_or_close(count + 1)
            }
            _ => Err(self.unfinished(
                token,
                SyntaxProblem::UnterminatedObject,
                SyntaxProblem::MissingAttributeSeparator,
            )),
        }
    }
}
