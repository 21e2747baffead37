//! Functions that read tables: `csvdecode`, and the products and selections of lists.

use std::collections::{BTreeMap, BTreeSet};

use crate::syntax::{EvalBudget, Exceeded, Value};

use super::collections::pay_for_comparisons;
use super::types::{alike, alike_in_all};
use super::{Failure, Function, Outcome, arity, list, position, text};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "csvdecode" => |functions, arguments| match arguments {
            [argument] => csv(&text(argument)?, &functions.budget),
            _ => Err(arity()),
        },
        "setproduct" => |functions, arguments| product(arguments, &functions.budget),
        "matchkeys" => |functions, arguments| match_keys(arguments, &functions.budget),
        "chunklist" => |_, arguments| chunks(arguments),
        "transpose" => |functions, arguments| transpose(arguments, &functions.budget),
        _ => return None,
    })
}

/// The most elements that a product may have: far above what a configuration lists, and within the budget of a root module.
const MAX_PRODUCT: usize = 1 << 14;

/// All combinations, the last list running fastest.
fn product(arguments: &[Value], budget: &EvalBudget) -> Outcome {
    if arguments.len() < 2 {
        return Err("at least two lists are needed".into());
    }
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    for argument in arguments {
        let elements = alike(list(argument)?)?;
        if rows.len().saturating_mul(elements.len()) > MAX_PRODUCT {
            return Err(Failure::Unsupported);
        }
        room_for_rows(&rows, &elements, budget)?;
        rows = rows
            .iter()
            .flat_map(|row| {
                elements.iter().map(|element| {
                    let mut row = row.clone();
                    row.push(element.clone());
                    row
                })
            })
            .collect();
    }
    Ok(Value::Tuple(rows.into_iter().map(Value::Tuple).collect()))
}

/// Each row is repeated for each element, and the other way around.
fn room_for_rows(
    rows: &[Vec<Value>],
    elements: &[Value],
    budget: &EvalBudget,
) -> Result<(), Exceeded> {
    let cost = |values: &mut dyn Iterator<Item = &Value>| {
        values.fold((0_usize, 0_usize), |(values, bytes), value| {
            let (more_values, more_bytes) = value.cost();
            (values + more_values, bytes + more_bytes)
        })
    };
    let (row_values, row_bytes) = cost(&mut rows.iter().flatten());
    let (element_values, element_bytes) = cost(&mut elements.iter());
    let times = |row: usize, element: usize| {
        let of_rows = row.saturating_mul(elements.len());
        of_rows.saturating_add(element.saturating_mul(rows.len()))
    };
    let lists = rows.len().saturating_mul(elements.len());
    let values = times(row_values, element_values).saturating_add(lists);
    budget.room_for(values, times(row_bytes, element_bytes))
}

/// `matchkeys(values, keys, search)`: the values whose keys are searched for.
fn match_keys(arguments: &[Value], budget: &EvalBudget) -> Outcome {
    let [values, keys, search] = arguments else {
        return Err(arity());
    };
    let (values, keys) = (list(values)?, list(keys)?);
    if values.len() != keys.len() {
        return Err("there are not as many keys as values".into());
    }
    let alike = alike_in_all(vec![keys, list(search)?])?;
    let [keys, search] = alike.as_slice() else {
        return Err(arity());
    };
    pay_for_comparisons(keys, search.len(), budget)?;
    let matching = values
        .iter()
        .zip(keys)
        .filter(|(_, key)| search.contains(key));
    Ok(Value::Tuple(
        matching.map(|(value, _)| value.clone()).collect(),
    ))
}

/// `chunklist(list, size)`; a size of zero makes one chunk.
fn chunks(arguments: &[Value]) -> Outcome {
    let [elements, size] = arguments else {
        return Err(arity());
    };
    let elements = alike(list(elements)?)?;
    let size = match position(size)? {
        0 => elements.len().max(1),
        size => size,
    };
    let chunk = |chunk: &[Value]| Value::Tuple(chunk.to_vec());
    Ok(Value::Tuple(elements.chunks(size).map(chunk).collect()))
}

/// A map of lists turned around.
fn transpose(arguments: &[Value], budget: &EvalBudget) -> Outcome {
    let [Value::Object(entries)] = arguments else {
        return Err("a map of lists is needed".into());
    };
    let mut turned: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut bytes = 0_usize;
    for (key, values) in entries {
        for value in list(values)? {
            bytes += key.len();
            budget.room_for(0, bytes)?;
            let keys = turned.entry(text(value)?).or_default();
            keys.push(key.as_str().into());
        }
    }
    let turned = turned.into_iter();
    Ok(Value::Object(
        turned
            .map(|(key, values)| (key, Value::Tuple(values)))
            .collect(),
    ))
}

/// RFC 4180 as Go reads it: the first record has the names of the columns, every other one becomes an object.
fn csv(text: &str, budget: &EvalBudget) -> Outcome {
    let separators = text.bytes().filter(|byte| matches!(byte, b',' | b'\n'));
    budget.room_for(2 * separators.count(), text.len())?;
    let mut records = records(text)?.into_iter();
    let names = records.next().ok_or("the line with the names is missing")?;
    let mut known = BTreeSet::new();
    for name in &names {
        if !known.insert(name) {
            return Err(format!("the column `{name}` is there twice").into());
        }
    }
    let bytes = names.iter().map(String::len).sum::<usize>();
    let rows = records.len();
    let values = rows.saturating_mul(2 * names.len() + 1);
    budget.room_for(values, rows.saturating_mul(bytes))?;
    let row = |fields: Vec<String>| {
        if fields.len() != names.len() {
            return Err(format!(
                "there are {} columns, and one line has {} fields",
                names.len(),
                fields.len()
            )
            .into());
        }
        let fields = fields.into_iter().map(Value::String);
        Ok(Value::Object(names.iter().cloned().zip(fields).collect()))
    };
    records.map(row).collect::<Result<_, _>>().map(Value::Tuple)
}

/// The fields of each record; lines without anything are none.
fn records(text: &str) -> Result<Vec<Vec<String>>, Failure> {
    let text = text.replace("\r\n", "\n");
    let mut rest = text.as_str();
    let mut records = Vec::new();
    while !rest.is_empty() {
        if let Some(next) = rest.strip_prefix('\n') {
            rest = next;
            continue;
        }
        let mut record = Vec::new();
        loop {
            let (field, tail) = field(rest)?;
            record.push(field);
            let Some(next) = tail.strip_prefix(',') else {
                rest = tail.strip_prefix('\n').unwrap_or(tail);
                break;
            };
            rest = next;
        }
        records.push(record);
    }
    Ok(records)
}

/// One field, and what follows it: a comma, the end of a line, or nothing.
fn field(text: &str) -> Result<(String, &str), Failure> {
    let Some(mut rest) = text.strip_prefix('"') else {
        let end = text.find([',', '\n']).unwrap_or(text.len());
        let (field, tail) = text.split_at(end);
        if field.contains('"') {
            return Err("there is a quote in a field that does not begin with one".into());
        }
        return Ok((field.to_owned(), tail));
    };
    let mut field = String::new();
    loop {
        let (part, tail) = rest
            .split_once('"')
            .ok_or("the quote at the end of a field is missing")?;
        field.push_str(part);
        match tail.strip_prefix('"') {
            Some(next) => {
                field.push('"');
                rest = next;
            }
            None if tail.is_empty() || tail.starts_with([',', '\n']) => return Ok((field, tail)),
            None => return Err("there is more after the quote at the end of a field".into()),
        }
    }
}
