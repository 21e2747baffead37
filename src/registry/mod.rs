//! Registries and mirrors: which versions of a provider exist, and where its packages are.
//!
//! The provider protocol: service discovery maps a host name to a base URL (`discovery`). Below that URL, one endpoint lists the
//! versions of a provider, and another describes one package (`client`, `wire`, `metadata`). The description names the package, its
//! checksum list and the signature of that list; [`crate::package`] verifies them. Modules have a registry protocol of their own,
//! which uses the same discovery (`module_registry`). OCI registries have a different protocol (`oci`). `package_source` chooses
//! between registries and mirrors.
//!
//! On the level below these protocols, `request` describes and sends a single request (with a `request_method` and a
//! `request_purpose`). `transport` and `download` repeat the request according to `retry`. `credentials` and `netrc` provide the
//! credentials for a host. `http_clients` builds the HTTP clients with the certificate authorities of `trusted_roots`. `proxies`,
//! `connect_fault` and `certificate_fault` explain why a server cannot be reached.

mod certificate_fault;
mod client;
mod connect_fault;
mod credentials;
mod discovery;
mod download;
mod error;
mod filesystem_mirror;
mod gzip;
mod http_clients;
mod http_exchange;
mod http_validator;
mod metadata;
mod module_registry;
mod netrc;
mod network_mirror;
mod oci;
mod package_source;
mod proxies;
mod request;
mod request_error;
mod request_method;
mod request_purpose;
mod retry;
mod settings;
mod transport;
mod trusted_roots;
mod wire;

pub use crate::mirror::LocalPackage;
pub use crate::provider::PackageId;
pub use certificate_fault::{CertificateFault, CertificateProblem};
pub use client::RegistryClient;
pub use connect_fault::{ConnectFault, ConnectProblem};
pub use credentials::{ApiToken, CredentialsError, tokens_from_env};
pub use discovery::Service;
pub use download::Download;
pub use error::RegistryError;
pub use filesystem_mirror::FilesystemMirror;
pub use http_exchange::HttpExchange;
pub use http_validator::HttpValidator;
pub use metadata::{
    AnswerError, AvailableVersion, AvailableVersions, PackageMeta, PackagesError, RawPackages,
};
pub use module_registry::{ModuleId, ModuleLocation, ModuleVersions};
pub use network_mirror::{MirrorHashError, MirrorPackage, NetworkMirror};
pub use oci::{
    OciManifestBody, OciMirror, OciMirrorWriter, OciPackage, OciRepository, OciSettings,
    RepositoryMapping,
};
pub use package_source::{PackageLocation, PackageSource};
pub use proxies::{ProxyVariable, ProxyVariables, UsedProxy};
pub use request::ByteLimit;
pub(crate) use request::is_loopback;
pub use request_error::{CauseText, RequestError, RequestFault};
pub use request_purpose::RequestPurpose;
pub use settings::{
    AllowedHosts, BaseUrl, CredentialSettings, DEFAULT_REQUEST_TIMEOUT, DEFAULT_RETRIES,
    HttpSettings, Pause, RealTime, RegistrySettings, Roots, positive,
};
pub use trusted_roots::{RootFile, RootOrigin, SystemRoots};
