//! Merges the configuration of a unit into that of a parent.

use std::collections::HashMap;
use std::collections::btree_map::Entry;

use crate::span::Place;
use crate::syntax::Value;

use super::UnitError;
use super::error::{Failure, Outcome};
use super::evaluated_config::{EvaluatedConfig, Generate, Settings, TerraformSection};
use super::file_context::{Evaluated, MergeStrategy};

/// Merges `child` into `parent`. Settings of the child take precedence.
pub(super) fn merge(
    mut parent: EvaluatedConfig,
    child: EvaluatedConfig,
    strategy: MergeStrategy,
) -> Outcome<EvaluatedConfig> {
    let is_deep = strategy == MergeStrategy::Deep;
    let is_set = |(_, setting): &(String, Evaluated)| setting.value != Value::Null;
    parent
        .settings
        .extend(child.settings.into_iter().filter(is_set));
    parent.sections.extend(child.sections);
    parent.dependencies.extend(child.dependencies);
    parent.terraform = match (parent.terraform, child.terraform) {
        (Some(parent), Some(child)) => Some(merge_terraform(parent, child, is_deep)),
        (parent, child) => child.or(parent),
    };
    for (label, generate) in child.generate {
        match parent.generate.entry(label) {
            Entry::Vacant(entry) => drop(entry.insert(generate)),
            Entry::Occupied(mut entry) if is_deep => drop(entry.insert(generate)),
            Entry::Occupied(entry) => {
                let place = generate.place();
                return Err(duplicate_label(entry.key(), place, entry.get()));
            }
        }
    }
    parent.inputs = match (parent.inputs, child.inputs) {
        (Some(parent), Some(child)) => Some(merge_inputs(parent, child, is_deep)),
        (parent, child) => child.or(parent),
    };
    parent.features.extend(child.features);
    Ok(parent)
}

/// The error for two `generate` blocks with the same label.
pub(super) fn duplicate_label(label: &str, place: Place, first: &Generate) -> Failure {
    let first = first.place();
    let message = format!("the `generate` block `{label}` already exists at {first}");
    UnitError::invalid(place, message).into()
}

fn merge_terraform(
    mut parent: TerraformSection,
    mut child: TerraformSection,
    is_deep: bool,
) -> TerraformSection {
    for name in ["include_in_copy", "exclude_from_copy"] {
        let own = child
            .settings
            .remove(name)
            .filter(|own| own.value != Value::Null);
        // As in Terragrunt, a shallow merge drops the lists of the child.
        if let Some(own) = own.filter(|_| is_deep) {
            join_lists(&mut parent.settings, name, own);
        }
    }
    let is_set = |(_, setting): &(String, Evaluated)| setting.value != Value::Null;
    parent
        .settings
        .extend(child.settings.into_iter().filter(is_set));
    let positions = parent.blocks.iter().enumerate();
    let positions: HashMap<_, _> = positions
        .map(|(at, block)| ((block.kind, block.label.clone()), at))
        .collect();
    for block in child.blocks {
        match positions.get(&(block.kind, block.label.clone())) {
            Some(&at) => parent.blocks[at] = block,
            None => parent.blocks.push(block),
        }
    }
    parent
}

/// Puts the elements of the child's list before those of the parent.
fn join_lists(settings: &mut Settings, name: &str, mut own: Evaluated) {
    if let Some(parent) = settings.remove(name) {
        own.value = match (own.value.elements(), parent.value.elements()) {
            (Some(first), Some(second)) => Value::Tuple([first, second].concat()),
            _ if parent.value == Value::Null => own.value,
            _ => Value::Unknown,
        };
        own.origins.join(&parent.origins);
    }
    settings.insert(name.to_owned(), own);
}

fn merge_inputs(parent: Evaluated, mut child: Evaluated, is_deep: bool) -> Evaluated {
    child.origins.join(&parent.origins);
    child.value = match (parent.value, child.value) {
        (parent, child) if is_deep => deeply_merged(parent, child),
        (Value::Object(mut all) | Value::Map(mut all), Value::Object(own) | Value::Map(own)) => {
            all.extend(own);
            Value::Object(all)
        }
        (parent, Value::Null) => parent,
        (Value::Null, child) => child,
        _ => Value::Unknown,
    };
    child
}

/// Merges objects by key and joins lists. Otherwise, the second value replaces the first.
fn deeply_merged(first: Value, second: Value) -> Value {
    match (first, second) {
        (Value::Object(mut all) | Value::Map(mut all), Value::Object(own) | Value::Map(own)) => {
            for (key, value) in own {
                let merged = match all.remove(&key) {
                    Some(before) => deeply_merged(before, value),
                    None => value,
                };
                all.insert(key, merged);
            }
            Value::Object(all)
        }
        (
            Value::List(mut all) | Value::Tuple(mut all) | Value::Set(mut all),
            Value::List(own) | Value::Tuple(own) | Value::Set(own),
        ) => {
            all.extend(own);
            Value::Tuple(all)
        }
        (_, second) => second,
    }
}
