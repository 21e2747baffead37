//! The `csvdecode` function.

use std::collections::BTreeSet;

use crate::syntax::Value;

use super::{FunctionError, FunctionResult, Functions, text};

/// Decodes CSV (RFC 4180) as Go does: the first record contains the column names, and every other record becomes an object.
pub(super) fn decode(functions: &Functions, table: &Value) -> FunctionResult {
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
            return Err(format!("there are two columns named `{name}`").into());
        }
    }
    let bytes = names.iter().map(String::len).sum::<usize>();
    let rows = records.len();
    let values = rows.saturating_mul(2 * names.len() + 1);
    budget.room_for(values, rows.saturating_mul(bytes))?;
    let row = |fields: Vec<String>| {
        if fields.len() != names.len() {
            let (columns, fields) = (names.len(), fields.len());
            let message =
                format!("incorrect number of fields in a line: expected {columns}, found {fields}");
            return Err(message.into());
        }
        let fields = fields.into_iter().map(Value::from);
        Ok(Value::Object(names.iter().cloned().zip(fields).collect()))
    };
    records.map(row).collect::<Result<_, _>>().map(Value::List)
}

/// Splits the text into the fields of each record. Empty lines are skipped.
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
            return Err("an unquoted field contains a quote".into());
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
