//! What can go wrong with registries: one variant per situation. All of it can be cloned, because the in-memory cache keeps
//! failures and hands them to everyone who asks.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::code::Code;
use crate::provider::{Hostname, ModuleVersion, PackageId, Platform, ProviderAddr, Version};
use crate::redacted_url::RedactedUrl;
use crate::registry::discovery::Service;
use crate::registry::fault::{Cause, Configured, Fault, RequestError};
use crate::registry::modules::ModuleId;
use crate::span::{Explain, Place};

/// A failure of a registry, or of the way to it.
#[derive(Clone, Debug, thiserror::Error)]
pub enum RegistryError {
    /// The certificates to trust cannot be read.
    #[error("cannot read the certificates to trust")]
    Roots(#[source] Cause),
    /// `--untrusted`, and the host is not one of `--allow-host`.
    #[error("host `{host}` is not allowed, and this run is `--untrusted`")]
    HostNotAllowed {
        /// The host.
        host: Hostname,
    },
    /// The discovery document cannot be had or read.
    #[error("cannot discover the services of `{host}`")]
    Discovery {
        /// The host.
        host: Hostname,
        /// The request.
        #[source]
        source: Arc<RequestError>,
    },
    /// The host has no discovery document, or its `host` block does not name this registry.
    #[error("host `{host}` does not offer a {service}{}", Configured(configured))]
    NotOffered {
        /// What was looked for.
        service: Service,
        /// The host.
        host: Hostname,
        /// The `host` block.
        configured: Option<Box<Place>>,
    },
    /// The host offers only registries of other protocol versions.
    #[error("host `{host}` does not support the {service} protocol `{}`{}", service.id(), Configured(configured))]
    UnsupportedProtocol {
        /// What was looked for.
        service: Service,
        /// The host.
        host: Hostname,
        /// The `host` block.
        configured: Option<Box<Place>>,
    },
    /// The address of the registry is no usable URL.
    #[error(
        "host `{host}` gives an unusable address for its {service}{}: {problem}",
        Configured(configured)
    )]
    ServiceUrl {
        /// Whose address.
        service: Service,
        /// The host.
        host: Hostname,
        /// What is wrong with it.
        problem: &'static str,
        /// The `host` block.
        configured: Option<Box<Place>>,
    },
    /// 404 for the list of versions.
    #[error("registry `{}` has no provider `{provider}`", provider.hostname)]
    UnknownProvider {
        /// The provider.
        provider: Box<ProviderAddr>,
    },
    /// The registry lists versions, but nothing that is one.
    #[error("registry `{}` lists no valid version of `{provider}`", provider.hostname)]
    NoValidVersion {
        /// The provider.
        provider: Box<ProviderAddr>,
        /// One of the things that it lists.
        example: String,
    },
    /// The registry lists a version with a number beyond 64 bits. Both engines crash.
    #[error("registry `{}` lists version `{version}` of `{provider}`, which is too large for a version number", provider.hostname)]
    VersionTooLarge {
        /// The provider.
        provider: Box<ProviderAddr>,
        /// The version.
        version: String,
    },
    /// 401 or 403.
    #[error("{}", unauthorized(host, *rejected))]
    Unauthorized {
        /// The host whose credentials count.
        host: Hostname,
        /// A token was sent.
        rejected: bool,
    },
    /// The list of versions cannot be had or read.
    #[error("cannot list the versions of `{provider}`")]
    Versions {
        /// The provider.
        provider: Box<ProviderAddr>,
        /// The request.
        #[source]
        source: Arc<RequestError>,
    },
    /// 404 for the package, or the source does not have it.
    #[error("provider `{}` {} has no package for `{}`", package.provider, package.version, package.platform)]
    NoPackage {
        /// The package.
        package: Box<PackageId>,
        /// The platforms that the registry lists for this version.
        published: BTreeSet<Platform>,
    },
    /// The description of a package cannot be had or read.
    #[error("cannot look up the package {package}")]
    Metadata {
        /// The package.
        package: Box<PackageId>,
        /// The request.
        #[source]
        source: Arc<RequestError>,
    },
    /// The description of a package is not what was asked for.
    #[error("the registry describes the package {package} wrongly: {problem}")]
    BadMetadata {
        /// The package.
        package: Box<PackageId>,
        /// What is wrong.
        problem: String,
    },
    /// The provider speaks no plugin protocol that the engine speaks.
    #[error("provider `{provider}` {version} speaks plugin protocol {}, and 5.x or 6.x is needed", protocols.join(", "))]
    PluginProtocol {
        /// The provider.
        provider: Box<ProviderAddr>,
        /// The version.
        version: Box<Version>,
        /// What the package speaks.
        protocols: Vec<String>,
        /// The newest version that would do.
        suggestion: Option<Box<Version>>,
    },
    /// The base URL of a network mirror cannot be used.
    #[error("cannot use {}: {problem}", if configured.is_some() { "the configured network mirror" } else { "`--net-mirror`" })]
    MirrorUrl {
        /// What is wrong with it.
        problem: &'static str,
        /// Where it is written.
        configured: Option<Box<Place>>,
    },
    /// 404 for a mirror's list of versions.
    #[error(
        "mirror `{mirror}` does not have provider `{provider}`{}",
        Configured(configured)
    )]
    NotInMirror {
        /// The provider.
        provider: Box<ProviderAddr>,
        /// The mirror.
        mirror: RedactedUrl,
        /// Where it is written.
        configured: Option<Box<Place>>,
    },
    /// A mirror's archives of a version that it lists cannot be had or read.
    #[error("cannot list the archives of `{provider}` {version} in its mirror")]
    MirrorArchives {
        /// The provider.
        provider: Box<ProviderAddr>,
        /// The version.
        version: Box<Version>,
        /// The request.
        #[source]
        source: Arc<RequestError>,
    },
    /// A filesystem mirror cannot be read.
    #[error("cannot search `{}` for providers", path.display())]
    Search {
        /// The directory.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// No installation method is for this provider.
    #[error(
        "no method of `provider_installation` is for provider `{provider}`{}",
        Configured(configured)
    )]
    NoMethod {
        /// The provider.
        provider: Box<ProviderAddr>,
        /// The `provider_installation` block.
        configured: Option<Box<Place>>,
    },
    /// None of several sources has the provider.
    #[error("provider `{provider}` is in none of its sources: {}", searched.join(", "))]
    NotFound {
        /// The provider.
        provider: Box<ProviderAddr>,
        /// The sources that were asked.
        searched: Vec<String>,
    },
    /// An installation method that tflock does not have.
    #[error("`{method}` is not supported")]
    Unsupported {
        /// The method.
        method: &'static str,
        /// Where it is written.
        configured: Box<Place>,
    },
    /// A checksum list, signature or other document cannot be had.
    #[error("cannot fetch `{}`", source.url)]
    Document {
        /// The request.
        #[source]
        source: Arc<RequestError>,
    },
    /// A package cannot be had.
    #[error("cannot download `{}`", source.url)]
    Download {
        /// The request.
        #[source]
        source: Arc<RequestError>,
    },
    /// 404 for the list of versions of a module, or a list of nothing.
    #[error("registry `{}` has no module `{module}`", module.host)]
    UnknownModule {
        /// The module.
        module: Box<ModuleId>,
    },
    /// The list of versions of a module cannot be had or read.
    #[error("cannot list the versions of module `{module}`")]
    ModuleVersions {
        /// The module.
        module: Box<ModuleId>,
        /// The request.
        #[source]
        source: Arc<RequestError>,
    },
    /// The place of a module's package cannot be had.
    #[error("cannot look up the package of module `{module}` {version}")]
    ModuleLocation {
        /// The module.
        module: Box<ModuleId>,
        /// The version.
        version: Box<ModuleVersion>,
        /// The request.
        #[source]
        source: Arc<RequestError>,
    },
    /// The registry does not say where the package of a version is.
    #[error("registry `{}` does not say where the package of module `{module}` {version} is", module.host)]
    NoModulePackage {
        /// The module.
        module: Box<ModuleId>,
        /// The version.
        version: Box<ModuleVersion>,
    },
    /// The credentials for a host cannot be had.
    #[error("cannot get credentials for `{host}`")]
    Credentials {
        /// The host.
        host: Hostname,
        /// Why not.
        #[source]
        source: Box<CredentialsError>,
    },
    /// The netrc file cannot be read. The run goes on without it.
    #[error("cannot read credentials from `{}`", path.display())]
    Netrc {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: Cause,
    },
}

