//! Functions whose results depend on the environment, and the function that compares versions.

use crate::config::EnvironmentValue;
use crate::provider::{ModuleVersion, ModuleVersionConstraints};
use crate::syntax::Value;

use super::super::origins::Origin;
use super::super::scope::Scope;
use super::{CallResult, failed, texts, wrong_count};

/// Implements `get_env(name, default)`. If the variable is not set and there is no default, the call fails, and the expression can catch
/// this error with `try`. If it does not, its value is unknown.
pub(super) fn get_env(scope: &Scope<'_>, arguments: &[Value]) -> CallResult {
    const NAME: &str = "get_env";
    let (name, default) = match arguments {
        [name] => (name, None),
        [name, default] => (name, Some(default)),
        _ => return Err(wrong_count(NAME, "one or two arguments", arguments.len())),
    };
    if name.is_unknown() {
        return Ok(Value::Unknown);
    }
    let name = texts(NAME, std::slice::from_ref(name))?.concat();
    if name.is_empty() {
        return Err(failed(NAME, "the name of the variable is empty"));
    }
    match (scope.context.unit.environment(&name), default) {
        (Some(EnvironmentValue::Known(value)), _) => {
            scope.hide(Origin::Variable(name));
            Ok(value.as_str().into())
        }
        (Some(EnvironmentValue::Withheld), _) => Ok(scope.unknown(Origin::Variable(name))),
        (None, Some(default)) if default.is_unknown() => Ok(default.clone()),
        (None, Some(default)) => Ok(texts(NAME, std::slice::from_ref(default))?.concat().into()),
        (None, None) => {
            let problem = failed(
                NAME,
                &format!("the environment variable `{name}` is not set"),
            );
            scope.missing(Origin::Variable(name), problem)
        }
    }
}

/// Returns the name of the operating system as in Go.
pub(super) const fn get_platform() -> &'static str {
    if cfg!(target_os = "macos") {
        "darwin"
    } else {
        std::env::consts::OS
    }
}

/// Implements `constraint_check(version, constraint)`.
pub(super) fn constraint_check(_: &Scope<'_>, arguments: &[String]) -> CallResult {
    const NAME: &str = "constraint_check";
    let [version, constraint] = arguments else {
        return Err(wrong_count(NAME, "two arguments", arguments.len()));
    };
    let version =
        ModuleVersion::parse(version).map_err(|error| failed(NAME, &error.to_string()))?;
    let constraint = ModuleVersionConstraints::parse(constraint)
        .map_err(|error| failed(NAME, &error.to_string()))?;
    Ok(constraint.allows(&version).into())
}
