//! The functions of Terragrunt, which include those of Terraform 0.15.3.

mod environment;
mod globs;
mod paths;
mod reading;
mod terraform;

use crate::syntax::{EvalProblem, Value};

use super::origins::Origin;
use super::scope::Scope;

type CallResult = Result<Value, EvalProblem>;

/// Calls a function. Nothing is executed: the results of functions that run programs or ask servers are unknown.
pub(super) fn call(scope: &Scope<'_>, name: &str, arguments: &[Value]) -> CallResult {
    match name {
        "get_aws_account_alias"
        | "get_aws_account_id"
        | "get_aws_caller_identity_arn"
        | "get_aws_caller_identity_user_id"
        | "get_default_retryable_errors"
        | "get_working_dir"
        | "run_cmd"
        | "sops_decrypt_file"
        | "timecmp" => Ok(scope.unknown(Origin::Function(name.to_owned()))),
        "deep_merge" => Err(failed(
            name,
            "it is an experiment, which tflock does not support",
        )),
        "get_env" => environment::get_env(scope, arguments),
        "read_terragrunt_config" => reading::read_terragrunt_config(scope, arguments),
        _ => match (constant(scope, name), find(name)) {
            (Some(value), _) => Ok(value),
            (None, Some(function)) => {
                if arguments.iter().any(Value::has_unknown) {
                    return Ok(Value::Unknown);
                }
                function(scope, &texts(name, arguments)?)
            }
            (None, None) => terraform::call(scope, name, arguments),
        },
    }
}

/// Returns the value of a function without arguments.
fn constant(scope: &Scope<'_>, name: &str) -> Option<Value> {
    Some(match name {
        "get_original_terragrunt_dir" => paths::get_original_terragrunt_dir(scope),
        "get_platform" => environment::get_platform().into(),
        "get_terraform_cli_args" => list(&["init"]),
        "get_terraform_command" => "init".into(),
        "get_terraform_commands_that_need_input" => {
            list(&["apply", "import", "init", "plan", "refresh"])
        }
        "get_terraform_commands_that_need_locking" => list(&[
            "apply", "destroy", "import", "plan", "refresh", "taint", "untaint",
        ]),
        "get_terraform_commands_that_need_parallelism" => list(&["apply", "plan", "destroy"]),
        "get_terraform_commands_that_need_vars" => list(&[
            "apply", "console", "destroy", "import", "plan", "push", "refresh",
        ]),
        "get_terragrunt_dir" => paths::get_terragrunt_dir(scope),
        "get_terragrunt_source_cli_flag" => "".into(),
        _ => return None,
    })
}

type TextFunction = fn(&Scope<'_>, &[String]) -> CallResult;

/// Finds a function whose arguments are strings.
fn find(name: &str) -> Option<TextFunction> {
    Some(match name {
        "constraint_check" => environment::constraint_check,
        "find_in_parent_folders" => paths::find_in_parent_folders,
        "get_parent_terragrunt_dir" => paths::get_parent_terragrunt_dir,
        "get_path_from_repo_root" => paths::get_path_from_repo_root,
        "get_path_to_repo_root" => paths::get_path_to_repo_root,
        "get_repo_root" => paths::get_repo_root,
        "mark_as_read" => reading::mark_as_read,
        "mark_glob_as_read" => globs::mark_glob_as_read,
        "path_relative_from_include" => paths::path_relative_from_include,
        "path_relative_to_include" => paths::path_relative_to_include,
        "read_tfvars_file" => reading::read_tfvars_file,
        _ => return None,
    })
}

fn list(elements: &[&str]) -> Value {
    Value::List(elements.iter().map(|element| (*element).into()).collect())
}

fn texts(name: &str, arguments: &[Value]) -> Result<Vec<String>, EvalProblem> {
    let text = |argument: &Value| {
        let wrong = || {
            failed(
                name,
                &format!("a string is required, but this is {}", argument.type_name()),
            )
        };
        argument.to_text().ok_or_else(wrong)
    };
    arguments.iter().map(text).collect()
}

fn failed(name: &str, message: &str) -> EvalProblem {
    EvalProblem::Function {
        name: name.to_owned(),
        message: message.to_owned(),
    }
}

fn wrong_count(name: &str, expected: &str, found: usize) -> EvalProblem {
    failed(
        name,
        &format!("it requires {expected}, but there are {found}"),
    )
}

/// Returns the only argument. Fails if there is not exactly one.
fn only<'a>(name: &str, arguments: &'a [String]) -> Result<&'a str, EvalProblem> {
    match arguments {
        [argument] => Ok(argument),
        _ => Err(wrong_count(name, "one argument", arguments.len())),
    }
}
