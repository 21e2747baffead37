//! The package sources of each engine, as determined by the command line, the environment and the CLI configuration.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::diagnostic::{self, Diagnostic};
use crate::locking::EngineSource;
use crate::provider::Engine;
use crate::registry::{PackageSource, RegistryClient, RegistryError};
use crate::reporter::Reporter;
use crate::settings::{
    Environment, NetworkSettings, SourceChoice, SourceSettings, TreeSettings, network_settings,
};

use super::CommandError;

/// Builds the package sources. Errors and likely mistakes in the CLI configuration become warnings, and the run continues with
/// the valid part of that configuration. An unusable source is an error.
pub(super) fn sources(
    environment: &Environment,
    tree: &TreeSettings,
    settings: &SourceSettings,
    reporter: &Arc<dyn Reporter>,
) -> Result<(BTreeMap<Engine, EngineSource>, Vec<Diagnostic>), CommandError> {
    let mut sources: BTreeMap<Engine, EngineSource> = BTreeMap::new();
    let mut cautions = Vec::new();
    let allowed_hosts = tree.allowed_hosts();
    for engine in tree.engines() {
        let mut network = network_settings(environment, engine)?;
        network.registry.http.offline = settings.cache.offline;
        network.registry.allowed_hosts = allowed_hosts.clone();
        if tree.untrusted.is_some() {
            // `init` installs packages from `terraform.d/plugins`, and an untrusted tree may contain that directory.
            let tree = &environment.working_directory;
            network
                .implied_mirrors
                .retain(|mirror| !mirror.starts_with(tree));
            // Credential helpers for OCI registries are programs in `PATH`. Those in an untrusted tree must not run.
            let programs = &mut network.registry.oci.program_directories;
            programs.retain(|directory| !directory.starts_with(tree));
        }
        cautions.extend(network.errors.iter().map(Diagnostic::caution));
        let client = match sources.values().next() {
            Some(other) => other.client.sibling(network.registry.clone()),
            None => RegistryClient::new(network.registry.clone(), Arc::clone(reporter))?,
        };
        let packages = choose(&settings.choice, &client, &network, &mut cautions)?;
        sources.insert(engine, EngineSource { packages, client });
    }
    Ok((sources, diagnostic::merge(cautions)))
}

fn choose(
    choice: &SourceChoice,
    client: &RegistryClient,
    network: &NetworkSettings,
    cautions: &mut Vec<Diagnostic>,
) -> Result<PackageSource, CommandError> {
    let engine = client.settings().engine;
    match choice {
        SourceChoice::Registry => Ok(PackageSource::registry(client.clone())),
        SourceChoice::Filesystem(base) => match base.read_dir() {
            Ok(_) => Ok(PackageSource::filesystem(engine, base)),
            Err(source) => Err(CommandError::from(RegistryError::Search {
                path: base.clone(),
                source: Arc::new(source),
            })),
        },
        SourceChoice::Network(base) => Ok(PackageSource::network(client.clone(), base)?),
        SourceChoice::Oci(template) => Ok(PackageSource::oci(client.clone(), template)?),
        SourceChoice::Config => match &network.provider_installation {
            Some(block) => {
                let warnings = block.warnings(network.plugin_cache.as_deref());
                cautions.extend(warnings.iter().map(Diagnostic::caution));
                Ok(PackageSource::configured(client, block)?)
            }
            None => Ok(PackageSource::implied(
                client.clone(),
                network.implied_mirrors.iter().cloned(),
            )),
        },
    }
}
