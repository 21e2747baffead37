//! Evaluates selections such as `local.name.attribute[key]`. Only the selected part of the value is copied.

use std::rc::Rc;

use super::super::expr::{Expr, ExprKind};
use super::super::value::Value;
use super::collections::{attribute, index};
use super::scope::at;
use super::{EvalFault, Evaluator};

impl Evaluator<'_> {
    /// Evaluates a variable, or attributes and indexes of any value.
    pub(super) fn selection(&mut self, expr: &Expr) -> Result<Value, EvalFault> {
        let mut steps = Vec::new();
        let mut base = expr;
        while let ExprKind::Attribute(source, _) | ExprKind::Index(source, _) = &base.kind {
            steps.push(base);
            base = source;
        }
        let whole = self.base(base, &mut steps)?;
        if steps.is_empty() {
            return match Rc::try_unwrap(whole) {
                Ok(value) => Ok(value),
                Err(shared) => self.copy(expr, &shared),
            };
        }
        let mut selected: &Value = &whole;
        while let Some(step) = steps.pop() {
            selected = match &step.kind {
                ExprKind::Index(_, key) => {
                    let key = self.value(key)?;
                    at(step.span, index(selected, &key))?
                }
                ExprKind::Attribute(_, name) => at(step.span, attribute(selected, name))?,
                _ => selected,
            };
        }
        self.copy(expr, selected)
    }

    /// Returns the value that the steps select from. A scope resolves a variable together with its first attribute, which is
    /// then removed from `steps`.
    fn base(&mut self, base: &Expr, steps: &mut Vec<&Expr>) -> Result<Rc<Value>, EvalFault> {
        match &base.kind {
            ExprKind::Item => Ok(self.locals.items.last().cloned().unwrap_or_default()),
            ExprKind::Variable(root) => {
                if let Some(value) = self.locals.find(root) {
                    return Ok(value);
                }
                let first = steps.last().map(|step| (&step.kind, step.span));
                if let Some((ExprKind::Attribute(_, name), span)) = first {
                    steps.pop();
                    return at(span, self.scope.reference(root, Some(name)));
                }
                at(base.span, self.scope.reference(root, None))
            }
            _ => self.value(base).map(Rc::new),
        }
    }

    fn copy(&self, expr: &Expr, value: &Value) -> Result<Value, EvalFault> {
        at(expr.span, self.budget.value(value))?;
        Ok(value.clone())
    }
}
