//! The functions of Terraform 0.15.3. If a value is partly unknown, they keep its known parts.

use crate::functions::Functions;
use crate::syntax::{EvalProblem, HOLE_END, HOLE_START, Value};

use super::super::origins::Origin;
use super::super::scope::Scope;
use super::CallResult;

/// The functions of Terraform 0.15.3, and those of later releases that Terragrunt adds, sorted.
#[rustfmt::skip]
static NAMES: &[&str] = &[
    "abs", "abspath", "alltrue", "anytrue", "base64decode", "base64encode", "base64gzip", "base64sha256", "base64sha512", "basename",
    "bcrypt", "can", "ceil", "chomp", "chunklist", "cidrhost", "cidrnetmask", "cidrsubnet", "cidrsubnets", "coalesce", "coalescelist",
    "compact", "concat", "contains", "csvdecode", "dirname", "distinct", "element", "endswith", "file", "filebase64",
    "filebase64sha256", "filebase64sha512", "fileexists", "filemd5", "fileset", "filesha1", "filesha256", "filesha512", "flatten",
    "floor", "format", "formatdate", "formatlist", "indent", "index", "join", "jsondecode", "jsonencode", "keys", "length", "log",
    "lookup", "lower", "matchkeys", "max", "md5", "merge", "min", "nonsensitive", "one", "parseint", "pathexpand", "pow", "range",
    "regex", "regexall", "replace", "reverse", "rsadecrypt", "sensitive", "setintersection", "setproduct", "setsubtract", "setunion",
    "sha1", "sha256", "sha512", "signum", "slice", "sort", "split", "startswith", "strcontains", "strrev", "substr", "sum",
    "templatefile", "textdecodebase64", "textencodebase64", "timeadd", "timestamp", "title", "tobool", "tolist", "tomap", "tonumber",
    "toset", "tostring", "transpose", "trim", "trimprefix", "trimspace", "trimsuffix", "try", "upper", "urlencode", "uuid", "uuidv5",
    "values", "yamldecode", "yamlencode", "zipmap",
];

/// The functions that copy parts of their arguments without interpreting them, sorted.
#[rustfmt::skip]
static KEEPING_PARTS: &[&str] = &[
    "chomp", "chunklist", "concat", "element", "flatten", "format", "formatlist", "indent", "join", "jsonencode", "keys", "length",
    "lookup", "merge", "reverse", "slice", "templatefile", "tolist", "tomap", "trimspace", "values",
];

/// The functions that accept unknown values after the first argument, sorted.
static ACCEPTING_UNKNOWN: &[&str] = &["format", "formatlist", "lookup"];

pub(super) fn call(scope: &Scope<'_>, name: &str, arguments: &[Value]) -> CallResult {
    let name = name.strip_prefix("core::").unwrap_or(name);
    if NAMES.binary_search(&name).is_err() {
        return Err(EvalProblem::NoSuchFunction(name.to_owned()));
    }
    let reads_files = Functions::reads_files(name);
    if reads_files && let Some(Value::String(path)) = arguments.first() {
        let directory = scope.context.file.directory();
        scope
            .context
            .unit
            .record_read(crate::config::clean(&directory.join(path)));
    }
    let result = match call_with_holes(scope, name, arguments) {
        Err(EvalProblem::UnsupportedFunction(name)) => Ok(scope.unknown(Origin::Function(name))),
        Err(EvalProblem::File {
            path,
            refusal: None,
            function,
            why,
        }) => {
            let origin = scope.missing_file(path.as_deref().unwrap_or_default());
            let problem = EvalProblem::File {
                path,
                refusal: None,
                function,
                why,
            };
            return scope.missing(origin, problem);
        }
        result => result,
    };
    if reads_files && name != "fileexists" {
        scope.hide(Origin::Function(name.to_owned()));
    }
    let changes = matches!(name, "bcrypt" | "timestamp" | "uuid") && result == Ok(Value::Unknown);
    if changes {
        return Ok(scope.unknown(Origin::Function(name.to_owned())));
    }
    result
}

/// Calls a function whose arguments may contain unknown values. If the function only copies such a value, the value is passed as a hole:
/// text that stands for an unknown part.
fn call_with_holes(scope: &Scope<'_>, name: &str, arguments: &[Value]) -> CallResult {
    let functions = &scope.context.functions;
    if !arguments.iter().any(Value::has_unknown) {
        return functions.call(name, arguments);
    }
    let is_whole = |value: &Value| matches!(value, Value::Unknown | Value::Sensitive(_));
    let is_in = |table: &[&str]| table.binary_search(&name).is_ok();
    let known = if is_in(ACCEPTING_UNKNOWN) {
        1
    } else {
        arguments.len()
    };
    if !is_in(KEEPING_PARTS) || arguments.iter().take(known).any(is_whole) {
        return functions.call(name, arguments);
    }
    let hole = scope.value_hole();
    let arguments: Vec<Value> = arguments.iter().map(|value| filled(value, &hole)).collect();
    functions.call_with_holes(name, &arguments).map(emptied)
}

/// Replaces unknown parts of a value with `hole`.
fn filled(value: &Value, hole: &str) -> Value {
    let all = |values: &[Value]| values.iter().map(|value| filled(value, hole)).collect();
    match value {
        Value::Unknown | Value::Sensitive(_) => Value::String(hole.to_owned()),
        Value::List(elements) => Value::List(all(elements)),
        Value::Set(elements) => Value::Set(all(elements)),
        Value::Tuple(elements) => Value::Tuple(all(elements)),
        Value::Map(entries) => Value::Map(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), filled(value, hole)))
                .collect(),
        ),
        Value::Object(entries) => Value::Object(
            entries
                .iter()
                .map(|(key, value)| (key.clone(), filled(value, hole)))
                .collect(),
        ),
        known => known.clone(),
    }
}

/// Replaces strings that consist of one hole with unknown values.
fn emptied(value: Value) -> Value {
    let all = |values: Vec<Value>| values.into_iter().map(emptied).collect();
    match value {
        Value::String(text) if is_one_hole(&text) => Value::Unknown,
        Value::List(elements) => Value::List(all(elements)),
        Value::Set(elements) => Value::Set(all(elements)),
        Value::Tuple(elements) => Value::Tuple(all(elements)),
        Value::Map(entries) => Value::Map(
            entries
                .into_iter()
                .map(|(key, value)| (key, emptied(value)))
                .collect(),
        ),
        Value::Object(entries) => Value::Object(
            entries
                .into_iter()
                .map(|(key, value)| (key, emptied(value)))
                .collect(),
        ),
        known => known,
    }
}

fn is_one_hole(text: &str) -> bool {
    let inner = text
        .strip_prefix(HOLE_START)
        .and_then(|rest| rest.strip_suffix(HOLE_END));
    inner.is_some_and(|inner| !inner.contains(HOLE_END))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        for table in [NAMES, KEEPING_PARTS, ACCEPTING_UNKNOWN] {
            assert!(table.is_sorted());
        }
    }
}
