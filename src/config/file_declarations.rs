//! Reads the declarations in one file that affect which providers are required.
//!
//! Each file is read into its own [`FileDeclarations`]; [`super::module`] combines those of a directory.

use crate::provider::Engine;
use crate::syntax::{Block, Body, SourceRange};

use super::required_providers::RequiredProviders;
use super::{
    BlockProblem, ConfigError, ConfigErrors, Import, Local, ModuleCall, ProviderBlock, Resource,
    ResourceKind, TreeFile, Variable, calls, provider_blocks, required_providers, resources,
};

#[derive(Debug, Default)]
pub(super) struct FileDeclarations {
    pub(super) required_providers: Vec<RequiredProviders>,
    /// The local names of the providers of `state_store` blocks.
    pub(super) state_store_providers: Vec<String>,
    pub(super) providers: Vec<ProviderBlock>,
    pub(super) resources: Vec<Resource>,
    pub(super) imports: Vec<Import>,
    pub(super) calls: Vec<ModuleCall>,
    pub(super) variables: Vec<Variable>,
    pub(super) locals: Vec<Local>,
    /// The blocks that are not allowed in override files: their kinds and positions.
    pub(super) not_in_override: Vec<(&'static str, SourceRange)>,
}

pub(super) fn read_file(
    file: &TreeFile,
    engine: Engine,
    errors: &mut ConfigErrors,
) -> FileDeclarations {
    let Some(origin) = file.hidden_origin() else {
        return match errors.keep(file.parse()) {
            Some(file) => read_body(&file.body(), engine, errors),
            None => FileDeclarations::default(),
        };
    };
    let mut hidden = ConfigErrors::default();
    let found = hidden.keep(file.parse());
    let found = found.map(|file| read_body(&file.body(), engine, &mut hidden));
    if !hidden.0.is_empty() {
        errors.add(ConfigError::HiddenText(Box::new(origin.clone())));
    }
    found.unwrap_or_default()
}

/// Reads the declarations in `body`. Unknown kinds of blocks are ignored, because newer releases may support them.
fn read_body(body: &Body<'_>, engine: Engine, errors: &mut ConfigErrors) -> FileDeclarations {
    let mut found = FileDeclarations::default();
    for block in blocks(body, "terraform", 0, errors) {
        for block in blocks(block.body(), "required_providers", 0, errors) {
            let required = required_providers::read(&block, engine, errors);
            found.required_providers.push(required);
        }
        found
            .state_store_providers
            .extend(state_store_providers(block.body()));
    }
    for block in blocks(body, "required_providers", 0, errors) {
        errors.invalid(&block.range(), BlockProblem::MisplacedRequiredProviders);
    }
    let providers = blocks(body, "provider", 1, errors).into_iter();
    found.providers = errors.keep_all(providers.map(|it| provider_blocks::read(&it, engine)));
    for kind in ResourceKind::all(engine) {
        for block in blocks(body, kind.word(), 2, errors) {
            let resource = resources::read(&block, kind, engine);
            found.resources.extend(errors.keep(resource));
        }
    }
    read_checks(body, engine, &mut found, errors);
    for block in blocks(body, "import", 0, errors) {
        let import = resources::read_import(&block, engine);
        found.imports.extend(errors.keep(import));
        found.not_in_override.push(("import", block.range()));
    }
    let refused: &[_] = if engine.refuses_removed_override() {
        &["moved", "removed", "language"]
    } else {
        &["moved"]
    };
    for kind in refused {
        let blocks = blocks(body, kind, 0, errors).into_iter();
        let refused = blocks.map(|block| (*kind, block.range()));
        found.not_in_override.extend(refused);
    }
    read_values(body, &mut found, errors);
    found
}

/// Returns the local names of the providers in `state_store` blocks, which are experimental. Ignores invalid ones.
fn state_store_providers(terraform: &Body<'_>) -> Vec<String> {
    let stores = terraform.labelled_blocks("state_store", 1);
    let providers = stores.unwrap_or_default().into_iter().flat_map(|store| {
        let providers = store.body().labelled_blocks("provider", 1);
        providers.unwrap_or_default()
    });
    providers.filter_map(|block| block.name(0).ok()).collect()
}

/// Reads the `data` blocks in `check` blocks, which require providers like any other `data` block.
fn read_checks(
    body: &Body<'_>,
    engine: Engine,
    found: &mut FileDeclarations,
    errors: &mut ConfigErrors,
) {
    for check in blocks(body, "check", 1, errors) {
        found.not_in_override.push(("check", check.range()));
        for block in blocks(check.body(), "data", 2, errors) {
            let resource = resources::read(&block, ResourceKind::Data, engine);
            found.resources.extend(errors.keep(resource));
        }
    }
}

/// Reads module calls, and the variables and locals that their sources may refer to.
fn read_values(body: &Body<'_>, found: &mut FileDeclarations, errors: &mut ConfigErrors) {
    let calls = blocks(body, "module", 1, errors);
    found.calls = errors.keep_all(calls.iter().map(calls::read_call));
    let variables = blocks(body, "variable", 1, errors);
    found.variables = errors.keep_all(variables.iter().map(calls::read_variable));
    let locals = blocks(body, "locals", 0, errors);
    let locals = errors.keep_all(locals.iter().map(calls::read_locals));
    found.locals = locals.into_iter().flatten().collect();
}

fn blocks<'a>(
    body: &Body<'a>,
    kind: &str,
    labels: usize,
    errors: &mut ConfigErrors,
) -> Vec<Block<'a>> {
    let blocks = body.labelled_blocks(kind, labels);
    errors.keep(blocks).unwrap_or_default()
}
