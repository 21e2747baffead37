//! Reads module calls, and the variables and locals that their sources may refer to.

use std::collections::BTreeMap;

use crate::syntax::{ArgumentValue, Block, EvalProblem, SourceRange, Strings, Value};

use super::{CallError, CallProblem, ConfigError};

#[derive(Clone, Debug)]
pub(super) struct ModuleCall {
    pub(super) name: String,
    pub(super) source: Option<ArgumentValue>,
    pub(super) version: Option<ArgumentValue>,
    /// The values for the variables of the called module, by name.
    pub(super) arguments: BTreeMap<String, ArgumentValue>,
    pub(super) range: SourceRange,
}

impl ModuleCall {
    pub(super) fn error(&self, problem: CallProblem) -> CallError {
        CallError::new(&self.name, self.range.place(), problem)
    }

    /// Creates an error that points to an argument of the call.
    pub(super) fn error_at(&self, argument: &ArgumentValue, problem: CallProblem) -> CallError {
        CallError::new(&self.name, argument.place(), problem)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    pub(super) default: Option<ArgumentValue>,
    pub(super) type_constraint: Option<ArgumentValue>,
    pub(super) constant: Option<bool>,
    pub(super) nullable: Option<bool>,
    /// The `sensitive` argument. A sensitive value must not appear in an address.
    pub(super) sensitive: Option<bool>,
    pub(super) ephemeral: Option<bool>,
    pub(super) range: SourceRange,
}

#[derive(Clone, Debug)]
pub(super) struct Local {
    pub(super) name: String,
    pub(super) value: ArgumentValue,
    pub(super) range: SourceRange,
}

/// The arguments of a `module` block that do not set variables of the called module.
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

pub(super) fn read_call(block: &Block<'_>) -> Result<ModuleCall, ConfigError> {
    let body = block.body();
    let mut arguments = BTreeMap::new();
    for argument in body.mixed_arguments()? {
        if !META_ARGUMENTS.contains(&argument.name()) {
            arguments.insert(argument.name().to_owned(), argument.value());
        }
    }
    // A `_ {}` block sets variables that have the same names as meta-arguments.
    for escaped in body.labelled_blocks("_", 0)? {
        for argument in escaped.body().arguments()? {
            arguments.insert(argument.name().to_owned(), argument.value());
        }
    }
    Ok(ModuleCall {
        name: block.name(0)?,
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

pub(super) fn read_variable(block: &Block<'_>) -> Result<Variable, ConfigError> {
    let body = block.body();
    Ok(Variable {
        name: block.name(0)?,
        default: body.value("default")?,
        type_constraint: body.value("type")?,
        constant: flag(body.value("const")?, "`const`")?,
        nullable: flag(body.value("nullable")?, "`nullable`")?,
        sensitive: flag(body.value("sensitive")?, "`sensitive`")?,
        ephemeral: flag(body.value("ephemeral")?, "`ephemeral`")?,
        range: block.label_range(0),
    })
}

/// Evaluates a constant boolean, which may be written as a string.
fn flag(value: Option<ArgumentValue>, what: &'static str) -> Result<Option<bool>, ConfigError> {
    let Some(value) = value else { return Ok(None) };
    match value.constant(what, Strings::Templates)? {
        Value::Bool(flag) => Ok(Some(flag)),
        Value::String(text) if text == "true" || text == "false" => Ok(Some(text == "true")),
        other => Err(ConfigError::Value {
            what,
            place: Box::new(value.place()),
            source: Box::new(EvalProblem::wrong_type("a boolean", &other)),
        }),
    }
}

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
