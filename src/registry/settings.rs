//! Everything about registries that can be configured, as plain values. The caller reads the environment.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use crate::cli_config::{CredentialsBlock, HelperBlock, HostBlock};
use crate::provider::{Engine, Hostname};
use crate::registry::allowed_hosts::AllowedHosts;
use crate::registry::credentials::Token;
use crate::registry::proxy::ProxyVariables;
use crate::registry::roots::SystemRoots;

/// The limit of one request for a document, its redirects and body included, unless `TF_REGISTRY_CLIENT_TIMEOUT` sets it.
pub const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// How often a failed request is repeated, unless `TF_REGISTRY_DISCOVERY_RETRY` sets it. Terraform's own default of one is
/// too few for a whole monorepo: of a thousand requests of which 5 % fail at random, two or three would fail twice.
pub const DEFAULT_RETRIES: u32 = 3;

/// How to reach registries.
#[derive(Clone, Debug)]
pub struct RegistrySettings {
    /// Whose rules apply where the two engines differ.
    pub engine: Engine,
    /// `host` blocks.
    pub hosts: BTreeMap<Hostname, HostBlock>,
    /// `TFREGISTRY_BASE_URL`.
    pub base_url: Option<BaseUrl>,
    /// The hosts that may be asked because repository content names them.
    pub allowed_hosts: AllowedHosts,
    /// Where tokens come from.
    pub credentials: CredentialSettings,
    /// The netrc file, whether or not it exists.
    pub netrc: Option<PathBuf>,
    /// Repetitions of a request for a document; see [`positive`].
    pub retries: Option<u32>,
    /// Repetitions of a package download.
    pub download_retries: Option<u32>,
    /// The limit of one request for a document; see [`positive`].
    pub request_timeout: Option<Duration>,
    /// How connections are made.
    pub http: HttpSettings,
}

impl RegistrySettings {
    /// Settings that nothing has been configured in.
    pub fn new(engine: Engine) -> Self {
        Self {
            engine,
            hosts: BTreeMap::new(),
            base_url: None,
            allowed_hosts: AllowedHosts::all(),
            credentials: CredentialSettings::default(),
            netrc: None,
            retries: None,
            download_retries: None,
            request_timeout: None,
            http: HttpSettings::default(),
        }
    }
}

/// A number of retries or seconds from an environment variable: what is no number, or not above zero, means the default.
pub fn positive(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number| *number > 0)
}

/// `TFREGISTRY_BASE_URL`: the default registry lies at this address. No discovery takes place and no token follows.
#[derive(Clone, Debug)]
pub struct BaseUrl {
    /// The host whose registry it is.
    pub host: Hostname,
    /// The address; `v1/providers/` is added to it.
    pub url: Url,
}

/// Where tokens come from, in order of precedence.
#[derive(Clone, Debug, Default)]
pub struct CredentialSettings {
    /// `TF_TOKEN_*` variables; see [`tokens_from_env`](crate::registry::tokens_from_env).
    pub tokens: BTreeMap<Hostname, Token>,
    /// `credentials` blocks.
    pub blocks: BTreeMap<Hostname, CredentialsBlock>,
    /// The `credentials_helper` block.
    pub helper: Option<HelperBlock>,
    /// The directories in which the helper's program may be.
    pub plugin_directories: Vec<PathBuf>,
}

/// How connections are made.
#[derive(Clone)]
pub struct HttpSettings {
    /// No request is made; everything fails with a named error.
    pub offline: bool,
    /// Which certificates are trusted.
    pub roots: Roots,
    /// Whether `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY` and the system's settings count.
    pub use_system_proxy: bool,
    /// The variables among them. The client reads them itself; here they are checked.
    pub proxies: ProxyVariables,
    /// The limit for making a connection.
    pub connect_timeout: Duration,
    /// How long a package may take to send its first or next byte.
    pub stall_timeout: Duration,
    /// How waits pass.
    pub pause: Arc<dyn Pause>,
}

impl Default for HttpSettings {
    fn default() -> Self {
        Self {
            offline: false,
            roots: Roots::System(SystemRoots::default()),
            use_system_proxy: true,
            proxies: ProxyVariables::default(),
            connect_timeout: Duration::from_secs(10),
            stall_timeout: Duration::from_secs(30),
            pause: Arc::new(RealTime),
        }
    }
}

impl fmt::Debug for HttpSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpSettings")
            .field("offline", &self.offline)
            .field("roots", &self.roots)
            .field("use_system_proxy", &self.use_system_proxy)
            .field("connect_timeout", &self.connect_timeout)
            .field("stall_timeout", &self.stall_timeout)
            .finish_non_exhaustive()
    }
}

/// Which certificate authorities are trusted.
#[derive(Clone, Debug)]
pub enum Roots {
    /// The system's, or Mozilla's if it has none and the environment names none.
    System(SystemRoots),
    /// Those in this PEM text and no others.
    Only(Vec<u8>),
}

/// The wait before a retry, as a value, so that tests need not wait.
pub trait Pause: Send + Sync {
    /// Resolves when the time has passed.
    fn pause(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

/// Waits as long as it is told to.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealTime;

impl Pause for RealTime {
    fn pause(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(tokio::time::sleep(time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_above_zero_count() {
        for (text, expected) in [
            ("3", Some(3)),
            ("0", None),
            ("-1", None),
            ("", None),
            ("x", None),
            ("1.5", None),
        ] {
            assert_eq!(positive(text), expected, "{text}");
        }
    }
}
