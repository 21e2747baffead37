//! `required_providers` in all its forms: docs/rules/config.md 2.

use std::collections::BTreeMap;

use crate::provider::{Engine, ProviderAddr, VersionConstraints};
use crate::span::Place;
use crate::syntax::{self, Entry, Expr, ExprKind, Strings, Value};

use super::body::{Argument, Body, Spot};
use super::declarations::Faults;
use super::error::{ConfigError, Problem};
use super::expression::Expression;

/// A `required_providers` block.
#[derive(Clone, Debug)]
pub(super) struct RequiredProviders {
    pub(super) spot: Spot,
    /// By local name.
    pub(super) entries: BTreeMap<String, RequiredProvider>,
}

/// An entry.
#[derive(Clone, Debug)]
pub(super) struct RequiredProvider {
    pub(super) address: ProviderAddr,
    pub(super) constraints: VersionConstraints,
    pub(super) spot: Spot,
}

/// Reads the body of a block.
pub(super) fn read(
    spot: &Spot,
    body: &Body<'_>,
    engine: Engine,
    faults: &mut Faults,
) -> RequiredProviders {
    if let Some(block) = body.first_block() {
        faults.0.push(ConfigError::invalid(
            block.place(),
            Problem::BlockInRequiredProviders,
        ));
    }
    let arguments = faults.keep(body.arguments()).unwrap_or_default();
    let entries = arguments
        .into_iter()
        .map(|argument| Ok((argument.name.clone(), entry(&argument, engine)?)));
    let entries = faults.keep_all(entries).into_iter().collect();
    RequiredProviders {
        spot: spot.clone(),
        entries,
    }
}

fn entry(argument: &Argument, engine: Engine) -> Result<RequiredProvider, ConfigError> {
    let tree = argument.value.tree(Strings::Plain)?;
    if let ExprKind::Object(entries) = &tree.kind {
        return object_form(argument, entries, engine);
    }
    // Terraform tells the legacy form by its value being primitive.
    let text = match argument.value.evaluate(&tree) {
        Err(exceeded @ ConfigError::Exceeded { .. }) => return Err(exceeded),
        Ok(Value::Null) | Err(_) => None,
        Ok(value) => value.to_text(),
    };
    let text = text.ok_or_else(|| argument.value.invalid(Problem::RequiredProvider))?;
    Ok(RequiredProvider {
        address: implied(&argument.name, &argument.spot, engine)?,
        constraints: constraints(&text, argument.value.place())?,
        spot: argument.spot.clone(),
    })
}

/// `{ source = ..., version = ... }`. The last of equal keys wins.
fn object_form(
    argument: &Argument,
    entries: &[Entry],
    engine: Engine,
) -> Result<RequiredProvider, ConfigError> {
    check_normalized(&argument.name, &argument.spot, engine)?;
    let mut address = None;
    let mut required = VersionConstraints::default();
    for entry in entries {
        match key(&argument.value, &entry.key)?.as_str() {
            "source" => {
                let source = string(&argument.value, "source", &entry.value)?;
                let place = Box::new(argument.value.place_of(entry.value.span));
                let parsed = ProviderAddr::parse(&source, engine);
                address = Some(parsed.map_err(|source| ConfigError::Address {
                    place,
                    source: Box::new(source),
                })?);
            }
            "version" => {
                let text = string(&argument.value, "version", &entry.value)?;
                required = constraints(&text, argument.value.place_of(entry.value.span))?;
            }
            "configuration_aliases" => check_aliases(argument, &entry.value)?,
            other => {
                let place = argument.value.place_of(entry.key.span);
                return Err(ConfigError::invalid(
                    place,
                    Problem::UnknownRequiredProviderKey(other.to_owned()),
                ));
            }
        }
    }
    let address = match address {
        Some(address) => address,
        None => implied(&argument.name, &argument.spot, engine)?,
    };
    Ok(RequiredProvider {
        address,
        constraints: required,
        spot: argument.spot.clone(),
    })
}

/// A key: a bare name, or an expression with a constant string. A parenthesized name is a variable, which is none.
fn key(whole: &Expression, key: &Expr) -> Result<String, ConfigError> {
    let invalid = || ConfigError::invalid(whole.place_of(key.span), Problem::RequiredProviderKey);
    if let Some(name) = key.as_key() {
        return Ok(name.to_owned());
    }
    match whole.evaluate(key) {
        Ok(Value::String(text)) => Ok(text),
        Err(exceeded @ ConfigError::Exceeded { .. }) => Err(exceeded),
        _ => Err(invalid()),
    }
}

fn string(whole: &Expression, what: &'static str, value: &Expr) -> Result<String, ConfigError> {
    match whole.evaluate(value) {
        Ok(Value::String(text)) => Ok(text),
        Err(exceeded @ ConfigError::Exceeded { .. }) => Err(exceeded),
        _ => Err(ConfigError::invalid(
            whole.place_of(value.span),
            Problem::StringRequired(what),
        )),
    }
}

/// A list of references that start with the local name; strings in JSON. They have no influence.
fn check_aliases(argument: &Argument, value: &Expr) -> Result<(), ConfigError> {
    let invalid = |expr: &Expr| {
        let problem = Problem::ConfigurationAliases(argument.name.clone());
        ConfigError::invalid(argument.value.place_of(expr.span), problem)
    };
    let ExprKind::Tuple(elements) = &value.kind else {
        return Err(invalid(value));
    };
    for element in elements {
        let from_text = match (&argument.value, element.as_text()) {
            (Expression::Json(..), Some(text)) => syntax::parse_expression(&text).ok(),
            _ => None,
        };
        if root_name(&argument.value, from_text.as_ref().unwrap_or(element))
            != Some(argument.name.as_str())
        {
            return Err(invalid(element));
        }
    }
    Ok(())
}

/// The name that a traversal starts with, be it of attributes or of constant indexes.
fn root_name<'a>(whole: &Expression, expr: &'a Expr) -> Option<&'a str> {
    match &expr.kind {
        ExprKind::Variable(name) => Some(name),
        ExprKind::Attribute(source, _) => root_name(whole, source),
        ExprKind::Index(source, key) => whole
            .evaluate(key)
            .ok()
            .and_then(|_| root_name(whole, source)),
        _ => None,
    }
}

/// The address that a local name stands for.
pub(super) fn implied(
    name: &str,
    spot: &Spot,
    engine: Engine,
) -> Result<ProviderAddr, ConfigError> {
    ProviderAddr::implied(name, engine).map_err(|source| ConfigError::ProviderName {
        place: Box::new(spot.place()),
        name: name.to_owned(),
        source: Box::new(source),
    })
}

/// Local names must be written as they are compared.
pub(super) fn check_normalized(name: &str, spot: &Spot, engine: Engine) -> Result<(), ConfigError> {
    let normal = implied(name, spot, engine)?.type_name;
    if normal == name {
        return Ok(());
    }
    let problem = Problem::NotNormalized {
        name: name.to_owned(),
        normal,
    };
    Err(ConfigError::invalid(spot.place(), problem))
}

/// A version constraint that stands at `place`.
pub(super) fn constraints(text: &str, place: Place) -> Result<VersionConstraints, ConfigError> {
    VersionConstraints::parse(text).map_err(|source| ConfigError::Constraint {
        place: Box::new(place),
        source: Box::new(source),
    })
}
