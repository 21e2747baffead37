//! Bodies: blocks and arguments, and where their lines end.

use crate::span::Span;

use super::super::error::{Fault, Problem};
use super::super::lexer::Kind;
use super::super::native::{NativeItem, repeated_argument};
use super::super::strings::literal_length;
use super::sink::Sink;
use super::{Parser, State, Step};

impl<S: Sink> Parser<'_, S> {
    /// One item of a body, or its end.
    pub(super) fn item(&mut self) -> Result<Step, Fault> {
        let token = self.next()?;
        match token.kind {
            Kind::Newline => Ok(Step::Item),
            Kind::Identifier => match self.peek()?.kind {
                Kind::Equal => self.argument(token.span, false),
                Kind::Quote | Kind::OpenBrace | Kind::Identifier => self.block(token.span),
                _ => Err(Fault::new(token.span, Problem::ItemRequired)),
            },
            Kind::CloseBrace if !self.frames.is_empty() => self.close_block(),
            Kind::End if self.frames.is_empty() => {
                self.check_repeats(0, self.items.len())?;
                Ok(Step::Done)
            }
            Kind::End => Err(Fault::new(self.innermost_brace(), Problem::UnclosedBlock)),
            Kind::Quote => Err(Fault::new(token.span, Problem::QuotedArgumentName)),
            _ => Err(Fault::new(token.span, Problem::ItemRequired)),
        }
    }

    fn innermost_brace(&self) -> Span {
        let start = self.frames.last().map_or(0, |frame| frame.start);
        Span::new(start, start + 1)
    }

    fn argument(&mut self, name: Span, one_line: bool) -> Result<Step, Fault> {
        self.next()?;
        let start = self.peek()?.span.start;
        let item = self.items.len();
        let value = Span::new(start, start);
        self.items.push(NativeItem::Argument { name, value });
        self.push(State::Argument { item, one_line }, start);
        Ok(Step::Operand)
    }

    /// The value of an argument is complete.
    pub(super) fn close_argument(&mut self, item: usize, one_line: bool) -> Result<Step, Fault> {
        let span = self.pop();
        if let Some(NativeItem::Argument { value, .. }) = self.items.get_mut(item) {
            *value = span;
        }
        let token = self.next()?;
        match token.kind {
            Kind::CloseBrace if one_line => self.close_block(),
            _ if one_line => Err(Fault::new(token.span, Problem::InvalidOneLineBlock)),
            Kind::Newline | Kind::End => {
                self.peeked = (token.kind == Kind::End).then_some(token);
                Ok(Step::Item)
            }
            _ => Err(Fault::new(token.span, Problem::MissingNewlineAfterArgument)),
        }
    }

    fn block(&mut self, kind: Span) -> Result<Step, Fault> {
        let first_label = self.labels.len();
        let brace = loop {
            let token = self.next()?;
            match token.kind {
                Kind::OpenBrace => break token.span,
                Kind::Identifier => self.labels.push(token.span),
                Kind::Quote => self.quoted_label(token.span.start)?,
                _ => return Err(Fault::new(token.span, Problem::InvalidBlock)),
            }
        };
        let item = self.items.len();
        self.items.push(NativeItem::Block {
            kind,
            labels: first_label..self.labels.len(),
            content: item + 1..item + 1,
        });
        self.push(State::Block { item }, brace.start);
        match self.peek()?.kind {
            Kind::Newline | Kind::End | Kind::CloseBrace => Ok(Step::Item),
            _ => self.one_line_body(),
        }
    }

    fn quoted_label(&mut self, start: usize) -> Result<(), Fault> {
        let length = literal_length(self.lexer.rest(), self.lexer.at)?;
        self.lexer.at += length;
        match self.lexer.rest().first() {
            Some(b'"') => self.lexer.at += 1,
            Some(b'$' | b'%') => {
                let span = Span::new(self.lexer.at, self.lexer.at + 2);
                return Err(Fault::new(span, Problem::TemplateInLabel));
            }
            _ => {
                let span = Span::new(start, self.lexer.at);
                return Err(Fault::new(span, Problem::UnterminatedTemplate));
            }
        }
        self.last_end = self.lexer.at;
        self.labels.push(Span::new(start, self.lexer.at));
        Ok(())
    }

    /// `{ name = value }`.
    fn one_line_body(&mut self) -> Result<Step, Fault> {
        let name = self.expect(Kind::Identifier, Problem::ItemRequired)?.span;
        match self.peek()?.kind {
            Kind::Equal => self.argument(name, true),
            Kind::Quote | Kind::OpenBrace | Kind::Identifier => {
                Err(Fault::new(name, Problem::InvalidOneLineBlock))
            }
            _ => Err(Fault::new(name, Problem::ItemRequired)),
        }
    }

    /// The closing brace of a block is consumed.
    fn close_block(&mut self) -> Result<Step, Fault> {
        let brace = Span::new(self.last_end - 1, self.last_end);
        let item = match self.frames.last() {
            Some(frame) => match frame.state {
                State::Block { item } => item,
                _ => return Err(Fault::new(brace, Problem::ItemRequired)),
            },
            None => return Err(Fault::new(brace, Problem::ItemRequired)),
        };
        self.pop();
        self.check_repeats(item + 1, self.items.len())?;
        let end = self.items.len();
        if let Some(NativeItem::Block { content, .. }) = self.items.get_mut(item) {
            content.end = end;
        }
        let token = self.next()?;
        match token.kind {
            Kind::Newline | Kind::End => {
                self.peeked = (token.kind == Kind::End).then_some(token);
                Ok(Step::Item)
            }
            _ => Err(Fault::new(token.span, Problem::MissingNewlineAfterBlock)),
        }
    }

    /// An argument may be set once in a body.
    fn check_repeats(&self, start: usize, end: usize) -> Result<(), Fault> {
        match repeated_argument(&self.items, start..end, self.lexer.text) {
            None => Ok(()),
            Some(span) => {
                let name = String::from_utf8_lossy(self.text(span)).into_owned();
                Err(Fault::new(span, Problem::AttributeRedefined(name)))
            }
        }
    }
}
