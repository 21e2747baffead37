//! The values of a CLI configuration.

use std::collections::BTreeMap;

use crate::cli_config::ProviderInstallation;
use crate::provider::Hostname;
use crate::span::Place;

/// A value and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placed<T> {
    pub value: T,
    /// The position of the value.
    pub place: Place,
}

/// The merged files of a CLI configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CliConfig {
    /// `host` blocks: they replace service discovery for their host.
    pub hosts: BTreeMap<Hostname, HostBlock>,
    /// `credentials` blocks.
    pub credentials: BTreeMap<Hostname, CredentialsBlock>,
    /// The first `credentials_helper` block.
    pub credentials_helper: Option<HelperBlock>,
    /// The first `provider_installation` block.
    pub provider_installation: Option<ProviderInstallation>,
    /// Settings of the plugin cache.
    pub plugin_cache: PluginCache,
    /// OpenTofu's `registry_protocols` block.
    pub registry_protocols: RegistryProtocols,
}

/// A `host` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostBlock {
    /// The URL reference of each service, such as `providers.v1`. `None` if the value is not a string: the host then has the
    /// service, but in an unknown form.
    pub services: BTreeMap<String, Option<String>>,
    /// Where the block begins.
    pub place: Place,
}

/// A `credentials` block.
#[derive(Clone, PartialEq, Eq)]
pub struct CredentialsBlock {
    /// The token. `None` means that the host has no credentials; the helper is then not run.
    pub token: Option<String>,
    /// Where the block begins, without the source line, which may hold the token.
    pub place: Place,
}

impl std::fmt::Debug for CredentialsBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CredentialsBlock")
            .field("token", &self.token.as_ref().map(|_| "redacted"))
            .field("place", &self.place)
            .finish()
    }
}

/// A `credentials_helper` block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HelperBlock {
    /// The label; the program is `terraform-credentials-NAME`.
    pub name: String,
    /// The arguments before `get HOST` on its command line.
    pub args: Vec<String>,
    /// Where the block begins.
    pub place: Place,
}

/// Settings of the plugin cache. tflock never takes packages from it, because they cannot be verified.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginCache {
    /// The first `plugin_cache_dir` that is not empty, with unexpanded variables.
    pub dir: Option<Placed<String>>,
    /// `plugin_cache_may_break_dependency_lock_file`: true if any file sets it.
    pub may_break_lock_file: bool,
}

/// OpenTofu's `registry_protocols` block. Each value is the first in all files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RegistryProtocols {
    /// `retry_count`; 0 and less mean no retries.
    pub retry_count: Option<i64>,
    /// `request_timeout_seconds`.
    pub request_timeout_seconds: Option<i64>,
}
