//! How expressions go on and end: traversals, operators, and the closing of what is open.

use crate::span::Span;

use super::super::error::{Fault, Problem};
use super::super::expr::BinaryOperator;
use super::super::lexer::Kind;
use super::super::number::is_number;
use super::sink::{Event, Sink};
use super::{Parser, State, Step};

impl<S: Sink> Parser<'_, S> {
    /// After an operand: the next operator, or the end of the expression.
    pub(super) fn operator(&mut self) -> Result<Step, Fault> {
        let kind = self.peek()?.kind;
        match kind {
            Kind::Dot => return self.attribute(),
            Kind::OpenBracket => return self.open_index(),
            _ => {}
        }
        match self.frames.last().map(|frame| &frame.state) {
            Some(State::Splat) => return self.complete(Event::SplatEnd),
            Some(&State::Unary(operator)) => return self.complete(Event::Unary(operator)),
            _ => {}
        }
        if let Some(operator) = binary_operator(kind) {
            return self.binary(operator);
        }
        if let Some(&State::Binary(operator)) = self.frames.last().map(|frame| &frame.state) {
            return self.complete(Event::Binary(operator));
        }
        if kind == Kind::Question {
            self.next()?;
            self.push(State::IfTrue, self.last_end);
            return Ok(Step::Operand);
        }
        self.end_of_expression()
    }

    /// Operators on the left that bind at least as strongly are complete.
    fn binary(&mut self, operator: BinaryOperator) -> Result<Step, Fault> {
        if let Some(&State::Binary(left)) = self.frames.last().map(|frame| &frame.state)
            && left.precedence() >= operator.precedence()
        {
            return self.complete(Event::Binary(left));
        }
        self.next()?;
        self.push(State::Binary(operator), self.last_end);
        Ok(Step::Operand)
    }

    fn end_of_expression(&mut self) -> Result<Step, Fault> {
        let Some(frame) = self.frames.last() else {
            return Ok(Step::Done);
        };
        match frame.state {
            State::Argument { item, one_line } => self.close_argument(item, one_line),
            State::Whole => {
                self.expect(Kind::End, Problem::ExtraCharacters)?;
                Ok(Step::Done)
            }
            State::Parentheses => {
                self.expect(Kind::CloseParen, Problem::UnbalancedParentheses)?;
                self.complete(Event::Parentheses)
            }
            State::Tuple { count } => self.after_element(count),
            State::Key { count } => self.after_key(count),
            State::Entry { count } => self.after_entry(count),
            State::Index => {
                self.expect(Kind::CloseBracket, Problem::MissingIndexBracket)?;
                self.complete(Event::Index)
            }
            State::Call { name, count } => self.after_call_argument(name, count),
            State::For(frame) => self.after_for_part(frame),
            State::IfTrue => {
                self.expect(Kind::Colon, Problem::MissingFalseExpression)?;
                self.set_state(State::IfFalse);
                Ok(Step::Operand)
            }
            State::IfFalse => self.complete(Event::Conditional),
            State::Interpolation { trim } => self.close_interpolation(trim),
            State::Directive { directive, trim } => self.close_directive(directive, trim),
            // The others are completed before an expression can end in them.
            State::Part
            | State::Block { .. }
            | State::Template(_)
            | State::Splat
            | State::Unary(_)
            | State::Binary(_) => Ok(Step::Done),
        }
    }

    fn open_index(&mut self) -> Result<Step, Fault> {
        let start = self.next()?.span.start;
        if self.peek()?.kind == Kind::Star {
            self.next()?;
            self.expect(Kind::CloseBracket, Problem::MissingIndexBracket)?;
            self.push(State::Splat, start);
            self.sink
                .event(Event::SplatStart, Span::new(start, self.last_end))?;
            return Ok(Step::Operator);
        }
        self.push_without_newlines(State::Index, start);
        Ok(Step::Operand)
    }

    /// `.name`, `.0`, or `.*` with its own attributes.
    fn attribute(&mut self) -> Result<Step, Fault> {
        let dot = self.next()?.span;
        if self.peek()?.kind != Kind::Star {
            self.attribute_step()?;
            return Ok(Step::Operator);
        }
        let star = self.next()?.span;
        self.sink.event(Event::SplatStart, dot.to(star))?;
        while self.peek()?.kind == Kind::Dot {
            self.next()?;
            self.attribute_step()?;
        }
        self.leaf(Event::SplatEnd, Span::new(dot.start, self.last_end))
    }

    fn attribute_step(&mut self) -> Result<(), Fault> {
        let token = self.next()?;
        let event = match token.kind {
            Kind::Identifier => Event::Attribute(token.span),
            Kind::Number if self.text(token.span).contains(&b'.') => {
                return Err(Fault::new(token.span, Problem::ChainedLegacyIndex));
            }
            Kind::Number if is_number(self.text(token.span)) => Event::LegacyIndex(token.span),
            _ => return Err(Fault::new(token.span, Problem::AttributeNameRequired)),
        };
        self.sink.event(event, token.span)
    }
}

const fn binary_operator(kind: Kind) -> Option<BinaryOperator> {
    Some(match kind {
        Kind::Or => BinaryOperator::Or,
        Kind::And => BinaryOperator::And,
        Kind::EqualTo => BinaryOperator::Equal,
        Kind::NotEqualTo => BinaryOperator::NotEqual,
        Kind::Less => BinaryOperator::Less,
        Kind::LessOrEqual => BinaryOperator::LessOrEqual,
        Kind::Greater => BinaryOperator::Greater,
        Kind::GreaterOrEqual => BinaryOperator::GreaterOrEqual,
        Kind::Plus => BinaryOperator::Add,
        Kind::Minus => BinaryOperator::Subtract,
        Kind::Star => BinaryOperator::Multiply,
        Kind::Slash => BinaryOperator::Divide,
        Kind::Percent => BinaryOperator::Modulo,
        _ => return None,
    })
}
