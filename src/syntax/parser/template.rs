//! Parses strings and heredocs: literal text, `${}` and `%{}`.
//!
//! Every line of a heredoc is a separate piece of text, because indentation (`<<-`) and trimming (`~}`) apply to lines.

use memchr::memchr;

use crate::span::Span;

use super::super::error::{SyntaxFault, SyntaxProblem};
use super::super::lexer::TokenKind;
use super::super::strings::{line_length, literal_length};
use super::sink::{Directive, Event, EventSink, Trim};
use super::{FrameState, Parser, ParserStep};

/// An unfinished string or heredoc.
#[derive(Clone, Copy)]
pub(super) struct TemplateFrame {
    end: TemplateEnd,
    /// How many directives are open around it.
    outer_directives: usize,
}

#[derive(Clone, Copy)]
enum TemplateEnd {
    Quote,
    /// A line that consists of `marker`.
    Marker {
        marker: Span,
        flush: bool,
    },
    /// The end of the text.
    Text,
}

/// A directive without its end.
pub(super) struct OpenDirective {
    start: Span,
    kind: DirectiveKind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DirectiveKind {
    If,
    Else,
    For,
}

impl TemplateFrame {
    const fn ending_with(end: TemplateEnd) -> Self {
        Self {
            end,
            outer_directives: 0,
        }
    }

    pub(super) const fn quoted() -> Self {
        Self::ending_with(TemplateEnd::Quote)
    }

    pub(super) const fn bare() -> Self {
        Self::ending_with(TemplateEnd::Text)
    }

    /// The heredoc after `introducer`, which is `<<WORD` or `<<-WORD` with a newline.
    pub(super) fn heredoc(introducer: Span, text: &[u8]) -> Self {
        let flush = text[introducer.start + 2] == b'-';
        let start = introducer.start + 2 + usize::from(flush);
        let end = memchr(b'\r', &text[start..introducer.end])
            .map_or(introducer.end - 1, |length| start + length);
        Self::ending_with(TemplateEnd::Marker {
            marker: Span::new(start, end),
            flush,
        })
    }
}

impl<S: EventSink> Parser<'_, S> {
    /// Starts a template after its opening quote or introducer.
    pub(super) fn open_template(
        &mut self,
        mut frame: TemplateFrame,
        start: usize,
    ) -> Result<ParserStep, SyntaxFault> {
        frame.outer_directives = self.directives.len();
        self.push(FrameState::Template(frame), start);
        self.sink
            .event(Event::TemplateStart, Span::new(start, self.lexer.at))?;
        Ok(ParserStep::Text)
    }

    /// Reads text up to the next sequence, or to the end of the string.
    pub(super) fn template_text(&mut self) -> Result<ParserStep, SyntaxFault> {
        let Some(&FrameState::Template(frame)) = self.frames.last().map(|frame| &frame.state)
        else {
            return Ok(ParserStep::Operator);
        };
        let quoted = matches!(frame.end, TemplateEnd::Quote);
        loop {
            let start = self.lexer.at;
            if let TemplateEnd::Marker { marker, flush } = frame.end
                && self.at_line_start()
                && self.skip_marker(marker)
            {
                return self.close_template(frame, flush);
            }
            let rest = self.lexer.rest();
            let length = if quoted {
                literal_length(rest, start)?
            } else {
                line_length(rest, start)?
            };
            self.lexer.at += length;
            if length > 0 {
                self.sink
                    .event(Event::Text { quoted }, Span::new(start, self.lexer.at))?;
            }
            match (self.lexer.rest(), frame.end) {
                ([b'$', b'{', ..], _) => return self.open_sequence(true),
                ([b'%', b'{', ..], _) => return self.open_sequence(false),
                ([b'"', ..], TemplateEnd::Quote) => {
                    self.lexer.at += 1;
                    return self.close_template(frame, false);
                }
                ([], TemplateEnd::Text) => return self.close_template(frame, false),
                ([], _) => return Err(self.unterminated()),
                _ => {}
            }
        }
    }

    fn at_line_start(&self) -> bool {
        self.lexer.at > 0 && self.lexer.text[self.lexer.at - 1] == b'\n'
    }

    /// Consumes the line if it is the marker, without its newline.
    fn skip_marker(&mut self, marker: Span) -> bool {
        let rest = self.lexer.rest();
        let Some(length) = memchr(b'\n', rest) else {
            return false;
        };
        let line = rest[..length]
            .strip_suffix(b"\r")
            .unwrap_or(&rest[..length]);
        let found = trim_blanks(line) == self.text(marker) && !line.contains(&b'\r');
        if found {
            self.lexer.at += line.len();
        }
        found
    }

    fn unterminated(&self) -> SyntaxFault {
        let start = self.frames.last().map_or(0, |frame| frame.start);
        SyntaxProblem::UnterminatedTemplate.at(Span::new(start, start + 1))
    }

