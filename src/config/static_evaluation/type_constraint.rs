//! Type constraints of variables and the conversion of values.

use std::collections::BTreeMap;

use crate::syntax::{self, Constants, EvalBudget, Expr, ExprKind, Value};

#[derive(Clone, Debug, PartialEq)]
pub(in crate::config) enum TypeConstraint {
    Any,
    String,
    Number,
    Bool,
    List(Box<Self>),
    Set(Box<Self>),
    Map(Box<Self>),
    Tuple(Vec<Self>),
    /// The attributes by name: the type of each and, if it is optional, its default value.
    Object(BTreeMap<String, (Self, Option<Value>)>),
}

impl TypeConstraint {
    /// Parses a constraint such as `list(object({ a = string }))`. `None` if it is invalid or the budget is used up.
    pub(in crate::config) fn parse(expr: &Expr, budget: &EvalBudget) -> Option<Self> {
        match &expr.kind {
            // In old configurations and in JSON syntax, the type is in a string.
            ExprKind::Template(_) => match expr.as_text()?.as_str() {
                name @ ("list" | "map") => Self::collection(name, Self::Any),
                text => {
                    syntax::pay_for_tree(text.len(), budget).ok()?;
                    Self::parse(&syntax::parse_expression(text).ok()?, budget)
                }
            },
            ExprKind::Variable(name) => Self::named(name),
            ExprKind::Parentheses(inner) => Self::parse(inner, budget),
            ExprKind::Call(call) => {
                let [argument] = call.arguments.as_slice() else {
                    return None;
                };
                Self::constructed(&call.name, argument, budget)
            }
            _ => None,
        }
    }

    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "any" => Self::Any,
            "string" => Self::String,
            "number" => Self::Number,
            "bool" => Self::Bool,
            _ => return Self::collection(name, Self::Any),
        })
    }

    fn collection(name: &str, elements: Self) -> Option<Self> {
        let elements = Box::new(elements);
        match name {
            "list" => Some(Self::List(elements)),
            "set" => Some(Self::Set(elements)),
            "map" => Some(Self::Map(elements)),
            _ => None,
        }
    }

    fn constructed(name: &str, argument: &Expr, budget: &EvalBudget) -> Option<Self> {
        match (name, &argument.kind) {
            ("tuple", ExprKind::Tuple(elements)) => elements
                .iter()
                .map(|element| Self::parse(element, budget))
                .collect::<Option<_>>()
                .map(Self::Tuple),
            ("object", ExprKind::Object(entries)) => {
                let attributes = entries.iter().map(|entry| {
                    let name = entry
                        .key
                        .as_bare_name()
                        .map(str::to_owned)
                        .or_else(|| entry.key.as_text())?;
                    Some((name, Self::attribute(&entry.value, budget)?))
                });
                attributes.collect::<Option<_>>().map(Self::Object)
            }
            _ => Self::collection(name, Self::parse(argument, budget)?),
        }
    }

    /// Parses the type of an object attribute, such as `string` or `optional(string, "default")`.
    fn attribute(expr: &Expr, budget: &EvalBudget) -> Option<(Self, Option<Value>)> {
        let ExprKind::Call(call) = &expr.kind else {
            return Some((Self::parse(expr, budget)?, None));
        };
        match (call.name.as_str(), call.arguments.as_slice()) {
            ("optional", [inner]) => Some((Self::parse(inner, budget)?, Some(Value::Null))),
            ("optional", [inner, default]) => Some((
                Self::parse(inner, budget)?,
                Some(syntax::evaluate(default, &Constants(Some(budget))).ok()?),
            )),
            _ => Some((Self::parse(expr, budget)?, None)),
        }
    }

    /// Whether text from the environment or command line becomes a value of this type without being parsed as an expression.
    pub(in crate::config) const fn is_primitive(&self) -> bool {
        matches!(self, Self::String | Self::Number | Self::Bool)
    }

    /// Converts a value. `None` if that is impossible or the budget is used up.
    pub(in crate::config) fn convert(&self, value: Value, budget: &EvalBudget) -> Option<Value> {
        budget.steps(1).ok()?;
        if matches!(value, Value::Null | Value::Unknown | Value::Sensitive(_)) {
            return Some(value);
        }
        match (self, value) {
            (Self::Any, value) => Some(value),
            (Self::String, value) => value.to_text().map(Value::String),
            (Self::Number, value) => value.to_number().map(Value::Number),
            (Self::Bool, value) => value.to_bool().map(Value::Bool),
            (Self::List(inner), Value::Tuple(elements)) => {
                inner.convert_all(elements, budget).map(Value::Tuple)
            }
            (Self::Set(inner), Value::Tuple(elements)) => {
                inner.convert_all(elements, budget).map(sorted_set)
            }
            (Self::Map(inner), Value::Object(entries)) => {
                let entries = entries
                    .into_iter()
                    .map(|(key, value)| Some((key, inner.convert(value, budget)?)));
                entries.collect::<Option<_>>().map(Value::Object)
            }
            (Self::Tuple(types), Value::Tuple(elements)) if types.len() == elements.len() => {
                let elements = types
                    .iter()
                    .zip(elements)
                    .map(|(inner, element)| inner.convert(element, budget));
                elements.collect::<Option<_>>().map(Value::Tuple)
            }
            (Self::Object(types), Value::Object(mut entries)) => {
                budget.value(&Value::Object(BTreeMap::new())).ok()?;
                let attributes = types.iter().map(|(name, (inner, default))| {
                    let given = entries
                        .remove(name)
                        .filter(|value| *value != Value::Null || default.is_none());
                    budget.values(2).ok()?;
                    budget.bytes(name.len()).ok()?;
                    let value = if let Some(value) = given {
                        value
                    } else {
                        let default = default.as_ref()?;
                        budget.value(default).ok()?;
                        default.clone()
                    };
                    Some((name.clone(), inner.convert(value, budget)?))
                });
                attributes.collect::<Option<_>>().map(Value::Object)
            }
            _ => None,
        }
    }

    fn convert_all(&self, elements: Vec<Value>, budget: &EvalBudget) -> Option<Vec<Value>> {
        elements
            .into_iter()
            .map(|element| self.convert(element, budget))
            .collect()
    }
}

