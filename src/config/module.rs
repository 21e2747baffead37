//! One directory as a module: its files read, put together, and overridden.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::provider::{Engine, ProviderAddr, Requirements, VersionConstraints};
use crate::syntax::Spot;

use super::calls::{ModuleCall, Variable};
use super::declarations::{Declarations, Faults, read_file};
use super::error::{ConfigError, Problem};
use super::files::module_files;
use super::overrides;
use super::provider_blocks::ProviderBlock;
use super::provider_ref::ProviderRef;
use super::required_providers::{RequiredProvider, implied};
use super::resources::{Import, Resource, ResourceKind, provider_of_type};
use super::rules::EngineRules;

/// The key of a resource: what it is, its type, its name.
pub(super) type ResourceKey = (ResourceKind, String, String);

/// So many providers of a module have the place that uses them: each takes a look through its file.
const MAX_PLACES: usize = 300;

/// A module, complete: no file of its directory is needed any more.
#[derive(Debug, Default)]
pub(super) struct Module {
    pub(super) required_providers: BTreeMap<String, RequiredProvider>,
    /// By name and alias.
    pub(super) providers: BTreeMap<(String, Option<String>), ProviderBlock>,
    pub(super) resources: BTreeMap<ResourceKey, Resource>,
    pub(super) imports: Vec<Import>,
    pub(super) calls: BTreeMap<String, ModuleCall>,
    pub(super) variables: BTreeMap<String, Variable>,
    pub(super) locals: BTreeMap<String, super::calls::Local>,
    /// What the names in `required_providers` stand for.
    addresses: BTreeMap<String, ProviderAddr>,
    /// What the module itself requires, without the modules it calls.
    pub(super) requirements: Arc<Requirements>,
    /// What it requires besides when it is a root module.
    pub(super) root_requirements: Requirements,
}

impl Module {
    /// Reads a directory. All faults of all its files are reported together.
    pub(super) fn read(directory: &Path, engine: Engine) -> Result<Self, Vec<ConfigError>> {
        let files = module_files(directory, engine).map_err(|error| vec![error])?;
        let mut faults = Faults::default();
        let mut module = Self::default();
        let mut first_required: Option<Spot> = None;
        for path in &files.primary {
            let declarations = read_file(path, engine, &mut faults);
            module.add(declarations, &mut first_required, &mut faults);
        }
        for path in &files.overrides {
            let declarations = read_file(path, engine, &mut faults);
            overrides::apply(&mut module, declarations, engine, &mut faults);
        }
        module.collect(engine, &mut faults);
        module.forget();
        if faults.0.is_empty() {
            Ok(module)
        } else {
            Err(faults.0)
        }
    }

    fn add(&mut self, found: Declarations, first_required: &mut Option<Spot>, faults: &mut Faults) {
        for block in found.required_providers {
            if let Some(first) = first_required {
                let problem = Problem::SecondRequiredProviders {
                    first: first.place(),
                };
                faults
                    .0
                    .push(ConfigError::invalid(block.spot.place(), problem));
                continue;
            }
            *first_required = Some(block.spot);
            self.required_providers = block.entries;
        }
        for block in found.providers {
            let key = (block.name.clone(), block.alias.clone());
            let what = format!("provider `{}`", block.name);
            insert(
                &mut self.providers,
                key,
                block,
                what,
                |block| &block.spot,
                faults,
            );
        }
        for resource in found.resources {
            let key = (
                resource.kind,
                resource.type_name.clone(),
                resource.name.clone(),
            );
            let what = format!("{} `{}.{}`", key.0.word(), key.1, key.2);
            insert(
                &mut self.resources,
                key,
                resource,
                what,
                |resource| &resource.spot,
                faults,
            );
        }
        for call in found.calls {
            let what = format!("module `{}`", call.name);
            insert(
                &mut self.calls,
                call.name.clone(),
                call,
                what,
                |call| &call.spot,
                faults,
            );
        }
        for variable in found.variables {
            let what = format!("variable `{}`", variable.name);
            insert(
                &mut self.variables,
                variable.name.clone(),
                variable,
                what,
                |variable| &variable.spot,
                faults,
            );
        }
        for local in found.locals {
            let what = format!("local `{}`", local.name);
            insert(
                &mut self.locals,
                local.name.clone(),
                local,
                what,
                |local| &local.spot,
                faults,
            );
        }
        self.imports.extend(found.imports);
    }

    /// The provider that a local name means in this module.
    pub(super) fn address_of(
        &self,
        name: &str,
        spot: &Spot,
        engine: Engine,
    ) -> Result<ProviderAddr, ConfigError> {
        match self.addresses.get(name) {
            Some(address) => Ok(address.clone()),
            None => implied(name, spot, engine),
        }
    }

