//! The HTTP clients, the certificates that they trust, and their proxies.
//!
//! Documents are small and numerous, so they share HTTP/2 connections. Packages are large: each gets its own HTTP/1.1 connection,
//! because all streams of an HTTP/2 connection share one flow-control window. Reading the system's certificates takes longer than a
//! whole run that sends no requests, so clients are built on first use, and the certificates are read only once.
//!
//! Certificates are located in the same way as in Go, so that tflock trusts the same ones as Terraform and OpenTofu. On Unix
//! systems other than Apple's, they come from the first readable file in a list, and from all files in certain directories.
//! `SSL_CERT_FILE` replaces the list of files and `SSL_CERT_DIR` (`a:b`) the directories; neither affects the other. Unreadable
//! files are skipped. Other systems use their own verifier and ignore both variables.
//!
//! As in Go, requests to this machine never use a proxy: company environments often set a proxy for all traffic, and that proxy
//! cannot reach a registry on loopback such as Terragrunt's provider cache server.

use std::path::PathBuf;
use std::sync::OnceLock;

use hyper_util::client::proxy::matcher::Matcher;
use reqwest::{Certificate, Client, ClientBuilder, Url, redirect};

use crate::registry::error::{RegistryError, Result};
use crate::registry::request::is_loopback;
use crate::registry::request_error::{CauseText, RequestFault};
use crate::registry::settings::{HttpSettings, Roots};

const USER_AGENT: &str = concat!("tflock/", env!("CARGO_PKG_VERSION"));

#[derive(Debug)]
pub(super) struct HttpClients {
    settings: HttpSettings,
    /// The certificates from [`Roots::Only`].
    only_roots: Vec<Certificate>,
    #[cfg(all(unix, not(target_vendor = "apple")))]
    system_roots: OnceLock<Vec<Certificate>>,
    documents: ProxiedClient,
    packages: ProxiedClient,
}

/// The HTTP clients for requests to this machine and to other hosts.
#[derive(Debug, Default)]
struct ProxiedClient {
    loopback: OnceLock<Result<Client, RequestFault>>,
    elsewhere: OnceLock<Result<Client, RequestFault>>,
}

impl HttpClients {
    /// Fails if the certificates in the settings are invalid.
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

    pub(super) fn documents(&self, url: &Url) -> Result<&Client, RequestFault> {
        self.client(&self.documents, url, |builder| builder.gzip(true))
    }

    pub(super) fn packages(&self, url: &Url) -> Result<&Client, RequestFault> {
        self.client(&self.packages, url, |builder| {
            builder.http1_only().gzip(false)
        })
    }

    fn client<'a>(
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
        let read = || {
            let found = roots::system_certificates(named);
            if found.is_empty() && *named == SystemRoots::default() {
                return roots::mozilla_certificates();
            }
            let certificate = |der: &Vec<u8>| Certificate::from_der(der).ok();
            found.iter().filter_map(certificate).collect()
        };
        builder.tls_certs_only(self.system_roots.get_or_init(read).iter().cloned())
    }

    /// Leaves the default in place, which is the system's own verifier.
    #[cfg(not(all(unix, not(target_vendor = "apple"))))]
    fn with_system_roots(&self, builder: ClientBuilder, _: &SystemRoots) -> ClientBuilder {
        builder
    }
}

/// The environment's settings for system certificates. If either is set, Mozilla's certificates do not replace unreadable files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SystemRoots {
    /// The value of `SSL_CERT_FILE`.
    pub file: Option<PathBuf>,
    /// The paths in `SSL_CERT_DIR`.
    pub directories: Option<Vec<PathBuf>>,
}

/// An environment variable that sets a proxy. It does not implement `Debug`, because its value may contain a password.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProxyVariable {
    /// The name as it is set, in upper or lower case.
    pub name: String,
    /// The value, which may be empty.
    pub value: String,
}

#[derive(Clone, Default, PartialEq, Eq)]
pub struct ProxyVariables {
    pub http: Option<ProxyVariable>,
    pub https: Option<ProxyVariable>,
    /// The variable `ALL_PROXY`, for requests to which the other two do not apply.
    pub all: Option<ProxyVariable>,
    /// The value of `NO_PROXY`.
    pub none: String,
}

