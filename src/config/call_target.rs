//! Resolves module calls: evaluates their sources and versions.

use crate::provider::ModuleVersionConstraints;
use crate::syntax::{ArgumentValue, Value};

use super::static_evaluation::{ExpressionPosition, HiddenOrigins};
use super::{
    BlockProblem, CallError, CallProblem, ConfigError, Instance, ModuleCall, ModuleSource,
};

/// Which expressions are allowed in `source` and `version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Evaluation {
    /// All expressions that the engine can evaluate before apply.
    Dynamic,
    /// Only literals, and templates that contain only literals. Strings in JSON syntax are literal. Applies to modules that tests
    /// run, and to the modules that these modules call.
    Literal,
}

#[derive(Debug)]
pub(super) struct CallTarget {
    pub(super) source: ModuleSource,
    pub(super) versions: Option<ModuleVersionConstraints>,
    /// Whether the source is the same for all callers of the module that contains the call.
    pub(super) is_constant: bool,
    /// Why the source and version must not be shown; `None` if they depend only on the configuration.
    pub(super) hidden: Option<String>,
}

/// Returns the reason why an attribute of a call must not be shown, if it depends on hidden values.
fn hidden(attribute: &str, origins: &HiddenOrigins) -> Option<String> {
    let reason = || format!("its `{attribute}` depends on {origins} and is not shown");
    (!origins.is_empty()).then(reason)
}

/// Evaluates the source and version of a call in the module of `instance`.
pub(super) fn resolve(
    instance: &Instance<'_>,
    call: &ModuleCall,
    evaluation: Evaluation,
) -> Result<CallTarget, ConfigError> {
    let missing = || ConfigError::invalid(call.range.place(), BlockProblem::MissingSource);
    let expression = call.source.as_ref().ok_or_else(missing)?;
    let (value, origins) = value(instance, expression, ExpressionPosition::Source, evaluation)?;
    let hidden_source = hidden("source", &origins);
    let text = text(&value, "source", call, expression)?;
    let invalid = |source| {
        call.error_at(expression, CallProblem::InvalidSource)
            .caused_by(source)
            .conceal(hidden_source.as_deref())
    };
    let source = ModuleSource::parse(&text, instance.engine()).map_err(invalid)?;
    let (versions, hidden_version) = match &call.version {
        Some(version) => versions(instance, call, version, evaluation)?,
        None => (None, None),
    };
    if let (Some(version), ModuleSource::Local(_) | ModuleSource::Remote(_)) =
        (&call.version, &source)
        && (versions.is_some() || evaluation == Evaluation::Literal)
    {
        return Err(call
            .error_at(version, CallProblem::VersionWithoutRegistry)
            .into());
    }
    let is_constant = instance
        .constant(expression, "a module source")
        .is_ok_and(|constant| constant == value);
    Ok(CallTarget {
        source,
        versions,
        is_constant,
        hidden: hidden_source.or(hidden_version),
    })
}

/// Evaluates `version`. Returns the allowed versions (`None` if `version` is null) and, if they must not be shown, the reason.
fn versions(
    instance: &Instance<'_>,
    call: &ModuleCall,
    expression: &ArgumentValue,
    evaluation: Evaluation,
) -> Result<(Option<ModuleVersionConstraints>, Option<String>), ConfigError> {
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
    let invalid = |source| {
        call.error_at(expression, CallProblem::InvalidVersion)
            .caused_by(source)
            .conceal(hidden.as_deref())
    };
    let versions = ModuleVersionConstraints::parse(&text).map_err(invalid)?;
    Ok((Some(versions), hidden))
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
    attribute: &'static str,
    call: &ModuleCall,
    expression: &ArgumentValue,
) -> Result<String, CallError> {
    let found = value.type_name();
    let not_text = || call.error_at(expression, CallProblem::NotText { attribute, found });
    value.to_text().ok_or_else(not_text)
}
