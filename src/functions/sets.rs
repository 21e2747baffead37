//! Set functions, and functions that compare each element of a list with many others.

use crate::syntax::{EvalBudget, Exceeded, Value, ValueType, unify};

use super::{FunctionError, FunctionResult, Functions, NO_COMMON_TYPE, list};

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
    for element in functions.list_of(value, ValueType::Dynamic)? {
        pay_for_comparisons(
            std::slice::from_ref(&element),
            unique.len(),
            &functions.budget,
        )?;
        if !unique.contains(&element) {
            unique.push(element);
        }
    }
    Ok(Value::List(unique))
}

/// Implements `matchkeys(values, keys, search)`: returns the values whose keys are in `search`.
pub(super) fn match_keys(
    functions: &Functions,
    values: &Value,
    keys: &Value,
    search: &Value,
) -> FunctionResult {
    let [values, keys, search] =
        [values, keys, search].map(|value| functions.list_of(value, ValueType::Dynamic));
    let (values, lists) = (values?, [Value::List(keys?), Value::List(search?)]);
    let lists = alike(functions, &lists)?;
    let (keys, search) = (list(&lists[0])?, list(&lists[1])?);
    if values.len() != keys.len() {
        return Err("the number of keys differs from the number of values".into());
    }
    pay_for_comparisons(keys, search.len(), &functions.budget)?;
    let pairs = values.into_iter().zip(keys);
    let matching = pairs.filter(|(_, key)| search.contains(key));
    Ok(Value::List(matching.map(|(value, _)| value).collect()))
}

/// Converts values to their common type.
fn alike(functions: &Functions, values: &[Value]) -> Result<Vec<Value>, FunctionError> {
    let types: Vec<ValueType> = values.iter().map(ValueType::of).collect();
    let types: Vec<&ValueType> = types.iter().collect();
    let common = unify(&types, &functions.budget).ok_or(NO_COMMON_TYPE)?;
    let converted = values.iter().map(|value| functions.convert(value, &common));
    converted.collect()
}

/// Converts lists to sets whose elements have a common type.
fn sets_of(functions: &Functions, lists: &[Value]) -> Result<Vec<Vec<Value>>, FunctionError> {
    let any = ValueType::set(ValueType::Dynamic);
    let to_set = |value: &Value| {
        list(value)?;
        functions.convert(value, &any)
    };
    let sets = lists.iter().map(to_set).collect::<Result<Vec<_>, _>>()?;
    let sets = alike(functions, &sets)?;
    sets.iter()
        .map(|set| list(set).map(<[Value]>::to_vec))
        .collect()
}

pub(super) fn set_union(functions: &Functions, sets: &[Value]) -> FunctionResult {
    Ok(Value::set(sets_of(functions, sets)?.concat()))
}

pub(super) fn set_intersection(functions: &Functions, sets: &[Value]) -> FunctionResult {
    filter_first(functions, sets, true)
}

pub(super) fn set_subtract(functions: &Functions, sets: &[Value]) -> FunctionResult {
    filter_first(functions, sets, false)
}

/// Keeps the elements of the first set that are in all other sets or, if `are_in_others` is false, in none of them.
fn filter_first(functions: &Functions, sets: &[Value], are_in_others: bool) -> FunctionResult {
    let sets = sets_of(functions, sets)?;
    let (first, others) = sets.split_first().ok_or(FunctionError::Unsupported)?;
    pay_for_comparisons(first, others.iter().map(Vec::len).sum(), &functions.budget)?;
    let is_kept = |value: &&Value| {
        others
            .iter()
            .all(|other| other.contains(value) == are_in_others)
    };
    Ok(Value::set(first.iter().filter(is_kept).cloned().collect()))
}

/// The maximum number of rows in a product. Real configurations need far fewer, and the budget of a root module suffices for this many.
const MAX_PRODUCT: usize = 1 << 14;

/// Returns all combinations of the elements of several lists. The last list varies fastest.
pub(super) fn set_product(functions: &Functions, lists: &[Value]) -> FunctionResult {
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    for elements in lists {
        let elements = functions.list_of(elements, ValueType::Dynamic)?;
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
    let rows = rows.into_iter().map(Value::Tuple).collect();
    Ok(
        if lists.iter().any(|value| matches!(value, Value::Set(_))) {
            Value::set(rows)
        } else {
            Value::List(rows)
        },
    )
}

/// Checks the budget for the product of `rows` and `elements`. The product contains one copy of each row per element, and one copy of
/// each element per row.
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
