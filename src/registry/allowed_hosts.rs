//! Which hosts repository content may have asked: `--allow-host`, with `--untrusted`.

use std::collections::BTreeSet;

use url::Url;

use crate::provider::Hostname;
use crate::registry::error::RegistryError;

/// The hosts that registries and remote modules may be named on. The addresses that these hosts answer with are followed
/// wherever they lead, but credentials go to no other host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedHosts(Option<BTreeSet<Hostname>>);

impl AllowedHosts {
    /// Every host.
    pub const fn all() -> Self {
        Self(None)
    }

    /// These hosts only.
    pub fn only(hosts: impl IntoIterator<Item = Hostname>) -> Self {
        Self(Some(hosts.into_iter().collect()))
    }

    /// Whether every host may be asked.
    pub const fn is_unlimited(&self) -> bool {
        self.0.is_none()
    }

    /// Whether the registry on `host` may be asked.
    pub fn allows(&self, host: &Hostname) -> bool {
        self.0.as_ref().is_none_or(|hosts| hosts.contains(host))
    }

    /// Whether the server that `url` names may be asked. An address without a host is on this machine and not for this rule.
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

    /// Fails unless the registry on `host` may be asked.
    pub(super) fn check(&self, host: &Hostname) -> Result<(), RegistryError> {
        if self.allows(host) {
            return Ok(());
        }
        Err(RegistryError::HostNotAllowed { host: host.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            assert_eq!(
                hosts.allows_url(&Url::parse(url).unwrap()),
                expected,
                "{url}"
            );
            assert!(AllowedHosts::all().allows_url(&Url::parse(url).unwrap()));
        }
        for (host, expected) in [
            ("git.test:8443", true),
            ("git.test", false),
            ("evil.test", false),
        ] {
            assert_eq!(
                hosts.allows(&Hostname::parse(host).unwrap()),
                expected,
                "{host}"
            );
        }
    }
}
