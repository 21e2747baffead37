//! Checks all references of an expression before it is evaluated.
//!
//! Terraform first resolves every reference, including those in branches that are not taken and in the arguments of `try`. A
//! missing variable is an error even if the value does not depend on it.

use super::super::expr::{Expr, ExprKind, TemplatePart};
use super::EvalFault;
use super::scope::{EvalScope, at};

/// Fails with the first reference or function that the scope refuses. `bound` has the variables of surrounding `for`
/// expressions.
pub(super) fn check(
    expr: &Expr,
    scope: &dyn EvalScope,
    bound: &mut Vec<String>,
) -> Result<(), EvalFault> {
    match &expr.kind {
        ExprKind::Null | ExprKind::Bool(_) | ExprKind::Number(_) | ExprKind::Item => Ok(()),
        ExprKind::Variable(name) => check_name(expr, name, None, scope, bound),
        ExprKind::Attribute(source, attribute) => match &source.kind {
            ExprKind::Variable(name) => check_name(expr, name, Some(attribute), scope, bound),
            _ => check(source, scope, bound),
        },
        ExprKind::Index(first, second)
        | ExprKind::Splat(first, second)
        | ExprKind::Binary(_, first, second) => {
            check(first, scope, bound)?;
            check(second, scope, bound)
        }
        ExprKind::Parentheses(inner) | ExprKind::Unary(_, inner) => check(inner, scope, bound),
        ExprKind::Call(call) => {
            at(call.name_span, scope.check_function(&call.name))?;
            let is_convert = matches!(call.name.as_str(), "convert" | "core::convert");
            let values = if is_convert {
                call.arguments.len().min(1)
            } else {
                call.arguments.len()
            };
            check_all(&call.arguments[..values], scope, bound)
        }
        ExprKind::Tuple(elements) => check_all(elements, scope, bound),
        ExprKind::Object(entries) => entries.iter().try_for_each(|entry| {
            if entry.key.as_key().is_none() {
                check(&entry.key, scope, bound)?;
            }
            check(&entry.value, scope, bound)
        }),
        ExprKind::Conditional(parts) => check_all(parts.as_slice(), scope, bound),
        ExprKind::For(parts) => {
            check(&parts.collection, scope, bound)?;
            binding(bound, parts.key_name.as_ref(), &parts.value_name, |bound| {
                let inner = parts
                    .key
                    .iter()
                    .chain([&parts.value])
                    .chain(&parts.condition);
                inner
                    .into_iter()
                    .try_for_each(|expr| check(expr, scope, bound))
            })
        }
        ExprKind::Template(parts) => check_parts(parts, scope, bound),
    }
}

fn check_all(
    exprs: &[Expr],
    scope: &dyn EvalScope,
    bound: &mut Vec<String>,
) -> Result<(), EvalFault> {
    exprs.iter().try_for_each(|expr| check(expr, scope, bound))
}

fn check_name(
    expr: &Expr,
    root: &str,
    attribute: Option<&str>,
    scope: &dyn EvalScope,
    bound: &[String],
) -> Result<(), EvalFault> {
    if bound.iter().any(|name| name == root) {
        return Ok(());
    }
    at(expr.span, scope.reference(root, attribute)).map(drop)
}

fn binding(
    bound: &mut Vec<String>,
    key: Option<&String>,
    value: &str,
    inner: impl FnOnce(&mut Vec<String>) -> Result<(), EvalFault>,
) -> Result<(), EvalFault> {
    let before = bound.len();
    bound.extend(key.cloned());
    bound.push(value.to_owned());
    let result = inner(bound);
    bound.truncate(before);
    result
}

fn check_parts(
    parts: &[TemplatePart],
    scope: &dyn EvalScope,
    bound: &mut Vec<String>,
) -> Result<(), EvalFault> {
    parts.iter().try_for_each(|part| match part {
        TemplatePart::Text(_) => Ok(()),
        TemplatePart::Value(expr) => check(expr, scope, bound),
        TemplatePart::If { condition, yes, no } => {
            check(condition, scope, bound)?;
            check_parts(yes, scope, bound)?;
            check_parts(no, scope, bound)
        }
        TemplatePart::For {
            key,
            value,
            collection,
            body,
        } => {
            check(collection, scope, bound)?;
            binding(bound, key.as_ref(), value, |bound| {
                check_parts(body, scope, bound)
            })
        }
    })
}
