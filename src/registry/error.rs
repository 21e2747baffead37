//! Failures of registries and mirrors. They can all be cloned, because they are remembered for the rest of a run.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::code::Code;
use crate::oci::{OciProblem, RepositoryAddress, UriTemplateError};
use crate::provider::{Hostname, ModuleVersion, PackageId, Platform, ProviderAddr, Version};
use crate::redacted_url::RedactedUrl;
use crate::registry::credentials::CredentialsError;
use crate::registry::discovery::Service;
use crate::registry::module_registry::ModuleId;
use crate::registry::request_error::{CauseText, RequestError, RequestFault, configured_at};
use crate::registry::request_purpose::RequestPurpose;
use crate::span::{Explain, Place};

/// The result of a request to a registry or mirror.
pub(super) type Result<T, E = RegistryError> = std::result::Result<T, E>;

/// A failure of a registry or mirror, or of a request to one. A `configured` field is the position of the CLI configuration block
/// that contains the address or the rule.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RegistryError {
    #[error("cannot read the trusted certificates")]
    Roots(#[source] CauseText),
    /// The run is `--untrusted`, and `--allow-host` does not include the host.
    #[error("host `{host}` is not allowed with `--untrusted`")]
    HostNotAllowed { host: Hostname },
    #[error("{}", purpose.message(source))]
    Request {
        purpose: RequestPurpose,
        #[source]
        source: Arc<RequestError>,
    },
    /// The host has no discovery document, or its document or `host` block does not name this service.
    #[error(
        "host `{host}` does not offer a {service}{}",
        configured_at(configured.as_deref())
    )]
    NotOffered {
        service: Service,
        host: Hostname,
        configured: Option<Box<Place>>,
    },
    #[error("host `{host}` does not support the {service} protocol `{}`{}", service.id(), configured_at(configured.as_deref()))]
    UnsupportedProtocol {
        service: Service,
        host: Hostname,
        configured: Option<Box<Place>>,
    },
    #[error(
        "host `{host}` gives an unusable address for its {service}{}: {problem}",
        configured_at(configured.as_deref())
    )]
    ServiceUrl {
        service: Service,
        host: Hostname,
        problem: &'static str,
        configured: Option<Box<Place>>,
    },
    /// Status 404 for the version list of a provider.
    #[error("registry `{}` has no provider `{provider}`", provider.hostname)]
    UnknownProvider { provider: Box<ProviderAddr> },
    /// All listed versions are invalid; `example` is one of them.
    #[error("registry `{}` lists no valid version of `{provider}`", provider.hostname)]
    NoValidVersion {
        provider: Box<ProviderAddr>,
        example: String,
    },
    /// A listed version contains a number that does not fit into 64 bits. Both engines crash on it.
    #[error("registry `{}` lists version `{version}` of `{provider}`, which contains a number that is too large", provider.hostname)]
    VersionTooLarge {
        provider: Box<ProviderAddr>,
        version: String,
    },
    /// Status 401 or 403. `rejected` is true if the request carried credentials.
    #[error("host `{host}` {}", if *rejected { "rejected the credentials that are configured for it" } else { "requires credentials" })]
    Unauthorized { host: Hostname, rejected: bool },
    /// Status 404 for a package, or a mirror that lacks it. `published` contains the platforms listed for this version.
    #[error("provider `{}` {} has no package for `{}`", package.provider, package.version, package.platform)]
    NoPackage {
        package: Box<PackageId>,
        published: BTreeSet<Platform>,
    },
    /// The description of a package is invalid, or describes a different package.
    #[error("the registry's description of the package {package} is invalid: {problem}")]
    BadMetadata {
        package: Box<PackageId>,
        problem: String,
    },
    /// The provider supports none of the engine's plugin protocols. `suggestion` is the newest version that supports one.
    #[error("provider `{provider}` {version} supports plugin protocol {}, but 5.x or 6.x is required", protocols.join(", "))]
    PluginProtocol {
        provider: Box<ProviderAddr>,
        version: Box<Version>,
        protocols: Vec<String>,
        suggestion: Option<Box<Version>>,
    },
    #[error("cannot use {}: {problem}", if configured.is_some() { "the configured network mirror" } else { "`--net-mirror`" })]
    MirrorUrl {
        problem: &'static str,
        configured: Option<Box<Place>>,
    },
    /// Status 404 for the version list of a provider in a network mirror.
    #[error(
        "mirror `{mirror}` does not have provider `{provider}`{}",
        configured_at(configured.as_deref())
    )]
    NotInMirror {
        provider: Box<ProviderAddr>,
        mirror: RedactedUrl,
        configured: Option<Box<Place>>,
    },
    #[error("cannot search `{}` for providers", path.display())]
    Search {
        path: PathBuf,
        #[source]
        source: Arc<std::io::Error>,
    },
    #[error(
        "no installation method in `provider_installation` includes provider `{provider}`{}",
        configured_at(configured.as_deref())
    )]
    NoMethod {
        provider: Box<ProviderAddr>,
        configured: Option<Box<Place>>,
    },
    #[error("no source has provider `{provider}`: searched {}", searched.join(", "))]
    NotFound {
        provider: Box<ProviderAddr>,
        searched: Vec<String>,
    },
    /// `--oci-mirror` was used for a directory whose engine is Terraform, which does not support OCI mirrors.
    #[error(
        "Terraform cannot install providers from OCI registries, so `--oci-mirror` works only with OpenTofu"
    )]
    OnlyOpenTofu,
    #[error("cannot use `--oci-mirror`: {0}")]
    OciTemplate(UriTemplateError),
    #[error(
        "cannot determine the OCI repository of provider `{provider}`{}: {problem}",
        configured_at(configured.as_deref())
    )]
    OciAddress {
        provider: Box<ProviderAddr>,
        problem: String,
        configured: Option<Box<Place>>,
    },
    /// The repository template gives several providers the same repository.
    #[error(
        "providers {} would share OCI repository `{repository}`",
        list_of(providers)
    )]
    SharedRepository {
        repository: Box<RepositoryAddress>,
        providers: BTreeSet<ProviderAddr>,
    },
    /// The registry returned status 404 for the tags of a provider's repository.
    #[error(
        "OCI repository `{repository}` does not exist, so it does not have provider `{provider}`{}",
        configured_at(configured.as_deref())
    )]
    NotInOciMirror {
        provider: Box<ProviderAddr>,
        repository: Box<RepositoryAddress>,
        configured: Option<Box<Place>>,
    },
    #[error("cannot use the OCI artifact `{artifact}`{}", configured_at(configured.as_deref()))]
    OciArtifact {
        /// The repository, with the tag or digest of the artifact.
        artifact: String,
        #[source]
        source: Box<OciProblem>,
        configured: Option<Box<Place>>,
    },
    /// Status 401 or 403. `place` is the source of the rejected credentials; `None` if the request had none.
    #[error("OCI repository `{repository}` {}{}", rejected(place.as_deref()), configured_at(configured.as_deref()))]
    OciUnauthorized {
        repository: Box<RepositoryAddress>,
        place: Option<String>,
        configured: Option<Box<Place>>,
    },
    #[error("cannot get credentials for the OCI registry `{registry}`")]
    OciCredentials {
        registry: String,
        #[source]
        source: Box<CredentialsError>,
    },
    #[error("cannot use the token server of OCI repository `{repository}`: {problem}")]
    TokenServer {
        repository: Box<RepositoryAddress>,
        problem: &'static str,
    },
    /// The server that issues tokens responded with status 401 or 403.
    #[error("the token server `{server}` of OCI repository `{repository}` {}", rejected(place.as_deref()))]
    TokenRefused {
        repository: Box<RepositoryAddress>,
        server: String,
        place: Option<String>,
        /// Whether the server may get the credentials for the registry.
        is_trusted: bool,
    },
    /// Status 404 for the version list of a module, or a list that contains no module.
    #[error("registry `{}` has no module `{module}`", module.host)]
    UnknownModule { module: Box<ModuleId> },
    /// The registry's response gives no location for the package of a module version.
    #[error("registry `{}` gives no download location for module `{module}` {version}", module.host)]
    NoModulePackage {
        module: Box<ModuleId>,
        version: Box<ModuleVersion>,
    },
    #[error("cannot get credentials for `{host}`")]
    Credentials {
        host: Hostname,
        #[source]
        source: Box<CredentialsError>,
    },
    /// The netrc file cannot be read. The run continues without it.
    #[error("cannot read credentials from `{}`", path.display())]
    Netrc {
        path: PathBuf,
        #[source]
        source: CauseText,
    },
}

