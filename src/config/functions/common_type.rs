//! Finds the common type of the elements of a list, set or map. The elements of tuples and objects may have different types, so
//! functions that turn them into lists, sets or maps convert the elements to a common type.

use crate::syntax::Value;

use super::FunctionError;

/// The type to which all elements are converted.
#[derive(Clone, Copy)]
pub(super) enum CommonType {
    /// The elements become strings, because strings are mixed with numbers or booleans.
    String,
    /// The elements already have the same type.
    Unchanged,
}

impl CommonType {
    /// Finds the common type of values. Numbers and booleans without strings have no common type.
    pub(super) fn of<'a>(
        values: impl IntoIterator<Item = &'a Value>,
    ) -> Result<Self, FunctionError> {
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
            return Err("the values have no common type".into());
        }
        Ok(if texts && (numbers || booleans) {
            Self::String
        } else {
            Self::Unchanged
        })
    }

    pub(super) fn convert(self, value: &Value) -> Value {
        match self {
            Self::String => value.to_text().map_or_else(|| value.clone(), Value::String),
            Self::Unchanged => value.clone(),
        }
    }
}

/// Converts the elements of a list to their common type.
pub(super) fn alike(elements: &[Value]) -> Result<Vec<Value>, FunctionError> {
    let common = CommonType::of(elements)?;
    Ok(elements.iter().map(|value| common.convert(value)).collect())
}

/// Converts the elements of several lists to the common type of all of them.
pub(super) fn alike_in_all(lists: Vec<&[Value]>) -> Result<Vec<Vec<Value>>, FunctionError> {
    let common = CommonType::of(lists.iter().copied().flatten())?;
    let convert = |list: &[Value]| list.iter().map(|value| common.convert(value)).collect();
    Ok(lists.into_iter().map(convert).collect())
}
