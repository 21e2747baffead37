//! References to provider configurations: the `provider` argument of resources, data sources and imports.

use crate::provider::Engine;
use crate::syntax::{self, Body, Expr, ExprKind, Expression, Spot, Strings};

use super::error::{ConfigError, Problem};
use super::expression::ConfigExpression as _;
use super::required_providers::check_normalized;
use super::rules::EngineRules;

/// `name`, `name.alias`, and in OpenTofu `name.alias[key]`.
#[derive(Clone, Debug)]
pub(super) struct ProviderRef {
    pub(super) name: String,
    pub(super) alias: Option<String>,
    /// There is an index; its value does not matter.
    pub(super) indexed: bool,
    pub(super) spot: Spot,
}

impl PartialEq for ProviderRef {
    /// Places do not count.
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name && self.alias == other.alias
    }
}

/// The `provider` argument of a body, if it has one.
pub(super) fn read(body: &Body<'_>, engine: Engine) -> Result<Option<ProviderRef>, ConfigError> {
    let value = body.value("provider")?;
    value.map(|value| parse(&value, engine)).transpose()
}

fn parse(value: &Expression, engine: Engine) -> Result<ProviderRef, ConfigError> {
    let invalid = || value.invalid(Problem::ProviderReference);
    let tree = value.tree(Strings::Plain)?;
    // The same as a string is the old form, and the only one in JSON.
    let tree = match tree.as_text() {
        Some(text) => match syntax::parse_expression(&text) {
            Ok(inner) => inner,
            Err(_) => return Err(invalid()),
        },
        None => tree,
    };
    let (base, indexed) = split_index(&tree, engine);
    let names = names(base).ok_or_else(invalid)?;
    let (name, alias) = match names[..] {
        [name] if !indexed => (name, None),
        [name, alias] => (name, Some(alias.to_owned())),
        _ => return Err(invalid()),
    };
    check_normalized(name, &value.spot(), engine)?;
    Ok(ProviderRef {
        name: name.to_owned(),
        alias,
        indexed,
        spot: value.spot(),
    })
}

fn split_index(tree: &Expr, engine: Engine) -> (&Expr, bool) {
    match &tree.kind {
        ExprKind::Index(base, _) if engine.has_provider_for_each() => (base, true),
        _ => (tree, false),
    }
}

/// Constants are names here: `provider = null` means the provider `null`.
fn names(expr: &Expr) -> Option<Vec<&str>> {
    match expr.as_key() {
        Some(name) => Some(vec![name]),
        None => expr.as_names(),
    }
}
