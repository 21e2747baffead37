//! Functions that read files.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use crate::access::{AccessError, open_regular, read_limited};
use crate::config::clean;
use crate::span::Explain as _;
use crate::syntax::{Constants, EvalProblem, Refusal, SourceFile, Strings, Value, evaluate};

use super::super::UnitError;
use super::super::config_value::config_value;
use super::super::error::Failure;
use super::super::evaluation::{FileRole, evaluate_file};
use super::super::origins::{Origin, Origins};
use super::super::scope::Scope;
use super::super::shared_files::EvaluatedFile;
use super::super::{AUTOINCLUDE_STACK_FILE, STACK_FILE, UNIT_FILE, UNIT_FILE_JSON, VALUES_FILE};
use super::{CallResult, failed, only, texts};

const READ_CONFIG: &str = "read_terragrunt_config";

const WRONG_COUNT: &str = "`read_terragrunt_config` requires one or two arguments";

/// Returns an absolute path. Relative paths are relative to the directory of the configuration.
pub(super) fn absolute(scope: &Scope<'_>, path: &str) -> PathBuf {
    clean(&scope.context.directory().join(path))
}

/// Implements `read_terragrunt_config(path, default)`.
pub(super) fn read_terragrunt_config(scope: &Scope<'_>, arguments: &[Value]) -> CallResult {
    let (path, default) = match arguments {
        [path] => (path, None),
        [path, default] => (path, Some(default)),
        _ => {
            return Err(EvalProblem::Reference(WRONG_COUNT.to_owned()));
        }
    };
    if path.is_unknown() {
        return Ok(Value::Unknown);
    }
    let given = texts(READ_CONFIG, std::slice::from_ref(path))?.concat();
    let unit = scope.context.unit;
    let mut path = absolute(scope, &given);
    if let Some(file) = unit.known_file(&path)? {
        return shared_value(scope, &file);
    }
    if unit.access.rules.contains_unresolved(&path) && path.is_dir() {
        let names = [UNIT_FILE_JSON, UNIT_FILE].map(|name| path.join(name));
        let found = names.iter().find(|path| path.is_file());
        path.clone_from(found.unwrap_or(&names[1]));
    }
    unit.record_read(&path);
    match unit.access.rules.locate(&path) {
        Ok(real) if real.is_file() => {}
        Err(AccessError::Read(_missing)) if default.is_some() => {
            return Ok(default.cloned().unwrap_or_default());
        }
        Ok(_) => {
            let error = AccessError::Read(io::Error::other("it is not a file"));
            return Err(unreadable(READ_CONFIG, &given, &error));
        }
        Err(error) => return Err(unreadable(READ_CONFIG, &given, &error)),
    }
    let file = match unit.known_file(&path)? {
        Some(file) => file,
        None => unit.evaluate_once(&path, || evaluate_config(scope, &path))?,
    };
    shared_value(scope, &file)
}

fn shared_value(scope: &Scope<'_>, file: &EvaluatedFile) -> CallResult {
    scope.join(&file.origins);
    scope.context.unit.budget.value(&file.value)?;
    Ok(file.value.clone())
}

fn evaluate_config(scope: &Scope<'_>, path: &Path) -> Result<EvaluatedFile, EvalProblem> {
    let unit = scope.context.unit;
    let name = path.file_name().unwrap_or_default();
    let done = |value: Value, origins: Origins| EvaluatedFile {
        value,
        origins,
        files_read: BTreeSet::new(),
        cost: [0; 3],
    };
    if name == STACK_FILE || name == AUTOINCLUDE_STACK_FILE {
        let mut origins = Origins::default();
        let function = format!("{READ_CONFIG}({})", name.to_string_lossy());
        origins.unknown.insert(Origin::Function(function));
        return Ok(done(Value::Unknown, origins));
    }
    if name == VALUES_FILE {
        let values = scope.context.values_beside(path);
        let values = values.map_err(|failure| inner_problem(&failure))?;
        return Ok(done((*values.value).clone(), values.origins));
    }
    match evaluate_file(unit, path, None, FileRole::Unit) {
        Ok(config) => {
            let (value, origins) = config_value(&config);
            Ok(done(value, origins))
        }
        Err(Failure::Unknown(unknown)) => {
            let mut origins = Origins::default();
            origins
                .unknown
                .insert(Origin::Described(unknown.origins.clone()));
            Ok(done(Value::Unknown, origins))
        }
        Err(failure) => Err(inner_problem(&failure)),
    }
}

