//! What the parser tells of the expressions it recognizes.
//!
//! Events come in postfix order: the parts of an expression before the expression itself, so that a listener with a stack
//! can build a tree ([`crate::syntax::tree`]) and one without builds nothing at no cost ([`NoTree`]).

use crate::span::Span;

use super::super::error::SyntaxFault;
use super::super::expr::{BinaryOperator, UnaryOperator};

/// One step of the postfix order. Counts say how many of the latest expressions become parts of this one.
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
    /// The latest expression is an index into the one before.
    Index,
    /// What follows until `SplatEnd` happens to each element of the latest expression.
    SplatStart,
    SplatEnd,
    Call {
        name: Span,
        arguments: usize,
        expand: bool,
    },
    Parentheses,
    Tuple(usize),
    /// So many keys and values.
    Object(usize),
    Unary(UnaryOperator),
    Binary(BinaryOperator),
    Conditional,
    For(ForShape),
    TemplateStart,
    /// Literal text; `quoted` text has backslash sequences.
    Text {
        quoted: bool,
    },
    Interpolation(Trim),
    Directive(Directive, Trim),
    /// The template is complete; `flush` is that of `<<-`.
    TemplateEnd {
        flush: bool,
    },
}

/// The parts that a `for` expression has: the collection, then a key if `keyed`, the value, a condition if `conditional`.
#[derive(Clone, Copy, Debug)]
pub(in crate::syntax) struct ForShape {
    pub(in crate::syntax) names: ForNames,
    pub(in crate::syntax) keyed: bool,
    pub(in crate::syntax) grouped: bool,
    pub(in crate::syntax) conditional: bool,
}

/// The variables that a `for` declares.
#[derive(Clone, Copy, Debug)]
pub(in crate::syntax) struct ForNames {
    pub(in crate::syntax) key: Option<Span>,
    pub(in crate::syntax) value: Span,
}

/// Which neighboring text loses its blanks: `${~` and `~}`.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::syntax) struct Trim {
    pub(in crate::syntax) before: bool,
    pub(in crate::syntax) after: bool,
}

/// A `%{` sequence; the condition or collection is the latest expression.
#[derive(Clone, Copy, Debug)]
pub(in crate::syntax) enum Directive {
    If,
    Else,
    EndIf,
    For(ForNames),
    EndFor,
}

/// Receives the events.
pub(in crate::syntax) trait EventSink {
    /// `span` is what the event covers.
    fn event(&mut self, event: Event, span: Span) -> Result<(), SyntaxFault>;
}

/// Builds nothing.
pub(in crate::syntax) struct NoTree;

impl EventSink for NoTree {
    #[inline]
    fn event(&mut self, _: Event, _: Span) -> Result<(), SyntaxFault> {
        Ok(())
    }
}
