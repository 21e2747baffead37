//! Finds the common type to which values of several types are converted, as in the branches of a conditional.

use std::collections::BTreeMap;

use super::budget::EvalBudget;
use super::value_type::ValueType as Type;

/// Returns the common type. `None` if the types have none or the budget is used up. If some types are dynamic and all others are of one
/// composite kind, such as lists, the result is dynamic.
pub fn unify(types: &[&Type], budget: &EvalBudget) -> Option<Type> {
    let sizes: usize = types.iter().map(|of| of.size()).sum();
    budget.steps(sizes).ok()?;
    let first = *types.first()?;
    if types.iter().all(|other| *other == first) {
        return Some(first.clone());
    }
    let count = |kind: fn(&Type) -> bool| types.iter().filter(|of| kind(of)).count();
    let dynamics = count(|of| matches!(of, Type::Dynamic));
    let lists = count(|of| matches!(of, Type::List(_)));
    let sets = count(|of| matches!(of, Type::Set(_)));
    let maps = count(|of| matches!(of, Type::Map(_)));
    let tuples = count(|of| matches!(of, Type::Tuple(_)));
    let objects = count(|of| matches!(of, Type::Object(_)));
    let only = |kinds: usize| kinds + dynamics == types.len();
    let composites = lists + sets + maps + tuples + objects;
    let is_one_kind = [lists, sets, maps, tuples, objects]
        .iter()
        .any(|kind| only(*kind));
    if composites > 0 && dynamics > 0 && is_one_kind {
        return Some(Type::Dynamic);
    }
    if composites > 0 && is_one_kind {
        return unify_kind(types, budget);
    }
    if maps > 0
        && only(maps + objects)
        && let Some(map) = unify_parts(types, budget).map(Type::map)
    {
        return Some(map);
    }
    if lists > 0
        && only(lists + tuples)
        && let Some(list) = unify_parts(types, budget).map(Type::list)
    {
        return Some(list);
    }
    if objects > 0 && tuples > 0 {
        return None;
    }
    most_general(types, sizes, budget)
}

/// Unifies types that are all lists, or all sets, maps, tuples or objects.
fn unify_kind(types: &[&Type], budget: &EvalBudget) -> Option<Type> {
    match types.first()? {
        Type::List(_) => unify_parts(types, budget).map(Type::list),
        Type::Set(_) => unify_parts(types, budget).map(Type::set),
        Type::Map(_) => unify_parts(types, budget).map(Type::map),
        Type::Tuple(_) => unify_tuples(types, budget),
        _ => unify_objects(types, budget),
    }
}

/// Returns the common type of the elements and attributes of these types.
fn unify_parts(types: &[&Type], budget: &EvalBudget) -> Option<Type> {
    let mut parts: Vec<&Type> = Vec::new();
    for of in types {
        match of {
            Type::List(element) | Type::Set(element) | Type::Map(element) => parts.push(element),
            Type::Tuple(elements) => parts.extend(elements),
            Type::Object(attributes) => parts.extend(attributes.values()),
            _ => {}
        }
    }
    unify(&parts, budget)
}

fn all_convert(types: &[&Type], target: &Type, budget: &EvalBudget) -> bool {
    types.iter().all(|of| of.converts_to(target, budget))
}

/// Unifies tuples element by element. If their lengths differ or a tuple cannot be converted to the result, unifies them as lists.
fn unify_tuples(types: &[&Type], budget: &EvalBudget) -> Option<Type> {
    let rows: Vec<&Vec<Type>> = types
        .iter()
        .filter_map(|of| match of {
            Type::Tuple(elements) => Some(elements),
            _ => None,
        })
        .collect();
    let as_list = || {
        let list = unify_parts(types, budget).map(Type::list)?;
        all_convert(types, &list, budget).then_some(list)
    };
    let length = rows.first()?.len();
    if rows.iter().any(|row| row.len() != length) {
        return as_list();
    }
    let column = |at: usize| unify(&rows.iter().map(|row| &row[at]).collect::<Vec<_>>(), budget);
    let tuple = Type::Tuple((0..length).map(column).collect::<Option<_>>()?);
    if all_convert(types, &tuple, budget) {
        Some(tuple)
    } else {
        as_list()
    }
}

/// Unifies objects attribute by attribute. If their attributes differ or an object cannot be converted to the result, unifies them as
/// maps.
fn unify_objects(types: &[&Type], budget: &EvalBudget) -> Option<Type> {
    let rows: Vec<&BTreeMap<String, Type>> = types
        .iter()
        .filter_map(|of| match of {
            Type::Object(attributes) => Some(attributes),
            _ => None,
        })
        .collect();
    let as_map = || {
        let map = unify_parts(types, budget).map(Type::map)?;
        all_convert(types, &map, budget).then_some(map)
    };
    let first = rows.first()?;
    if rows.iter().any(|row| !row.keys().eq(first.keys())) {
        return as_map();
    }
    let column = |name: &String| {
        let types: Vec<&Type> = rows.iter().filter_map(|row| row.get(name)).collect();
        Some((name.clone(), unify(&types, budget)?))
    };
    let object = Type::Object(first.keys().map(column).collect::<Option<_>>()?);
    if all_convert(types, &object, budget) {
        Some(object)
    } else {
        as_map()
    }
}

/// Returns the first type, in the order of [`rank`], to which all others convert.
fn most_general(types: &[&Type], sizes: usize, budget: &EvalBudget) -> Option<Type> {
    let mut candidates: Vec<&Type> = Vec::new();
    for of in types {
        budget.steps(candidates.len()).ok()?;
        if !candidates.contains(of) {
            candidates.push(of);
        }
    }
    budget.steps(candidates.len().saturating_mul(sizes)).ok()?;
    candidates.sort_by_key(|of| rank(of));
    let common = candidates
        .iter()
        .find(|candidate| all_convert(&candidates, candidate, budget));
    common.map(|common| (*common).clone())
}

/// The order in which types are tried: strings before other primitive types, lists before tuples and sets, and maps before objects.
const fn rank(of: &Type) -> u8 {
    match of {
        Type::String | Type::List(_) | Type::Map(_) => 0,
        Type::Tuple(_) | Type::Object(_) | Type::Number | Type::Bool => 1,
        Type::Set(_) => 2,
        Type::Dynamic => 3,
    }
}
