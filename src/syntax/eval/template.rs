//! Evaluates strings with `${}` and `%{}`.

use crate::span::Span;

use super::super::expr::{Expr, TemplatePart};
use super::super::value::Value;
use super::collections::elements;
use super::scope::at;
use super::{EvalFault, Evaluator, operators};

impl Evaluator<'_> {
    /// Evaluates a template. A single interpolation keeps the type of its value; every other template is a string.
    pub(super) fn template(
        &mut self,
        parts: &[TemplatePart],
        span: Span,
    ) -> Result<Value, EvalFault> {
        if let [TemplatePart::Value(expr)] = parts {
            return self.value(expr);
        }
        let mut text = String::new();
        let known = self.parts(parts, &mut text, span)?;
        Ok(if known { text.into() } else { Value::Unknown })
    }

    /// Appends the text of the parts. Appends a hole for each unknown part ([`EvalScope::hole`](super::EvalScope::hole)). Returns
    /// `false` if a part is unknown and the scope provides no holes.
    fn parts(
        &mut self,
        parts: &[TemplatePart],
        text: &mut String,
        span: Span,
    ) -> Result<bool, EvalFault> {
        let mut known = true;
        for part in parts {
            known &= match part {
                TemplatePart::Text(more) => {
                    self.pay(span, 0, more.len())?;
                    text.push_str(more);
                    true
                }
                TemplatePart::Value(expr) => self.interpolation(expr, text)?,
                TemplatePart::If { condition, yes, no } => match self.value(condition)? {
                    value if value.is_unknown() => self.hole(true, text, span)?,
                    value => {
                        let branch = if at(condition.span, operators::boolean(&value))? {
                            yes
                        } else {
                            no
                        };
                        self.parts(branch, text, span)?
                    }
                },
                TemplatePart::For {
                    variables,
                    collection,
                    body,
                } => {
                    let source = self.value(collection)?;
                    self.pay_for_turns(collection.span, &source)?;
                    let found = at(collection.span, elements(source))?;
                    let mut all_known = found.is_some() || self.hole(true, text, span)?;
                    for element in found.into_iter().flatten() {
                        all_known &= self.with_variables(variables, element, |evaluator| {
                            evaluator.parts(body, text, span)
                        })?;
                    }
                    all_known
                }
            };
        }
        Ok(known)
    }

    fn interpolation(&mut self, expr: &Expr, text: &mut String) -> Result<bool, EvalFault> {
        let value = self.value(expr)?;
        if matches!(value, Value::Unknown | Value::Sensitive(_)) {
            return self.hole(false, text, expr.span);
        }
        at(expr.span, self.budget.numbers(&value))?;
        let more = at(expr.span, operators::text(&value))?;
        self.pay(expr.span, 0, more.len())?;
        text.push_str(&more);
        Ok(true)
    }

    /// Appends a hole. Returns `false` if the scope provides none.
    fn hole(&self, is_block: bool, text: &mut String, span: Span) -> Result<bool, EvalFault> {
        let Some(hole) = self.scope.hole(is_block) else {
            return Ok(false);
        };
        self.pay(span, 0, hole.len())?;
        text.push_str(&hole);
        Ok(true)
    }
}
