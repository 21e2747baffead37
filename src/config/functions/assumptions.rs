//! The `assume...` functions of OpenTofu 1.13: they return a known value, and fail if it contradicts the assumption.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::config::static_evaluation::type_constraint::sorted_set;
use crate::syntax::Value;

use super::{FunctionError, FunctionResult, integer, text};

/// The characters that always end a grapheme cluster, by the rules of OpenTofu.
const DELIMITERS: &str = "-_:;/\\,.(){}[]|?!~ \t@#$%^&*+\"'";

/// Implements `assumeequal(actual, expected)`: the values must be equal after the conversion of the first to the type of the second.
pub(super) fn equal(arguments: &[Value]) -> FunctionResult {
    let [actual, expected] = arguments else {
        return Err(FunctionError::Unsupported);
    };
    let actual = match actual {
        Value::Sensitive(inner) => inner,
        value => value,
    };
    if actual.has_unknown() || expected.has_unknown() {
        Ok(Value::Unknown)
    } else if converts_to(actual, expected) {
        Ok(expected.clone())
    } else {
        Err("the values differ".into())
    }
}

fn converts_to(actual: &Value, expected: &Value) -> bool {
    match (actual, expected) {
        (Value::Null, _) | (_, Value::Null) => actual == expected,
        (actual, Value::String(text)) => actual.to_text().as_ref() == Some(text),
        (actual, Value::Number(number)) => actual.to_number().as_ref() == Some(number),
        (actual, Value::Bool(boolean)) => actual.to_bool() == Some(*boolean),
        (Value::Tuple(elements), Value::Tuple(others)) => {
            let pairs = || elements.iter().zip(others);
            elements.len() == others.len() && pairs().all(|(one, other)| converts_to(one, other))
                || sorted_set(elements.clone()) == *expected
        }
        // A conversion to an object type drops the other attributes.
        (Value::Object(entries), Value::Object(others)) => others.iter().all(|(name, other)| {
            let entry = entries.get(name);
            entry.is_some_and(|entry| converts_to(entry, other))
        }),
        _ => false,
    }
}

pub(super) fn not_null(value: &Value) -> FunctionResult {
    match value {
        Value::Null => Err("the value is null".into()),
        value => Ok(value.clone()),
    }
}

/// Implements `assumestringprefix(value, prefix)`. The last grapheme cluster of the prefix counts only if it is a delimiter, and the
/// value may end within the prefix.
pub(super) fn string_prefix(value: &Value, prefix: &Value) -> FunctionResult {
    let prefix = text(prefix)?;
    if *value == Value::Null {
        return Ok(Value::Null);
    }
    let value = text(value)?;
    let compared = match prefix.grapheme_indices(true).next_back() {
        Some((start, last)) if !DELIMITERS.contains(last) => &prefix[..start],
        _ => &prefix,
    };
    if compared.starts_with(&value) || value.starts_with(compared) {
        Ok(Value::String(value))
    } else {
        Err("the string does not have this prefix".into())
    }
}

/// Checks the number of elements of a list, set or map.
pub(super) fn length(
    collection: Value,
    least: Option<&Value>,
    most: Option<&Value>,
) -> FunctionResult {
    let count = match &collection {
        Value::Tuple(elements) => elements.len(),
        Value::Object(entries) => entries.len(),
        _ => return Err("the value is null".into()),
    };
    let count = super::to_i64(count);
    let too_few = least
        .map(bound)
        .transpose()?
        .is_some_and(|least| count < least);
    let too_many = most
        .map(bound)
        .transpose()?
        .is_some_and(|most| count > most);
    if too_few || too_many {
        return Err(format!("the value has the length {count}").into());
    }
    Ok(collection)
}

/// Reads a bound. The largest integer is invalid.
fn bound(value: &Value) -> Result<i64, FunctionError> {
    match integer(value)? {
        i64::MAX => Err("the bound is too large".into()),
        bound => Ok(bound),
    }
}
