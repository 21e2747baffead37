//! The events with which the parser reports expressions.
//!
//! Events come in postfix order: the parts of an expression precede the expression. A sink with a stack can therefore build a
//! tree ([`crate::syntax::tree`]), and a sink that ignores events costs nothing ([`NoTree`]).

use crate::span::Span;

use super::super::error::SyntaxFault;
use super::super::expr::{BinaryOperator, UnaryOperator};

/// An expression, or the start of one. A count is the number of preceding expressions that become its parts.
#[derive(Clone, Copy, Debug)]
pub(in crate::syntax) enum Event {
    Null,
    True,
    False,
    Number,
    Variable,
    /// `.name` on the latest expression.
    Attribute(Span),
    /// `.0` on the latest expression.
    LegacyIndex(Span),
    /// The latest expression is an index into the previous one.
    Index,
    /// The events until `SplatEnd` apply to each element of the latest expression.
    SplatStart,
    SplatEnd,
    Call {
        name: Span,
        arguments: usize,
        expand: bool,
    },
    Parentheses,
    Tuple(usize),
    /// The number of entries, each with a key and a value.
    Object(usize),
    Unary(UnaryOperator),
    Binary(BinaryOperator),
    Conditional,
    For(ForShape),
    TemplateStart,
    /// Literal text. If `quoted`, it can contain backslash sequences.
    Text {
        quoted: bool,
    },
    Interpolation(Trim),
    Directive(Directive, Trim),
    /// The template is complete. `flush` is set for heredocs with `<<-`, whose common indentation is removed.
    TemplateEnd {
        flush: bool,
    },
}

/// The parts of a `for` expression: the collection, a key if `keyed`, the value, and a condition if `conditional`.
#[derive(Clone, Copy, Debug)]
pub(in crate::syntax) struct ForShape {
    pub(in crate::syntax) names: ForNames,
    pub(in crate::syntax) keyed: bool,
    pub(in crate::syntax) grouped: bool,
    pub(in crate::syntax) conditional: bool,
}

/// The variable names of a `for` expression or directive.
#[derive(Clone, Copy, Debug)]
pub(in crate::syntax) struct ForNames {
    pub(in crate::syntax) key: Option<Span>,
    pub(in crate::syntax) value: Span,
}

/// Whether whitespace is removed from the text before (`${~`) and after (`~}`) a sequence.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::syntax) struct Trim {
    pub(in crate::syntax) before: bool,
    pub(in crate::syntax) after: bool,
}

/// The kind of a `%{` sequence. Its condition or collection is the latest expression.
#[derive(Clone, Copy, Debug)]
pub(in crate::syntax) enum Directive {
    If,
    Else,
    EndIf,
    For(ForNames),
    EndFor,
}

/// Receives the events of the parser.
pub(in crate::syntax) trait EventSink {
    /// Handles an event. `span` is the source range of the expression.
    fn event(&mut self, event: Event, span: Span) -> Result<(), SyntaxFault>;
}

/// Ignores all events.
pub(in crate::syntax) struct NoTree;

impl EventSink for NoTree {
    #[inline]
    fn event(&mut self, _: Event, _: Span) -> Result<(), SyntaxFault> {
        Ok(())
    }
}
