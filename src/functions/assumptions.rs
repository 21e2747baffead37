//! The `assume...` functions of OpenTofu 1.13: they return a known value, and fail if it contradicts the assumption.

use unicode_segmentation::UnicodeSegmentation as _;

use crate::syntax::{Value, ValueType};

use super::{FunctionError, FunctionResult, Functions, integer, text};

/// The characters that always end a grapheme cluster, by the rules of OpenTofu.
const DELIMITERS: &str = "-_:;/\\,.(){}[]|?!~ \t@#$%^&*+\"'";

/// Implements `assumeequal(actual, expected)`: `actual`, converted to the type of `expected`, must equal `expected`.
pub(super) fn equal(functions: &Functions, arguments: &[Value]) -> FunctionResult {
    let [actual, expected] = arguments else {
        return Err(FunctionError::Unsupported);
    };
    let actual = match actual {
        Value::Sensitive(inner) => inner,
        value => value,
    };
    if actual.has_unknown() || expected.has_unknown() {
        return Ok(Value::Unknown);
    }
    let target = ValueType::of(expected);
    match actual.clone().convert(&target, &functions.budget) {
        Some(converted) if converted == *expected => Ok(converted),
        _ => Err("the values differ".into()),
    }
}

pub(super) fn not_null(value: &Value) -> FunctionResult {
    match value {
        Value::Null => Err("the value is null".into()),
        value => Ok(value.clone()),
    }
}

/// Implements `assumestringprefix(value, prefix)`. The last grapheme cluster of the prefix is ignored unless it is a delimiter. A value
/// that is shorter than the prefix passes if the prefix starts with it.
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
        Ok(value.into())
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
    let count = match (collection.elements(), collection.entries()) {
        (Some(elements), _) => elements.len(),
        (_, Some(entries)) => entries.len(),
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
        return Err(format!("the value has {count} elements").into());
    }
    Ok(collection)
}

/// Returns a bound as an integer. The largest `i64` is invalid.
fn bound(value: &Value) -> Result<i64, FunctionError> {
    match integer(value)? {
        i64::MAX => Err("the bound is too large".into()),
        bound => Ok(bound),
    }
}
