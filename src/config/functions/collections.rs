//! Functions of lists and maps.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use unicode_segmentation::UnicodeSegmentation as _;

use crate::syntax::{EvalBudget, Exceeded, Number, Value};

use super::super::statics::types::sorted_set;
use super::types::{CommonType, alike, alike_in_all};
use super::{Failure, Function, Functions, Outcome, arity, integer, list, position, text};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "length" => |_, arguments| length(one(arguments)?),
        "coalesce" => |_, _| Err("all arguments are null or empty".into()),
        "coalescelist" => coalesce_list,
        "compact" => |_, arguments| compact(one(arguments)?),
        "concat" => |_, arguments| concat(arguments),
        "contains" => |_, arguments| contains(arguments),
        "distinct" => |functions, arguments| distinct(one(arguments)?, &functions.budget),
        "element" => element,
        "flatten" => {
            |_, arguments| list(one(arguments)?).map(|elements| Value::Tuple(flatten(elements)))
        }
        "index" => index,
        "keys" => |_, arguments| keys(one(arguments)?),
        "values" => |_, arguments| values(one(arguments)?),
        "lookup" => lookup,
        "merge" => |_, arguments| merge(arguments),
        "one" => |_, arguments| only(one(arguments)?),
        "range" => |_, arguments| range(arguments),
        "reverse" => |_, arguments| {
            list(one(arguments)?)
                .map(|elements| Value::Tuple(elements.iter().rev().cloned().collect()))
        },
        "slice" => slice,
        "sort" => |_, arguments| sort(one(arguments)?),
        "tolist" => |_, arguments| to_list(one(arguments)?),
        "toset" => |_, arguments| match to_list(one(arguments)?)? {
            Value::Tuple(elements) => Ok(sorted_set(elements)),
            null => Ok(null),
        },
        "tomap" => |_, arguments| to_map(one(arguments)?),
        "zipmap" => zipmap,
        "alltrue" => |_, arguments| {
            truths(one(arguments)?).map(|truths| truths.into_iter().all(|truth| truth).into())
        },
        "anytrue" => |_, arguments| {
            truths(one(arguments)?).map(|truths| truths.into_iter().any(|truth| truth).into())
        },
        "setunion" => |_, arguments| {
            concat(arguments).and_then(|all| list(&all).and_then(alike).map(sorted_set))
        },
        "setintersection" => |functions, arguments| set_filter(arguments, true, &functions.budget),
        "setsubtract" => |functions, arguments| set_filter(arguments, false, &functions.budget),
        _ => return None,
    })
}

fn one(arguments: &[Value]) -> Result<&Value, Failure> {
    match arguments {
        [argument] => Ok(argument),
        _ => Err(arity()),
    }
}

fn map(value: &Value) -> Result<&BTreeMap<String, Value>, Failure> {
    match value {
        Value::Object(entries) => Ok(entries),
        other => Err(format!("a map is needed, and there is {}", other.type_name()).into()),
    }
}

fn count(length: usize) -> Value {
    Number::from(i64::try_from(length).unwrap_or(i64::MAX)).into()
}

fn length(value: &Value) -> Outcome {
    match value {
        Value::Tuple(elements) => Ok(count(elements.len())),
        Value::Object(entries) => Ok(count(entries.len())),
        Value::String(text) => Ok(count(text.graphemes(true).count())),
        other => Err(format!(
            "a list, a map or a string is needed, and there is {}",
            other.type_name()
        )
        .into()),
    }
}

fn coalesce_list(_: &Functions, arguments: &[Value]) -> Outcome {
    let full = arguments
        .iter()
        .find(|value| matches!(value, Value::Tuple(elements) if !elements.is_empty()));
    full.cloned().ok_or_else(|| "all lists are empty".into())
}

/// A list of texts, without those that are null or empty.
fn compact(value: &Value) -> Outcome {
    let elements = list(value)?.iter().filter(|value| **value != Value::Null);
    let texts = elements.map(text).collect::<Result<Vec<_>, _>>()?;
    let full = texts.into_iter().filter(|text| !text.is_empty());
    Ok(Value::Tuple(full.map(Value::String).collect()))
}

fn concat(arguments: &[Value]) -> Outcome {
    let mut all = Vec::new();
    for argument in arguments {
        all.extend_from_slice(list(argument)?);
    }
    Ok(Value::Tuple(all))
}

fn contains(arguments: &[Value]) -> Outcome {
    match arguments {
        [elements, value] => Ok(list(elements)?.contains(value).into()),
        _ => Err(arity()),
    }
}

fn distinct(value: &Value, budget: &EvalBudget) -> Outcome {
    let mut unique: Vec<Value> = Vec::new();
    for element in alike(list(value)?)? {
        pay_for_comparisons(std::slice::from_ref(&element), unique.len(), budget)?;
        if !unique.contains(&element) {
            unique.push(element);
        }
    }
    Ok(Value::Tuple(unique))
}

/// The index wraps around.
fn element(_: &Functions, arguments: &[Value]) -> Outcome {
    let [elements, at] = arguments else {
        return Err(arity());
    };
    let elements = list(elements)?;
    let count = super::size(elements.len());
    let at = integer(at)?
        .checked_rem_euclid(count)
        .ok_or("the list is empty")?;
    let found = usize::try_from(at).ok().and_then(|at| elements.get(at));
    found.cloned().ok_or(Failure::Unsupported)
}

/// The depth of values is that of the trees they come from, which is bounded.
fn flatten(elements: &[Value]) -> Vec<Value> {
    let expand = |element: &Value| match element {
        Value::Tuple(inner) => flatten(inner),
        other => vec![other.clone()],
    };
    elements.iter().flat_map(expand).collect()
}

