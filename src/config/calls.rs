//! Module calls, and the variables and locals that their sources may depend on.

use std::collections::BTreeMap;

use crate::syntax::{Strings, Value, is_identifier};

use super::body::{Block, Spot};
use super::error::{ConfigError, Problem};
use super::expression::Expression;

/// A `module` block.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) name: String,
    pub(super) source: Option<Expression>,
    pub(super) version: Option<Expression>,
    /// Values for the variables of the module.
    pub(super) arguments: BTreeMap<String, Expression>,
    pub(super) spot: Spot,
}

/// A `variable` block.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) default: Option<Expression>,
    pub(super) type_constraint: Option<Expression>,
    /// `const`, if it is set.
    pub(super) constant: Option<bool>,
    pub(super) nullable: Option<bool>,
    /// Its value is not to be shown, so it cannot be part of an address.
    pub(super) sensitive: Option<bool>,
    pub(super) ephemeral: Option<bool>,
    pub(super) spot: Spot,
}

/// A value of a `locals` block.
#[derive(Clone, Debug)]
pub(super) struct Local {
    pub(super) name: String,
    pub(super) value: Expression,
    pub(super) spot: Spot,
}

/// Arguments of a `module` block that are not for the module.
const META_ARGUMENTS: [&str; 8] = [
    "source",
    "version",
    "count",
    "for_each",
    "depends_on",
    "providers",
    "enabled",
    "ignore_nested_deprecations",
];

fn check_name(block: &Block<'_>) -> Result<String, ConfigError> {
    let name = block.label(0);
    if is_identifier(name) {
        return Ok(name.to_owned());
    }
    Err(ConfigError::invalid(
        block.label_spot(0).place(),
        Problem::Name(name.to_owned()),
    ))
}

/// Reads a `module` block.
pub(super) fn read_call(block: &Block<'_>) -> Result<Call, ConfigError> {
    let body = block.body();
    let mut arguments = BTreeMap::new();
    for argument in body.mixed_arguments()? {
        if !META_ARGUMENTS.contains(&argument.name.as_str()) {
            arguments.insert(argument.name, argument.value);
        }
    }
    // `_ {}` holds arguments whose names would be taken for meta-arguments outside of it.
    for escaped in body.blocks("_", 0)? {
        arguments.extend(
            escaped
                .body()
                .arguments()?
                .into_iter()
                .map(|argument| (argument.name, argument.value)),
        );
    }
    Ok(Call {
        name: check_name(block)?,
        source: body.argument("source")?.map(|argument| argument.value),
        version: body.argument("version")?.map(|argument| argument.value),
        arguments,
        spot: block.label_spot(0),
    })
}

/// Reads the `module` block of a `run` block. It gives no values.
pub(super) fn read_run_module(block: &Block<'_>, name: &str) -> Result<Call, ConfigError> {
    let body = block.body();
    Ok(Call {
        name: name.to_owned(),
        source: body.argument("source")?.map(|argument| argument.value),
        version: body.argument("version")?.map(|argument| argument.value),
        arguments: BTreeMap::new(),
        spot: block.spot().clone(),
    })
}

/// Reads a `variable` block.
pub(super) fn read_variable(block: &Block<'_>) -> Result<Variable, ConfigError> {
    let body = block.body();
    let value =
        |name: &str| Ok::<_, ConfigError>(body.argument(name)?.map(|argument| argument.value));
    Ok(Variable {
        name: check_name(block)?,
        default: value("default")?,
        type_constraint: value("type")?,
        constant: value("const")?
            .map(|value| flag(&value, "`const`"))
            .transpose()?,
        nullable: value("nullable")?
            .map(|value| flag(&value, "`nullable`"))
            .transpose()?,
        sensitive: value("sensitive")?
            .map(|value| flag(&value, "`sensitive`"))
            .transpose()?,
        ephemeral: value("ephemeral")?
            .map(|value| flag(&value, "`ephemeral`"))
            .transpose()?,
        spot: block.label_spot(0),
    })
}

/// A boolean, as such or as a string, without references.
fn flag(value: &Expression, what: &'static str) -> Result<bool, ConfigError> {
    let found = value.constant_with(what, Strings::Templates)?;
    let is_flag = matches!(found, Value::Bool(_))
        || matches!(&found, Value::String(text) if text == "true" || text == "false");
    found.to_bool().filter(|_| is_flag).ok_or_else(|| {
        let source = crate::syntax::EvalProblem::WrongType {
            wanted: "a boolean",
            found: found.type_name(),
        };
        ConfigError::Value {
            what,
            place: Box::new(value.place()),
            source: Box::new(source),
        }
    })
}

/// Reads a `locals` block.
pub(super) fn read_locals(block: &Block<'_>) -> Result<Vec<Local>, ConfigError> {
    let arguments = block.body().arguments()?.into_iter();
    Ok(arguments
        .map(|argument| Local {
            name: argument.name,
            value: argument.value,
            spot: argument.spot,
        })
        .collect())
}
