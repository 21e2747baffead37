//! The HTTP clients, the certificates that they trust, and their proxies.
//!
//! Documents are small and numerous, so they share HTTP/2 connections. Packages are large: each gets its own HTTP/1.1 connection,
//! because all streams of an HTTP/2 connection share one flow-control window. Reading the system's certificates takes longer than a
//! whole run that sends no requests, so clients are built on first use, and the certificates are read only once.
//!
//! As in Go, requests to this machine never use a proxy: company environments often set a proxy for all traffic, and that proxy
//! cannot reach a registry on loopback such as Terragrunt's provider cache server.

use std::sync::OnceLock;

use reqwest::{Certificate, Client, ClientBuilder, Url, redirect};

use crate::registry::error::{RegistryError, Result};
use crate::registry::proxies::UsedProxy;
use crate::registry::request::is_loopback;
use crate::registry::request_error::{CauseText, RequestFault};
use crate::registry::settings::{HttpSettings, Roots};
use crate::registry::trusted_roots::{RootOrigin, SystemRoots};
#[cfg(all(unix, not(target_vendor = "apple")))]
use crate::registry::trusted_roots::{mozilla_certificates, system_certificates};

const USER_AGENT: &str = concat!("tflock/", env!("CARGO_PKG_VERSION"));

#[derive(Debug)]
pub(super) struct HttpClients {
    settings: HttpSettings,
    /// The certificates from [`Roots::Only`].
    only_roots: Vec<Certificate>,
    #[cfg(all(unix, not(target_vendor = "apple")))]
    system_roots: OnceLock<(Vec<Certificate>, RootOrigin)>,
    documents: ProxiedClient,
    packages: ProxiedClient,
}

/// The kind of content that a request transfers.
#[derive(Clone, Copy, Debug)]
pub(super) enum ContentKind {
    Document,
    Package,
}

/// The HTTP clients for requests to this machine and to other hosts.
#[derive(Debug, Default)]
struct ProxiedClient {
    loopback: OnceLock<Result<Client, RequestFault>>,
    elsewhere: OnceLock<Result<Client, RequestFault>>,
}

impl HttpClients {
    /// Creates the collection without building any client. Fails if the certificates in the settings are invalid.
    pub(super) fn new(settings: HttpSettings) -> Result<Self> {
        let only_roots = match &settings.roots {
            Roots::Only(pem) => Certificate::from_pem_bundle(pem)
                .map_err(|error| RegistryError::Roots(CauseText::innermost(&error)))?,
            Roots::System(_) => Vec::new(),
        };
        Ok(Self {
            settings,
            only_roots,
            #[cfg(all(unix, not(target_vendor = "apple")))]
            system_roots: OnceLock::new(),
            documents: ProxiedClient::default(),
            packages: ProxiedClient::default(),
        })
    }

    /// Returns the client for requests of this kind to the server of `url`.
    pub(super) fn client(&self, kind: ContentKind, url: &Url) -> Result<&Client, RequestFault> {
        match kind {
            ContentKind::Document => {
                self.cached_client(&self.documents, url, |builder| builder.gzip(true))
            }
            ContentKind::Package => self.cached_client(&self.packages, url, |builder| {
                builder.http1_only().gzip(false)
            }),
        }
    }

    fn cached_client<'a>(
        &self,
        clients: &'a ProxiedClient,
        url: &Url,
        configure: fn(ClientBuilder) -> ClientBuilder,
    ) -> Result<&'a Client, RequestFault> {
        let is_loopback = is_loopback(url);
        let use_proxy = self.settings.use_system_proxy && !is_loopback;
        if use_proxy {
            self.settings.proxies.check(url)?;
        }
        let client = if is_loopback {
            &clients.loopback
        } else {
            &clients.elsewhere
        };
        let client = client.get_or_init(|| self.build(configure(self.builder(use_proxy))));
        client.as_ref().map_err(Clone::clone)
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

    fn build(&self, builder: ClientBuilder) -> Result<Client, RequestFault> {
        // An error means that a cryptography provider is already installed, which works just as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let builder = match &self.settings.roots {
            Roots::Only(_) => builder.tls_certs_only(self.only_roots.iter().cloned()),
            Roots::System(named) => self.with_system_roots(builder, named),
        };
        let built = builder.build();
        built.map_err(|error| RequestFault::Setup(CauseText::innermost(&error)))
    }

    #[cfg(all(unix, not(target_vendor = "apple")))]
    fn with_system_roots(&self, builder: ClientBuilder, named: &SystemRoots) -> ClientBuilder {
        let (certificates, _) = self.system_roots(named);
        builder.tls_certs_only(certificates.iter().cloned())
    }

    #[cfg(all(unix, not(target_vendor = "apple")))]
    fn system_roots(&self, named: &SystemRoots) -> &(Vec<Certificate>, RootOrigin) {
        self.system_roots.get_or_init(|| {
            let (found, files) = system_certificates(named);
            if found.is_empty() && *named == SystemRoots::default() {
                return (mozilla_certificates(), RootOrigin::Mozilla);
            }
            let certificate = |der: &Vec<u8>| Certificate::from_der(der).ok();
            let certificates = found.iter().filter_map(certificate).collect();
            (certificates, RootOrigin::Files(files))
        })
    }

    /// Keeps the default, which is the verifier of the operating system.
    #[cfg(not(all(unix, not(target_vendor = "apple"))))]
    fn with_system_roots(&self, builder: ClientBuilder, _: &SystemRoots) -> ClientBuilder {
        builder
    }

    /// Returns where the trusted certificate authorities come from.
    pub(super) fn root_origin(&self) -> RootOrigin {
        match &self.settings.roots {
            Roots::Only(_) => RootOrigin::Settings,
            #[cfg(all(unix, not(target_vendor = "apple")))]
            Roots::System(named) => self.system_roots(named).1.clone(),
            #[cfg(not(all(unix, not(target_vendor = "apple"))))]
            Roots::System(_) => RootOrigin::SystemVerifier,
        }
    }

    /// Returns the proxy for `url`. `None` if the request is sent directly.
    pub(super) fn proxy(&self, url: &Url) -> Option<UsedProxy> {
        if !self.settings.use_system_proxy || is_loopback(url) {
            return None;
        }
        self.settings.proxies.used(url)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clients(roots: Roots) -> Result<HttpClients, RegistryError> {
        HttpClients::new(HttpSettings {
            roots,
            ..HttpSettings::default()
        })
    }

    #[test]
    fn certificates_in_the_settings_must_be_valid() {
        let broken = b"-----BEGIN CERTIFICATE-----\n!\n-----END CERTIFICATE-----\n".to_vec();
        let error = clients(Roots::Only(broken)).unwrap_err();
        assert!(matches!(error, RegistryError::Roots(_)));
    }
}
