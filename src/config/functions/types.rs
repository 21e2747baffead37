//! The one type that all elements of a list, set or map have. Tuples and objects may mix theirs; functions that make lists of
//! them convert.

use crate::syntax::Value;

use super::Failure;

/// What values of different types have in common.
#[derive(Clone, Copy)]
pub(super) enum CommonType {
    /// Texts stand beside numbers or booleans: all become texts.
    Text,
    /// They have one type already, as far as it is told apart here.
    TheirOwn,
}

impl CommonType {
    /// The common type of these; numbers and booleans alone have none.
    pub(super) fn of<'a>(values: impl IntoIterator<Item = &'a Value>) -> Result<Self, Failure> {
        let (mut texts, mut numbers, mut booleans, mut others) = (false, false, false, false);
        for value in values {
            match value {
                Value::String(_) => texts = true,
                Value::Number(_) => numbers = true,
                Value::Bool(_) => booleans = true,
                Value::Tuple(_) | Value::Object(_) => others = true,
                Value::Null | Value::Unknown | Value::Sensitive(_) => {}
            }
        }
        let primitive = texts || numbers || booleans;
        if others && primitive || numbers && booleans && !texts {
            return Err("the values have no type in common".into());
        }
        Ok(if texts && (numbers || booleans) {
            Self::Text
        } else {
            Self::TheirOwn
        })
    }

    /// A value of those in the common type.
    pub(super) fn convert(self, value: &Value) -> Value {
        match self {
            Self::Text => value.to_text().map_or_else(|| value.clone(), Value::String),
            Self::TheirOwn => value.clone(),
        }
    }
}

/// The elements of a list in one type.
pub(super) fn alike(elements: &[Value]) -> Result<Vec<Value>, Failure> {
    let common = CommonType::of(elements)?;
    Ok(elements.iter().map(|value| common.convert(value)).collect())
}

/// The elements of several lists in one type.
pub(super) fn alike_in_all(lists: Vec<&[Value]>) -> Result<Vec<Vec<Value>>, Failure> {
    let common = CommonType::of(lists.iter().copied().flatten())?;
    let convert = |list: &[Value]| list.iter().map(|value| common.convert(value)).collect();
    Ok(lists.into_iter().map(convert).collect())
}
