//! What one file of a module declares, as far as it decides about providers.
//!
//! Files are read one by one into [`Declarations`]; [`super::module`] puts those of a directory together. Faults are gathered,
//! so that a user sees all of them at once.

use std::path::Path;

use crate::provider::Engine;
use crate::syntax::{Block, Body, SourceFile, Spot};

use super::calls::{self, Local, ModuleCall, Variable};
use super::error::{ConfigError, Problem};
use super::files;
use super::provider_blocks::{self, ProviderBlock};
use super::required_providers::{self, RequiredProviders};
use super::resources::{self, Import, Resource, ResourceKind};
use super::rules::EngineRules;

/// The declarations of one file.
#[derive(Debug, Default)]
pub(super) struct Declarations {
    pub(super) required_providers: Vec<RequiredProviders>,
    pub(super) providers: Vec<ProviderBlock>,
    pub(super) resources: Vec<Resource>,
    pub(super) imports: Vec<Import>,
    pub(super) calls: Vec<ModuleCall>,
    pub(super) variables: Vec<Variable>,
    pub(super) locals: Vec<Local>,
    /// Blocks that override files cannot have, with their places.
    pub(super) not_in_override: Vec<(&'static str, Spot)>,
}

/// More faults of one module than these are not told: nobody reads them, and each costs a look through its file.
const MAX_FAULTS: usize = 100;

/// Gathers faults and keeps what is good.
#[derive(Debug, Default)]
pub(super) struct Faults(pub(super) Vec<ConfigError>);

impl Faults {
    pub(super) fn add(&mut self, error: ConfigError) {
        if self.0.len() < MAX_FAULTS {
            self.0.push(error);
        }
    }

    /// Whether more faults would be kept.
    pub(super) fn has_room(&self) -> bool {
        self.0.len() < MAX_FAULTS
    }

    pub(super) fn keep<T>(&mut self, result: Result<T, impl Into<ConfigError>>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.add(error.into());
                None
            }
        }
    }

    pub(super) fn keep_all<T>(
        &mut self,
        results: impl IntoIterator<Item = Result<T, ConfigError>>,
    ) -> Vec<T> {
        results
            .into_iter()
            .filter_map(|result| self.keep(result))
            .collect()
    }
}

/// Reads a file.
pub(super) fn read_file(path: &Path, engine: Engine, faults: &mut Faults) -> Declarations {
    let file = files::read(path).and_then(|text| Ok(SourceFile::parse(path, text)?));
    match faults.keep(file) {
        Some(file) => read_body(&file.body(), engine, faults),
        None => Declarations::default(),
    }
}

/// Blocks of other kinds are none of our business: they may belong to a newer release.
fn read_body(body: &Body<'_>, engine: Engine, faults: &mut Faults) -> Declarations {
    let mut found = Declarations::default();
    for block in blocks(body, "terraform", 0, faults) {
        for block in blocks(block.body(), "required_providers", 0, faults) {
            let entries = required_providers::read(&block, engine, faults);
            found.required_providers.push(entries);
        }
    }
    for block in blocks(body, "required_providers", 0, faults) {
        let error = ConfigError::invalid(block.place(), Problem::MisplacedRequiredProviders);
        faults.0.push(error);
    }
    for block in blocks(body, "provider", 1, faults) {
        found
            .providers
            .extend(faults.keep(provider_blocks::read(&block, engine)));
    }
    for kind in ResourceKind::all(engine) {
        for block in blocks(body, kind.word(), 2, faults) {
            found
                .resources
                .extend(faults.keep(resources::read(&block, kind, engine)));
        }
    }
    read_checks(body, engine, &mut found, faults);
    for block in blocks(body, "import", 0, faults) {
        found
            .imports
            .extend(faults.keep(resources::read_import(&block, engine)));
        found.not_in_override.push(("import", block.spot()));
    }
    for block in blocks(body, "moved", 0, faults) {
        found.not_in_override.push(("moved", block.spot()));
    }
    if engine.refuses_removed_override() {
        for block in blocks(body, "removed", 0, faults) {
            found.not_in_override.push(("removed", block.spot()));
        }
        for block in blocks(body, "language", 0, faults) {
            found.not_in_override.push(("language", block.spot()));
        }
    }
    read_values(body, &mut found, faults);
    found
}

/// `data` in a `check` is like `data` elsewhere.
fn read_checks(body: &Body<'_>, engine: Engine, found: &mut Declarations, faults: &mut Faults) {
    for check in blocks(body, "check", 1, faults) {
        found.not_in_override.push(("check", check.spot()));
        for block in blocks(check.body(), "data", 2, faults) {
            found.resources.extend(faults.keep(resources::read(
                &block,
                ResourceKind::Data,
                engine,
            )));
        }
    }
}

/// Module calls, and the variables and locals that their sources may depend on.
fn read_values(body: &Body<'_>, found: &mut Declarations, faults: &mut Faults) {
    for block in blocks(body, "module", 1, faults) {
        found.calls.extend(faults.keep(calls::read_call(&block)));
    }
    for block in blocks(body, "variable", 1, faults) {
        found
            .variables
            .extend(faults.keep(calls::read_variable(&block)));
    }
    for block in blocks(body, "locals", 0, faults) {
        found.locals.extend(
            faults
                .keep(calls::read_locals(&block))
                .into_iter()
                .flatten(),
        );
    }
}

fn blocks<'a>(body: &Body<'a>, kind: &str, labels: usize, faults: &mut Faults) -> Vec<Block<'a>> {
    let blocks = labelled_blocks(body, kind, labels);
    faults.keep(blocks).unwrap_or_default()
}

/// Returns the blocks of a kind. Fails if a block has more or fewer labels.
pub(super) fn labelled_blocks<'a>(
    body: &Body<'a>,
    kind: &str,
    labels: usize,
) -> Result<Vec<Block<'a>>, ConfigError> {
    let blocks = body.blocks(kind, labels)?;
    match blocks.iter().find(|block| block.labels().len() != labels) {
        None => Ok(blocks),
        Some(block) => {
            let problem = Problem::Labels {
                kind: kind.to_owned(),
                wanted: labels,
                found: block.labels().len(),
            };
            Err(ConfigError::invalid(block.place(), problem))
        }
    }
}
