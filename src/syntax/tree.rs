//! Builds expression trees from parser events.

use crate::span::Span;

use super::error::{SyntaxFault, SyntaxProblem};
use super::expr::{
    Expr, ExprKind, ForExpr, ForVariables, FunctionCall, MAX_DEPTH, ObjectEntry, TemplatePart,
};
use super::number::Number;
use super::parser::sink::{Directive, Event, EventSink, ForNames, ForShape, Trim};
use super::strings::decode;
use super::templates::{TemplatePiece, assemble};

/// Builds a tree using a stack of finished expressions. Rejects trees deeper than [`MAX_DEPTH`].
pub(super) struct TreeBuilder<'a> {
    text: &'a [u8],
    done: Vec<Expr>,
    pieces: Vec<TemplatePiece>,
    /// For each open template: the index of its first piece, and its depth so far.
    templates: Vec<(usize, usize)>,
}

impl<'a> TreeBuilder<'a> {
    pub(super) const fn new(text: &'a [u8]) -> Self {
        Self {
            text,
            done: Vec::new(),
            pieces: Vec::new(),
            templates: Vec::new(),
        }
    }

    pub(super) fn finish(mut self) -> Result<Expr, SyntaxFault> {
        self.pop()
    }

    /// Removes and returns the latest expression. The parser guarantees that there is one, but if not, an error is better than
    /// a panic.
    fn pop(&mut self) -> Result<Expr, SyntaxFault> {
        let missing = SyntaxProblem::ExpressionRequired.at(Span::new(0, 0));
        self.done.pop().ok_or(missing)
    }

    /// Removes the latest `count` expressions and returns them with the depth of the deepest one.
    fn pop_many(&mut self, count: usize) -> (Vec<Expr>, usize) {
        let parts = self.done.split_off(self.done.len().saturating_sub(count));
        let depth = parts.iter().map(Expr::depth).max().unwrap_or(0);
        (parts, depth)
    }

    /// Adds an expression. `depth` is the depth of its deepest part.
    fn push(&mut self, kind: ExprKind, span: Span, depth: usize) -> Result<(), SyntaxFault> {
        if depth >= MAX_DEPTH {
            return Err(SyntaxProblem::TooDeep(MAX_DEPTH).at(span));
        }
        let depth = depth + 1;
        self.done.push(Expr { span, kind, depth });
        Ok(())
    }

    fn string(&self, span: Span) -> String {
        String::from_utf8_lossy(&self.text[span.start..span.end]).into_owned()
    }

    fn number(&mut self, span: Span) -> Result<(), SyntaxFault> {
        let number =
            Number::parse(&self.string(span)).ok_or(SyntaxProblem::InvalidNumber.at(span))?;
        self.push(ExprKind::Number(number), span, 0)
    }

    /// Wraps the latest expression. The span of the result covers that expression and `span`.
    fn wrap(
        &mut self,
        span: Span,
        make: impl FnOnce(Box<Expr>) -> ExprKind,
    ) -> Result<(), SyntaxFault> {
        let inner = self.pop()?;
        let (span, depth) = (inner.span.to(span), inner.depth);
        self.push(make(Box::new(inner)), span, depth)
    }

    /// Joins the latest two expressions into one.
    fn join(
        &mut self,
        span: Option<Span>,
        make: impl FnOnce(Box<Expr>, Box<Expr>) -> ExprKind,
    ) -> Result<(), SyntaxFault> {
        let (right, left) = (self.pop()?, self.pop()?);
        let span = left.span.to(span.unwrap_or(right.span));
        let depth = left.depth.max(right.depth);
        self.push(make(Box::new(left), Box::new(right)), span, depth)
    }

