//! Functions of tables: `csvdecode`, `setproduct`, `matchkeys`, `chunklist` and `transpose`.

use std::collections::{BTreeMap, BTreeSet};

use crate::syntax::{EvalBudget, Exceeded, Value};

use super::collections::pay_for_comparisons;
use super::common_type::{alike, alike_in_all};
use super::{FunctionError, FunctionResult, Functions, list, size, text};

/// The most elements of a product: many more than real configurations need, and within the budget of a root module.
const MAX_PRODUCT: usize = 1 << 14;

/// All combinations of the elements of several lists; the last list varies fastest.
pub(super) fn set_product(functions: &Functions, lists: &[Value]) -> FunctionResult {
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    for elements in lists {
        let elements = alike(list(elements)?)?;
        if rows.len().saturating_mul(elements.len()) > MAX_PRODUCT {
            return Err(FunctionError::Unsupported);
        }
        check_room_for_product(&rows, &elements, &functions.budget)?;
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

/// Checks the budget for a product, which has a copy of each row for each element and of each element for each row.
fn check_room_for_product(
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

/// `matchkeys(values, keys, search)`: the values whose keys are in `search`.
pub(super) fn match_keys(
    functions: &Functions,
    values: &Value,
    keys: &Value,
    search: &Value,
) -> FunctionResult {
    let (values, keys) = (list(values)?, list(keys)?);
    if values.len() != keys.len() {
        return Err("the number of keys differs from the number of values".into());
    }
    let lists = alike_in_all(vec![keys, list(search)?])?;
    let (keys, search) = (&lists[0], &lists[1]);
    pay_for_comparisons(keys, search.len(), &functions.budget)?;
    let pairs = values.iter().zip(keys);
    let matching = pairs.filter(|(_, key)| search.contains(key));
    let values = matching.map(|(value, _)| value.clone());
    Ok(Value::Tuple(values.collect()))
}

/// `chunklist(list, size)`; a size of zero makes one chunk.
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
pub(super) fn transpose(functions: &Functions, map: &Value) -> FunctionResult {
    let Value::Object(entries) = map else {
        return Err("a map of lists is needed".into());
    };
    let mut turned: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let mut bytes = 0_usize;
    for (key, values) in entries {
        for value in list(values)? {
            bytes += key.len();
            functions.budget.room_for(0, bytes)?;
            let keys = turned.entry(text(value)?).or_default();
            keys.push(key.as_str().into());
        }
    }
    let lists = turned.into_iter();
    let lists = lists.map(|(element, keys)| (element, Value::Tuple(keys)));
    Ok(Value::Object(lists.collect()))
}

/// Decodes RFC 4180 as Go does: the first record has the names of the columns, and each other record becomes an object.
pub(super) fn csv_decode(functions: &Functions, table: &Value) -> FunctionResult {
    let (text, budget) = (text(table)?, &functions.budget);
    let separators = text.bytes().filter(|byte| matches!(byte, b',' | b'\n'));
    budget.room_for(2 * separators.count(), text.len())?;
    let mut records = records(&text)?.into_iter();
    let names = records
        .next()
        .ok_or("the line with the column names is missing")?;
    let mut unique = BTreeSet::new();
    for name in &names {
        if !unique.insert(name) {
            return Err(format!("there are two columns `{name}`").into());
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

/// The fields of each record. Empty lines are skipped.
fn records(text: &str) -> Result<Vec<Vec<String>>, FunctionError> {
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

/// Splits off the first field. The rest starts with a comma or a line feed, or is empty.
fn field(text: &str) -> Result<(String, &str), FunctionError> {
    let Some(mut rest) = text.strip_prefix('"') else {
        let end = text.find([',', '\n']).unwrap_or(text.len());
        let (field, tail) = text.split_at(end);
        if field.contains('"') {
            return Err("a field without quotes contains a quote".into());
        }
        return Ok((field.to_owned(), tail));
    };
    let mut field = String::new();
    loop {
        let (part, tail) = rest
            .split_once('"')
            .ok_or("the closing quote of a field is missing")?;
        field.push_str(part);
        match tail.strip_prefix('"') {
            Some(next) => {
                field.push('"');
                rest = next;
            }
            None if tail.is_empty() || tail.starts_with([',', '\n']) => return Ok((field, tail)),
            None => return Err("text follows the closing quote of a field".into()),
        }
    }
}
