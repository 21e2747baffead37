//! List and map functions.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use unicode_segmentation::UnicodeSegmentation as _;

use crate::syntax::{Number, Value};

use super::common_type::{CommonType, alike};
use super::{FunctionError, FunctionResult, Functions, integer, list, map, size, text, wrong_type};

fn count(length: usize) -> Value {
    Number::from(super::to_i64(length)).into()
}

pub(super) fn length(value: &Value) -> FunctionResult {
    match value {
        Value::Tuple(elements) => Ok(count(elements.len())),
        Value::Object(entries) => Ok(count(entries.len())),
        Value::String(text) => Ok(count(text.graphemes(true).count())),
        other => Err(wrong_type("a list, a map or a string", other)),
    }
}

/// Returns the first value that is neither null nor empty. This value may be unknown.
pub(super) fn coalesce(values: &[Value]) -> FunctionResult {
    let first = values
        .iter()
        .find(|value| !matches!(value, Value::Null) && value.to_text().as_deref() != Some(""))
        .ok_or("all arguments are null or empty")?;
    Ok(CommonType::of(values)?.convert(first))
}

pub(super) fn coalesce_list(lists: &[Value]) -> FunctionResult {
    let first = lists
        .iter()
        .find(|value| matches!(value, Value::Tuple(elements) if !elements.is_empty()));
    first.cloned().ok_or_else(|| "all lists are empty".into())
}

/// Removes null and empty strings from a list of strings.
pub(super) fn compact(value: &Value) -> FunctionResult {
    let mut texts = Vec::new();
    for element in list(value)?.iter().filter(|value| **value != Value::Null) {
        texts.push(text(element)?);
    }
    texts.retain(|text| !text.is_empty());
    Ok(Value::Tuple(texts.into_iter().map(Value::String).collect()))
}

pub(super) fn concat(lists: &[Value]) -> FunctionResult {
    let mut all = Vec::new();
    for elements in lists {
        all.extend_from_slice(list(elements)?);
    }
    Ok(Value::Tuple(all))
}

pub(super) fn contains(elements: &Value, value: &Value) -> FunctionResult {
    Ok(list(elements)?.contains(value).into())
}

/// Returns the element at `index`. An index beyond the end wraps around.
pub(super) fn element(elements: &Value, index: &Value) -> FunctionResult {
    let elements = list(elements)?;
    let index = integer(index)?
        .checked_rem_euclid(super::to_i64(elements.len()))
        .ok_or("the list is empty")?;
    let element = usize::try_from(index)
        .ok()
        .and_then(|index| elements.get(index));
    element.cloned().ok_or(FunctionError::Unsupported)
}

pub(super) fn flatten(value: &Value) -> FunctionResult {
    /// Recursion is safe: a value is nested no deeper than the expression it comes from, whose depth is limited.
    fn flattened(elements: &[Value]) -> Vec<Value> {
        let expand = |element: &Value| match element {
            Value::Tuple(inner) => flattened(inner),
            other => vec![other.clone()],
        };
        elements.iter().flat_map(expand).collect()
    }
    Ok(Value::Tuple(flattened(list(value)?)))
}

pub(super) fn index(elements: &Value, value: &Value) -> FunctionResult {
    list(elements)?
        .iter()
        .position(|element| element == value)
        .map(count)
        .ok_or_else(|| "the value is not in the list".into())
}

pub(super) fn keys(value: &Value) -> FunctionResult {
    Ok(Value::Tuple(
        map(value)?.keys().map(|key| key.clone().into()).collect(),
    ))
}

pub(super) fn values(value: &Value) -> FunctionResult {
    Ok(Value::Tuple(map(value)?.values().cloned().collect()))
}

/// Implements `lookup(map, key, default)`. The default is optional.
pub(super) fn lookup(arguments: &[Value]) -> FunctionResult {
    let key = text(&arguments[1])?;
    map(&arguments[0])?
        .get(&key)
        .or(arguments.get(2))
        .cloned()
        .ok_or_else(|| format!("there is no key `{key}`").into())
}

pub(super) fn merge(maps: &[Value]) -> FunctionResult {
    let mut all = BTreeMap::new();
    for entries in maps.iter().filter(|entries| **entries != Value::Null) {
        all.extend(map(entries)?.clone());
    }
    Ok(Value::Object(all))
}

pub(super) fn one(value: &Value) -> FunctionResult {
    match list(value)? {
        [] => Ok(Value::Null),
        [element] => Ok(element.clone()),
        _ => Err("the list has more than one element".into()),
    }
}

/// The maximum number of elements in a range, as in Terraform.
const MAX_RANGE: usize = 1024;

