//! Override files: docs/rules/config.md 6.

use crate::provider::Engine;
use crate::syntax::Spot;

use super::calls::{ModuleCall, Variable};
use super::declarations::{Declarations, Faults};
use super::error::{ConfigError, Problem};
use super::module::Module;
use super::provider_blocks::ProviderBlock;
use super::resources::{Resource, ResourceKind};
use super::rules::EngineRules;

/// Changes `module` as an override file says.
pub(super) fn apply(module: &mut Module, found: Declarations, engine: Engine, faults: &mut Faults) {
    for (kind, spot) in found.not_in_override {
        faults.0.push(ConfigError::invalid(
            spot.place(),
            Problem::NotInOverride(kind),
        ));
    }
    for block in found.required_providers {
        // A whole entry replaces a whole entry.
        module.required_providers.extend(block.entries);
    }
    for block in found.providers {
        faults.keep(provider(module, block));
    }
    for resource in found.resources {
        if resource.kind != ResourceKind::Ephemeral || engine.overrides_ephemeral() {
            faults.keep(self::resource(module, resource));
        }
    }
    for call in found.calls {
        faults.keep(self::call(module, call));
    }
    for variable in found.variables {
        faults.keep(self::variable(module, variable));
    }
    for local in found.locals {
        match module.locals.get_mut(&local.name) {
            Some(base) => base.value = local.value,
            None => faults
                .0
                .push(missing(&local.spot, format!("local `{}`", local.name))),
        }
    }
}

fn missing(spot: &Spot, what: String) -> ConfigError {
    ConfigError::invalid(spot.place(), Problem::NothingToOverride(what))
}

/// Only an aliased block needs a base.
fn provider(module: &mut Module, block: ProviderBlock) -> Result<(), ConfigError> {
    let key = (block.name.clone(), block.alias.clone());
    match module.providers.get_mut(&key) {
        Some(base) => {
            base.version = block.version.or(base.version.take());
            base.has_for_each |= block.has_for_each;
        }
        None if block.alias.is_some() => {
            return Err(missing(
                &block.spot,
                format!("provider `{}` with this alias", block.name),
            ));
        }
        None => drop(module.providers.insert(key, block)),
    }
    Ok(())
}

fn resource(module: &mut Module, resource: Resource) -> Result<(), ConfigError> {
    let key = (resource.kind, resource.type_name, resource.name);
    match module.resources.get_mut(&key) {
        Some(base) => {
            base.provider = resource.provider.or(base.provider.take());
            Ok(())
        }
        None => Err(missing(
            &resource.spot,
            format!("{} `{}.{}`", key.0.word(), key.1, key.2),
        )),
    }
}

fn call(module: &mut Module, call: ModuleCall) -> Result<(), ConfigError> {
    let Some(base) = module.calls.get_mut(&call.name) else {
        return Err(missing(&call.spot, format!("module `{}`", call.name)));
    };
    base.source = call.source.or(base.source.take());
    base.version = call.version.or(base.version.take());
    base.arguments.extend(call.arguments);
    Ok(())
}

fn variable(module: &mut Module, variable: Variable) -> Result<(), ConfigError> {
    let Some(base) = module.variables.get_mut(&variable.name) else {
        return Err(missing(
            &variable.spot,
            format!("variable `{}`", variable.name),
        ));
    };
    base.default = variable.default.or(base.default.take());
    base.type_constraint = variable.type_constraint.or(base.type_constraint.take());
    base.constant = variable.constant.or(base.constant);
    base.nullable = variable.nullable.or(base.nullable);
    base.sensitive = variable.sensitive.or(base.sensitive);
    base.ephemeral = variable.ephemeral.or(base.ephemeral);
    Ok(())
}
