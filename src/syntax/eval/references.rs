//! Checks all references in an expression before it is evaluated.
//!
//! Terraform first resolves every reference, including those in branches that are not taken and in the arguments of `try`. A
//! missing variable is therefore an error even if the value does not depend on it.

use super::super::expr::{Expr, ExprKind, ForVariables, TemplatePart};
use super::EvalFault;
use super::scope::{EvalScope, at};

pub(super) struct ReferenceCheck<'a> {
    scope: &'a dyn EvalScope,
    /// The variables of enclosing `for` expressions and directives.
    bound: Vec<String>,
}

impl<'a> ReferenceCheck<'a> {
    pub(super) const fn new(scope: &'a dyn EvalScope) -> Self {
        Self {
            scope,
            bound: Vec::new(),
        }
    }

    /// Fails at the first reference or function that the scope rejects.
    pub(super) fn check(&mut self, expr: &Expr) -> Result<(), EvalFault> {
        match &expr.kind {
            ExprKind::Null | ExprKind::Bool(_) | ExprKind::Number(_) | ExprKind::Item => Ok(()),
            ExprKind::Variable(name) => self.check_name(expr, name, None),
            ExprKind::Attribute(source, attribute) => match &source.kind {
                ExprKind::Variable(name) => self.check_name(expr, name, Some(attribute)),
                _ => self.check(source),
            },
            ExprKind::Index(first, second)
            | ExprKind::Splat(first, second)
            | ExprKind::Binary(_, first, second) => {
                self.check(first)?;
                self.check(second)
            }
            ExprKind::Parentheses(inner) | ExprKind::Unary(_, inner) => self.check(inner),
            ExprKind::Call(call) => {
                at(call.name_span, self.scope.check_function(&call.name))?;
                let is_convert = matches!(call.name.as_str(), "convert" | "core::convert");
                // The second argument of `convert` is a type.
                let values = if is_convert { 1 } else { usize::MAX };
                self.check_all(call.arguments.iter().take(values))
            }
            ExprKind::Tuple(elements) => self.check_all(elements),
            ExprKind::Object(entries) => entries.iter().try_for_each(|entry| {
                if entry.key.as_bare_name().is_none() {
                    self.check(&entry.key)?;
                }
                self.check(&entry.value)
            }),
            ExprKind::Conditional(parts) => self.check_all(parts.as_slice()),
            ExprKind::For(parts) => {
                self.check(&parts.collection)?;
                let key_and_value = parts.key.iter().chain([&parts.value]);
                let inner = key_and_value.chain(&parts.condition);
                self.with_variables(&parts.variables, |check| check.check_all(inner))
            }
            ExprKind::Template(parts) => self.check_parts(parts),
        }
    }

    fn check_all<'e>(
        &mut self,
        exprs: impl IntoIterator<Item = &'e Expr>,
    ) -> Result<(), EvalFault> {
        exprs.into_iter().try_for_each(|expr| self.check(expr))
    }

    fn check_name(
        &self,
        expr: &Expr,
        root: &str,
        attribute: Option<&str>,
    ) -> Result<(), EvalFault> {
        if self.bound.iter().any(|name| name == root) {
            return Ok(());
        }
        at(expr.span, self.scope.reference(root, attribute)).map(drop)
    }

    fn with_variables(
        &mut self,
        variables: &ForVariables,
        inner: impl FnOnce(&mut Self) -> Result<(), EvalFault>,
    ) -> Result<(), EvalFault> {
        let before = self.bound.len();
        self.bound.extend(variables.key.clone());
        self.bound.push(variables.value.clone());
        let result = inner(self);
        self.bound.truncate(before);
        result
    }

    fn check_parts(&mut self, parts: &[TemplatePart]) -> Result<(), EvalFault> {
        parts.iter().try_for_each(|part| match part {
            TemplatePart::Text(_) => Ok(()),
            TemplatePart::Value(expr) => self.check(expr),
            TemplatePart::If { condition, yes, no } => {
                self.check(condition)?;
                self.check_parts(yes)?;
                self.check_parts(no)
            }
            TemplatePart::For {
                variables,
                collection,
                body,
            } => {
                self.check(collection)?;
                self.with_variables(variables, |check| check.check_parts(body))
            }
        })
    }
}