impl ProxyVariables {
    /// Checks that the address of the proxy for `url`, if any, is valid. The HTTP client reads the variables itself, but would
    /// ignore an invalid address and connect directly.
    fn check(&self, url: &Url) -> Result<(), RequestFault> {
        let by_scheme = match url.scheme() {
            "https" => &self.https,
            _ => &self.http,
        };
        let mut set = [by_scheme, &self.all].into_iter().flatten();
        match set.find(|variable| !variable.value.is_empty()) {
            Some(variable) if !self.is_direct(url) && !is_valid_proxy(&variable.value) => {
                Err(RequestFault::Proxy {
                    variable: variable.name.clone(),
                })
            }
            _ => Ok(()),
        }
    }

    /// Whether `NO_PROXY` covers the host of `url`.
    fn is_direct(&self, url: &Url) -> bool {
        !uses_proxy("http://proxy.invalid", &self.none, url.as_str())
    }
}

/// Whether the HTTP client can use this proxy address.
fn is_valid_proxy(address: &str) -> bool {
    has_valid_port(address) && uses_proxy(address, "", "http://host.invalid/")
}

/// Whether the port, if any, is valid. The HTTP client would ignore an invalid port and use the default port instead.
fn has_valid_port(address: &str) -> bool {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host);
    let after_brackets = host.rsplit_once(']').map_or(host, |(_, after)| after);
    let port = after_brackets.rsplit_once(':').map(|(_, port)| port);
    port.is_none_or(|port| port.parse::<u16>().is_ok())
}

/// Whether a request for `url` goes to the proxy at `address`. `none` lists the hosts that are reached without a proxy.
fn uses_proxy(address: &str, none: &str, url: &str) -> bool {
    let matcher = Matcher::builder().all(address).no(none).build();
    url.parse()
        .is_ok_and(|url| matcher.intercept(&url).is_some())
}

#[cfg(all(unix, not(target_vendor = "apple")))]
mod roots {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use reqwest::Certificate;
    use rustls::RootCertStore;
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject as _;

    use super::SystemRoots;

    /// Files in which distributions store the certificates of all trusted authorities.
    const FILES: [&str; 9] = [
        "/etc/ssl/certs/ca-certificates.crt",
        "/etc/pki/tls/certs/ca-bundle.crt",
        "/etc/ssl/ca-bundle.pem",
        "/etc/pki/tls/cacert.pem",
        "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
        "/etc/ssl/cert.pem",
        "/usr/local/etc/ssl/cert.pem",
        "/usr/local/share/certs/ca-root-nss.crt",
        "/etc/openssl/certs/ca-certificates.crt",
    ];

    /// Directories that contain one file per certificate.
    pub(super) const DIRECTORIES: [&str; 3] = [
        "/etc/ssl/certs",
        "/etc/pki/tls/certs",
        "/usr/local/share/certs",
    ];

    /// The maximum size of a file. Larger files are skipped, because the directories may contain files other than certificates.
    const MAX_BYTES: u64 = 4 << 20;