/// Describes the failure of a file that an expression reads. If files are nested, only the innermost one is named.
fn inner_problem(failure: &Failure) -> EvalProblem {
    let Failure::Error(error) = failure else {
        return failed(READ_CONFIG, "the file needs a value that is unknown");
    };
    if let Some(exceeded) = error.exceeded() {
        return exceeded.into();
    }
    if let UnitError::Value { source, .. } = error
        && matches!(&**source, EvalProblem::Function { name, .. } if name == READ_CONFIG)
    {
        return (**source).clone();
    }
    let place = error.place().map(ToString::to_string);
    let causes = std::iter::successors(Some(error as &dyn Error), |error| (*error).source());
    let parts = place.into_iter().chain(causes.map(ToString::to_string));
    failed(READ_CONFIG, &parts.collect::<Vec<_>>().join(": "))
}

fn unreadable(function: &str, path: &str, error: &AccessError) -> EvalProblem {
    let refusal = match error {
        AccessError::Outside => Some(Refusal::Outside),
        AccessError::Internal(_) => Some(Refusal::Internal),
        AccessError::Untracked => Some(Refusal::Untracked),
        AccessError::Read(_) => None,
    };
    EvalProblem::File {
        function: function.to_owned(),
        path: Some(path.to_owned()),
        why: error.to_string(),
        refusal,
    }
}

/// The maximum size of a file with variables, as for configuration files.
const MAX_VARIABLES: u64 = 16 << 20;

/// Implements `read_tfvars_file(path)`, whose result is JSON text.
pub(super) fn read_tfvars_file(scope: &Scope<'_>, arguments: &[String]) -> CallResult {
    const NAME: &str = "read_tfvars_file";
    let given = only(NAME, arguments)?;
    let path = absolute(scope, given);
    let unit = scope.context.unit;
    unit.record_read(&path);
    let text = match unit
        .access
        .rules
        .locate(&path)
        .and_then(|real| Ok(open_regular(&real)?))
    {
        Ok(file) => {
            let length = file.metadata().map_or(u64::MAX, |metadata| metadata.len());
            unit.budget
                .bytes(usize::try_from(length).unwrap_or(usize::MAX))?;
            let text = read_limited(file, length, MAX_VARIABLES);
            text.ok()
                .flatten()
                .ok_or_else(|| failed(NAME, "the file is too large"))?
        }
        Err(error) => {
            let problem = unreadable(NAME, given, &error);
            return match error {
                AccessError::Read(_) => scope.missing(scope.missing_file(given), problem),
                _ => Err(problem),
            };
        }
    };
    scope.hide(Origin::Function(NAME.to_owned()));
    if given.ends_with("json") {
        let text =
            String::from_utf8(text).map_err(|_invalid| failed(NAME, "the file is not UTF-8"))?;
        scope
            .context
            .functions
            .call("jsondecode", &[text.as_str().into()])?;
        return Ok(text.into());
    }
    let invalid = |error: &dyn std::fmt::Display| failed(NAME, &error.to_string());
    let source =
        SourceFile::parse(unit.reader.shown(&path), text).map_err(|error| invalid(&error))?;
    let mut values = BTreeMap::new();
    for argument in source.body().arguments().map_err(|error| invalid(&error))? {
        let value = argument.value();
        value.pay_for_tree(&unit.budget)?;
        let tree = value
            .tree(Strings::Templates)
            .map_err(|error| invalid(&error))?;
        let value = evaluate(&tree, &Constants(Some(&unit.budget)));
        let value = value.map_err(|fault| fault.problem)?;
        values.insert(argument.name().to_owned(), value);
    }
    scope
        .context
        .functions
        .call("jsonencode", &[Value::Object(values)])
}

/// Implements `mark_as_read(path)`, which returns the path.
pub(super) fn mark_as_read(scope: &Scope<'_>, arguments: &[String]) -> CallResult {
    let path = only("mark_as_read", arguments)?;
    scope.context.unit.record_read(absolute(scope, path));
    Ok(path.into())
}
