//! Parses the text after an operand: traversals, operators, and the ends of enclosing constructs.

use crate::span::Span;

use super::super::error::SyntaxProblem;
use super::super::expr::BinaryOperator;
use super::super::lexer::TokenKind;
use super::super::number::is_number;
use super::sink::{Event, EventSink};
use super::{FrameState, Parser, ParserStep, StepResult};

impl<S: EventSink> Parser<'_, S> {
    /// Reads the operator after an operand, or completes the expression.
    pub(super) fn operator(&mut self) -> StepResult {
        let kind = self.peek()?.kind;
        match kind {
            TokenKind::Dot => return self.attribute(),
            TokenKind::OpenBracket => return self.open_index(),
            _ => {}
        }
        match self.state() {
            Some(FrameState::Splat) => return self.complete(Event::SplatEnd),
            Some(&FrameState::Unary(operator)) => return self.complete(Event::Unary(operator)),
            _ => {}
        }
        if let Some(operator) = binary_operator(kind) {
            return self.binary(operator);
        }
        if let Some(&FrameState::Binary(operator)) = self.state() {
            return self.complete(Event::Binary(operator));
        }
        if kind == TokenKind::Question {
            self.next()?;
            self.push(FrameState::IfTrue, self.last_end);
            return Ok(ParserStep::Operand);
        }
        self.end_of_expression()
    }

    /// Reads an operator. If the operator on its left binds at least as tightly, completes that one first.
    fn binary(&mut self, operator: BinaryOperator) -> StepResult {
        if let Some(&FrameState::Binary(left)) = self.state()
            && left.precedence() >= operator.precedence()
        {
            return self.complete(Event::Binary(left));
        }
        self.next()?;
        self.push(FrameState::Binary(operator), self.last_end);
        Ok(ParserStep::Operand)
    }

    fn end_of_expression(&mut self) -> StepResult {
        let Some(frame) = self.frames.last() else {
            return Ok(ParserStep::Done);
        };
        match frame.state {
            FrameState::Argument { item, one_line } => self.close_argument(item, one_line),
            FrameState::Whole => {
                self.expect(TokenKind::End, SyntaxProblem::ExtraCharacters)?;
                Ok(ParserStep::Done)
            }
            FrameState::Parentheses => {
                self.expect(TokenKind::CloseParen, SyntaxProblem::UnbalancedParentheses)?;
                self.complete(Event::Parentheses)
            }
            FrameState::Tuple { count } => self.after_element(count),
            FrameState::Key { count } => self.after_key(count),
            FrameState::Entry { count } => self.after_entry(count),
            FrameState::Index => {
                self.expect(TokenKind::CloseBracket, SyntaxProblem::MissingIndexBracket)?;
                self.complete(Event::Index)
            }
            FrameState::Call { name, count } => self.after_call_argument(name, count),
            FrameState::For(frame) => self.after_for_part(frame),
            FrameState::IfTrue => {
                self.expect(TokenKind::Colon, SyntaxProblem::MissingFalseExpression)?;
                self.set_state(FrameState::IfFalse);
                Ok(ParserStep::Operand)
            }
            FrameState::IfFalse => self.complete(Event::Conditional),
            FrameState::Interpolation { trim } => self.close_sequence(trim, Event::Interpolation),
            FrameState::Directive { directive, trim } => {
                self.close_sequence(trim, |trim| Event::Directive(directive, trim))
            }
            // After the expression of a `Part`, parsing is done. An expression never ends directly inside the other constructs.
            FrameState::Part
            | FrameState::Block { .. }
            | FrameState::Template(_)
            | FrameState::Splat
            | FrameState::Unary(_)
            | FrameState::Binary(_) => Ok(ParserStep::Done),
        }
    }

    fn open_index(&mut self) -> StepResult {
        let start = self.next()?.span.start;
        if self.take_if(TokenKind::Star)?.is_some() {
            self.expect(TokenKind::CloseBracket, SyntaxProblem::MissingIndexBracket)?;
            self.push(FrameState::Splat, start);
            return self.leaf(Event::SplatStart, Span::new(start, self.last_end));
        }
        self.push_without_newlines(FrameState::Index, start);
        Ok(ParserStep::Operand)
    }

    /// Reads `.name`, `.0`, or `.*` with the attributes after it.
    fn attribute(&mut self) -> StepResult {
        let dot = self.next()?.span;
        let Some(star) = self.take_if(TokenKind::Star)? else {
            return self.attribute_step();
        };
        self.sink.event(Event::SplatStart, dot.to(star))?;
        while self.take_if(TokenKind::Dot)?.is_some() {
            self.attribute_step()?;
        }
        self.leaf(Event::SplatEnd, Span::new(dot.start, self.last_end))
    }

    fn attribute_step(&mut self) -> StepResult {
        let token = self.next()?;
        let event = match token.kind {
            TokenKind::Identifier => Event::Attribute(token.span),
            TokenKind::Number if self.text(token.span).contains(&b'.') => {
                return Err(SyntaxProblem::ChainedLegacyIndex.at(token.span));
            }
            TokenKind::Number if is_number(self.text(token.span)) => Event::LegacyIndex(token.span),
            _ => return Err(SyntaxProblem::AttributeNameRequired.at(token.span)),
        };
        self.leaf(event, token.span)
    }
}

const fn binary_operator(kind: TokenKind) -> Option<BinaryOperator> {
    Some(match kind {
        TokenKind::Or => BinaryOperator::Or,
        TokenKind::And => BinaryOperator::And,
        TokenKind::EqualTo => BinaryOperator::Equal,
        TokenKind::NotEqualTo => BinaryOperator::NotEqual,
        TokenKind::Less => BinaryOperator::Less,
        TokenKind::LessOrEqual => BinaryOperator::LessOrEqual,
        TokenKind::Greater => BinaryOperator::Greater,
        TokenKind::GreaterOrEqual => BinaryOperator::GreaterOrEqual,
        TokenKind::Plus => BinaryOperator::Add,
        TokenKind::Minus => BinaryOperator::Subtract,
        TokenKind::Star => BinaryOperator::Multiply,
        TokenKind::Slash => BinaryOperator::Divide,
        TokenKind::Percent => BinaryOperator::Modulo,
        _ => return None,
    })
}