    /// Returns the system's certificates in DER form, without duplicates.
    pub(super) fn system_certificates(named: &SystemRoots) -> BTreeSet<Vec<u8>> {
        let default = |paths: &[&str]| paths.iter().map(PathBuf::from).collect::<Vec<_>>();
        let files = named.file.as_ref().map(|file| vec![file.clone()]);
        let files = files.unwrap_or_else(|| default(&FILES));
        let directories = named.directories.clone();
        let directories = directories.unwrap_or_else(|| default(&DIRECTORIES));
        let mut found = files.iter().find_map(|file| read(file)).unwrap_or_default();
        for directory in directories {
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                found.extend(read(&entry.path()).unwrap_or_default());
            }
        }
        found.retain(|certificate| is_usable(certificate));
        found
    }

    /// Reads the certificates in a file. `None` if it cannot be read.
    fn read(path: &Path) -> Option<BTreeSet<Vec<u8>>> {
        let metadata = fs::metadata(path).ok()?;
        if !metadata.is_file() || metadata.len() > MAX_BYTES {
            return None;
        }
        let text = fs::read(path).ok()?;
        let certificates = CertificateDer::pem_slice_iter(&text).filter_map(Result::ok);
        Some(certificates.map(|der| der.to_vec()).collect())
    }

    /// Whether the TLS library accepts the certificate. A single invalid certificate would make it reject all the others, too.
    fn is_usable(der: &[u8]) -> bool {
        RootCertStore::empty()
            .add(CertificateDer::from(der.to_vec()))
            .is_ok()
    }

    /// Returns Mozilla's certificate authorities, for systems without certificates, such as minimal container images.
    pub(super) fn mozilla_certificates() -> Vec<Certificate> {
        let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter();
        roots
            .filter_map(|root| Certificate::from_der(root).ok())
            .collect()
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

    #[test]
    fn proxy_addresses_are_valid_if_the_client_can_use_them() {
        for (address, expected) in [
            ("http://proxy.test:8080", true),
            ("http://proxy.test:8080/", true),
            ("https://user:p%40ss@proxy.test", true),
            ("socks4a://proxy.test:1080", true),
            ("socks5h://[::1]:1080", true),
            ("proxy.test:8080", true),
            ("proxy.test", true),
            ("http://[::1]", true),
            ("http://[", false),
            ("socks6://x", false),
            ("ftp://proxy.test", false),
            (" http://proxy.test", false),
            ("http://proxy.test ", false),
            ("http://pro xy.test", false),
            ("http://proxy.test:99999", false),
            ("http://proxy.test:99999/", false),
            ("http://proxy.test:http", false),
            ("http://user:pass word@proxy.test", false),
            ("http:///x", false),
            ("/x", false),
            (" ", false),
        ] {
            assert_eq!(is_valid_proxy(address), expected, "{address}");
        }
    }

    #[test]
    fn only_the_variable_for_a_request_is_checked() {
        let variable = |name: &str, value: &str| {
            let (name, value) = (name.to_owned(), value.to_owned());
            Some(ProxyVariable { name, value })
        };
        let variables = ProxyVariables {
            http: variable("http_proxy", "http://["),
            https: variable("HTTPS_PROXY", ""),
            all: variable("ALL_PROXY", "socks6://u:secret@x"),
            none: "direct.test, 10.0.0.0/8".to_owned(),
        };
        for (url, expected) in [
            ("http://a.test/x", Some("http_proxy")),
            ("https://a.test/x?y", Some("ALL_PROXY")),
            ("https://direct.test/x", None),
            ("http://sub.direct.test/x", None),
            ("http://10.1.2.3/", None),
        ] {
            let message = |name| format!("invalid proxy address in `{name}`");
            let found = variables.check(&Url::parse(url).unwrap()).err();
            let found = found.map(|fault| fault.to_string());
            assert_eq!(found, expected.map(message), "{url}");
        }
        let url = Url::parse("http://a.test").unwrap();
        assert!(ProxyVariables::default().check(&url).is_ok());
    }

    #[cfg(all(unix, not(target_vendor = "apple")))]
    mod roots {
        use std::fs;
        use std::path::Path;

        use super::*;
        use crate::registry::http_clients::roots::*;
        use tflock_test_support::TestAuthority;

        /// An invalid certificate in PEM form.
        const INVALID: &str = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

        #[test]
        fn a_client_can_use_mozillas_authorities() {
            let clients = clients(Roots::System(SystemRoots::default())).unwrap();
            let builder = clients.builder(true).tls_certs_only(mozilla_certificates());
            let _ = rustls::crypto::ring::default_provider().install_default();
            assert!(builder.build().is_ok());
            assert!(mozilla_certificates().len() > 50);
        }

        #[test]
        fn each_variable_replaces_its_own_kind() {
            let authorities = [TestAuthority::create(), TestAuthority::create()];
            let directory = tempfile::tempdir().unwrap();
            let file = authorities[0].certificate_file().to_path_buf();
            let other = authorities[1].certificate_file();
            fs::copy(other, directory.path().join("a.0")).unwrap();
            fs::write(directory.path().join("notes"), "no certificate").unwrap();
            fs::write(directory.path().join("bad.pem"), INVALID).unwrap();
            let missing = PathBuf::from("/missing");
            let directory = directory.path().to_path_buf();
            for (file, directories, expected) in [
                (&file, vec![], 1),
                (&missing, vec![directory.clone()], 1),
                (&file, vec![missing.clone(), directory.clone()], 2),
                (&missing, vec![missing.clone()], 0),
            ] {
                let named = SystemRoots {
                    file: Some(file.clone()),
                    directories: Some(directories),
                };
                assert_eq!(system_certificates(&named).len(), expected, "{named:?}");
            }
            if DIRECTORIES.iter().any(|path| Path::new(path).is_dir()) {
                let beside = SystemRoots {
                    file: Some(file),
                    directories: None,
                };
                let (beside, system) = (
                    system_certificates(&beside),
                    system_certificates(&SystemRoots::default()),
                );
                assert!(
                    beside.len() > system.len() / 2,
                    "the default directories are used alongside `SSL_CERT_FILE`"
                );
            }
        }
    }
}