/// Takes the steps to compare each of these with so many others.
pub(super) fn pay_for_comparisons(
    values: &[Value],
    others: usize,
    budget: &EvalBudget,
) -> Result<(), Exceeded> {
    let steps = |value: &Value| {
        let (values, bytes) = value.cost();
        (values + bytes / BYTES_OF_STEP).saturating_mul(others)
    };
    values
        .iter()
        .try_for_each(|value| budget.steps(steps(value)))
}

/// How many bytes are compared in the time of a step.
const BYTES_OF_STEP: usize = 64;

fn index(_: &Functions, arguments: &[Value]) -> Outcome {
    let [elements, value] = arguments else {
        return Err(arity());
    };
    list(elements)?
        .iter()
        .position(|element| element == value)
        .map(count)
        .ok_or_else(|| "the value is not in the list".into())
}

fn keys(value: &Value) -> Outcome {
    Ok(Value::Tuple(
        map(value)?.keys().map(|key| key.clone().into()).collect(),
    ))
}

fn values(value: &Value) -> Outcome {
    Ok(Value::Tuple(map(value)?.values().cloned().collect()))
}

fn lookup(_: &Functions, arguments: &[Value]) -> Outcome {
    let (entries, key, default) = match arguments {
        [entries, key] => (entries, key, None),
        [entries, key, default] => (entries, key, Some(default)),
        _ => return Err(arity()),
    };
    let key = text(key)?;
    map(entries)?
        .get(&key)
        .or(default)
        .cloned()
        .ok_or_else(|| format!("there is no key `{key}`").into())
}

fn merge(arguments: &[Value]) -> Outcome {
    let mut all = BTreeMap::new();
    for argument in arguments
        .iter()
        .filter(|argument| **argument != Value::Null)
    {
        all.extend(map(argument)?.clone());
    }
    Ok(Value::Object(all))
}

fn only(value: &Value) -> Outcome {
    match list(value)? {
        [] => Ok(Value::Null),
        [element] => Ok(element.clone()),
        _ => Err("the list has more than one element".into()),
    }
}

/// A longer range is an error in Terraform too.
const MAX_RANGE: usize = 1024;

fn range(arguments: &[Value]) -> Outcome {
    let numbers = arguments
        .iter()
        .map(integer)
        .collect::<Result<Vec<_>, _>>()?;
    let (start, end, step) = match numbers[..] {
        [end] => (0, end, if end < 0 { -1 } else { 1 }),
        [start, end] => (start, end, if end < start { -1 } else { 1 }),
        [start, end, step] => (start, end, step),
        _ => return Err(arity()),
    };
    let leads_there = match start.cmp(&end) {
        Ordering::Less => step > 0,
        Ordering::Equal => true,
        Ordering::Greater => step < 0,
    };
    if !leads_there {
        return Err("the step does not lead from the start to the end".into());
    }
    let mut elements = Vec::new();
    let mut at = start;
    while (start < end && at < end) || (start > end && at > end) {
        if elements.len() >= MAX_RANGE {
            return Err("it makes 1024 elements at most".into());
        }
        elements.push(Number::from(at).into());
        at = at.saturating_add(step);
    }
    Ok(Value::Tuple(elements))
}

fn slice(_: &Functions, arguments: &[Value]) -> Outcome {
    let [elements, start, end] = arguments else {
        return Err(arity());
    };
    let part = list(elements)?.get(position(start)?..position(end)?);
    part.map(|part| Value::Tuple(part.to_vec()))
        .ok_or_else(|| "the list has no such part".into())
}

fn sort(value: &Value) -> Outcome {
    let mut texts = list(value)?
        .iter()
        .map(text)
        .collect::<Result<Vec<_>, _>>()?;
    texts.sort();
    Ok(Value::Tuple(texts.into_iter().map(Value::String).collect()))
}

fn zipmap(_: &Functions, arguments: &[Value]) -> Outcome {
    let [keys, values] = arguments else {
        return Err(arity());
    };
    let (keys, values) = (list(keys)?, list(values)?);
    if keys.len() != values.len() {
        return Err("there are not as many keys as values".into());
    }
    let entries = keys
        .iter()
        .zip(values)
        .map(|(key, value)| Ok((text(key)?, value.clone())));
    entries.collect::<Result<_, Failure>>().map(Value::Object)
}

/// Null is not true.
fn truths(value: &Value) -> Result<Vec<bool>, Failure> {
    let truth = |value: &Value| match value {
        Value::Null => Ok(false),
        value => value.to_bool().ok_or_else(|| "a boolean is needed".into()),
    };
    list(value)?.iter().map(truth).collect()
}

fn to_list(value: &Value) -> Outcome {
    match value {
        Value::Null => Ok(Value::Null),
        value => alike(list(value)?).map(Value::Tuple),
    }
}

fn to_map(value: &Value) -> Outcome {
    if *value == Value::Null {
        return Ok(Value::Null);
    }
    let entries = map(value)?;
    let common = CommonType::of(entries.values())?;
    let entries = entries.iter();
    let entries = entries.map(|(key, value)| (key.clone(), common.convert(value)));
    Ok(Value::Object(entries.collect()))
}

/// The elements of the first that are in all others, or in none.
fn set_filter(arguments: &[Value], wanted: bool, budget: &EvalBudget) -> Outcome {
    let lists = arguments.iter().map(list);
    let lists = alike_in_all(lists.collect::<Result<_, _>>()?)?;
    let (first, others) = lists.split_first().ok_or_else(arity)?;
    let compared = others.iter().map(Vec::len).sum();
    pay_for_comparisons(first, compared, budget)?;
    let keep = |value: &&Value| others.iter().all(|other| other.contains(value) == wanted);
    Ok(sorted_set(first.iter().filter(keep).cloned().collect()))
}
