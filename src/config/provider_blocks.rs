//! Reads `provider` blocks. See section 3 of docs/rules/config.md.

use crate::provider::{Engine, VersionConstraints};
use crate::syntax::{Block, SourceRange, Strings, Value, is_identifier};

use super::required_providers::{check_normalized, constraints};
use super::{BlockProblem, ConfigError};

#[derive(Clone, Debug)]
pub(super) struct ProviderBlock {
    pub(super) name: String,
    pub(super) alias: Option<String>,
    pub(super) version: Option<VersionConstraints>,
    pub(super) has_for_each: bool,
    pub(super) range: SourceRange,
}

const RESERVED_ARGUMENTS: [&str; 3] = ["count", "depends_on", "source"];
const RESERVED_BLOCKS: [&str; 2] = ["lifecycle", "locals"];

pub(super) fn read(block: &Block<'_>, engine: Engine) -> Result<ProviderBlock, ConfigError> {
    let name = block.label(0);
    check_normalized(name, &block.label_range(0), engine)?;
    let body = block.body();
    for reserved in RESERVED_ARGUMENTS {
        if let Some(argument) = body.argument(reserved)? {
            let problem = BlockProblem::Reserved(reserved.to_owned());
            return Err(ConfigError::invalid(argument.place(), problem));
        }
    }
    for reserved in RESERVED_BLOCKS {
        if let Some(block) = body.labelled_blocks(reserved, 0)?.first() {
            let problem = BlockProblem::Reserved(reserved.to_owned());
            return Err(block.invalid(problem));
        }
    }
    let alias = alias(block)?;
    let has_for_each = check_for_each(block, alias.as_ref(), engine)?;
    Ok(ProviderBlock {
        name: name.to_owned(),
        alias,
        version: version(block)?,
        has_for_each,
        range: block.label_range(0),
    })
}

fn alias(block: &Block<'_>) -> Result<Option<String>, ConfigError> {
    let Some(value) = block.body().value("alias")? else {
        return Ok(None);
    };
    match value.constant("`alias`", Strings::Plain)?.to_text() {
        Some(alias) if is_identifier(&alias) => Ok(Some(alias)),
        _ => Err(value.invalid(BlockProblem::Alias)),
    }
}

/// Returns whether the block has `for_each`. Fails if it is not allowed. Its keys never affect which providers are required.
fn check_for_each(
    block: &Block<'_>,
    alias: Option<&String>,
    engine: Engine,
) -> Result<bool, ConfigError> {
    let Some(argument) = block.body().argument("for_each")? else {
        return Ok(false);
    };
    if !engine.has_provider_for_each() {
        let problem = BlockProblem::Reserved("for_each".to_owned());
        return Err(ConfigError::invalid(argument.place(), problem));
    }
    if alias.is_none() {
        let problem = BlockProblem::AliasRequired;
        return Err(ConfigError::invalid(argument.place(), problem));
    }
    Ok(true)
}

/// Evaluates `version`, which must be constant. Null is treated as missing, and numbers are converted to strings.
fn version(block: &Block<'_>) -> Result<Option<VersionConstraints>, ConfigError> {
    let Some(expression) = block.body().value("version")? else {
        return Ok(None);
    };
    let value = expression.constant("the `version` of a provider", Strings::Plain)?;
    if value == Value::Null {
        return Ok(None);
    }
    let text = value
        .to_text()
        .ok_or_else(|| expression.invalid(BlockProblem::StringRequired("version")))?;
    constraints(&text, expression.place()).map(Some)
}
