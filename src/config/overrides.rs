//! Applies override files. See section 6 of docs/rules/config.md.

use crate::provider::Engine;

use super::declaration::overridden;
use super::{
    BlockProblem, ConfigError, ConfigErrors, Declaration as _, FileDeclarations, Module,
    ModuleCall, ProviderBlock, Resource, ResourceKind, Variable,
};

pub(super) fn apply(
    module: &mut Module,
    changes: FileDeclarations,
    engine: Engine,
    errors: &mut ConfigErrors,
) {
    for (kind, range) in changes.not_in_override {
        errors.invalid(&range, BlockProblem::NotInOverride(kind));
    }
    for block in changes.required_providers {
        // An entry completely replaces the existing one with the same local name.
        module.required_providers.extend(block.entries);
    }
    for block in changes.providers {
        errors.keep(override_provider(module, block));
    }
    for resource in changes.resources {
        if resource.kind != ResourceKind::Ephemeral || engine.overrides_ephemeral() {
            errors.keep(override_resource(module, resource));
        }
    }
    for call in changes.calls {
        errors.keep(override_call(module, call));
    }
    for variable in changes.variables {
        errors.keep(override_variable(module, variable));
    }
    for local in changes.locals {
        match overridden(&mut module.locals, &local) {
            Ok(base) => base.value = local.value,
            Err(error) => errors.0.push(error),
        }
    }
}

/// Overrides the `provider` block with the same name and alias. If it does not exist, adds a block without an alias, and
/// rejects one with an alias.
fn override_provider(module: &mut Module, block: ProviderBlock) -> Result<(), ConfigError> {
    match module.providers.get_mut(&block.key()) {
        Some(base) => {
            base.version = block.version.or(base.version.take());
            base.has_for_each |= block.has_for_each;
        }
        None if block.alias.is_some() => {
            let what = format!("{} with this alias", block.title());
            let problem = BlockProblem::NothingToOverride(what);
            return Err(ConfigError::invalid(block.range.place(), problem));
        }
        None => drop(module.providers.insert(block.key(), block)),
    }
    Ok(())
}

fn override_resource(module: &mut Module, resource: Resource) -> Result<(), ConfigError> {
    let base = overridden(&mut module.resources, &resource)?;
    base.provider = resource.provider.or(base.provider.take());
    Ok(())
}

fn override_call(module: &mut Module, call: ModuleCall) -> Result<(), ConfigError> {
    let base = overridden(&mut module.calls, &call)?;
    base.source = call.source.or(base.source.take());
    base.version = call.version.or(base.version.take());
    base.arguments.extend(call.arguments);
    Ok(())
}

fn override_variable(module: &mut Module, variable: Variable) -> Result<(), ConfigError> {
    let base = overridden(&mut module.variables, &variable)?;
    base.default = variable.default.or(base.default.take());
    base.type_constraint = variable.type_constraint.or(base.type_constraint.take());
    base.constant = variable.constant.or(base.constant);
    base.nullable = variable.nullable.or(base.nullable);
    base.sensitive = variable.sensitive.or(base.sensitive);
    base.ephemeral = variable.ephemeral.or(base.ephemeral);
    Ok(())
}
