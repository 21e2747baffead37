//! Registry settings as plain values. The caller reads the environment.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use url::Url;

use crate::cli_config::{CredentialsBlock, HelperBlock, HostBlock};
use crate::provider::{Engine, Hostname};
use crate::registry::credentials::ApiToken;
use crate::registry::error::{RegistryError, Result};
use crate::registry::oci::OciSettings;
use crate::registry::proxies::ProxyVariables;
use crate::registry::trusted_roots::SystemRoots;

/// The default time limit for one attempt to fetch a document, redirects and body included; `TF_REGISTRY_CLIENT_TIMEOUT` sets it.
pub const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_secs(10);

/// The default number of retries; `TF_REGISTRY_DISCOVERY_RETRY` sets it. Terraform's default of one is too low for a monorepo: if
/// 5% of a thousand requests fail at random, two or three of them would fail twice.
pub const DEFAULT_RETRIES: u32 = 3;

#[derive(Clone, Debug)]
pub struct RegistrySettings {
    /// The engine whose rules apply where the two engines differ.
    pub engine: Engine,
    pub hosts: BTreeMap<Hostname, HostBlock>,
    pub base_url: Option<BaseUrl>,
    /// The hosts to which files of the user's repository may cause requests.
    pub allowed_hosts: AllowedHosts,
    pub credentials: CredentialSettings,
    /// The netrc file, which need not exist.
    pub netrc: Option<PathBuf>,
    /// The number of times that a failed request for a document is retried; `None` for the default.
    pub retries: Option<u32>,
    pub download_retries: Option<u32>,
    /// The time limit for one attempt to fetch a document; `None` for the default.
    pub request_timeout: Option<Duration>,
    pub http: HttpSettings,
    /// Where to look for credentials for OCI registries.
    pub oci: OciSettings,
}

impl RegistrySettings {
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
            oci: OciSettings::default(),
        }
    }
}

/// The hosts to which files of the user's repository may cause requests. With `--untrusted`, these are the hosts given with
/// `--allow-host`. Responses may point to other hosts, which get no credentials.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedHosts(Option<BTreeSet<Hostname>>);

impl AllowedHosts {
    pub const fn all() -> Self {
        Self(None)
    }

    pub fn only(hosts: impl IntoIterator<Item = Hostname>) -> Self {
        Self(Some(hosts.into_iter().collect()))
    }

    pub const fn is_unlimited(&self) -> bool {
        self.0.is_none()
    }

    /// Whether the registry on `host` is allowed.
    pub fn allows(&self, host: &Hostname) -> bool {
        self.0.as_ref().is_none_or(|hosts| hosts.contains(host))
    }

    /// Whether the server of `url` is allowed. Addresses without a host are on this machine and are always allowed.
    pub fn allows_url(&self, url: &Url) -> bool {
        let Some(hosts) = &self.0 else { return true };
        let Some(name) = url.host_str() else {
            return true;
        };
        let authority = match url.port() {
            Some(port) if port != 443 => format!("{name}:{port}"),
            _ => name.to_owned(),
        };
        let mut hosts = hosts.iter();
        hosts.any(|host| host.as_ascii().eq_ignore_ascii_case(&authority))
    }

    /// Fails unless the registry on `host` is allowed.
    pub(super) fn check(&self, host: &Hostname) -> Result<()> {
        if self.allows(host) {
            return Ok(());
        }
        Err(RegistryError::HostNotAllowed { host: host.clone() })
    }
}

/// Parses a number of retries or seconds from an environment variable. `None` if it is not a positive number; the default then applies.
pub fn positive(text: &str) -> Option<u32> {
    text.parse().ok().filter(|number| *number > 0)
}

/// The address of the default registry, from `TFREGISTRY_BASE_URL`. It is used without discovery and without a token.
#[derive(Clone, Debug)]
pub struct BaseUrl {
    /// The host whose registry is at this address.
    pub host: Hostname,
    /// The address, to which `v1/providers/` is appended.
    pub url: Url,
}

/// The sources of tokens, in order of precedence.
#[derive(Clone, Debug, Default)]
pub struct CredentialSettings {
    /// `TF_TOKEN_*` variables; see [`tokens_from_env`](crate::registry::tokens_from_env).
    pub tokens: BTreeMap<Hostname, ApiToken>,
    pub blocks: BTreeMap<Hostname, CredentialsBlock>,
    pub helper: Option<HelperBlock>,
    /// The directories in which to search for the helper program.
    pub plugin_directories: Vec<PathBuf>,
}

#[derive(Clone)]
pub struct HttpSettings {
    /// Whether all requests fail without being sent.
    pub offline: bool,
    pub roots: Roots,
    /// Whether `HTTP_PROXY`, `HTTPS_PROXY`, `NO_PROXY` and the system's proxy settings apply.
    pub use_system_proxy: bool,
    /// The environment variables for proxies. They are only checked, because the HTTP client reads them itself.
    pub proxies: ProxyVariables,
    pub connect_timeout: Duration,
    /// The maximum wait for the first or next bytes of a package.
    pub stall_timeout: Duration,
    /// How to wait between attempts.
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

/// The trusted certificate authorities.
#[derive(Clone, Debug)]
pub enum Roots {
    /// The authorities of the system. If it has none and the environment names none, Mozilla's list.
    System(SystemRoots),
    /// Only the authorities in this PEM text.
    Only(Vec<u8>),
}

/// Waits before a retry. Tests use an implementation that does not wait.
pub trait Pause: Send + Sync {
    fn pause(&self, time: Duration) -> Pin<Box<dyn Future<Output = ()> + Send>>;
}

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
    fn only_positive_numbers_count() {
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

    #[test]
    fn hosts_are_compared_with_their_ports() {
        let names = ["registry.terraform.io", "git.test:8443", "bücher.example"];
        let hosts = AllowedHosts::only(names.map(|name| Hostname::parse(name).unwrap()));
        for (url, expected) in [
            ("https://registry.terraform.io/x", true),
            ("https://REGISTRY.terraform.io:443/x", true),
            ("ssh://git@registry.terraform.io/x", true),
            ("https://registry.terraform.io:8443/x", false),
            ("http://registry.terraform.io:80/x", true),
            ("https://git.test:8443/x", true),
            ("https://git.test/x", false),
            ("https://xn--bcher-kva.example/x", true),
            ("https://registry.terraform.io.evil.test/x", false),
            ("https://user:registry.terraform.io@evil.test/x", false),
            ("https://evil.test/registry.terraform.io", false),
            ("file:///srv/x", true),
        ] {
            let address = Url::parse(url).unwrap();
            assert_eq!(hosts.allows_url(&address), expected, "{url}");
            assert!(AllowedHosts::all().allows_url(&address));
        }
        for (host, expected) in [
            ("git.test:8443", true),
            ("git.test", false),
            ("evil.test", false),
        ] {
            let name = Hostname::parse(host).unwrap();
            assert_eq!(hosts.allows(&name), expected, "{host}");
        }
    }
}
