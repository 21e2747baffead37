//! A certificate authority for https registries. Clients trust it through `SSL_CERT_FILE`.

use std::path::Path;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair,
    KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
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
    pub(crate) fn server_config(&self, names: &[&str]) -> Arc<ServerConfig> {
        let names: Vec<_> = names.iter().map(|&name| name.to_owned()).collect();
        let mut parameters = CertificateParams::new(names).expect("the names are valid");
        parameters.distinguished_name = named("server");
        let key = KeyPair::generate().expect("keys can be generated");
        let certificate = parameters
            .signed_by(&key, &self.issuer)
            .expect("the parameters are valid");
        let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("ring has the default versions")
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .expect("the certificate matches its key");
        Arc::new(config)
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
