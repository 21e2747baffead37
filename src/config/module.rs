//! Reads one directory as a module: combines its files and applies override files.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::provider::{Engine, ProviderAddr, Requirements, VersionConstraints};
use crate::syntax::SourceRange;

use super::declaration::{ResourceKey, declare_all};
use super::file_declarations::read_file;
use super::required_providers::{RequiredProvider, implied};
use super::resources::provider_of_type;
use super::{
    BlockProblem, ConfigError, ConfigErrors, Declaration as _, DeclarationMap, FileDeclarations,
    Import, Local, ModuleCall, ModuleDirectory, ProviderBlock, ProviderRef, Resource, Variable,
    module_files, overrides,
};

/// The maximum number of requirements of one kind whose positions are stored. Computing a position searches its file for line breaks.
const MAX_PLACES: usize = 300;

/// The configuration in one directory, without the modules that it calls.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) required_providers: BTreeMap<String, RequiredProvider>,
    pub(super) providers: DeclarationMap<ProviderBlock>,
    pub(super) resources: DeclarationMap<Resource>,
    pub(super) imports: Vec<Import>,
    state_store_providers: Vec<String>,
    pub(super) calls: DeclarationMap<ModuleCall>,
    pub(super) variables: DeclarationMap<Variable>,
    pub(super) locals: DeclarationMap<Local>,
    pub(super) has_variable_files: bool,
    /// The addresses in `required_providers`, by local name.
    addresses: BTreeMap<String, ProviderAddr>,
    /// The requirements of this module alone, without those of the modules that it calls.
    pub(super) requirements: Arc<Requirements>,
    /// Additional requirements that apply only if this is a root module.
    pub(super) root_requirements: Requirements,
}

impl Module {
    /// Reads the module in a directory. Reports the errors in all its files together.
    pub(super) fn read(
        directory: &ModuleDirectory<'_>,
        engine: Engine,
    ) -> Result<Self, Vec<ConfigError>> {
        let entries = directory.list().map_err(|error| vec![error])?;
        let files = module_files::select(entries, engine);
        let mut errors = ConfigErrors::default();
        let mut module = Self {
            has_variable_files: files.has_variable_files,
            ..Self::default()
        };
        let mut first_required: Option<SourceRange> = None;
        let file = |name: &String| directory.file(Path::new(name));
        for file in files.primary.iter().filter_map(file) {
            let declarations = read_file(&file, engine, &mut errors);
            module.add(declarations, &mut first_required, &mut errors);
        }
        for file in files.overrides.iter().filter_map(file) {
            let declarations = read_file(&file, engine, &mut errors);
            overrides::apply(&mut module, declarations, engine, &mut errors);
        }
        module.collect_requirements(engine, &mut errors);
        module.drop_declarations();
        if errors.0.is_empty() {
            Ok(module)
        } else {
            Err(errors.0)
        }
    }

    fn add(
        &mut self,
        added: FileDeclarations,
        first_required: &mut Option<SourceRange>,
        errors: &mut ConfigErrors,
    ) {
        for block in added.required_providers {
            if let Some(first) = first_required {
                let first = first.place();
                errors.invalid(
                    &block.range,
                    BlockProblem::SecondRequiredProviders { first },
                );
                continue;
            }
            *first_required = Some(block.range);
            self.required_providers = block.entries;
        }
        declare_all(&mut self.providers, added.providers, errors);
        declare_all(&mut self.resources, added.resources, errors);
        declare_all(&mut self.calls, added.calls, errors);
        declare_all(&mut self.variables, added.variables, errors);
        declare_all(&mut self.locals, added.locals, errors);
        self.imports.extend(added.imports);
        self.state_store_providers
            .extend(added.state_store_providers);
    }

    /// Returns the address of a provider: from `required_providers` if it contains the local name, otherwise the address that the name
    /// implies.
    pub(super) fn address_of(
        &self,
        name: &str,
        range: &SourceRange,
        engine: Engine,
    ) -> Result<ProviderAddr, ConfigError> {
        if let Some(address) = self.addresses.get(name) {
            return Ok(address.clone());
        }
        // The name may be derived from a resource type, whose letter case and Unicode form may differ from those of the local name.
        let implied = implied(name, range, engine)?;
        let required = self.addresses.get(&implied.type_name);
        Ok(required.cloned().unwrap_or(implied))
    }

