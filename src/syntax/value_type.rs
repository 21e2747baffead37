//! The types of values, and conversions between them.
//!
//! Terraform decides by type whether values are equal, whether a conditional or a list can combine them, and how it converts them.
//! Types are derived from values when they are needed. Null and the elements of an empty list have no type of their own.

use std::collections::BTreeMap;

use super::budget::EvalBudget;
use super::unify::unify;
use super::value::Value;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// The type of null and of unknown values. As the target of a conversion, it stands for any type.
    Dynamic,
    Bool,
    Number,
    String,
    List(Box<Self>),
    Set(Box<Self>),
    Map(Box<Self>),
    Tuple(Vec<Self>),
    Object(BTreeMap<String, Self>),
}

use ValueType as Type;

impl ValueType {
    pub fn list(element: Self) -> Self {
        Self::List(Box::new(element))
    }

    pub fn set(element: Self) -> Self {
        Self::Set(Box::new(element))
    }

    pub fn map(element: Self) -> Self {
        Self::Map(Box::new(element))
    }

    pub fn of(value: &Value) -> Self {
        match value {
            Value::Null | Value::Unknown | Value::Sensitive(_) => Self::Dynamic,
            Value::Bool(_) => Self::Bool,
            Value::Number(_) => Self::Number,
            Value::String(_) => Self::String,
            Value::List(elements) => Self::list(Self::of_all(elements)),
            Value::Set(elements) => Self::set(Self::of_all(elements)),
            Value::Map(entries) => Self::map(Self::of_all(entries.values())),
            Value::Tuple(elements) => Self::Tuple(elements.iter().map(Self::of).collect()),
            Value::Object(entries) => {
                let typed = entries
                    .iter()
                    .map(|(name, value)| (name.clone(), Self::of(value)));
                Self::Object(typed.collect())
            }
        }
    }

    /// Returns the common type of the elements of a collection. The types of the elements differ only in parts that are null or empty.
    fn of_all<'a>(elements: impl IntoIterator<Item = &'a Value>) -> Self {
        let types = elements.into_iter().map(Self::of);
        types.fold(Self::Dynamic, Self::completed)
    }

    /// Replaces each [`Self::Dynamic`] part of this type with the corresponding part of `other`.
    fn completed(self, other: Self) -> Self {
        let both = |first: Box<Self>, second: Box<Self>| Box::new(first.completed(*second));
        if self == Self::Dynamic {
            return other;
        }
        match (self, other) {
            (Self::List(first), Self::List(second)) => Self::List(both(first, second)),
            (Self::Set(first), Self::Set(second)) => Self::Set(both(first, second)),
            (Self::Map(first), Self::Map(second)) => Self::Map(both(first, second)),
            (Self::Tuple(first), Self::Tuple(second)) => {
                let pairs = first.into_iter().zip(second);
                Self::Tuple(
                    pairs
                        .map(|(first, second)| first.completed(second))
                        .collect(),
                )
            }
            (Self::Object(first), Self::Object(mut second)) => {
                let completed = first.into_iter().map(|(name, first)| {
                    let second = second.remove(&name).unwrap_or(Self::Dynamic);
                    (name, first.completed(second))
                });
                Self::Object(completed.collect())
            }
            (known, _) => known,
        }
    }

    /// Returns the number of types that this type consists of.
    pub(super) fn size(&self) -> usize {
        let inner: usize = match self {
            Self::Dynamic | Self::Bool | Self::Number | Self::String => 0,
            Self::List(element) | Self::Set(element) | Self::Map(element) => element.size(),
            Self::Tuple(types) => types.iter().map(Self::size).sum(),
            Self::Object(types) => types.values().map(Self::size).sum(),
        };
        1 + inner
    }

    fn has_dynamic(&self) -> bool {
        match self {
            Self::Dynamic => true,
            Self::Bool | Self::Number | Self::String => false,
            Self::List(element) | Self::Set(element) | Self::Map(element) => element.has_dynamic(),
            Self::Tuple(types) => types.iter().any(Self::has_dynamic),
            Self::Object(types) => types.values().any(Self::has_dynamic),
        }
    }

    /// Whether values of this type can be converted to `target`, judged by type alone. Converting a value can still fail: a string
    /// becomes a number only if it is a number literal.
    pub(super) fn converts_to(&self, target: &Self, budget: &EvalBudget) -> bool {
        let element = |from: &Self, to: &Self| from.converts_to(to, budget);
        match (self, target) {
            (_, Self::Dynamic)
            | (Self::Dynamic, _)
            | (Self::String, Self::String | Self::Number | Self::Bool)
            | (Self::Number, Self::Number | Self::String)
            | (Self::Bool, Self::Bool | Self::String) => true,
            (Self::List(from) | Self::Set(from), Self::List(to) | Self::Set(to))
            | (Self::Map(from), Self::Map(to)) => element(from, to),
            (Self::Tuple(types), Self::List(to) | Self::Set(to)) => {
                let types: Vec<&Self> = types.iter().collect();
                elements_convert_to(&types, to, budget)
            }
            (Self::Object(types), Self::Map(to)) => {
                let types: Vec<&Self> = types.values().collect();
                elements_convert_to(&types, to, budget)
            }
            (Self::Tuple(from), Self::Tuple(to)) => {
                from.len() == to.len() && from.iter().zip(to).all(|(from, to)| element(from, to))
            }
            (Self::Object(from), Self::Object(to)) => to
                .iter()
                .all(|(name, to)| from.get(name).is_some_and(|from| element(from, to))),
            (Self::Map(from), Self::Object(to)) => to.values().all(|to| element(from, to)),
            _ => false,
        }
    }
}

