//! Set functions, and functions that compare each element of a list with many others.

use crate::config::static_evaluation::type_constraint::sorted_set;
use crate::syntax::{EvalBudget, Exceeded, Value};

use super::collections::{concat, to_list};
use super::common_type::{alike, alike_in_all};
use super::{FunctionError, FunctionResult, Functions, list};

/// The number of bytes that can be compared in the time of one budget step.
const BYTES_PER_STEP: usize = 64;

/// Charges the budget for comparing each of `values` with `others` other values.
pub(super) fn pay_for_comparisons(
    values: &[Value],
    others: usize,
    budget: &EvalBudget,
) -> Result<(), Exceeded> {
    let steps = |value: &Value| {
        let (values, bytes) = value.cost();
        (values + bytes / BYTES_PER_STEP).saturating_mul(others)
    };
    values
        .iter()
        .try_for_each(|value| budget.steps(steps(value)))
}

pub(super) fn distinct(functions: &Functions, value: &Value) -> FunctionResult {
    let mut unique: Vec<Value> = Vec::new();
    for element in alike(list(value)?)? {
        pay_for_comparisons(
            std::slice::from_ref(&element),
            unique.len(),
            &functions.budget,
        )?;
        if !unique.contains(&element) {
            unique.push(element);
        }
    }
    Ok(Value::Tuple(unique))
}

/// Implements `matchkeys(values, keys, search)`: returns the values whose keys are in `search`.
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

pub(super) fn to_set(value: &Value) -> FunctionResult {
    Ok(match to_list(value)? {
        Value::Tuple(elements) => sorted_set(elements),
        null => null,
    })
}

pub(super) fn set_union(sets: &[Value]) -> FunctionResult {
    let all = concat(sets)?;
    Ok(sorted_set(alike(list(&all)?)?))
}

pub(super) fn set_intersection(functions: &Functions, sets: &[Value]) -> FunctionResult {
    filter_first(sets, true, &functions.budget)
}

pub(super) fn set_subtract(functions: &Functions, sets: &[Value]) -> FunctionResult {
    filter_first(sets, false, &functions.budget)
}

/// Keeps the elements of the first set that are in all other sets or, if `are_in_others` is false, in none of them.
fn filter_first(sets: &[Value], are_in_others: bool, budget: &EvalBudget) -> FunctionResult {
    let lists = sets.iter().map(list).collect::<Result<_, _>>()?;
    let sets = alike_in_all(lists)?;
    let (first, others) = sets.split_first().ok_or(FunctionError::Unsupported)?;
    pay_for_comparisons(first, others.iter().map(Vec::len).sum(), budget)?;
    let is_kept = |value: &&Value| {
        others
            .iter()
            .all(|other| other.contains(value) == are_in_others)
    };
    Ok(sorted_set(first.iter().filter(is_kept).cloned().collect()))
}

/// The maximum number of elements in a product. Real configurations need far fewer, and a root module's budget allows this many.
const MAX_PRODUCT: usize = 1 << 14;

/// Returns all combinations of the elements of several lists. The last list varies fastest.
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

/// Checks the budget for a product, which contains a copy of each row for each element, and a copy of each element for each row.
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