    /// Everything that requires a provider.
    fn collect(&mut self, engine: Engine, faults: &mut Faults) {
        let mut requirements = Requirements::default();
        let none = VersionConstraints::default();
        let required = self.required_providers.iter();
        let required = required.map(|(name, required)| (name.clone(), required.address.clone()));
        self.addresses = required.collect();
        for (at, required) in self.required_providers.values().enumerate() {
            requirements.require(
                required.address.clone(),
                &required.constraints,
                (at < MAX_PLACES).then(|| required.spot.place()),
            );
        }
        for (at, block) in self.providers.values().enumerate() {
            if let Some(address) = faults.keep(self.address_of(&block.name, &block.spot, engine)) {
                let version = block.version.as_ref().unwrap_or(&none);
                let place = (at < MAX_PLACES).then(|| block.spot.place());
                requirements.require(address, version, place);
            }
        }
        // A module has thousands of resources and a handful of providers: the first use of a name speaks for all.
        let mut uses: BTreeMap<&str, &Spot> = BTreeMap::new();
        for resource in self.resources.values() {
            faults.keep(self.check_reference(resource.provider.as_ref(), engine));
            let (name, spot) = used_name(
                resource.provider.as_ref(),
                &resource.type_name,
                &resource.spot,
            );
            uses.entry(name).or_insert(spot);
        }
        for (at, (name, spot)) in uses.into_iter().enumerate() {
            if let Some(address) = faults.keep(self.address_of(name, spot, engine)) {
                let place = (at < MAX_PLACES).then(|| spot.place());
                requirements.require(address, &none, place);
            }
        }
        self.root_requirements = self.import_requirements(engine, faults);
        self.requirements = Arc::new(requirements);
    }

    /// Lets go of what has been collected: each declaration holds on to the text of its file, and a run keeps thousands of
    /// modules. Variables and locals matter to calls only.
    fn forget(&mut self) {
        self.required_providers.clear();
        self.providers.clear();
        self.resources.clear();
        if self.calls.is_empty() {
            self.variables.clear();
            self.locals.clear();
        }
    }

    /// OpenTofu: an index belongs to a `provider` block with `for_each`, and to no other.
    fn check_reference(
        &self,
        reference: Option<&ProviderRef>,
        engine: Engine,
    ) -> Result<(), ConfigError> {
        let Some(reference) = reference.filter(|_| engine.has_provider_for_each()) else {
            return Ok(());
        };
        let block = self
            .providers
            .get(&(reference.name.clone(), reference.alias.clone()));
        let has_for_each = block.is_some_and(|block| block.has_for_each);
        let name = || {
            [Some(reference.name.as_str()), reference.alias.as_deref()]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(".")
        };
        match (reference.indexed, has_for_each) {
            (true, false) => Err(ConfigError::invalid(
                reference.spot.place(),
                Problem::IndexWithoutForEach(name()),
            )),
            (false, true) => Err(ConfigError::invalid(
                reference.spot.place(),
                Problem::MissingIndex(name()),
            )),
            _ => Ok(()),
        }
    }

    fn import_requirements(&self, engine: Engine, faults: &mut Faults) -> Requirements {
        let mut requirements = Requirements::default();
        let mut targets: BTreeMap<ResourceKey, Spot> = BTreeMap::new();
        for import in &self.imports {
            faults.keep(self.check_reference(import.provider.as_ref(), engine));
            let key = (import.kind, import.type_name.clone(), import.name.clone());
            let target = self.resources.get(&key).filter(|_| !import.in_module);
            if !import.in_module && !import.indexed {
                let what = format!("import of `{}.{}`", key.1, key.2);
                insert(
                    &mut targets,
                    key,
                    import.spot.clone(),
                    what,
                    |spot| spot,
                    faults,
                );
            }
            if let (Some(reference), Some(target)) = (&import.provider, target)
                && target.provider.as_ref() != Some(reference)
            {
                faults.0.push(ConfigError::invalid(
                    reference.spot.place(),
                    Problem::ImportProvider,
                ));
            }
            let is_counted = engine.counts_all_imports() || (target.is_none() && !import.in_module);
            if is_counted {
                let (name, spot) =
                    used_name(import.provider.as_ref(), &import.type_name, &import.spot);
                if let Some(address) = faults.keep(self.address_of(name, spot, engine)) {
                    requirements.require(
                        address,
                        &VersionConstraints::default(),
                        Some(spot.place()),
                    );
                }
            }
        }
        requirements
    }
}

/// The local name by which something means its provider: that of the `provider` argument, else the start of its type.
fn used_name<'a>(
    reference: Option<&'a ProviderRef>,
    type_name: &'a str,
    spot: &'a Spot,
) -> (&'a str, &'a Spot) {
    match reference {
        Some(reference) => (&reference.name, &reference.spot),
        None => (provider_of_type(type_name), spot),
    }
}

/// Adds a declaration, unless there is one of its name already.
fn insert<K: Ord, V>(
    declared: &mut BTreeMap<K, V>,
    key: K,
    value: V,
    what: String,
    spot: fn(&V) -> &Spot,
    faults: &mut Faults,
) {
    match declared.get(&key) {
        None => drop(declared.insert(key, value)),
        Some(known) if faults.has_room() => {
            let problem = Problem::Duplicate {
                what,
                first: spot(known).place(),
            };
            faults.add(ConfigError::invalid(spot(&value).place(), problem));
        }
        Some(_) => {}
    }
}