/// Implements `range(end)`, `range(start, end)` and `range(start, end, step)`.
pub(super) fn range(arguments: &[Value]) -> FunctionResult {
    let numbers = arguments
        .iter()
        .map(integer)
        .collect::<Result<Vec<_>, _>>()?;
    let (start, end, step) = match numbers[..] {
        [end] => (0, end, if end < 0 { -1 } else { 1 }),
        [start, end] => (start, end, if end < start { -1 } else { 1 }),
        [start, end, step] => (start, end, step),
        _ => return Err(FunctionError::Unsupported),
    };
    let is_step_valid = match start.cmp(&end) {
        Ordering::Less => step > 0,
        Ordering::Equal => true,
        Ordering::Greater => step < 0,
    };
    if !is_step_valid {
        return Err("the step leads away from the end, or is zero".into());
    }
    let mut elements = Vec::new();
    let mut at = start;
    while (start < end && at < end) || (start > end && at > end) {
        if elements.len() >= MAX_RANGE {
            return Err("a range can have at most 1024 elements".into());
        }
        elements.push(Number::from(at).into());
        at = at.saturating_add(step);
    }
    Ok(Value::Tuple(elements))
}

pub(super) fn slice(elements: &Value, start: &Value, end: &Value) -> FunctionResult {
    let part = list(elements)?.get(size(start)?..size(end)?);
    part.map(|part| Value::Tuple(part.to_vec()))
        .ok_or_else(|| "the start or the end is outside the list".into())
}

pub(super) fn reverse(value: &Value) -> FunctionResult {
    Ok(Value::Tuple(list(value)?.iter().rev().cloned().collect()))
}

pub(super) fn sort(value: &Value) -> FunctionResult {
    let mut texts = list(value)?
        .iter()
        .map(text)
        .collect::<Result<Vec<_>, _>>()?;
    texts.sort();
    Ok(Value::Tuple(texts.into_iter().map(Value::String).collect()))
}

pub(super) fn zip_map(keys: &Value, values: &Value) -> FunctionResult {
    let (keys, values) = (list(keys)?, list(values)?);
    if keys.len() != values.len() {
        return Err("the number of keys differs from the number of values".into());
    }
    let entries = keys
        .iter()
        .zip(values)
        .map(|(key, value)| Ok((text(key)?, value.clone())));
    entries
        .collect::<Result<_, FunctionError>>()
        .map(Value::Object)
}

pub(super) fn all_true(value: &Value) -> FunctionResult {
    Ok(truths(value)?.into_iter().all(|truth| truth).into())
}

pub(super) fn any_true(value: &Value) -> FunctionResult {
    Ok(truths(value)?.into_iter().any(|truth| truth).into())
}

/// Returns the booleans in a list. Null counts as false.
fn truths(value: &Value) -> Result<Vec<bool>, FunctionError> {
    let truth = |value: &Value| match value {
        Value::Null => Ok(false),
        value => value
            .to_bool()
            .ok_or_else(|| wrong_type("a boolean", value)),
    };
    list(value)?.iter().map(truth).collect()
}

pub(super) fn to_list(value: &Value) -> FunctionResult {
    match value {
        Value::Null => Ok(Value::Null),
        value => alike(list(value)?).map(Value::Tuple),
    }
}

pub(super) fn to_map(value: &Value) -> FunctionResult {
    if *value == Value::Null {
        return Ok(Value::Null);
    }
    let entries = map(value)?;
    let common = CommonType::of(entries.values())?;
    let convert = |(key, value): (&String, &Value)| (key.clone(), common.convert(value));
    Ok(Value::Object(entries.iter().map(convert).collect()))
}

/// Implements `chunklist(list, size)`. A size of zero puts all elements into one chunk.
pub(super) fn chunks(elements: &Value, chunk_size: &Value) -> FunctionResult {
    let elements = alike(list(elements)?)?;
    let chunk_size = match size(chunk_size)? {
        0 => elements.len().max(1),
        chunk_size => chunk_size,
    };
    let chunk = |chunk: &[Value]| Value::Tuple(chunk.to_vec());
    Ok(Value::Tuple(
        elements.chunks(chunk_size).map(chunk).collect(),
    ))
}

/// Swaps the keys of a map of lists with the elements of the lists.
pub(super) fn transpose(functions: &Functions, value: &Value) -> FunctionResult {
    let mut turned: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut bytes = 0_usize;
    for (key, values) in map(value)? {
        for element in list(values)? {
            bytes += key.len();
            functions.budget.room_for(0, bytes)?;
            let keys = turned.entry(text(element)?).or_default();
            keys.push(key.as_str().into());
        }
    }
    let to_list = |(element, keys)| (element, Value::Tuple(keys));
    Ok(Value::Object(turned.into_iter().map(to_list).collect()))
}