    fn close_template(
        &mut self,
        frame: TemplateFrame,
        flush: bool,
    ) -> Result<ParserStep, SyntaxFault> {
        if self.directives.len() > frame.outer_directives {
            let start = self
                .directives
                .last()
                .map_or(Span::default(), |open| open.start);
            return Err(SyntaxProblem::UnbalancedDirectives.at(start));
        }
        self.last_end = self.lexer.at;
        self.complete(Event::TemplateEnd { flush })
    }

    /// Reads `${` or `%{`, with `~` if that follows.
    fn open_sequence(&mut self, interpolation: bool) -> Result<ParserStep, SyntaxFault> {
        let start = self.lexer.at;
        self.lexer.at += 2;
        let trim = self.lexer.rest().first() == Some(&b'~');
        self.lexer.at += usize::from(trim);
        if interpolation {
            self.push_without_newlines(FrameState::Interpolation { trim }, start);
            return Ok(ParserStep::Operand);
        }
        self.push_without_newlines(
            FrameState::Directive {
                directive: Directive::EndIf,
                trim,
            },
            start,
        );
        self.open_directive(trim)
    }

    fn open_directive(&mut self, trim: bool) -> Result<ParserStep, SyntaxFault> {
        let word = self
            .expect(TokenKind::Identifier, SyntaxProblem::InvalidDirective)?
            .span;
        match self.text(word) {
            b"if" => {
                self.directives.push(OpenDirective {
                    start: word,
                    kind: DirectiveKind::If,
                });
                self.set_state(FrameState::Directive {
                    directive: Directive::If,
                    trim,
                });
                Ok(ParserStep::Operand)
            }
            b"for" => {
                let names = self.for_names(SyntaxProblem::InvalidForDirective)?;
                self.directives.push(OpenDirective {
                    start: word,
                    kind: DirectiveKind::For,
                });
                self.set_state(FrameState::Directive {
                    directive: Directive::For(names),
                    trim,
                });
                Ok(ParserStep::Operand)
            }
            b"else" => self.end_directive(word, Directive::Else, trim),
            b"endif" => self.end_directive(word, Directive::EndIf, trim),
            b"endfor" => self.end_directive(word, Directive::EndFor, trim),
            _ => Err(SyntaxProblem::InvalidDirective.at(word)),
        }
    }

    /// Reads `else`, `endif` or `endfor`, which must match the innermost open directive of this string.
    fn end_directive(
        &mut self,
        word: Span,
        directive: Directive,
        trim: bool,
    ) -> Result<ParserStep, SyntaxFault> {
        let outer = self
            .frames
            .iter()
            .rev()
            .find_map(|frame| match frame.state {
                FrameState::Template(template) => Some(template.outer_directives),
                _ => None,
            });
        let is_ours = self.directives.len() > outer.unwrap_or(0);
        let open = self
            .directives
            .pop()
            .filter(|_| is_ours)
            .map(|open| open.kind);
        match (directive, open) {
            (Directive::Else, Some(DirectiveKind::If)) => {
                self.directives.push(OpenDirective {
                    start: word,
                    kind: DirectiveKind::Else,
                });
            }
            (Directive::EndIf, Some(DirectiveKind::If | DirectiveKind::Else))
            | (Directive::EndFor, Some(DirectiveKind::For)) => {}
            _ => return Err(SyntaxProblem::UnbalancedDirectives.at(word)),
        }
        self.close_directive(directive, trim)
    }

    /// Completes a directive with its closing brace.
    pub(super) fn close_directive(
        &mut self,
        directive: Directive,
        before: bool,
    ) -> Result<ParserStep, SyntaxFault> {
        let after = self.close_brace()?;
        let span = self.pop();
        self.sink
            .event(Event::Directive(directive, Trim { before, after }), span)?;
        Ok(ParserStep::Text)
    }

    /// Completes an interpolation with its closing brace.
    pub(super) fn close_interpolation(&mut self, before: bool) -> Result<ParserStep, SyntaxFault> {
        let after = self.close_brace()?;
        let span = self.pop();
        self.sink
            .event(Event::Interpolation(Trim { before, after }), span)?;
        Ok(ParserStep::Text)
    }

    /// Reads the closing brace. Returns whether it is `~}`.
    fn close_brace(&mut self) -> Result<bool, SyntaxFault> {
        let token = self.next()?;
        match token.kind {
            TokenKind::CloseBrace => Ok(false),
            TokenKind::TrimCloseBrace => Ok(true),
            TokenKind::End | TokenKind::Quote => {
                let start = self.frames.last().map_or(0, |frame| frame.start);
                Err(SyntaxProblem::UnclosedInterpolation.at(Span::new(start, start + 2)))
            }
            _ => Err(SyntaxProblem::ExtraInInterpolation.at(token.span)),
        }
    }
}

/// Removes blanks as defined by Unicode from both ends.
fn trim_blanks(line: &[u8]) -> &[u8] {
    std::str::from_utf8(line).map_or(line, |line| line.trim().as_bytes())
}