/// Whether elements of different types can become elements of a list, set or map.
fn elements_convert_to(types: &[&Type], target: &Type, budget: &EvalBudget) -> bool {
    match common_element(types, target, budget) {
        Some(common) => types.iter().all(|from| from.converts_to(&common, budget)),
        None => false,
    }
}

/// Returns the type to which elements are converted. This is `target` or, if `target` is dynamic, the common type of the elements.
/// `None` if they have no common type. Nulls and objects, for example, have none.
fn common_element(types: &[&Type], target: &Type, budget: &EvalBudget) -> Option<Type> {
    if *target != Type::Dynamic || types.is_empty() {
        return Some(target.clone());
    }
    let common = unify(types, budget)?;
    let is_typed = common != Type::Dynamic || types.iter().all(|from| **from == Type::Dynamic);
    is_typed.then_some(common)
}

impl Value {
    /// Converts to a type. `None` if that is impossible or the budget is used up. Null and unknown values belong to every type and stay
    /// unchanged.
    pub fn convert(self, target: &ValueType, budget: &EvalBudget) -> Option<Self> {
        budget.steps(1).ok()?;
        if *target == Type::Dynamic || matches!(self, Self::Null) || self.is_unknown() {
            return Some(self);
        }
        match (target, self) {
            (Type::String, value) => value.to_text().map(Self::from),
            (Type::Number, value) => value.to_number().map(Self::Number),
            (Type::Bool, value) => value.to_bool().map(Self::Bool),
            (Type::List(target), Self::Tuple(elements)) => {
                convert_elements(elements, target, budget).map(Self::List)
            }
            (Type::Set(target), Self::Tuple(elements)) => {
                convert_elements(elements, target, budget).map(Self::set)
            }
            (Type::List(target), Self::List(elements) | Self::Set(elements)) => {
                convert_each(elements, target, budget).map(Self::List)
            }
            (Type::Set(target), Self::List(elements) | Self::Set(elements)) => {
                convert_each(elements, target, budget).map(Self::set)
            }
            (Type::Map(target), Self::Map(entries) | Self::Object(entries)) => {
                let (names, values): (Vec<_>, Vec<_>) = entries.into_iter().unzip();
                let values = convert_values(values, target, budget)?;
                Some(Self::Map(names.into_iter().zip(values).collect()))
            }
            (Type::Tuple(targets), Self::Tuple(elements)) if targets.len() == elements.len() => {
                let pairs = elements.into_iter().zip(targets);
                let elements = pairs.map(|(element, target)| element.convert(target, budget));
                elements.collect::<Option<_>>().map(Self::Tuple)
            }
            (Type::Object(targets), Self::Object(mut entries) | Self::Map(mut entries)) => {
                let attributes = targets.iter().map(|(name, target)| {
                    let value = entries.remove(name)?.convert(target, budget)?;
                    Some((name.clone(), value))
                });
                attributes.collect::<Option<_>>().map(Self::Object)
            }
            _ => None,
        }
    }
}

fn convert_each(elements: Vec<Value>, target: &Type, budget: &EvalBudget) -> Option<Vec<Value>> {
    if *target == Type::Dynamic {
        return Some(elements);
    }
    let converted = elements
        .into_iter()
        .map(|element| element.convert(target, budget));
    converted.collect()
}

/// Converts elements that may differ in type to one type.
fn convert_elements(
    elements: Vec<Value>,
    target: &Type,
    budget: &EvalBudget,
) -> Option<Vec<Value>> {
    if !target.has_dynamic() {
        return convert_each(elements, target, budget);
    }
    let elements = with_common_type(elements, target, budget)?;
    if *target == Type::Dynamic {
        return Some(elements);
    }
    // `target` leaves parts of the type open. These parts must have a common type, too.
    with_common_type(elements, &Type::Dynamic, budget)
}

/// Converts the values of a map to one type. Unlike elements of a list, some of the values may be null, whatever the type of the others
/// is.
fn convert_values(values: Vec<Value>, target: &Type, budget: &EvalBudget) -> Option<Vec<Value>> {
    let count: usize = values.iter().map(|value| value.cost().0).sum();
    budget.steps(count).ok()?;
    let types: Vec<Type> = values.iter().map(Type::of).collect();
    let mut known = types.iter().filter(|of| **of != Type::Dynamic);
    let first = known.next();
    if *target == Type::Dynamic && known.all(|of| Some(of) == first) {
        return Some(values);
    }
    convert_elements(values, target, budget)
}

fn with_common_type(
    elements: Vec<Value>,
    target: &Type,
    budget: &EvalBudget,
) -> Option<Vec<Value>> {
    let common = match target {
        Type::Dynamic => {
            let values: usize = elements.iter().map(|element| element.cost().0).sum();
            budget.steps(values).ok()?;
            let types: Vec<_> = elements.iter().map(Type::of).collect();
            let types: Vec<_> = types.iter().collect();
            common_element(&types, target, budget)?
        }
        target => target.clone(),
    };
    convert_each(elements, &common, budget)
}