impl RegistryError {
    /// Whether the source responded that it does not have the provider.
    pub fn is_unknown_provider(&self) -> bool {
        matches!(
            self,
            Self::UnknownProvider { .. }
                | Self::NotInMirror { .. }
                | Self::NotInOciMirror { .. }
                | Self::NotOffered { .. }
        )
    }

    /// Whether the source responded that it does not have the package.
    pub fn is_absence(&self) -> bool {
        match self {
            Self::NoPackage { .. } => true,
            Self::Request { purpose, source } => {
                matches!(purpose, RequestPurpose::MirrorArchives(_))
                    && matches!(source.fault, RequestFault::Status { status: 404, .. })
            }
            _ => self.is_unknown_provider(),
        }
    }

    /// Returns the HTTP status of the response, if the status is the reason for the failure.
    pub fn status(&self) -> Option<u16> {
        match self.request()?.fault {
            RequestFault::Status { status, .. } => Some(status),
            _ => None,
        }
    }

    pub fn is_offline(&self) -> bool {
        let fault = self.request().map(|request| &request.fault);
        matches!(fault, Some(RequestFault::Offline))
    }

    /// Like [`Self::status`], but `None` if the request was redirected, because the status may then come from a different server.
    pub(super) fn own_status(&self) -> Option<u16> {
        let request = self
            .request()
            .filter(|request| request.redirected_to.is_none())?;
        match request.fault {
            RequestFault::Status { status, .. } => Some(status),
            _ => None,
        }
    }

