//! Parses `for` expressions: `[for k, v in collection : value if condition]`, and the form with braces.

use super::super::error::{SyntaxFault, SyntaxProblem};
use super::super::lexer::TokenKind;
use super::sink::{Event, EventSink, ForNames, ForShape};
use super::{FrameState, Parser, ParserStep, StepResult};

/// The state of a `for` expression.
#[derive(Clone, Copy)]
pub(super) struct ForFrame {
    names: ForNames,
    /// Whether the expression is in braces and builds an object.
    object: bool,
    part: ForPart,
    keyed: bool,
    grouped: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ForPart {
    Collection,
    /// The value, or the key before `=>`.
    First,
    Value,
    Condition,
}

impl<S: EventSink> Parser<'_, S> {
    /// Starts a `for` expression after its opening bracket. Newlines are insignificant within it.
    pub(super) fn open_for(&mut self, object: bool) -> StepResult {
        self.newlines = false;
        self.next()?;
        let names = self.for_names(SyntaxProblem::InvalidFor)?;
        self.set_state(FrameState::For(ForFrame {
            names,
            object,
            part: ForPart::Collection,
            keyed: false,
            grouped: false,
        }));
        Ok(ParserStep::Operand)
    }

    /// Reads the `k, v in` part of a `for` expression or directive.
    pub(super) fn for_names(
        &mut self,
        problem: fn(&'static str) -> SyntaxProblem,
    ) -> Result<ForNames, SyntaxFault> {
        let missing_name = problem("a variable name is required after `for`");
        let first = self.expect(TokenKind::Identifier, missing_name)?;
        let names = if self.take_if(TokenKind::Comma)?.is_some() {
            let missing_name = problem("a variable name is required after the comma");
            let value = self.expect(TokenKind::Identifier, missing_name)?;
            ForNames {
                key: Some(first),
                value,
            }
        } else {
            ForNames {
                key: None,
                value: first,
            }
        };
        if !self.peek_is_word(b"in")? {
            return Err(problem("`in` is required after the variable names").at(self.peek()?.span));
        }
        self.next()?;
        Ok(names)
    }

    /// Continues a `for` expression after one of its parts.
    pub(super) fn after_for_part(&mut self, mut frame: ForFrame) -> StepResult {
        match frame.part {
            ForPart::Collection => {
                let problem = "a colon is required after the collection";
                self.expect(TokenKind::Colon, SyntaxProblem::InvalidFor(problem))?;
                frame.part = ForPart::First;
            }
            ForPart::First if self.peek()?.kind == TokenKind::FatArrow => {
                let arrow = self.next()?;
                if !frame.object {
                    let problem =
                        "`=>` is allowed only in a `for` expression that builds an object";
                    return Err(SyntaxProblem::InvalidFor(problem).at(arrow.span));
                }
                frame.part = ForPart::Value;
                frame.keyed = true;
            }
            ForPart::First if frame.object => {
                let problem =
                    SyntaxProblem::InvalidFor("an object must have keys, as in `key => value`");
                return Err(problem.at(self.peek()?.span));
            }
            ForPart::First | ForPart::Value => return self.after_for_value(frame),
            ForPart::Condition => return self.close_for(frame, true),
        }
        self.set_state(FrameState::For(frame));
        Ok(ParserStep::Operand)
    }

    fn after_for_value(&mut self, mut frame: ForFrame) -> StepResult {
        if let Some(ellipsis) = self.take_if(TokenKind::Ellipsis)? {
            if !frame.object {
                let problem = SyntaxProblem::InvalidFor(
                    "`...` is allowed only in a `for` expression that builds an object",
                );
                return Err(problem.at(ellipsis));
            }
            frame.grouped = true;
        }
        if !self.peek_is_word(b"if")? {
            return self.close_for(frame, false);
        }
        self.next()?;
        frame.part = ForPart::Condition;
        self.set_state(FrameState::For(frame));
        Ok(ParserStep::Operand)
    }

    fn close_for(&mut self, frame: ForFrame, conditional: bool) -> StepResult {
        let close = if frame.object {
            TokenKind::CloseBrace
        } else {
            TokenKind::CloseBracket
        };
        let problem = "expected a closing bracket or brace";
        self.expect(close, SyntaxProblem::InvalidFor(problem))?;
        self.complete(Event::For(ForShape {
            names: frame.names,
            keyed: frame.keyed,
            grouped: frame.grouped,
            conditional,
        }))
    }
}
