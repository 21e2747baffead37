//! Reads `required_providers` blocks. See section 2 of docs/rules/config.md.

use std::collections::BTreeMap;

use crate::provider::{Engine, ProviderAddr, VersionConstraints};
use crate::span::Place;
use crate::syntax::{
    self, Argument, ArgumentValue, Block, Expr, ExprKind, ObjectEntry, SourceRange, Strings, Value,
};

use super::{BlockProblem, ConfigError, ConfigErrors};

#[derive(Clone, Debug)]
pub(super) struct RequiredProviders {
    pub(super) range: SourceRange,
    pub(super) entries: BTreeMap<String, RequiredProvider>,
}

#[derive(Clone, Debug)]
pub(super) struct RequiredProvider {
    pub(super) address: ProviderAddr,
    pub(super) constraints: VersionConstraints,
    pub(super) range: SourceRange,
}

pub(super) fn read(
    block: &Block<'_>,
    engine: Engine,
    errors: &mut ConfigErrors,
) -> RequiredProviders {
    let body = block.body();
    if let Some(inner) = body.native_blocks().next() {
        errors.invalid(&inner.range(), BlockProblem::BlockInRequiredProviders);
    }
    let arguments = errors.keep(body.arguments()).unwrap_or_default();
    let entries = arguments
        .into_iter()
        .map(|argument| Ok((argument.name().to_owned(), parse_entry(&argument, engine)?)));
    let entries = errors.keep_all(entries).into_iter().collect();
    RequiredProviders {
        range: block.range(),
        entries,
    }
}

fn parse_entry(argument: &Argument<'_>, engine: Engine) -> Result<RequiredProvider, ConfigError> {
    let value = argument.value();
    let tree = value.tree(Strings::Plain)?;
    if let ExprKind::Object(entries) = &tree.kind {
        return parse_object(argument, &value, entries, engine);
    }
    // As in Terraform, any primitive value is treated as the legacy form, a version constraint.
    let text = match value.part_value(&tree) {
        Err(exceeded @ ConfigError::Exceeded { .. }) => return Err(exceeded),
        Ok(Value::Null) | Err(_) => None,
        Ok(value) => value.to_text(),
    };
    let text = text.ok_or_else(|| value.invalid(BlockProblem::RequiredProvider))?;
    Ok(RequiredProvider {
        address: implied(argument.name(), &argument.range(), engine)?,
        constraints: constraints(&text, value.place())?,
        range: argument.range(),
    })
}

/// Parses `{ source = ..., version = ... }`. If a key is repeated, the last value takes precedence.
fn parse_object(
    argument: &Argument<'_>,
    value: &ArgumentValue,
    entries: &[ObjectEntry],
    engine: Engine,
) -> Result<RequiredProvider, ConfigError> {
    let name = argument.name();
    check_normalized(name, &argument.range(), engine)?;
    let mut address = None;
    let mut required = VersionConstraints::default();
    for entry in entries {
        let place = |part: &Expr| value.place_of(part.span);
        match key(value, &entry.key)?.as_str() {
            "source" => {
                let source = string(value, &entry.value, BlockProblem::StringRequired("source"))?;
                let parsed = ProviderAddr::parse(&source, engine);
                address = Some(parsed.map_err(|source| ConfigError::Address {
                    place: Box::new(place(&entry.value)),
                    source: Box::new(source),
                })?);
            }
            "version" => {
                let text = string(value, &entry.value, BlockProblem::StringRequired("version"))?;
                required = constraints(&text, place(&entry.value))?;
            }
            "configuration_aliases" => check_aliases(name, value, &entry.value)?,
            other => {
                let problem = BlockProblem::UnknownRequiredProviderKey(other.to_owned());
                return Err(ConfigError::invalid(place(&entry.key), problem));
            }
        }
    }
    let address = match address {
        Some(address) => address,
        None => implied(name, &argument.range(), engine)?,
    };
    Ok(RequiredProvider {
        address,
        constraints: required,
        range: argument.range(),
    })
}

/// Evaluates a key, which must be a bare name or a constant string. A name in parentheses is a variable, which is an error.
fn key(whole: &ArgumentValue, key: &Expr) -> Result<String, ConfigError> {
    match key.as_bare_name() {
        Some(name) => Ok(name.to_owned()),
        None => string(whole, key, BlockProblem::RequiredProviderKey),
    }
}

/// Evaluates part of an expression, which must be a string. Otherwise, the error is `problem`.
pub(super) fn string(
    whole: &ArgumentValue,
    part: &Expr,
    problem: BlockProblem,
) -> Result<String, ConfigError> {
    match whole.part_value(part) {
        Ok(Value::String(text)) => Ok(text),
        Err(exceeded @ ConfigError::Exceeded { .. }) => Err(exceeded),
        _ => Err(ConfigError::invalid(whole.place_of(part.span), problem)),
    }
}

/// Checks that `configuration_aliases` is a list of references that start with the local name. In JSON syntax, the references are
/// strings. Aliases do not affect which providers the module requires.
fn check_aliases(
    local_name: &str,
    whole: &ArgumentValue,
    aliases: &Expr,
) -> Result<(), ConfigError> {
    let invalid = |expr: &Expr| {
        let problem = BlockProblem::ConfigurationAliases(local_name.to_owned());
        ConfigError::invalid(whole.place_of(expr.span), problem)
    };
    let ExprKind::Tuple(elements) = &aliases.kind else {
        return Err(invalid(aliases));
    };
    for element in elements {
        let text = element.as_text().filter(|_| whole.is_json());
        let from_text = text.and_then(|text| syntax::parse_expression(&text).ok());
        if root_name(whole, from_text.as_ref().unwrap_or(element)) != Some(local_name) {
            return Err(invalid(element));
        }
    }
    Ok(())
}

/// Returns the name at the start of a chain of attributes and constant indexes, such as `a` in `a.b[0]`. An index directly after
/// the name is invalid.
fn root_name<'a>(whole: &ArgumentValue, expr: &'a Expr) -> Option<&'a str> {
    match &expr.kind {
        ExprKind::Attribute(source, _) => root_name(whole, source),
        ExprKind::Index(source, key) if source.as_bare_name().is_none() => {
            whole.part_value(key).ok()?;
            root_name(whole, source)
        }
        _ => expr.as_bare_name(),
    }
}

pub(super) fn implied(
    name: &str,
    range: &SourceRange,
    engine: Engine,
) -> Result<ProviderAddr, ConfigError> {
    ProviderAddr::implied(name, engine).map_err(|source| ConfigError::ProviderName {
        place: Box::new(range.place()),
        name: name.to_owned(),
        source: Box::new(source),
    })
}

/// Checks that a local name is written in its normalized form.
pub(super) fn check_normalized(
    name: &str,
    range: &SourceRange,
    engine: Engine,
) -> Result<(), ConfigError> {
    let normal = implied(name, range, engine)?.type_name;
    if normal == name {
        return Ok(());
    }
    let problem = BlockProblem::NotNormalized {
        name: name.to_owned(),
        normal,
    };
    Err(ConfigError::invalid(range.place(), problem))
}

pub(super) fn constraints(text: &str, place: Place) -> Result<VersionConstraints, ConfigError> {
    VersionConstraints::parse(text).map_err(|source| ConfigError::Constraint {
        place: Box::new(place),
        source: Box::new(source),
    })
}