    fn request(&self) -> Option<&RequestError> {
        match self {
            Self::Request { source, .. } => Some(source),
            _ => None,
        }
    }
}

impl Explain for RegistryError {
    fn code(&self) -> Code {
        Code::Registry
    }

    fn place(&self) -> Option<&Place> {
        match self {
            Self::NotOffered { configured, .. }
            | Self::UnsupportedProtocol { configured, .. }
            | Self::ServiceUrl { configured, .. }
            | Self::MirrorUrl { configured, .. }
            | Self::NotInMirror { configured, .. }
            | Self::OciAddress { configured, .. }
            | Self::NotInOciMirror { configured, .. }
            | Self::OciArtifact { configured, .. }
            | Self::OciUnauthorized { configured, .. }
            | Self::NoMethod { configured, .. } => configured.as_deref(),
            other => other.request()?.configured.as_deref(),
        }
    }

    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::HostNotAllowed { host } => format!(
                "to trust this host, pass `--allow-host {}` together with every other host that the run needs",
                host.as_ascii()
            ),
            Self::UnknownProvider { provider } => {
                let name = &provider.type_name;
                format!(
                    "check the `source` in `required_providers` of the same module: without a namespace, `{name}` means `hashicorp/{name}`"
                )
            }
            Self::Unauthorized { host, .. } => format!(
                "set `{}`, or add a `credentials \"{}\"` block to the CLI configuration",
                token_variable(host),
                host.as_ascii()
            ),
            Self::NoPackage { package, published } if !published.is_empty() => {
                let published: Vec<_> = published.iter().map(ToString::to_string).collect();
                format!(
                    "this version is published only for {}; drop `{}` from `--platform` or `platforms`, choose a different version, or lock \
                     the available platforms with `--missing-platform warn`",
                    published.join(", "),
                    package.platform
                )
            }
            Self::PluginProtocol {
                suggestion: Some(version),
                ..
            } => format!("require version {version}, which supports plugin protocol 5.x or 6.x"),
            Self::MirrorUrl { .. } => {
                "use a URL such as `https://mirror.example.com/providers/`".to_owned()
            }
            Self::ServiceUrl { service, .. }
            | Self::NotOffered {
                service,
                configured: Some(_),
                ..
            } => format!(
                "set a valid URL for `{}` in a `host` block of the CLI configuration, which replaces service discovery",
                service.id()
            ),
            Self::Request { purpose, source } => source.hint(purpose.has_timeout_setting())?,
            _ => return self.oci_hint(),
        })
    }
}

impl RegistryError {
    /// Returns the hint for an error that concerns OCI registries.
    fn oci_hint(&self) -> Option<String> {
        Some(match self {
            Self::TokenRefused { server, place: None, is_trusted: false, .. } => format!(
                "if this server should get credentials, add an `oci_credentials \"{server}\"` block to the CLI configuration of \
                 OpenTofu: credentials for a registry are not sent to a server with another name"
            ),
            Self::OciUnauthorized { repository, .. } | Self::TokenRefused { repository, .. } => {
                let registry = repository.registry();
                format!(
                    "log in with `docker login {registry}` or `podman login {registry}`, or add an `oci_credentials \"{registry}\"` \
                     block to the CLI configuration of OpenTofu"
                )
            }
            Self::OciTemplate(_) => {
                "use a template such as `ghcr.io/acme/{namespace}-{type}`; `{hostname}` is also available".to_owned()
            }
            Self::SharedRepository { .. } => {
                "use `{hostname}`, `{namespace}` and `{type}` in the mirror address, separated by `/`, so that each provider gets its own \
                 repository"
                    .to_owned()
            }
            Self::OnlyOpenTofu => {
                "use `--engine tofu` if OpenTofu runs these configurations, or `--net-mirror` for Terraform".to_owned()
            }
            _ => return None,
        })
    }
}

fn list_of(providers: &BTreeSet<ProviderAddr>) -> String {
    let names: Vec<_> = providers
        .iter()
        .map(|provider| format!("`{provider}`"))
        .collect();
    names.join(", ")
}

fn rejected(place: Option<&str>) -> String {
    match place {
        Some(place) => format!("rejected the credentials from {place}"),
        None => "requires credentials".to_owned(),
    }
}

/// Returns the name of the environment variable that can contain a token for the host.
fn token_variable(host: &Hostname) -> String {
    let name = host.as_ascii().replace('-', "__").replace('.', "_");
    format!("TF_TOKEN_{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_for_a_token_is_named_as_the_engines_read_it() {
        for (host, variable) in [
            ("app.terraform.io", "TF_TOKEN_app_terraform_io"),
            ("my-host.example:8443", "TF_TOKEN_my__host_example:8443"),
            ("bücher.example", "TF_TOKEN_xn____bcher__kva_example"),
        ] {
            let host = Hostname::parse(host).unwrap();
            assert_eq!(token_variable(&host), variable);
        }
    }
}
