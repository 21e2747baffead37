//! The two HTTP clients and whom they trust.
//!
//! Documents are small and many: they share HTTP/2 connections. Packages are large: they get an HTTP/1.1 connection each,
//! because all streams of an HTTP/2 connection share one window. Reading the system's certificates takes longer than a run
//! that needs no request at all, so no client is made before it is used, and they are read once.
//!
//! Requests to this machine go through no proxy, whatever the environment says. Go has it so, and the environment of a company
//! names a proxy for everything, while registries on loopback (Terragrunt's cache server) are out of its reach.

use std::sync::OnceLock;

use reqwest::{Certificate, Client, ClientBuilder, Url, redirect};

use crate::registry::error::RegistryError;
use crate::registry::fault::{Cause, Fault};
use crate::registry::http::is_loopback;
#[cfg(all(unix, not(target_vendor = "apple")))]
use crate::registry::roots;
use crate::registry::roots::SystemRoots;
use crate::registry::settings::{HttpSettings, Roots};

/// What tflock calls itself.
const USER_AGENT: &str = concat!("tflock/", env!("CARGO_PKG_VERSION"));

/// The two clients.
#[derive(Debug)]
pub(super) struct Clients {
    settings: HttpSettings,
    /// Those of [`Roots::Only`].
    roots: Vec<Certificate>,
    #[cfg(all(unix, not(target_vendor = "apple")))]
    of_system: OnceLock<Vec<Certificate>>,
    documents: Ways,
    packages: Ways,
}

/// What makes one kind of client different from the other.
type Flavor = fn(ClientBuilder) -> ClientBuilder;

/// One kind of client, for both ways to a server.
#[derive(Debug, Default)]
struct Ways {
    loopback: OnceLock<Result<Client, Fault>>,
    elsewhere: OnceLock<Result<Client, Fault>>,
}

impl Clients {
    /// Fails if the certificates in the settings cannot be read.
    pub(super) fn new(settings: HttpSettings) -> Result<Self, RegistryError> {
        let roots = match &settings.roots {
            Roots::Only(pem) => Certificate::from_pem_bundle(pem)
                .map_err(|error| RegistryError::Roots(Cause::innermost(&error)))?,
            Roots::System(_) => Vec::new(),
        };
        Ok(Self {
            settings,
            roots,
            #[cfg(all(unix, not(target_vendor = "apple")))]
            of_system: OnceLock::new(),
            documents: Ways::default(),
            packages: Ways::default(),
        })
    }

    /// The client for a document at this address.
    pub(super) fn documents(&self, url: &Url) -> Result<&Client, Fault> {
        self.client(&self.documents, url, |builder| builder.gzip(true))
    }

    /// The client for a package at this address.
    pub(super) fn packages(&self, url: &Url) -> Result<&Client, Fault> {
        self.client(&self.packages, url, |builder| {
            builder.http1_only().gzip(false)
        })
    }

    fn client<'a>(&self, ways: &'a Ways, url: &Url, flavor: Flavor) -> Result<&'a Client, Fault> {
        let is_loopback = is_loopback(url);
        let client = if is_loopback {
            &ways.loopback
        } else {
            &ways.elsewhere
        };
        let use_proxy = self.settings.use_system_proxy && !is_loopback;
        if use_proxy {
            self.settings.proxies.check(url)?;
        }
        client
            .get_or_init(|| self.build(flavor, use_proxy))
            .as_ref()
            .map_err(Clone::clone)
    }

    fn build(&self, flavor: Flavor, use_proxy: bool) -> Result<Client, Fault> {
        // Fails if a provider is installed already, and any will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let base = || flavor(self.builder(use_proxy));
        let built = match &self.settings.roots {
            Roots::Only(_) => base().tls_certs_only(self.roots.iter().cloned()).build(),
            Roots::System(named) => self.with_system_roots(base(), named).build(),
        };
        built.map_err(|error| Fault::Setup(Cause::innermost(&error)))
    }

    /// A client that trusts the system's authorities, which are read once.
    #[cfg(all(unix, not(target_vendor = "apple")))]
    fn with_system_roots(&self, builder: ClientBuilder, named: &SystemRoots) -> ClientBuilder {
        let read = || {
            let found = roots::certificates(named);
            if found.is_empty() && !named.is_named() {
                return mozilla();
            }
            let certificate = |der: &Vec<u8>| Certificate::from_der(der).ok();
            found.iter().filter_map(certificate).collect()
        };
        builder.tls_certs_only(self.of_system.get_or_init(read).iter().cloned())
    }

    /// A client that asks the system.
    #[cfg(not(all(unix, not(target_vendor = "apple"))))]
    fn with_system_roots(&self, builder: ClientBuilder, _: &SystemRoots) -> ClientBuilder {
        builder
    }

    fn builder(&self, use_proxy: bool) -> ClientBuilder {
        let builder = Client::builder()
            .user_agent(USER_AGENT)
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .connect_timeout(self.settings.connect_timeout);
        if use_proxy {
            builder
        } else {
            builder.no_proxy()
        }
    }
}

/// The authorities that Mozilla trusts, for systems that have none: images made from scratch.
#[cfg(all(unix, not(target_vendor = "apple")))]
fn mozilla() -> Vec<Certificate> {
    let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter();
    roots
        .filter_map(|root| Certificate::from_der(root).ok())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clients(roots: Roots) -> Result<Clients, RegistryError> {
        Clients::new(HttpSettings {
            roots,
            ..HttpSettings::default()
        })
    }

    #[test]
    #[cfg(all(unix, not(target_vendor = "apple")))]
    fn mozillas_authorities_make_a_client() {
        let clients = clients(Roots::System(SystemRoots::default())).expect("nothing to read");
        let builder = clients.builder(true).tls_certs_only(mozilla());
        let _ = rustls::crypto::ring::default_provider().install_default();
        assert!(builder.build().is_ok());
        assert!(mozilla().len() > 50);
    }

    #[test]
    fn certificates_in_the_settings_must_be_readable() {
        let broken = b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n".to_vec();
        assert!(matches!(
            clients(Roots::Only(broken)),
            Err(RegistryError::Roots(_))
        ));
    }
}
