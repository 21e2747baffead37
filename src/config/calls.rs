//! Module calls, and the variables and locals on which their sources may depend.

use std::collections::BTreeMap;

use crate::syntax::{ArgumentValue, Block, SourceRange, Strings, Value, is_identifier};

use super::block_problem::BlockProblem;
use super::declarations::labelled_blocks;
use super::error::ConfigError;
use super::expression::ConfigExpression as _;

/// A `module` block.
#[derive(Clone, Debug)]
pub(super) struct ModuleCall {
    pub(super) name: String,
    pub(super) source: Option<ArgumentValue>,
    pub(super) version: Option<ArgumentValue>,
    /// The values of the variables of the called module, by name.
    pub(super) arguments: BTreeMap<String, ArgumentValue>,
    pub(super) range: SourceRange,
}

/// A `variable` block.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) default: Option<ArgumentValue>,
    pub(super) type_constraint: Option<ArgumentValue>,
    /// `const`, if it is set.
    pub(super) constant: Option<bool>,
    pub(super) nullable: Option<bool>,
    /// A sensitive value must not appear in an address.
    pub(super) sensitive: Option<bool>,
    pub(super) ephemeral: Option<bool>,
    pub(super) range: SourceRange,
}

/// A value of a `locals` block.
#[derive(Clone, Debug)]
pub(super) struct Local {
    pub(super) name: String,
    pub(super) value: ArgumentValue,
    pub(super) range: SourceRange,
}

/// Arguments of a `module` block that are not variables of the module.
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
        block.label_range(0).place(),
        BlockProblem::Name(name.to_owned()),
    ))
}

/// Reads a `module` block.
pub(super) fn read_call(block: &Block<'_>) -> Result<ModuleCall, ConfigError> {
    let body = block.body();
    let mut arguments = BTreeMap::new();
    for argument in body.mixed_arguments()? {
        if !META_ARGUMENTS.contains(&argument.name()) {
            arguments.insert(argument.name().to_owned(), argument.value());
        }
    }
    // `_ {}` contains variables that have the names of meta-arguments.
    for escaped in labelled_blocks(body, "_", 0)? {
        arguments.extend(
            escaped
                .body()
                .arguments()?
                .into_iter()
                .map(|argument| (argument.name().to_owned(), argument.value())),
        );
    }
    Ok(ModuleCall {
        name: check_name(block)?,
        source: body.value("source")?,
        version: body.value("version")?,
        arguments,
        range: block.label_range(0),
    })
}

/// Reads the `module` block of a `run` block, which sets no variables.
pub(super) fn read_run_module(block: &Block<'_>, name: &str) -> Result<ModuleCall, ConfigError> {
    let body = block.body();
    Ok(ModuleCall {
        name: name.to_owned(),
        source: body.value("source")?,
        version: body.value("version")?,
        arguments: BTreeMap::new(),
        range: block.range(),
    })
}

/// Reads a `variable` block.
pub(super) fn read_variable(block: &Block<'_>) -> Result<Variable, ConfigError> {
    let body = block.body();
    Ok(Variable {
        name: check_name(block)?,
        default: body.value("default")?,
        type_constraint: body.value("type")?,
        constant: body
            .value("const")?
            .map(|value| flag(&value, "`const`"))
            .transpose()?,
        nullable: body
            .value("nullable")?
            .map(|value| flag(&value, "`nullable`"))
            .transpose()?,
        sensitive: body
            .value("sensitive")?
            .map(|value| flag(&value, "`sensitive`"))
            .transpose()?,
        ephemeral: body
            .value("ephemeral")?
            .map(|value| flag(&value, "`ephemeral`"))
            .transpose()?,
        range: block.label_range(0),
    })
}

/// Evaluates a constant boolean, also written as a string.
fn flag(value: &ArgumentValue, what: &'static str) -> Result<bool, ConfigError> {
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
            name: argument.name().to_owned(),
            value: argument.value(),
            range: argument.range(),
        })
        .collect())
}
