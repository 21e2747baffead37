//! Resolves module calls: evaluates their sources and versions.

use crate::provider::ModuleVersionConstraints;
use crate::syntax::{ArgumentValue, EvalProblem, Value};

use super::block_problem::BlockProblem;
use super::calls::ModuleCall;
use super::error::ConfigError;
use super::source::ModuleSource;
use super::statics::{ExpressionPosition, HiddenOrigins, Instance};

/// Which expressions `source` and `version` may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evaluation {
    /// All expressions that the engine evaluates statically.
    Dynamic,
    /// Literals and templates of literals; strings in JSON syntax are literal. Applies to modules that tests run, and to the
    /// modules that those call.
    Literal,
}

/// The source and versions of a call.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) source: ModuleSource,
    pub(super) versions: Option<ModuleVersionConstraints>,
    /// Whether the source is the same for all callers of the module that contains the call.
    pub(super) is_constant: bool,
    /// Why the source and version must not be shown; `None` if they come from the configuration alone.
    pub(super) hidden: Option<String>,
}

impl Target {
    /// Removes the source and version from an error if they must not be shown.
    pub(super) fn conceal(&self, error: ConfigError) -> ConfigError {
        concealed(error, self.hidden.as_ref())
    }
}

/// Says that an attribute of a call depends on values that must not be shown.
fn hidden(attribute: &str, origins: &HiddenOrigins) -> Option<String> {
    let reason = || format!("its `{attribute}` depends on {origins} and is not shown");
    (!origins.is_empty()).then(reason)
}

fn concealed(error: ConfigError, hidden: Option<&String>) -> ConfigError {
    match hidden {
        Some(reason) => error.concealed(reason),
        None => error,
    }
}

/// The reason why a call has no target.
pub(super) enum Unresolved {
    /// The call is invalid.
    Error(ConfigError),
    /// The call needs a function that tflock does not implement.
    Unsupported(ConfigError),
}

impl From<ConfigError> for Unresolved {
    fn from(error: ConfigError) -> Self {
        match error {
            ConfigError::Value { ref source, .. }
                if matches!(**source, EvalProblem::UnsupportedFunction(_)) =>
            {
                Self::Unsupported(error)
            }
            _ => Self::Error(error),
        }
    }
}

/// Evaluates a call in the module of `instance`.
pub(super) fn resolve(
    instance: &Instance<'_>,
    call: &ModuleCall,
    evaluation: Evaluation,
) -> Result<Target, Unresolved> {
    let missing = || {
        let problem = BlockProblem::Missing {
            block: "module",
            argument: "source",
        };
        ConfigError::invalid(call.range.place(), problem)
    };
    let expression = call.source.as_ref().ok_or_else(missing)?;
    let (value, origins) = value(instance, expression, ExpressionPosition::Source, evaluation)?;
    let hidden_source = hidden("source", &origins);
    let text = text(&value, "source", call, expression)?;
    let source = ModuleSource::parse(&text, instance.engine()).map_err(|source| {
        let error = ConfigError::Source {
            place: Box::new(expression.place()),
            source: Box::new(source),
        };
        concealed(error, hidden_source.as_ref())
    })?;
    let (versions, hidden_version) = match &call.version {
        Some(version) => versions(instance, call, version, evaluation)?,
        None => (None, None),
    };
    if let (Some(version), ModuleSource::Local(_) | ModuleSource::Remote(_)) =
        (&call.version, &source)
        && (versions.is_some() || evaluation == Evaluation::Literal)
    {
        let (module, place) = (call.name.clone(), Box::new(version.place()));
        return Err(ConfigError::VersionWithoutRegistry { module, place }.into());
    }
    let is_constant = instance
        .constant(expression, "a module source")
        .is_ok_and(|constant| constant == value);
    Ok(Target {
        source,
        versions,
        is_constant,
        hidden: hidden_source.or(hidden_version),
    })
}

/// Evaluates `version`. Returns the allowed versions, `None` for null, and why they must not be shown.
fn versions(
    instance: &Instance<'_>,
    call: &ModuleCall,
    expression: &ArgumentValue,
    evaluation: Evaluation,
) -> Result<(Option<ModuleVersionConstraints>, Option<String>), Unresolved> {
    let (value, origins) = value(
        instance,
        expression,
        ExpressionPosition::Version,
        evaluation,
    )?;
    let hidden = hidden("version", &origins);
    if value == Value::Null {
        return Ok((None, hidden));
    }
    let text = text(&value, "version", call, expression)?;
    let parsed = ModuleVersionConstraints::parse(&text).map_err(|source| {
        let error = ConfigError::Constraint {
            place: Box::new(expression.place()),
            source: Box::new(source),
        };
        concealed(error, hidden.as_ref())
    });
    Ok((Some(parsed?), hidden))
}

fn value(
    instance: &Instance<'_>,
    expression: &ArgumentValue,
    position: ExpressionPosition,
    evaluation: Evaluation,
) -> Result<(Value, HiddenOrigins), ConfigError> {
    match evaluation {
        Evaluation::Dynamic => instance.evaluate(expression, position),
        Evaluation::Literal => {
            let value = instance.constant(expression, "the source or version of a module");
            value.map(|value| (value, HiddenOrigins::default()))
        }
    }
}

fn text(
    value: &Value,
    what: &'static str,
    call: &ModuleCall,
    expression: &ArgumentValue,
) -> Result<String, ConfigError> {
    value.to_text().ok_or_else(|| ConfigError::UnknownCall {
        what,
        module: call.name.clone(),
        found: value.type_name(),
        place: Box::new(expression.place()),
    })
}
