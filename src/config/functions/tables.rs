//! Functions that read tables: `csvdecode`, and the products and selections of lists.

use std::collections::BTreeMap;

use crate::syntax::Value;

use super::types::{alike, alike_in_all};
use super::{Failure, Function, Outcome, arity, list, position, text};

pub(super) fn find(name: &str) -> Option<Function> {
    Some(match name {
        "csvdecode" => |_, arguments| match arguments {
            [argument] => csv(&text(argument)?),
            _ => Err(arity()),
        },
        "setproduct" => |_, arguments| product(arguments),
        "matchkeys" => |_, arguments| match_keys(arguments),
        "chunklist" => |_, arguments| chunks(arguments),
        "transpose" => |_, arguments| transpose(arguments),
        _ => return None,
    })
}

/// The most elements that a product may have: far above what a configuration lists, far below what fills the memory.
const MAX_PRODUCT: usize = 1 << 16;

/// All combinations, the last list running fastest.
fn product(arguments: &[Value]) -> Outcome {
    if arguments.len() < 2 {
        return Err("at least two lists are needed".into());
    }
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    for argument in arguments {
        let elements = alike(list(argument)?)?;
        if rows.len().saturating_mul(elements.len()) > MAX_PRODUCT {
            return Err(Failure::Unsupported);
        }
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

/// `matchkeys(values, keys, search)`: the values whose keys are searched for.
fn match_keys(arguments: &[Value]) -> Outcome {
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
fn transpose(arguments: &[Value]) -> Outcome {
    let [Value::Object(entries)] = arguments else {
        return Err("a map of lists is needed".into());
    };
    let mut turned: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    for (key, values) in entries {
        for value in list(values)? {
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
fn csv(text: &str) -> Outcome {
    let mut records = records(text)?.into_iter();
    let names = records.next().ok_or("the line with the names is missing")?;
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            return Err(format!("the column `{name}` is there twice").into());
        }
    }
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