/// Creates a set: numbers and strings are sorted, null comes last, and duplicates are removed.
pub(in crate::config) fn sorted_set(mut elements: Vec<Value>) -> Value {
    elements.sort_by_cached_key(|element| match element {
        Value::Number(number) => (false, Some(*number), None),
        other => (*other == Value::Null, None, other.to_text()),
    });
    // Duplicate strings and numbers are adjacent now. Other duplicates may not be, and are then kept.
    elements.dedup();
    Value::Tuple(elements)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convert(constraint: &str, value: &str) -> Option<Value> {
        let value =
            syntax::evaluate(&syntax::parse_expression(value).unwrap(), &Constants(None)).unwrap();
        let budget = EvalBudget::of_constant();
        TypeConstraint::parse(&syntax::parse_expression(constraint).unwrap(), &budget)?
            .convert(value, &budget)
    }

    fn value(text: &str) -> Option<Value> {
        syntax::evaluate(&syntax::parse_expression(text).unwrap(), &Constants(None)).ok()
    }

    #[test]
    fn values_convert_to_their_types() {
        let rows = r#"
            string | 1.50 | "1.5"
            "string" | true | "true"
            number | "2" | 2
            bool | "true" | true
            any | [1, "a"] | [1, "a"]
            list(string) | [1, "a"] | ["1", "a"]
            set(string) | ["b", "a", "b"] | ["a", "b"]
            map(number) | { a = "1" } | { a = 1 }
            object({ a = string, b = optional(string, "x"), c = optional(number) }) | { a = 1, d = 2 } | { a = "1", b = "x", c = null }
            tuple([string, bool]) | [1, true] | ["1", true]
            string | null | null
        "#;
        for row in rows.trim().lines() {
            let parts: Vec<&str> = row.trim().split(" | ").collect();
            let [constraint, given, expected] = parts[..] else {
                panic!("{row}");
            };
            assert_eq!(
                convert(constraint, given),
                value(expected),
                "{constraint} of {given}"
            );
        }
    }

    #[test]
    fn values_that_do_not_convert() {
        for (constraint, given) in [
            ("string", "[]"),
            ("number", "\"x\""),
            ("list(string)", "\"a\""),
            ("object({ a = string })", "{}"),
            ("tuple([string])", "[]"),
            ("nonsense", "1"),
        ] {
            assert_eq!(convert(constraint, given), None, "{constraint} of {given}");
        }
    }
}
