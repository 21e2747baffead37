//! From a module of a registry to a version of it and the address that the registry gives for that.

use crate::config::{ModuleRequest, RegistrySource};
use crate::provider::{ModuleVersion, newest_module};
use crate::registry::{ModuleId, ModuleLocation, ModuleVersions, RegistryClient};

use super::error::ModuleError;
use super::kept::Kept;

/// A version, and where it is.
pub(super) struct LocatedVersion {
    pub(super) module: ModuleId,
    pub(super) version: ModuleVersion,
    pub(super) location: ModuleLocation,
}

/// Finds the newest version that the call allows, and asks where it is. A version has one place forever, so that is asked
/// once; and where the call names one version, and its place is known, nobody is asked.
pub(super) async fn locate(
    client: &RegistryClient,
    kept: &Kept,
    source: &RegistrySource,
    request: &ModuleRequest<'_>,
) -> Result<LocatedVersion, ModuleError> {
    let module = ModuleId {
        host: source.host.clone(),
        namespace: source.namespace.clone(),
        name: source.name.clone(),
        system: source.system.clone(),
    };
    let named = request.versions.and_then(|versions| versions.exact());
    if let Some(version) = named
        && let Some(location) = kept.location(&module, version)
    {
        let version = version.clone();
        return Ok(LocatedVersion {
            module,
            version,
            location,
        });
    }
    let version = select(client, kept, &module, request).await?;
    if let Some(location) = kept.location(&module, &version) {
        return Ok(LocatedVersion {
            module,
            version,
            location,
        });
    }
    let location = client.module_location(&module, &version).await?;
    kept.note_location(&module, &version, &location);
    Ok(LocatedVersion {
        module,
        version,
        location,
    })
}

async fn select(
    client: &RegistryClient,
    kept: &Kept,
    module: &ModuleId,
    request: &ModuleRequest<'_>,
) -> Result<ModuleVersion, ModuleError> {
    let known: ModuleVersions = match client.module_versions(module).await {
        Ok(listed) => {
            kept.note_versions(module, &listed);
            ModuleVersions::clone(&listed)
        }
        // Without a network the last list is all there is.
        Err(error) if client.settings().http.offline => kept.versions(module).ok_or(error)?,
        Err(error) => return Err(error.into()),
    };
    let selected = newest_module(&known.versions, request.versions).cloned();
    selected.ok_or_else(|| {
        let newest = newest_module(&known.versions, None);
        ModuleError::NoVersion {
            module: Box::new(module.clone()),
            constraints: request.versions.cloned(),
            newest: newest.map(ModuleVersion::to_string),
        }
    })
}
