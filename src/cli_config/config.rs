//! The values of a CLI configuration.

use std::collections::BTreeMap;

use crate::cli_config::ProviderInstallation;
use crate::cli_config::oci::{OciCredentialsBlock, OciDefaultsBlock};
use crate::provider::Hostname;
use crate::span::Place;

/// The merged content of all files of a CLI configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CliConfig {
    /// The `host` blocks, which replace service discovery for their hosts.
    pub hosts: BTreeMap<Hostname, HostBlock>,
    pub credentials: BTreeMap<Hostname, CredentialsBlock>,
    pub credentials_helper: Option<HelperBlock>,
    pub provider_installation: Option<ProviderInstallation>,
    /// The first `plugin_cache_dir` that is not empty. Environment variables in it are not expanded. tflock never takes packages from
    /// the plugin cache, because they cannot be verified.
    pub plugin_cache_dir: Option<String>,
    pub registry_protocols: RegistryProtocols,
    /// The `oci_credentials` blocks, each with a different label.
    pub oci_credentials: Vec<OciCredentialsBlock>,
    pub oci_defaults: Option<OciDefaultsBlock>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostBlock {
    /// The URL of each service such as `providers.v1`, which may be relative. `None` if the value is not a string: the host then has
    /// the service, but its URL is unknown.
    pub services: BTreeMap<String, Option<String>>,
    pub place: Place,
}

#[derive(Clone, PartialEq, Eq)]
pub struct CredentialsBlock {
    /// The token. `None` if the block does not set one: tflock then sends no credentials to the host, and does not run the helper.
    pub token: Option<String>,
}

impl std::fmt::Debug for CredentialsBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CredentialsBlock")
            .field("token", &self.token.as_ref().map(|_| "redacted"))
            .finish()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelperBlock {
    /// The label of the block. The helper program is `terraform-credentials-NAME`.
    pub name: String,
    /// The arguments before `get HOST` on the helper's command line.
    pub args: Vec<String>,
    pub place: Place,
}

/// OpenTofu's `registry_protocols` block. For each setting, the value from the first file that sets it applies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegistryProtocols {
    /// The number of retries. A value below 1 means no retries.
    pub retry_count: Option<i64>,
    pub request_timeout_seconds: Option<i64>,
}
