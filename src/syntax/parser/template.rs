//! Parses strings and heredocs: literal text, `${}` and `%{}`.
//!
//! Every line of a heredoc is a separate piece of text, because indentation (`<<-`) and trimming (`~}`) apply to lines.

use memchr::memchr;

use crate::span::Span;

use super::super::error::{SyntaxFault, SyntaxProblem};
use super::super::lexer::TokenKind;
use super::super::strings::literal_length;
use super::sink::{Directive, Event, EventSink, Trim};
use super::{FrameState, Parser, ParserStep, StepResult};

/// An unfinished string or heredoc.
#[derive(Clone, Copy)]
pub(super) struct TemplateFrame {
    end: TemplateEnd,
    /// The number of directives that were open before this template.
    outer_directives: usize,
}

#[derive(Clone, Copy)]
enum TemplateEnd {
    Quote,
    /// The line that ends a heredoc: it contains only `marker`.
    Marker {
        marker: Span,
        flush: bool,
    },
    /// The end of the text.
    Text,
}

/// A directive whose `endif` or `endfor` has not been read yet: `if`, `else` or `for`.
pub(super) struct OpenDirective {
    word: Span,
    directive: Directive,
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

    /// Creates the frame of a heredoc. `introducer` is `<<WORD` or `<<-WORD` with a newline.
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
    pub(super) fn open_template(&mut self, mut frame: TemplateFrame, start: usize) -> StepResult {
        frame.outer_directives = self.directives.len();
        self.push(FrameState::Template(frame), start);
        self.sink
            .event(Event::TemplateStart, Span::new(start, self.lexer.at))?;
        Ok(ParserStep::Text)
    }

    /// Reads text up to the next sequence, or to the end of the string.
    pub(super) fn template_text(&mut self) -> StepResult {
        let Some(&FrameState::Template(frame)) = self.state() else {
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
            let length = literal_length(self.lexer.rest(), start, quoted)?;
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
                ([], _) => return Err(SyntaxProblem::UnterminatedTemplate.at(self.opening())),
                _ => {}
            }
        }
    }

    fn at_line_start(&self) -> bool {
        self.lexer.at > 0 && self.lexer.text[self.lexer.at - 1] == b'\n'
    }

    /// Consumes the current line, without its newline, if it is the marker that ends the heredoc. Returns whether it is.
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

    fn close_template(&mut self, frame: TemplateFrame, flush: bool) -> StepResult {
        if let Some(open) = self
            .directives
            .get(frame.outer_directives..)
            .and_then(<[_]>::last)
        {
            return Err(SyntaxProblem::UnbalancedDirectives.at(open.word));
        }
        self.last_end = self.lexer.at;
        self.complete(Event::TemplateEnd { flush })
    }

    /// Reads `${` or `%{`, with `~` if that follows.
    fn open_sequence(&mut self, interpolation: bool) -> StepResult {
        let start = self.lexer.at;
        self.lexer.at += 2;
        let trim = self.lexer.rest().first() == Some(&b'~');
        self.lexer.at += usize::from(trim);
        if interpolation {
            self.push_without_newlines(FrameState::Interpolation { trim }, start);
            return Ok(ParserStep::Operand);
        }
        let directive = Directive::EndIf;
        self.push_without_newlines(FrameState::Directive { directive, trim }, start);
        self.open_directive(trim)
    }

    fn open_directive(&mut self, trim: bool) -> StepResult {
        let word = self.expect(TokenKind::Identifier, SyntaxProblem::InvalidDirective)?;
        let directive = match self.text(word) {
            b"if" => Directive::If,
            b"for" => Directive::For(self.for_names(SyntaxProblem::InvalidForDirective)?),
            b"else" => return self.end_directive(word, Directive::Else, trim),
            b"endif" => return self.end_directive(word, Directive::EndIf, trim),
            b"endfor" => return self.end_directive(word, Directive::EndFor, trim),
            _ => return Err(SyntaxProblem::InvalidDirective.at(word)),
        };
        self.directives.push(OpenDirective { word, directive });
        self.set_state(FrameState::Directive { directive, trim });
        Ok(ParserStep::Operand)
    }

    /// Reads `else`, `endif` or `endfor`, which must match the innermost open directive of this string.
    fn end_directive(&mut self, word: Span, directive: Directive, trim: bool) -> StepResult {
        let mut frames = self.frames.iter().rev();
        let outer = frames.find_map(|frame| match frame.state {
            FrameState::Template(template) => Some(template.outer_directives),
            _ => None,
        });
        let is_ours = self.directives.len() > outer.unwrap_or(0);
        let open = self.directives.pop().filter(|_| is_ours);
        match (directive, open.map(|open| open.directive)) {
            (Directive::Else, Some(Directive::If)) => {
                self.directives.push(OpenDirective { word, directive });
            }
            (Directive::EndIf, Some(Directive::If | Directive::Else))
            | (Directive::EndFor, Some(Directive::For(_))) => {}
            _ => return Err(SyntaxProblem::UnbalancedDirectives.at(word)),
        }
        self.close_sequence(trim, |trim| Event::Directive(directive, trim))
    }

    /// Completes an interpolation or a directive with its closing brace. `before` is set if the sequence starts with `${~` or `%{~`.
    pub(super) fn close_sequence(
        &mut self,
        before: bool,
        event: impl FnOnce(Trim) -> Event,
    ) -> StepResult {
        let after = self.close_brace()?;
        let span = self.pop();
        self.sink.event(event(Trim { before, after }), span)?;
        Ok(ParserStep::Text)
    }

    /// Reads the closing brace. Returns whether it is `~}`.
    fn close_brace(&mut self) -> Result<bool, SyntaxFault> {
        let token = self.next()?;
        match token.kind {
            TokenKind::CloseBrace => Ok(false),
            TokenKind::TrimCloseBrace => Ok(true),
            TokenKind::End | TokenKind::Quote => {
                let start = self.opening().start;
                Err(SyntaxProblem::UnclosedInterpolation.at(Span::new(start, start + 2)))
            }
            _ => Err(SyntaxProblem::ExtraInInterpolation.at(token.span)),
        }
    }
}

/// Removes Unicode whitespace from both ends.
fn trim_blanks(line: &[u8]) -> &[u8] {
    std::str::from_utf8(line).map_or(line, |line| line.trim().as_bytes())
}
