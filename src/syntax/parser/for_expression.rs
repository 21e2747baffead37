//! `[for k, v in collection : value if condition]` and its form with braces.

use super::super::error::{Fault, Problem};
use super::super::lexer::Kind;
use super::sink::{Event, ForNames, ForShape, Sink};
use super::{Parser, State, Step};

/// How far a `for` expression has come.
#[derive(Clone, Copy)]
pub(super) struct ForFrame {
    names: ForNames,
    /// It is in braces and makes an object.
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

impl<S: Sink> Parser<'_, S> {
    /// The bracket is open and `for` comes next. Newlines count nowhere in it.
    pub(super) fn open_for(&mut self, object: bool) -> Result<Step, Fault> {
        self.newlines = false;
        self.next()?;
        let names = self.for_names(Problem::InvalidFor)?;
        self.set_state(State::For(ForFrame {
            names,
            object,
            part: ForPart::Collection,
            keyed: false,
            grouped: false,
        }));
        Ok(Step::Operand)
    }

    /// `k, v in`, of an expression or a directive.
    pub(super) fn for_names(
        &mut self,
        problem: fn(&'static str) -> Problem,
    ) -> Result<ForNames, Fault> {
        let first = self
            .expect(
                Kind::Identifier,
                problem("a variable name is required after `for`"),
            )?
            .span;
        let mut names = ForNames {
            key: None,
            value: first,
        };
        if self.peek()?.kind == Kind::Comma {
            self.next()?;
            let value = self
                .expect(
                    Kind::Identifier,
                    problem("a variable name is required after the comma"),
                )?
                .span;
            names = ForNames {
                key: Some(first),
                value,
            };
        }
        if !self.peek_is_word(b"in")? {
            return Err(Fault::new(
                self.peek()?.span,
                problem("`in` is required after the variable names"),
            ));
        }
        self.next()?;
        Ok(names)
    }

    /// A part of the `for` on top is complete.
    pub(super) fn after_for_part(&mut self, mut frame: ForFrame) -> Result<Step, Fault> {
        match frame.part {
            ForPart::Collection => {
                self.expect(
                    Kind::Colon,
                    Problem::InvalidFor("a colon is required after the collection"),
                )?;
                frame.part = ForPart::First;
            }
            ForPart::First if self.peek()?.kind == Kind::FatArrow => {
                let arrow = self.next()?;
                if !frame.object {
                    return Err(Fault::new(
                        arrow.span,
                        Problem::InvalidFor("a tuple takes no keys"),
                    ));
                }
                frame.part = ForPart::Value;
                frame.keyed = true;
            }
            ForPart::First if frame.object => {
                return Err(Fault::new(
                    self.peek()?.span,
                    Problem::InvalidFor("an object needs keys, with `=>`"),
                ));
            }
            ForPart::First | ForPart::Value => return self.after_for_value(frame),
            ForPart::Condition => return self.close_for(frame, true),
        }
        self.set_state(State::For(frame));
        Ok(Step::Operand)
    }

    fn after_for_value(&mut self, mut frame: ForFrame) -> Result<Step, Fault> {
        if self.peek()?.kind == Kind::Ellipsis {
            let ellipsis = self.next()?;
            if !frame.object {
                return Err(Fault::new(
                    ellipsis.span,
                    Problem::InvalidFor("`...` cannot group into a tuple"),
                ));
            }
            frame.grouped = true;
        }
        if !self.peek_is_word(b"if")? {
            return self.close_for(frame, false);
        }
        self.next()?;
        frame.part = ForPart::Condition;
        self.set_state(State::For(frame));
        Ok(Step::Operand)
    }

    fn close_for(&mut self, frame: ForFrame, conditional: bool) -> Result<Step, Fault> {
        let close = if frame.object {
            Kind::CloseBrace
        } else {
            Kind::CloseBracket
        };
        self.expect(
            close,
            Problem::InvalidFor("something follows where it should end"),
        )?;
        self.complete(Event::For(ForShape {
            names: frame.names,
            keyed: frame.keyed,
            grouped: frame.grouped,
            conditional,
        }))
    }
}
