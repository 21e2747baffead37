//! The values that a unit gives to the variables of its root module. See section 7 of docs/rules/terragrunt.md.
//!
//! Terragrunt passes inputs as environment variables, unless the user has set the same variable. Inputs that are null are written
//! to a variable file, because an environment variable cannot be null.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::access::AccessError;
use crate::config::{
    EnvironmentValue, FileTree, GeneratedText, ReadOptions, TreeFile, VariableOption, clean,
};
use crate::syntax::{HOLE_START, TextOrigin, Value};
use crate::terragrunt::{ExtraArguments, Unit};

use super::error::place_of;
use super::package::access;
use super::{AssemblyContext, AssemblyError, file_at};

/// The file in which Terragrunt sets variables to null.
const NULL_VALUES: &str = ".terragrunt-null-vars.auto.tfvars.json";

/// The prefix of environment variables that set variables.
const VARIABLE: &str = "TF_VAR_";

/// Returns the options for reading the root module of a unit, whose files are in `tree`.
pub(super) fn options(
    unit: &Unit,
    tree: &FileTree,
    root: &Path,
    context: AssemblyContext<'_>,
) -> Result<ReadOptions, AssemblyError> {
    let mut options = context.options.clone();
    options.has_unknown_variables |= unit.has_unknown_inputs;
    let mut arguments = Arguments {
        unit,
        tree,
        root,
        context,
        variables: Vec::new(),
        has_unknown: false,
    };
    for block in &unit.init_arguments {
        for (name, value) in &block.environment {
            let value = match value {
                Some(value) => EnvironmentValue::Known(value.clone()),
                None => EnvironmentValue::Withheld,
            };
            if let Some(variable) = name.strip_prefix(VARIABLE) {
                options.environment.insert(variable.to_owned(), value);
            } else if name == "TF_WORKSPACE" {
                options.workspace = Some(value);
            }
        }
        arguments.add(block)?;
    }
    options.has_unknown_variables |= arguments.has_unknown;
    // The command line takes precedence over the arguments of the unit.
    let of_user = std::mem::replace(&mut options.variables, arguments.variables);
    options.variables.extend(of_user);
    for (name, value) in &unit.inputs {
        if *value != Value::Null {
            let entry = options.environment.entry(name.clone());
            entry.or_insert_with(|| environment_value(value));
        }
    }
    Ok(options)
}

/// Adds the variable file that sets variables to null, if any inputs are null.
pub(super) fn add_null_inputs(unit: &Unit, tree: &mut FileTree, root: &Path) {
    let nulls = unit
        .inputs
        .iter()
        .filter(|(_, value)| **value == Value::Null);
    let nulls: BTreeMap<&String, serde_json::Value> = nulls
        .map(|(name, _)| (name, serde_json::Value::Null))
        .collect();
    let Ok(text) = serde_json::to_vec(&nulls) else {
        return;
    };
    if nulls.is_empty() {
        return;
    }
    let path = root.join(NULL_VALUES);
    let generated = GeneratedText {
        name: path.clone(),
        text,
        origin: TextOrigin {
            place: place_of(unit),
            hidden: None,
            markers: Vec::new(),
        },
    };
    tree.add_file(path, TreeFile::Generated(Arc::new(generated)));
}

/// Converts an input as Terragrunt does: strings as they are, and other values to JSON.
fn environment_value(value: &Value) -> EnvironmentValue {
    let text = match value {
        Value::String(text) => (!text.contains(HOLE_START)).then(|| text.clone()),
        other => json(other).map(|json| json.to_string()),
    };
    text.map_or(EnvironmentValue::Withheld, EnvironmentValue::Known)
}

/// Converts a value to JSON. Template sequences in its strings are escaped. `None` if a part of the value is unknown.
fn json(value: &Value) -> Option<serde_json::Value> {
    use serde_json::Value as Json;
    Some(match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Number(number) => serde_json::from_str(&number.to_string()).ok()?,
        Value::String(text) if text.contains(HOLE_START) => return None,
        Value::String(text) => Json::String(text.replace("$${", "${").replace("${", "$${")),
        Value::List(elements) | Value::Set(elements) | Value::Tuple(elements) => {
            Json::Array(elements.iter().map(json).collect::<Option<_>>()?)
        }
        Value::Map(entries) | Value::Object(entries) => {
            let entries = entries
                .iter()
                .map(|(key, value)| Some((key.clone(), json(value)?)));
            Json::Object(entries.collect::<Option<_>>()?)
        }
        Value::Sensitive(value) => return json(value),
        Value::Unknown => return None,
    })
}

/// Collects the values that the `extra_arguments` blocks of a unit give to variables.
struct Arguments<'a> {
    unit: &'a Unit,
    tree: &'a FileTree,
    root: &'a Path,
    context: AssemblyContext<'a>,
    variables: Vec<VariableOption>,
    has_unknown: bool,
}

impl Arguments<'_> {
    fn add(&mut self, block: &ExtraArguments) -> Result<(), AssemblyError> {
        let mut arguments = block.arguments.iter();
        while let Some(argument) = arguments.next() {
            let Some(argument) = argument else {
                self.has_unknown = true;
                continue;
            };
            let option = argument.strip_prefix("--").or(argument.strip_prefix('-'));
            let (name, value) = match option.and_then(|option| option.split_once('=')) {
                Some((name, value)) => (name, Some(value)),
                None => (option.unwrap_or_default(), None),
            };
            if !matches!(name, "var" | "var-file") {
                continue;
            }
            let next = || arguments.next().and_then(|next| next.as_deref());
            match value.or_else(next) {
                None => self.has_unknown = true,
                Some(value) if name == "var" => self.add_value(value),
                Some(path) => self.add_file(block, path, true)?,
            }
        }
        let required = block
            .required_variable_files
            .iter()
            .map(|file| (file, true));
        let optional = block
            .optional_variable_files
            .iter()
            .map(|file| (file, false));
        for (file, is_required) in required.chain(optional) {
            match file {
                Some(path) => self.add_file(block, path, is_required)?,
                None => self.has_unknown = true,
            }
        }
        Ok(())
    }

    fn add_value(&mut self, text: &str) {
        match text.split_once('=') {
            Some((name, text)) => self.variables.push(VariableOption::Value {
                name: name.to_owned(),
                text: text.to_owned(),
            }),
            None => self.has_unknown = true,
        }
    }

    /// Adds a variable file. A relative path is relative to the root module, but an optional file must exist in the unit.
    fn add_file(
        &mut self,
        block: &ExtraArguments,
        path: &str,
        is_required: bool,
    ) -> Result<(), AssemblyError> {
        let missing = || {
            let kind = io::ErrorKind::NotFound;
            AccessError::from(io::Error::new(kind, "the file does not exist"))
        };
        let found = if !is_required && !self.unit.directory.join(path).is_file() {
            Err(missing())
        } else if Path::new(path).is_absolute() {
            let rules = access(self.unit, self.context);
            rules.locate(Path::new(path)).map(drop)
        } else {
            let file = file_at(self.tree, &clean(&self.root.join(path)));
            file.map(drop).ok_or_else(missing)
        };
        match found {
            Err(AccessError::Read(_missing)) if !is_required => Ok(()),
            Err(source) => Err(AssemblyError::VariableFile {
                place: Box::new(block.place.clone().unwrap_or_else(|| place_of(self.unit))),
                path: path.to_owned(),
                source: source.into(),
            }),
            Ok(()) => {
                self.variables.push(VariableOption::File(path.into()));
                Ok(())
            }
        }
    }
}