fn unauthorized(host: &Hostname, rejected: bool) -> impl fmt::Display {
    if rejected {
        format!("host `{host}` rejected the credentials that are configured for it")
    } else {
        format!("host `{host}` requires credentials")
    }
}

/// Why credentials cannot be had.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CredentialsError {
    /// The token has characters that no header may have.
    #[error("the token holds a line break or another character that cannot be sent")]
    Token,
    /// The helper program could not be run.
    #[error("cannot run the credentials helper `{}`", program.display())]
    Run {
        /// The program.
        program: PathBuf,
        /// What the system said.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// The helper program reported a failure.
    #[error("credentials helper `{}` failed: {message}", program.display())]
    Failed {
        /// The program.
        program: PathBuf,
        /// What it wrote to its standard error output.
        message: String,
    },
    /// The helper program did not end.
    #[error("credentials helper `{}` did not end within {seconds} s", program.display())]
    Timeout {
        /// The program.
        program: PathBuf,
        /// The limit.
        seconds: u64,
    },
    /// The helper program wrote something else than its protocol asks for.
    #[error("credentials helper `{}` did not write the JSON object that is asked for", program.display())]
    Output {
        /// The program.
        program: PathBuf,
        /// What is wrong with it. Not its text, which may hold a token.
        #[source]
        source: Cause,
    },
}

