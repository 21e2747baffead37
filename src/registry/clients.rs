//! The two HTTP clients and whom they trust.
//!
//! Documents are small and many: they share HTTP/2 connections. Packages are large: they get an HTTP/1.1 connection each,
//! because all streams of an HTTP/2 connection share one window. Reading the system's certificates takes longer than a run
//! that needs no request at all, so neither client is made before it is used.

use std::sync::OnceLock;

use reqwest::{Certificate, Client, ClientBuilder, redirect};

use crate::registry::error::RegistryError;
use crate::registry::fault::{Cause, Fault};
use crate::registry::settings::{HttpSettings, Roots};

/// What tflock calls itself.
const USER_AGENT: &str = concat!("tflock/", env!("CARGO_PKG_VERSION"));

/// The two clients.
#[derive(Debug)]
pub(super) struct Clients {
    settings: HttpSettings,
    /// Those of [`Roots::Only`].
    roots: Vec<Certificate>,
    documents: OnceLock<Result<Client, Fault>>,
    packages: OnceLock<Result<Client, Fault>>,
}

impl Clients {
    /// Fails if the certificates in the settings cannot be read.
    pub(super) fn new(settings: HttpSettings) -> Result<Self, RegistryError> {
        let roots = match &settings.roots {
            Roots::Only(pem) => Certificate::from_pem_bundle(pem)
                .map_err(|error| RegistryError::Roots(Cause::innermost(&error)))?,
            Roots::System | Roots::SystemOnly => Vec::new(),
        };
        Ok(Self {
            settings,
            roots,
            documents: OnceLock::new(),
            packages: OnceLock::new(),
        })
    }

    /// The client for documents.
    pub(super) fn documents(&self) -> Result<&Client, Fault> {
        let build = || self.build(|builder| builder.gzip(true));
        self.documents
            .get_or_init(build)
            .as_ref()
            .map_err(Clone::clone)
    }

    /// The client for packages.
    pub(super) fn packages(&self) -> Result<&Client, Fault> {
        let build = || self.build(|builder| builder.http1_only().gzip(false));
        self.packages
            .get_or_init(build)
            .as_ref()
            .map_err(Clone::clone)
    }

    fn build(&self, flavor: fn(ClientBuilder) -> ClientBuilder) -> Result<Client, Fault> {
        // Fails if a provider is installed already, and any will do.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let base = || flavor(self.builder());
        let built = match &self.settings.roots {
            Roots::Only(_) => base().tls_certs_only(self.roots.iter().cloned()).build(),
            Roots::SystemOnly => base().build(),
            Roots::System => base()
                .build()
                .or_else(|_| base().tls_certs_only(mozilla()).build()),
        };
        built.map_err(|error| Fault::Setup(Cause::innermost(&error)))
    }

    fn builder(&self) -> ClientBuilder {
        let builder = Client::builder()
            .user_agent(USER_AGENT)
            .redirect(redirect::Policy::none())
            .retry(reqwest::retry::never())
            .referer(false)
            .connect_timeout(self.settings.connect_timeout);
        if self.settings.use_system_proxy {
            builder
        } else {
            builder.no_proxy()
        }
    }
}

/// The authorities that Mozilla trusts, for systems that have none: images made from scratch.
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
    fn mozillas_authorities_make_a_client() {
        let clients = clients(Roots::System).expect("nothing to read");
        let builder = clients.builder().tls_certs_only(mozilla());
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