    fn collect_requirements(&mut self, engine: Engine, errors: &mut ConfigErrors) {
        let mut requirements = Requirements::default();
        let unconstrained = VersionConstraints::default();
        let place = |index: usize, range: &SourceRange| (index < MAX_PLACES).then(|| range.place());
        for (index, (name, required)) in self.required_providers.iter().enumerate() {
            let address = &required.address;
            self.addresses.insert(name.clone(), address.clone());
            let place = place(index, &required.range);
            requirements.require(address.clone(), &required.constraints, place);
        }
        for (index, block) in self.providers.values().enumerate() {
            if let Some(address) = errors.keep(self.address_of(&block.name, &block.range, engine)) {
                let version = block.version.as_ref().unwrap_or(&unconstrained);
                requirements.require(address, version, place(index, &block.range));
            }
        }
        // A module can have thousands of resources of only a few providers, so only the first use of each local name is recorded.
        let mut uses: BTreeMap<&str, &SourceRange> = BTreeMap::new();
        for resource in self.resources.values() {
            let reference = resource.provider.as_ref();
            errors.keep(self.check_index(reference, engine));
            let (name, range) = local_name(reference, &resource.type_name, &resource.range);
            uses.entry(name).or_insert(range);
        }
        for (index, (name, range)) in uses.into_iter().enumerate() {
            if let Some(address) = errors.keep(self.address_of(name, range, engine)) {
                requirements.require(address, &unconstrained, place(index, range));
            }
        }
        let imported = self.import_requirements(engine, errors);
        if engine.allows_imports_in_called_modules() {
            requirements.merge(&imported);
        } else {
            self.root_requirements = imported;
        }
        if engine.has_state_stores() {
            let addresses = self.state_store_providers.iter();
            for address in addresses.filter_map(|name| self.addresses.get(name)) {
                let requirement = self.root_requirements.providers.entry(address.clone());
                requirement.or_default().stores_state = true;
            }
        }
        self.requirements = Arc::new(requirements);
    }

    /// Drops declarations that are no longer needed. Each of them keeps the text of its file in memory, and a run may keep
    /// thousands of modules. Locals are needed only for calls, and variables also for checking variable files.
    fn drop_declarations(&mut self) {
        self.required_providers.clear();
        self.providers.clear();
        self.resources.clear();
        if self.calls.is_empty() {
            self.locals.clear();
            if !self.has_variable_files {
                self.variables.clear();
            }
        }
    }

    /// Checks the index of a reference: OpenTofu requires one if the `provider` block has `for_each`, and rejects it otherwise.
    fn check_index(
        &self,
        reference: Option<&ProviderRef>,
        engine: Engine,
    ) -> Result<(), ConfigError> {
        let Some(reference) = reference.filter(|_| engine.has_provider_for_each()) else {
            return Ok(());
        };
        let key = (reference.name.clone(), reference.alias.clone());
        let has_for_each = self
            .providers
            .get(&key)
            .is_some_and(|block| block.has_for_each);
        let name = || match &reference.alias {
            Some(alias) => format!("{}.{alias}", reference.name),
            None => reference.name.clone(),
        };
        let problem = match (reference.indexed, has_for_each) {
            (true, false) => BlockProblem::IndexWithoutForEach(name()),
            (false, true) => BlockProblem::MissingIndex(name()),
            _ => return Ok(()),
        };
        Err(ConfigError::invalid(reference.range.place(), problem))
    }

    fn import_requirements(&self, engine: Engine, errors: &mut ConfigErrors) -> Requirements {
        let mut requirements = Requirements::default();
        let mut imported: BTreeMap<ResourceKey, &Import> = BTreeMap::new();
        for import in &self.imports {
            // Unlike in a resource, the engines accept any index here.
            let reference = import.provider.as_ref();
            if !import.in_module && !import.indexed {
                declare_all(&mut imported, [import], errors);
            }
            let target = self.resources.get(&import.key());
            let target = target.filter(|_| !import.in_module);
            if let (Some(reference), Some(target)) = (reference, target)
                && target.provider.as_ref() != Some(reference)
            {
                errors.invalid(&reference.range, BlockProblem::ImportProvider);
            }
            if engine.counts_all_imports() || (target.is_none() && !import.in_module) {
                let (name, range) = local_name(reference, &import.type_name, &import.range);
                if let Some(address) = errors.keep(self.address_of(name, range, engine)) {
                    let unconstrained = VersionConstraints::default();
                    requirements.require(address, &unconstrained, Some(range.place()));
                }
            }
        }
        requirements
    }
}

/// Returns the local name of the provider and its position: from the `provider` argument, or else from the resource type.
fn local_name<'a>(
    reference: Option<&'a ProviderRef>,
    type_name: &'a str,
    range: &'a SourceRange,
) -> (&'a str, &'a SourceRange) {
    match reference {
        Some(reference) => (&reference.name, &reference.range),
        None => (provider_of_type(type_name), range),
    }
}
