//! Parses bodies: arguments, blocks, and the ends of their lines.

use crate::span::Span;

use super::super::error::{SyntaxFault, SyntaxProblem};
use super::super::lexer::{Token, TokenKind};
use super::super::native::NativeItem;
use super::super::strings::literal_length;
use super::sink::EventSink;
use super::{FrameState, Parser, ParserStep, StepResult};

impl<S: EventSink> Parser<'_, S> {
    /// Reads an argument or block, or the end of the body.
    pub(super) fn item(&mut self) -> StepResult {
        let token = self.next()?;
        match token.kind {
            TokenKind::Newline => Ok(ParserStep::Item),
            TokenKind::Identifier => match self.peek()?.kind {
                TokenKind::Equal => self.argument(token.span, false),
                TokenKind::Quote | TokenKind::OpenBrace | TokenKind::Identifier => {
                    self.block(token.span)
                }
                _ => Err(SyntaxProblem::ItemRequired.at(token.span)),
            },
            TokenKind::CloseBrace if !self.frames.is_empty() => self.close_block(),
            TokenKind::End if self.frames.is_empty() => {
                self.check_repeats(0)?;
                Ok(ParserStep::Done)
            }
            TokenKind::End => Err(SyntaxProblem::UnclosedBlock.at(self.opening())),
            TokenKind::Quote => Err(SyntaxProblem::QuotedArgumentName.at(token.span)),
            _ => Err(SyntaxProblem::ItemRequired.at(token.span)),
        }
    }

    fn argument(&mut self, name: Span, one_line: bool) -> StepResult {
        self.next()?;
        let start = self.peek()?.span.start;
        let item = self.native.items.len();
        let value = Span::new(start, start);
        self.native.items.push(NativeItem::Argument { name, value });
        self.push(FrameState::Argument { item, one_line }, start);
        Ok(ParserStep::Operand)
    }

    /// Completes an argument after its value.
    pub(super) fn close_argument(&mut self, item: usize, one_line: bool) -> StepResult {
        let span = self.pop();
        if let Some(NativeItem::Argument { value, .. }) = self.native.items.get_mut(item) {
            *value = span;
        }
        let token = self.next()?;
        match token.kind {
            TokenKind::CloseBrace if one_line => self.close_block(),
            _ if one_line => Err(SyntaxProblem::InvalidOneLineBlock.at(token.span)),
            _ => self.end_line(token, SyntaxProblem::MissingNewlineAfterArgument),
        }
    }

    /// Checks that `token` ends the line of an argument or block. If `token` is the end of the text, it is put back for the next step.
    fn end_line(&mut self, token: Token, problem: SyntaxProblem) -> StepResult {
        match token.kind {
            TokenKind::Newline => {}
            TokenKind::End => self.peeked = Some(token),
            _ => return Err(problem.at(token.span)),
        }
        Ok(ParserStep::Item)
    }

    fn block(&mut self, kind: Span) -> StepResult {
        let first_label = self.native.labels.len();
        let brace = loop {
            let token = self.next()?;
            match token.kind {
                TokenKind::OpenBrace => break token.span,
                TokenKind::Identifier => self.native.labels.push(token.span),
                TokenKind::Quote => self.quoted_label(token.span.start)?,
                _ => return Err(SyntaxProblem::InvalidBlock.at(token.span)),
            }
        };
        let item = self.native.items.len();
        self.native.items.push(NativeItem::Block {
            kind,
            labels: first_label..self.native.labels.len(),
            content: item + 1..item + 1,
        });
        self.push(FrameState::Block { item }, brace.start);
        match self.peek()?.kind {
            TokenKind::Newline | TokenKind::End | TokenKind::CloseBrace => Ok(ParserStep::Item),
            _ => self.one_line_body(),
        }
    }

    fn quoted_label(&mut self, start: usize) -> Result<(), SyntaxFault> {
        let length = literal_length(self.lexer.rest(), self.lexer.at, true)?;
        self.lexer.at += length;
        match self.lexer.rest().first() {
            Some(b'"') => self.lexer.at += 1,
            Some(b'$' | b'%') => {
                let span = Span::new(self.lexer.at, self.lexer.at + 2);
                return Err(SyntaxProblem::TemplateInLabel.at(span));
            }
            _ => {
                let span = Span::new(start, self.lexer.at);
                return Err(SyntaxProblem::UnterminatedTemplate.at(span));
            }
        }
        self.last_end = self.lexer.at;
        self.native.labels.push(Span::new(start, self.lexer.at));
        Ok(())
    }

    /// Reads the body of a single-line block such as `a { name = value }`.
    fn one_line_body(&mut self) -> StepResult {
        let name = self.expect(TokenKind::Identifier, SyntaxProblem::ItemRequired)?;
        match self.peek()?.kind {
            TokenKind::Equal => self.argument(name, true),
            TokenKind::Quote | TokenKind::OpenBrace | TokenKind::Identifier => {
                Err(SyntaxProblem::InvalidOneLineBlock.at(name))
            }
            _ => Err(SyntaxProblem::ItemRequired.at(name)),
        }
    }

    /// Completes a block after its closing brace.
    fn close_block(&mut self) -> StepResult {
        let brace = Span::new(self.last_end - 1, self.last_end);
        let Some(&FrameState::Block { item }) = self.state() else {
            return Err(SyntaxProblem::ItemRequired.at(brace));
        };
        self.pop();
        self.check_repeats(item + 1)?;
        let end = self.native.items.len();
        if let Some(NativeItem::Block { content, .. }) = self.native.items.get_mut(item) {
            content.end = end;
        }
        let token = self.next()?;
        self.end_line(token, SyntaxProblem::MissingNewlineAfterBlock)
    }

    /// Checks that no argument is set twice in the body that has just been read. `start` is the index of its first item.
    fn check_repeats(&self, start: usize) -> Result<(), SyntaxFault> {
        match self.native.repeated_argument(start, self.lexer.text) {
            None => Ok(()),
            Some(span) => {
                let name = String::from_utf8_lossy(self.text(span)).into_owned();
                Err(SyntaxProblem::AttributeRedefined(name).at(span))
            }
        }
    }
}
