//! What requests are for, as shown in error messages.

use crate::oci::RepositoryAddress;
use crate::provider::{Hostname, ModuleVersion, PackageId, ProviderAddr, Version};
use crate::registry::module_registry::ModuleId;
use crate::registry::request_error::RequestError;

/// The purpose of a request, for error messages.
#[derive(Clone, Debug)]
pub enum RequestPurpose {
    Discovery(Hostname),
    Versions(Box<ProviderAddr>),
    PackageMeta(Box<PackageId>),
    /// A network mirror's list of the packages of one version.
    MirrorArchives(Box<(ProviderAddr, Version)>),
    ModuleVersions(Box<ModuleId>),
    ModuleLocation(Box<(ModuleId, ModuleVersion)>),
    /// A checksum list, a signature or another document.
    Document,
    Download,
    /// A token for an OCI repository.
    OciToken(Box<RepositoryAddress>),
    /// An upload of a provider package to an OCI repository.
    OciPush(Box<RepositoryAddress>),
}

impl RequestPurpose {
    pub(super) fn message(&self, request: &RequestError) -> String {
        let url = &request.url;
        match self {
            Self::Discovery(host) => format!("cannot discover the services of `{host}`"),
            Self::Versions(provider) => format!("cannot list the versions of `{provider}`"),
            Self::PackageMeta(package) => format!("cannot look up the package {package}"),
            Self::MirrorArchives(of) => {
                format!(
                    "cannot list the archives of `{}` {} in the mirror",
                    of.0, of.1
                )
            }
            Self::ModuleVersions(module) => {
                format!("cannot list the versions of module `{module}`")
            }
            Self::ModuleLocation(of) => {
                format!("cannot look up the package of module `{}` {}", of.0, of.1)
            }
            Self::Document => format!("cannot fetch `{url}`"),
            Self::Download => format!("cannot download `{url}`"),
            Self::OciToken(repository) => {
                format!("cannot get a token for OCI repository `{repository}`")
            }
            Self::OciPush(repository) => format!("cannot push to OCI repository `{repository}`"),
        }
    }

    /// Whether a hint may recommend `TF_REGISTRY_CLIENT_TIMEOUT`. The variable affects neither downloads nor Terraform's discovery.
    pub(super) const fn has_timeout_setting(&self) -> bool {
        !matches!(self, Self::Discovery(_) | Self::Download)
    }
}
