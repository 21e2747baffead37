//! Registries: who has a provider, in which versions, and where its packages are.
//!
//! The protocol of providers: service discovery leads from a host name to a base URL (`discovery`), below which two endpoints list the
//! versions of a provider and describe one package (`client`, `wire`, `metadata`). The description leads to the package, its
//! checksum list and the signature of that; what they prove is not this room's business. Modules have a registry protocol of
//! their own on the same base (`modules`).
//!
//! Below the protocol: `clients` and `http` make one exchange, `fetch` and `download` repeat it where that makes sense (`retry`,
//! `budget`), `credentials` decides which token a host gets, and `memo` sees to it that everything is asked for once.

mod allowed_hosts;
mod answers;
mod asking;
mod budget;
mod client;
mod clients;
mod credentials;
mod discovery;
mod download;
mod error;
mod fault;
mod fetch;
mod filesystem;
mod gzip;
mod helper;
mod http;
mod memo;
mod metadata;
mod mirror;
mod modules;
mod netrc;
mod packages;
mod policy;
mod proxy;
mod retry;
mod roots;
mod settings;
mod slots;
mod source;
mod stamp;
mod wire;

pub use crate::mirror::LocalPackage;
pub use crate::provider::PackageId;
pub use allowed_hosts::AllowedHosts;
pub use client::RegistryClient;
pub use credentials::{Token, tokens_from_env};
pub use discovery::Service;
pub use download::Download;
pub use error::{CredentialsError, RegistryError};
pub use fault::{Cause, Fault, RequestError};
pub use fetch::ByteLimit;
pub use filesystem::FilesystemMirror;
pub(crate) use http::is_loopback;
pub use memo::OnceMap;
pub use metadata::{AnswerError, AvailableVersion, AvailableVersions, PackageMeta};
pub use mirror::{MirrorHashError, MirrorPackage, NetworkMirror};
pub use modules::{ModuleId, ModuleLocation, ModuleVersions};
pub use packages::{PackagesError, RawPackages};
pub use proxy::{ProxyVariable, ProxyVariables};
pub use roots::SystemRoots;
pub use settings::{
    BaseUrl, CredentialSettings, DEFAULT_REQUEST_TIMEOUT, DEFAULT_RETRIES, HttpSettings, Pause,
    RealTime, RegistrySettings, Roots, positive,
};
pub use source::{Located, PackageSource};
pub use stamp::Stamp;