impl RegistryError {
    /// Whether the source answered that it does not know the provider.
    pub fn is_unknown_provider(&self) -> bool {
        matches!(
            self,
            Self::UnknownProvider { .. } | Self::NotInMirror { .. } | Self::NotOffered { .. }
        )
    }

    /// Whether the source answered that it does not have the package.
    pub fn is_absence(&self) -> bool {
        let no_index = match self {
            Self::MirrorArchives { source, .. } => {
                matches!(source.fault, Fault::Status { status: 404, .. })
            }
            _ => false,
        };
        no_index || matches!(self, Self::NoPackage { .. }) || self.is_unknown_provider()
    }

    /// Whether nobody was asked, since `--offline` switches the network off.
    pub fn is_offline(&self) -> bool {
        let fault = self.request().map(|request| &request.fault);
        matches!(fault, Some(Fault::Offline))
    }

    fn request(&self) -> Option<&RequestError> {
        match self {
            Self::Discovery { source, .. }
            | Self::Versions { source, .. }
            | Self::Metadata { source, .. }
            | Self::ModuleVersions { source, .. }
            | Self::ModuleLocation { source, .. }
            | Self::MirrorArchives { source, .. }
            | Self::Document { source }
            | Self::Download { source } => Some(source),
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
            | Self::NoMethod { configured, .. } => configured.as_deref(),
            Self::Unsupported { configured, .. } => Some(configured),
            other => other.request()?.configured.as_deref(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::HostNotAllowed { host } => Some(format!(
                "if this host may be trusted, allow it with `--allow-host {}`, beside every other host that is needed",
                host.as_ascii()
            )),
            Self::UnknownProvider { provider } if provider.namespace == "hashicorp" => {
                let name = &provider.type_name;
                Some(format!(
                    "`{name}` means `hashicorp/{name}` unless `required_providers` of the same module gives it another `source`"
                ))
            }
            Self::UnknownProvider { provider } => Some(format!(
                "is the namespace right? Without one, `{}` would mean `hashicorp/{}`",
                provider.type_name, provider.type_name
            )),
            Self::Unauthorized { host, .. } => Some(format!(
                "set `{}`, or write a `credentials \"{}\"` block into the CLI configuration",
                token_variable(host),
                host.as_ascii()
            )),
            Self::NoPackage { package, published } if !published.is_empty() => {
                let published: Vec<_> = published.iter().map(ToString::to_string).collect();
                Some(format!(
                    "published for {}; drop `--platform {}`, choose another version, or record the rest with \
                     `--missing-platform warn`",
                    published.join(", "),
                    package.platform
                ))
            }
            Self::PluginProtocol {
                suggestion: Some(version),
                ..
            } => Some(format!("version {version} would do")),
            Self::MirrorUrl { .. } => {
                Some("it is a URL such as `https://mirror.example.com/providers/`".to_owned())
            }
            Self::ServiceUrl { service, .. }
            | Self::NotOffered {
                service,
                configured: Some(_),
                ..
            } => Some(format!(
                "the `host` block replaces service discovery: it must name `{}`",
                service.id()
            )),
            other => other.request()?.fault.hint(),
        }
    }
}

/// The environment variable that would hold a token for the host.
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
            assert_eq!(
                token_variable(&Hostname::parse(host).expect("a host")),
                variable
            );
        }
    }
}
