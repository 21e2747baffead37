//! The packages that a command below `tflock index` processes.

use std::collections::BTreeSet;
use std::sync::Arc;

use anyhow::Context as _;
use futures_util::future::join_all;

use crate::diagnostic::{Code, Diagnostic};
use crate::locking::Packages;
use crate::modules::Fetcher;
use crate::provider::{
    Engine, PackageId, Platform, ProviderAddr, Version, VersionConstraints, newest,
};
use crate::registry::AvailableVersions;
use crate::run::CommandError;
use crate::run::read::{self, Task};
use crate::settings::{IndexCommandSettings, ProviderSelection};

use super::error::SelectionError;

/// A version of a provider, and the engine that locks it.
type EngineVersion = (Engine, ProviderAddr, Version);

/// The versions in lock files, and diagnostics about what could not be read.
#[derive(Default)]
pub(super) struct LockedVersions {
    versions: BTreeSet<EngineVersion>,
    diagnostics: Vec<Diagnostic>,
}

#[derive(Default)]
pub(super) struct SelectedPackages {
    pub(super) packages: BTreeSet<(Engine, PackageId)>,
    pub(super) diagnostics: Vec<Diagnostic>,
}

/// Reads the lock files, unless the command line selects providers.
pub(super) async fn read_lock_files(
    settings: &Arc<IndexCommandSettings>,
    fetcher: &Arc<Fetcher>,
) -> Result<LockedVersions, CommandError> {
    if !settings.selection.is_empty() {
        return Ok(LockedVersions::default());
    }
    let (settings, fetcher) = (Arc::clone(settings), Arc::clone(fetcher));
    let reading = tokio::task::spawn_blocking(move || collect(&settings, &fetcher));
    Ok(reading.await.context("cannot read the lock files")?)
}

fn collect(settings: &IndexCommandSettings, fetcher: &Fetcher) -> LockedVersions {
    let mut locked = LockedVersions::default();
    let mut has_lock_file = false;
    for directory in read::read_directories(&settings.tree, fetcher) {
        locked.diagnostics.extend(directory.diagnostics);
        match directory.task {
            Task::Lock { old, job } => {
                has_lock_file |= old.is_some();
                let entries = job.old.providers.iter();
                let versions = entries
                    .map(|(provider, lock)| (job.engine, provider.clone(), lock.version.clone()));
                locked.versions.extend(versions);
            }
            // The directory may have a lock file that cannot be read. The diagnostics of the directory say so.
            Task::Fail => has_lock_file = true,
            Task::Skip { .. } => {}
        }
    }
    if !has_lock_file {
        let text = "there is no lock file below these paths, so no packages are selected";
        let hint = "create lock files with `tflock lock -r`, or name providers, such as `hashicorp/random`";
        locked.diagnostics.push(Diagnostic {
            hint: Some(hint.to_owned()),
            ..Diagnostic::warning(Code::NoLockFile, text, None)
        });
    }
    locked
}

/// Asks registries which versions exist and for which platforms. A provider that fails does not affect the others.
pub(super) async fn select_packages(
    settings: &IndexCommandSettings,
    packages: &Packages,
    locked: LockedVersions,
) -> SelectedPackages {
    let named = settings.selection.iter();
    let named = join_all(named.map(|selection| named_versions(packages, selection))).await;
    let mut selected = SelectedPackages {
        diagnostics: locked.diagnostics,
        ..SelectedPackages::default()
    };
    let mut versions = locked.versions;
    for result in named {
        match result {
            Ok(found) => versions.extend(found),
            Err(error) => selected.diagnostics.push(Diagnostic::general(&error)),
        }
    }
    let platforms = versions
        .iter()
        .map(|version| platforms(packages, version, settings.platforms.as_ref()));
    for ((engine, provider, version), result) in versions.iter().zip(join_all(platforms).await) {
        match result {
            Ok(platforms) => selected
                .packages
                .extend(platforms.into_iter().map(|platform| {
                    let (provider, version) = (provider.clone(), version.clone());
                    let id = PackageId {
                        provider,
                        version,
                        platform,
                    };
                    (*engine, id)
                })),
            Err(error) => selected.diagnostics.push(Diagnostic::general(&error)),
        }
    }
    selected
}

async fn named_versions(
    packages: &Packages,
    selection: &ProviderSelection,
) -> Result<Vec<EngineVersion>, SelectionError> {
    let ProviderSelection {
        engine,
        provider,
        constraints,
    } = selection;
    let listed = list(packages, *engine, provider).await?;
    let any = VersionConstraints::default();
    let found: Vec<_> = match constraints {
        Some(constraints) => listed
            .versions()
            .filter(|version| constraints.allows(version))
            .collect(),
        None => newest(listed.versions(), &any).into_iter().collect(),
    };
    if found.is_empty() {
        let (provider, constraints) = (provider.clone(), constraints.clone().unwrap_or(any));
        return Err(SelectionError::NoVersion {
            provider,
            constraints,
        });
    }
    let found = found.into_iter();
    Ok(found
        .map(|version| (*engine, provider.clone(), version.clone()))
        .collect())
}

/// Returns the requested platforms, or the platforms that the registry lists if none was requested.
async fn platforms(
    packages: &Packages,
    (engine, provider, version): &EngineVersion,
    requested: Option<&BTreeSet<Platform>>,
) -> Result<BTreeSet<Platform>, SelectionError> {
    if let Some(requested) = requested {
        return Ok(requested.clone());
    }
    let platforms = list(packages, *engine, provider).await?.platforms(version);
    if platforms.is_empty() {
        return Err(SelectionError::NoPlatforms {
            provider: provider.clone(),
            version: version.clone(),
        });
    }
    Ok(platforms)
}

async fn list(
    packages: &Packages,
    engine: Engine,
    provider: &ProviderAddr,
) -> Result<Arc<AvailableVersions>, SelectionError> {
    let listed = packages.versions(engine, provider).await;
    listed.map_err(|source| SelectionError::Versions {
        provider: provider.clone(),
        source,
    })
}
