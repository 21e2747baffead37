//! List and map functions.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use unicode_segmentation::UnicodeSegmentation as _;

use crate::syntax::{Number, Value, ValueType, unify};

use super::{
    FunctionError, FunctionResult, Functions, NO_COMMON_TYPE, entries, integer, list, number,
    sequence, size, text, wrong_type,
};

fn count(length: usize) -> Value {
    Number::from(super::to_i64(length)).into()
}

pub(super) fn length(value: &Value) -> FunctionResult {
    match (value, value.elements(), value.entries()) {
        (Value::String(text), ..) => Ok(count(text.graphemes(true).count())),
        (_, Some(elements), _) => Ok(count(elements.len())),
        (_, _, Some(entries)) => Ok(count(entries.len())),
        (other, ..) => Err(wrong_type("a list, a map or a string", other)),
    }
}

/// Returns the first value that is neither null nor empty, converted to the common type of all values. An unknown value counts as
/// neither.
pub(super) fn coalesce(functions: &Functions, values: &[Value]) -> FunctionResult {
    let first = values
        .iter()
        .find(|value| !matches!(value, Value::Null) && value.to_text().as_deref() != Some(""))
        .ok_or("all arguments are null or empty")?;
    let types: Vec<ValueType> = values.iter().map(ValueType::of).collect();
    let types: Vec<&ValueType> = types.iter().collect();
    let common = unify(&types, &functions.budget).ok_or(NO_COMMON_TYPE)?;
    functions.convert(first, &common)
}

pub(super) fn coalesce_list(lists: &[Value]) -> FunctionResult {
    for value in lists {
        sequence(value)?;
    }
    let first = lists.iter().find(|value| value.elements() != Some(&[]));
    first.cloned().ok_or_else(|| "all lists are empty".into())
}

/// Removes null and empty strings from a list of strings.
pub(super) fn compact(functions: &Functions, value: &Value) -> FunctionResult {
    let mut texts = functions.list_of(value, ValueType::String)?;
    texts.retain(|text| *text != Value::Null && *text != Value::String(String::new()));
    Ok(Value::List(texts))
}

/// Concatenates lists. Unless all of them are lists whose elements have a common type, the result is a tuple.
pub(super) fn concat(functions: &Functions, lists: &[Value]) -> FunctionResult {
    let types: Vec<ValueType> = lists.iter().map(ValueType::of).collect();
    let are_lists = types.iter().all(|of| matches!(of, ValueType::List(_)));
    let types: Vec<&ValueType> = types.iter().collect();
    let common = unify(&types, &functions.budget).filter(|_| are_lists);
    let mut all = Vec::new();
    for value in lists {
        match &common {
            Some(common) => all.extend_from_slice(list(&functions.convert(value, common)?)?),
            None => all.extend_from_slice(sequence(value)?),
        }
    }
    Ok(common.map_or(Value::Tuple(all.clone()), |_| Value::List(all)))
}

pub(super) fn contains(elements: &Value, value: &Value) -> FunctionResult {
    Ok(list(elements)?.contains(value).into())
}

/// Returns the element at `index`. An index beyond the end wraps around.
pub(super) fn element(elements: &Value, index: &Value) -> FunctionResult {
    let elements = sequence(elements)?;
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
            Value::List(inner) | Value::Set(inner) | Value::Tuple(inner) => flattened(inner),
            other => vec![other.clone()],
        };
        elements.iter().flat_map(expand).collect()
    }
    Ok(Value::Tuple(flattened(list(value)?)))
}

pub(super) fn index(elements: &Value, value: &Value) -> FunctionResult {
    if *value == Value::Null {
        return Err("the value must not be null".into());
    }
    sequence(elements)?
        .iter()
        .position(|element| element == value)
        .map(count)
        .ok_or_else(|| "the value is not in the list".into())
}

pub(super) fn keys(value: &Value) -> FunctionResult {
    let keys = entries(value)?.keys().map(|key| key.clone().into());
    Ok(list_if_map(value, keys.collect()))
}

pub(super) fn values(value: &Value) -> FunctionResult {
    let values = entries(value)?.values().cloned();
    Ok(list_if_map(value, values.collect()))
}

fn list_if_map(value: &Value, elements: Vec<Value>) -> Value {
    match value {
        Value::Map(_) => Value::List(elements),
        _ => Value::Tuple(elements),
    }
}

/// Implements `lookup(map, key, default)`. The default is optional. If the first argument is a map and not an object, the default is
/// converted to the type of the map's elements.
pub(super) fn lookup(functions: &Functions, arguments: &[Value]) -> FunctionResult {
    let key = text(&arguments[1])?;
    let default = match (ValueType::of(&arguments[0]), arguments.get(2)) {
        (ValueType::Map(element), Some(default)) => Some(functions.convert(default, &element)?),
        (_, default) => default.cloned(),
    };
    let found = entries(&arguments[0])?.get(&key).cloned();
    let found = found.or(default);
    found.ok_or_else(|| format!("there is no key `{key}`").into())
}