    fn object(&mut self, count: usize, span: Span) -> Result<(), SyntaxFault> {
        let (parts, depth) = self.pop_many(count * 2);
        let mut parts = parts.into_iter();
        let mut entries = Vec::with_capacity(count);
        while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
            entries.push(ObjectEntry { key, value });
        }
        self.push(ExprKind::Object(entries), span, depth)
    }

    fn conditional(&mut self) -> Result<(), SyntaxFault> {
        let (no, yes, condition) = (self.pop()?, self.pop()?, self.pop()?);
        let span = condition.span.to(no.span);
        let depth = condition.depth.max(yes.depth).max(no.depth);
        let parts = Box::new([condition, yes, no]);
        self.push(ExprKind::Conditional(parts), span, depth)
    }

    fn for_expression(&mut self, shape: ForShape, span: Span) -> Result<(), SyntaxFault> {
        let condition = shape.conditional.then(|| self.pop()).transpose()?;
        let value = self.pop()?;
        let key = shape.keyed.then(|| self.pop()).transpose()?;
        let collection = self.pop()?;
        let parts = [&collection, &value]
            .into_iter()
            .chain(&key)
            .chain(&condition);
        let depth = parts.map(Expr::depth).max().unwrap_or(0);
        let kind = ExprKind::For(Box::new(ForExpr {
            variables: self.variables(shape.names),
            collection,
            key,
            value,
            condition,
            grouped: shape.grouped,
        }));
        self.push(kind, span, depth)
    }

    fn variables(&self, names: ForNames) -> ForVariables {
        ForVariables {
            key: names.key.map(|span| self.string(span)),
            value: self.string(names.value),
        }
    }

    /// Removes and returns the latest expression, which becomes part of the innermost open template.
    fn take_into_template(&mut self) -> Result<Expr, SyntaxFault> {
        let expr = self.pop()?;
        if let Some((_, depth)) = self.templates.last_mut() {
            *depth = expr.depth.max(*depth);
        }
        Ok(expr)
    }

    fn directive(&mut self, directive: Directive, trim: Trim) -> Result<(), SyntaxFault> {
        let piece = match directive {
            Directive::If => {
                let condition = self.take_into_template()?;
                let (yes, no) = (Vec::new(), Vec::new());
                TemplatePiece::Open(TemplatePart::If { condition, yes, no }, trim)
            }
            Directive::For(names) => {
                let part = TemplatePart::For {
                    variables: self.variables(names),
                    collection: self.take_into_template()?,
                    body: Vec::new(),
                };
                TemplatePiece::Open(part, trim)
            }
            Directive::Else => TemplatePiece::Else(trim),
            Directive::EndIf | Directive::EndFor => TemplatePiece::End(trim),
        };
        self.pieces.push(piece);
        Ok(())
    }

    fn template_end(&mut self, flush: bool, span: Span) -> Result<(), SyntaxFault> {
        let (start, depth) = self.templates.pop().unwrap_or_default();
        let pieces = self.pieces.split_off(start);
        // Directives also add levels to the tree.
        let mut open = 0_usize;
        let mut deepest = 0;
        for piece in &pieces {
            match piece {
                TemplatePiece::Open(..) => open += 1,
                TemplatePiece::End(_) => open = open.saturating_sub(1),
                _ => {}
            }
            deepest = deepest.max(open);
        }
        if deepest + depth >= MAX_DEPTH {
            return Err(SyntaxProblem::TooDeep(MAX_DEPTH).at(span));
        }
        let parts = ExprKind::Template(assemble(pieces, flush));
        self.push(parts, span, depth + deepest)
    }
}

impl EventSink for TreeBuilder<'_> {
    fn event(&mut self, event: Event, span: Span) -> Result<(), SyntaxFault> {
        match event {
            Event::Null => self.push(ExprKind::Null, span, 0),
            Event::True => self.push(ExprKind::Bool(true), span, 0),
            Event::False => self.push(ExprKind::Bool(false), span, 0),
            Event::Number => self.number(span),
            Event::Variable => self.push(ExprKind::Variable(self.string(span)), span, 0),
            Event::Attribute(name) => {
                let name = self.string(name);
                self.wrap(span, |source| ExprKind::Attribute(source, name))
            }
            Event::LegacyIndex(number) => self.legacy_index(number, span),
            Event::Index => self.join(Some(span), ExprKind::Index),
            Event::SplatStart => self.push(ExprKind::Item, span, 0),
            Event::SplatEnd => self.join(Some(span), ExprKind::Splat),
            Event::Call {
                name,
                arguments,
                expand,
            } => {
                let (arguments, depth) = self.pop_many(arguments);
                let call = FunctionCall {
                    name: self.call_name(name),
                    name_span: name,
                    arguments,
                    expand,
                };
                self.push(ExprKind::Call(call), span, depth)
            }
            Event::Parentheses => self.wrap(span, ExprKind::Parentheses),
            Event::Tuple(count) => {
                let (elements, depth) = self.pop_many(count);
                self.push(ExprKind::Tuple(elements), span, depth)
            }
            Event::Object(count) => self.object(count, span),
            Event::Unary(operator) => self.wrap(span, |inner| ExprKind::Unary(operator, inner)),
            Event::Binary(operator) => {
                self.join(None, |left, right| ExprKind::Binary(operator, left, right))
            }
            Event::Conditional => self.conditional(),
            Event::For(shape) => self.for_expression(shape, span),
            Event::TemplateStart => {
                self.templates.push((self.pieces.len(), 0));
                Ok(())
            }
            Event::Text { quoted } => {
                let text = decode(&self.text[span.start..span.end], quoted);
                self.pieces.push(TemplatePiece::Text(text));
                Ok(())
            }
            Event::Interpolation(trim) => {
                let value = self.take_into_template()?;
                self.pieces.push(TemplatePiece::Value(value, trim));
                Ok(())
            }
            Event::Directive(directive, trim) => self.directive(directive, trim),
            Event::TemplateEnd { flush } => self.template_end(flush, span),
        }
    }
}

impl TreeBuilder<'_> {
    fn legacy_index(&mut self, number: Span, span: Span) -> Result<(), SyntaxFault> {
        self.number(number)?;
        self.join(Some(span), ExprKind::Index)
    }

    /// Joins the parts of a function name, which may have whitespace around `::`.
    fn call_name(&self, span: Span) -> String {
        let name = self.string(span);
        let parts: Vec<&str> = name.split("::").map(str::trim).collect();
        parts.join("::")
    }
}
