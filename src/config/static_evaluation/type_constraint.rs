//! Type constraints of variables and the conversion of values.

use std::collections::BTreeMap;

use crate::syntax::{self, Constants, EvalBudget, Expr, ExprKind, Value, ValueType};

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
        let value = self.complete(value, budget)?;
        value.convert(&self.value_type(), budget)
    }

    /// Returns the type to convert a value to. It requires optional attributes, because their defaults are added before the conversion.
    fn value_type(&self) -> ValueType {
        match self {
            Self::Any => ValueType::Dynamic,
            Self::String => ValueType::String,
            Self::Number => ValueType::Number,
            Self::Bool => ValueType::Bool,
            Self::List(inner) => ValueType::list(inner.value_type()),
            Self::Set(inner) => ValueType::set(inner.value_type()),
            Self::Map(inner) => ValueType::map(inner.value_type()),
            Self::Tuple(types) => ValueType::Tuple(types.iter().map(Self::value_type).collect()),
            Self::Object(types) => {
                let types = types.iter();
                let types = types.map(|(name, (inner, _))| (name.clone(), inner.value_type()));
                ValueType::Object(types.collect())
            }
        }
    }

    /// Adds the defaults of optional attributes.
    fn complete(&self, value: Value, budget: &EvalBudget) -> Option<Value> {
        budget.steps(1).ok()?;
        Some(match (self, value) {
            (Self::List(inner) | Self::Set(inner), Value::Tuple(elements)) => {
                Value::Tuple(inner.complete_all(elements, budget)?)
            }
            (
                Self::List(inner) | Self::Set(inner),
                Value::List(elements) | Value::Set(elements),
            ) => Value::List(inner.complete_all(elements, budget)?),
            (Self::Map(inner), Value::Map(entries) | Value::Object(entries)) => {
                let entries = entries.into_iter();
                let entries =
                    entries.map(|(key, value)| Some((key, inner.complete(value, budget)?)));
                Value::Object(entries.collect::<Option<_>>()?)
            }
            (Self::Tuple(types), Value::Tuple(elements)) if types.len() == elements.len() => {
                let pairs = types.iter().zip(elements);
                let elements = pairs.map(|(inner, element)| inner.complete(element, budget));
                Value::Tuple(elements.collect::<Option<_>>()?)
            }
            (Self::Object(types), Value::Map(mut entries) | Value::Object(mut entries)) => {
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
                    Some((name.clone(), inner.complete(value, budget)?))
                });
                Value::Object(attributes.collect::<Option<_>>()?)
            }
            (_, value) => value,
        })
    }

    fn complete_all(&self, elements: Vec<Value>, budget: &EvalBudget) -> Option<Vec<Value>> {
        elements
            .into_iter()
            .map(|element| self.complete(element, budget))
            .collect()
    }
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
            list(string) | [1, "a"] | true ? ["1", "a"] : [""]
            list(any) | [1, "a"] | true ? ["1", "a"] : [""]
            map(number) | { a = "1" } | true ? { a = 1 } : { b = 1 }
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
    fn elements_of_sets_are_sorted_and_unique() {
        let expected = Value::set(vec!["b".into(), "a".into()]);
        assert_eq!(convert("set(string)", r#"["b", "a", "b"]"#), Some(expected));
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
