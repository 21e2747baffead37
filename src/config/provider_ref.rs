//! References to provider configurations, in the `provider` argument of resources, data sources and imports.

use crate::provider::Engine;
use crate::syntax::{ArgumentValue, Body, ExprKind, SourceRange};

use super::required_providers::check_normalized;
use super::{BlockProblem, ConfigError};

/// A reference such as `name`, `name.alias` or, in OpenTofu, `name.alias[key]`.
#[derive(Clone, Debug)]
pub(super) struct ProviderRef {
    pub(super) name: String,
    pub(super) alias: Option<String>,
    /// Whether the reference has an index, whose value is irrelevant.
    pub(super) indexed: bool,
    pub(super) range: SourceRange,
}

impl PartialEq for ProviderRef {
    /// Compares only the name and the alias, not the index or the position.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.alias == other.alias
    }
}

/// Reads the `provider` argument of a body.
pub(super) fn read(body: &Body<'_>, engine: Engine) -> Result<Option<ProviderRef>, ConfigError> {
    let value = body.value("provider")?;
    value.map(|value| parse(&value, engine)).transpose()
}

fn parse(value: &ArgumentValue, engine: Engine) -> Result<ProviderRef, ConfigError> {
    let invalid = || value.invalid(BlockProblem::ProviderReference);
    let tree = value.reference(BlockProblem::ProviderReference)?;
    let (base, indexed) = match &tree.kind {
        ExprKind::Index(base, _) if engine.has_provider_for_each() => (&**base, true),
        _ => (&tree, false),
    };
    let names = base.as_names().ok_or_else(invalid)?;
    let (name, alias) = match names[..] {
        [name] if !indexed => (name, None),
        [name, alias] => (name, Some(alias.to_owned())),
        _ => return Err(invalid()),
    };
    check_normalized(name, &value.range(), engine)?;
    Ok(ProviderRef {
        name: name.to_owned(),
        alias,
        indexed,
        range: value.range(),
    })
}
