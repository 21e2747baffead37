//! Selects a version of a registry module, and finds the address of that version.

use crate::config::{ModuleRequest, RegistrySource};
use crate::provider::{ModuleVersion, ModuleVersionConstraints, newest_module};
use crate::registry::{ModuleId, ModuleLocation, ModuleVersions, RegistryClient};

use super::{ModuleError, ModuleStore};

/// Selects the newest version that the call allows, and finds its address. The address of a version never changes, so it is requested
/// only once. If the call allows only one version whose address is known, no request is sent.
pub(super) async fn locate(
    client: &RegistryClient,
    store: &ModuleStore,
    source: &RegistrySource,
    request: &ModuleRequest<'_>,
) -> Result<(ModuleId, ModuleVersion, ModuleLocation), ModuleError> {
    let module = ModuleId {
        host: source.host.clone(),
        namespace: source.namespace.clone(),
        name: source.name.clone(),
        system: source.system.clone(),
    };
    let is_selected = |version: &&ModuleVersion| {
        let selects = |versions: &ModuleVersionConstraints| {
            versions.select_prerelease(version, request.engine)
        };
        !version.is_prerelease() || request.versions.is_some_and(selects)
    };
    let exact = request.versions.and_then(|versions| versions.exact());
    if let Some(version) = exact.filter(is_selected)
        && let Some(location) = store.location(&module, version)
    {
        return Ok((module, version.clone(), location));
    }
    let version = select(client, store, &module, request).await?;
    let location = location(client, store, &module, &version).await?;
    Ok((module, version, location))
}

async fn location(
    client: &RegistryClient,
    store: &ModuleStore,
    module: &ModuleId,
    version: &ModuleVersion,
) -> Result<ModuleLocation, ModuleError> {
    if let Some(location) = store.location(module, version) {
        return Ok(location);
    }
    let location = client.module_location(module, version).await?;
    store.record_location(module, version, &location);
    Ok(location)
}

async fn select(
    client: &RegistryClient,
    store: &ModuleStore,
    module: &ModuleId,
    request: &ModuleRequest<'_>,
) -> Result<ModuleVersion, ModuleError> {
    let known: ModuleVersions = match client.module_versions(module).await {
        Ok(listed) => {
            store.record_versions(module, &listed);
            ModuleVersions::clone(&listed)
        }
        // If the run is offline, use the last known list.
        Err(error) if client.settings().http.offline => store.versions(module).ok_or(error)?,
        Err(error) => return Err(error.into()),
    };
    let selected = newest_module(&known.versions, request.versions, request.engine).cloned();
    selected.ok_or_else(|| {
        let newest = newest_module(&known.versions, None, request.engine);
        ModuleError::NoVersion {
            module: Box::new(module.clone()),
            constraints: request.versions.cloned(),
            newest: newest.map(ModuleVersion::to_string),
        }
    })
}
