//! A certificate authority for https registries. Clients trust it through `SSL_CERT_FILE`.

use std::path::Path;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair,
    KeyUsagePurpose, date_time_ymd,
};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use tempfile::NamedTempFile;

use crate::registry::FakeRegistry;

/// A certificate authority with its certificate in a file.
pub struct TestAuthority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    file: NamedTempFile,
}

impl TestAuthority {
    pub fn create() -> Self {
        let mut parameters = CertificateParams::default();
        parameters.distinguished_name = named("tests of tflock");
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let key = KeyPair::generate().expect("keys can be generated");
        let issuer =
            CertifiedIssuer::self_signed(parameters, key).expect("the parameters are valid");
        let file = NamedTempFile::with_suffix(".pem").expect("a temporary file");
        std::fs::write(file.path(), issuer.pem()).expect("the temporary file can be written");
        Self { issuer, file }
    }

    /// Returns the path to use as the value of `SSL_CERT_FILE`.
    pub fn certificate_file(&self) -> &Path {
        self.file.path()
    }

    /// Returns the TLS configuration of a server with these names. This authority signs the server's certificate.
    pub fn server_config(&self, names: &[&str]) -> Arc<ServerConfig> {
        let identity = names
            .iter()
            .fold(Identity::nameless(), |all, name| all.and(name));
        self.server_config_for(&identity)
    }

    /// Returns the TLS configuration of a server with this identity. This authority signs the server's certificate.
    pub fn server_config_for(&self, identity: &Identity) -> Arc<ServerConfig> {
        server_config(self.issue(identity))
    }

    /// Returns the TLS configuration of a server that uses the certificate of the authority itself.
    pub fn own_server_config(&self) -> Arc<ServerConfig> {
        let key = private_key(self.issuer.key());
        server_config((vec![self.issuer.der().clone()], key))
    }

    /// Issues a certificate for a server.
    pub fn issue(&self, identity: &Identity) -> IssuedCertificate {
        let names = identity.names.clone();
        let mut parameters = CertificateParams::new(names).expect("the names are valid");
        parameters.distinguished_name = named("server");
        if let Some([first, last]) = identity.valid {
            parameters.not_before = date_time_ymd(first.0, first.1, first.2);
            parameters.not_after = date_time_ymd(last.0, last.1, last.2);
        }
        let key = KeyPair::generate().expect("keys can be generated");
        let certificate = parameters
            .signed_by(&key, &self.issuer)
            .expect("the parameters are valid");
        (vec![certificate.der().clone()], private_key(&key))
    }
}

/// A certificate chain with its private key.
pub type IssuedCertificate = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn private_key(key: &KeyPair) -> PrivateKeyDer<'static> {
    PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()))
}

fn server_config((chain, key): IssuedCertificate) -> Arc<ServerConfig> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("ring has the default versions")
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .expect("the certificate matches its key");
    Arc::new(config)
}

/// The content of a server's certificate.
#[derive(Clone, Debug)]
pub struct Identity {
    names: Vec<String>,
    /// The first and the last day. `None` for today and many years.
    valid: Option<[Day; 2]>,
}

/// A year, a month and a day.
type Day = (i32, u8, u8);

impl Identity {
    pub fn nameless() -> Self {
        Self {
            names: Vec::new(),
            valid: None,
        }
    }

    pub fn named(name: &str) -> Self {
        Self::nameless().and(name)
    }

    /// Adds a name.
    pub fn and(mut self, name: &str) -> Self {
        self.names.push(name.to_owned());
        self
    }

    pub fn valid(mut self, first: Day, last: Day) -> Self {
        self.valid = Some([first, last]);
        self
    }
}

/// A registry that also supports TLS, with the authority that signs its certificate.
pub struct TlsRegistry {
    pub registry: FakeRegistry,
    pub authority: TestAuthority,
    /// The host name and port of the registry.
    pub host: String,
}

impl TlsRegistry {
    /// Starts an empty registry with TLS.
    pub fn start() -> Self {
        let mut registry = FakeRegistry::start();
        let authority = TestAuthority::create();
        let host = registry.serve_tls(&authority);
        Self {
            registry,
            authority,
            host,
        }
    }
}

/// Returns a certificate subject with this name. Names must be unique, because OpenSSL treats a certificate as
/// self-signed if its subject equals its issuer.
fn named(name: &str) -> DistinguishedName {
    let mut names = DistinguishedName::new();
    names.push(DnType::CommonName, name);
    names
}