/// Merges maps or objects. The result is a map if all arguments are maps of the same type.
pub(super) fn merge(maps: &[Value]) -> FunctionResult {
    let mut all = BTreeMap::new();
    for value in maps.iter().filter(|value| **value != Value::Null) {
        all.extend(entries(value)?.clone());
    }
    let types: Vec<ValueType> = maps.iter().map(ValueType::of).collect();
    let is_map = matches!(types.first(), Some(ValueType::Map(_)));
    let is_map = is_map && types.iter().all(|of| *of == types[0]);
    Ok(if is_map {
        Value::Map(all)
    } else {
        Value::Object(all)
    })
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
    let numbers = arguments.iter().map(number);
    let numbers = numbers.collect::<Result<Vec<_>, _>>()?;
    let step = |start: &Number, end: &Number| Number::from(if end < start { -1 } else { 1 });
    let zero = Number::from(0);
    let (start, end, step) = match &numbers[..] {
        [end] => (&zero, end, step(&zero, end)),
        [start, end] => (start, end, step(start, end)),
        [start, end, step] => (start, end, step.clone()),
        _ => return Err(FunctionError::Unsupported),
    };
    let (direction, step_direction) = (end.cmp(start), step.cmp(&zero));
    if direction != Ordering::Equal && direction != step_direction {
        return Err("the step is zero or leads away from the end".into());
    }
    let mut elements = Vec::new();
    let mut at = start.clone();
    while end.cmp(&at) == step_direction && step_direction != Ordering::Equal {
        if elements.len() >= MAX_RANGE {
            return Err("a range can have at most 1024 elements".into());
        }
        let next = at.plus(&step).ok_or(FunctionError::Unsupported)?;
        elements.push(at.into());
        at = next;
    }
    Ok(Value::List(elements))
}

pub(super) fn slice(elements: &Value, start: &Value, end: &Value) -> FunctionResult {
    let part = sequence(elements)?.get(size(start)?..size(end)?);
    part.map(|part| like(elements, part.to_vec()))
        .ok_or_else(|| "the start or the end is outside the list".into())
}

pub(super) fn reverse(value: &Value) -> FunctionResult {
    Ok(like(value, list(value)?.iter().rev().cloned().collect()))
}

/// Creates a tuple if `value` is one, otherwise a list.
fn like(value: &Value, elements: Vec<Value>) -> Value {
    match value {
        Value::Tuple(_) => Value::Tuple(elements),
        _ => Value::List(elements),
    }
}

pub(super) fn sort(functions: &Functions, value: &Value) -> FunctionResult {
    let texts = functions.list_of(value, ValueType::String)?;
    let mut texts = texts.iter().map(text).collect::<Result<Vec<_>, _>>()?;
    texts.sort();
    Ok(Value::List(texts.into_iter().map(Value::from).collect()))
}

/// Implements `zipmap(keys, values)`. The result is a map if `values` is a list, and an object if it is a tuple.
pub(super) fn zip_map(functions: &Functions, keys: &Value, values: &Value) -> FunctionResult {
    let keys = functions.list_of(keys, ValueType::String)?;
    let elements = sequence(values)?;
    if keys.len() != elements.len() {
        return Err("the number of keys differs from the number of values".into());
    }
    let entries = keys
        .iter()
        .zip(elements)
        .map(|(key, value)| Ok((text(key)?, value.clone())));
    let entries = entries.collect::<Result<_, FunctionError>>()?;
    Ok(match values {
        Value::List(_) => Value::Map(entries),
        _ => Value::Object(entries),
    })
}

pub(super) fn all_true(functions: &Functions, value: &Value) -> FunctionResult {
    Ok(truths(functions, value)?
        .into_iter()
        .all(|truth| truth)
        .into())
}

pub(super) fn any_true(functions: &Functions, value: &Value) -> FunctionResult {
    Ok(truths(functions, value)?
        .into_iter()
        .any(|truth| truth)
        .into())
}

/// Returns the booleans in a list. Null counts as false.
fn truths(functions: &Functions, value: &Value) -> Result<Vec<bool>, FunctionError> {
    let booleans = functions.list_of(value, ValueType::Bool)?;
    Ok(booleans
        .iter()
        .map(|truth| *truth == Value::Bool(true))
        .collect())
}

/// Implements `chunklist(list, size)`. A size of zero puts all elements into one chunk.
pub(super) fn chunks(
    functions: &Functions,
    elements: &Value,
    chunk_size: &Value,
) -> FunctionResult {
    let elements = functions.list_of(elements, ValueType::Dynamic)?;
    let chunk_size = match size(chunk_size)? {
        0 => elements.len().max(1),
        chunk_size => chunk_size,
    };
    let chunk = |chunk: &[Value]| Value::List(chunk.to_vec());
    Ok(Value::List(
        elements.chunks(chunk_size).map(chunk).collect(),
    ))
}

/// Implements `transpose(map)`: for a map of lists of strings, returns a map from each of these strings to the keys of the lists that
/// contain it.
pub(super) fn transpose(functions: &Functions, value: &Value) -> FunctionResult {
    let lists = ValueType::map(ValueType::list(ValueType::String));
    let mut turned: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut bytes = 0_usize;
    entries(value)?;
    for (key, values) in entries(&functions.convert(value, &lists)?)? {
        for element in list(values)? {
            bytes += key.len();
            functions.budget.room_for(0, bytes)?;
            let keys = turned.entry(text(element)?).or_default();
            keys.push(key.as_str().into());
        }
    }
    let to_list = |(element, keys)| (element, Value::List(keys));
    Ok(Value::Map(turned.into_iter().map(to_list).collect()))
}
