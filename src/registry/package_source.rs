//! Sources of packages: the origin registries, one mirror, or the methods of `provider_installation`.
//!
//! With several methods, the versions of a provider come from all methods that include the provider. A package comes from the first
//! of these methods, in configuration order, that has the package.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::cli_config::{MethodKind, ProviderInstallation, Selector};
use crate::mirror::LocalPackage;
use crate::oci::UriTemplate;
use crate::provider::{Engine, PackageId, Platform, ProviderAddr};
use crate::registry::client::RegistryClient;
use crate::registry::error::{RegistryError, Result};
use crate::registry::filesystem_mirror::FilesystemMirror;
use crate::registry::metadata::{AvailableVersions, PackageMeta};
use crate::registry::network_mirror::{MirrorPackage, NetworkMirror};
use crate::registry::oci::{OciMirror, OciPackage, RepositoryMapping};
use crate::span::Place;

/// A source of packages. Clones share all responses.
#[derive(Clone)]
pub struct PackageSource {
    engine: Engine,
    methods: Arc<[SourceMethod]>,
    configured: Option<Box<Place>>,
}

/// An installation method, and the providers that it includes.
struct SourceMethod {
    selector: Selector,
    origin: PackageOrigin,
}

enum PackageOrigin {
    Registry(RegistryClient),
    Filesystem(FilesystemMirror),
    Network(NetworkMirror),
    Oci(OciMirror),
    /// An OCI mirror, although the engine is Terraform, which does not support OCI mirrors. Every lookup fails.
    OnlyOpenTofu,
    /// The origin registries, for providers that are not in any of these directories.
    RegistryExcept(RegistryClient, Vec<FilesystemMirror>),
}

#[derive(Clone, Debug)]
pub enum PackageLocation {
    /// In a registry, with a signed checksum list.
    Registry(Arc<PackageMeta>),
    /// On a mirror server, with or without hashes.
    Mirror(Box<MirrorPackage>),
    /// In an OCI registry.
    Oci(Box<OciPackage>),
    /// On this machine.
    Local(LocalPackage),
}

impl PackageSource {
    pub fn registry(client: RegistryClient) -> Self {
        let engine = client.settings().engine;
        Self::all_providers(engine, [PackageOrigin::Registry(client)])
    }

    pub fn filesystem(engine: Engine, base: impl Into<PathBuf>) -> Self {
        let mirror = FilesystemMirror::new(base);
        Self::all_providers(engine, [PackageOrigin::Filesystem(mirror)])
    }

    pub fn network(client: RegistryClient, base: &str) -> Result<Self> {
        let engine = client.settings().engine;
        let mirror = NetworkMirror::new(client, base, None)?;
        let origin = PackageOrigin::Network(mirror);
        Ok(Self::all_providers(engine, [origin]))
    }

    /// Creates a source from OCI repositories, given by a URI template. If the engine is Terraform, every lookup fails.
    pub fn oci(client: RegistryClient, template: &str) -> Result<Self> {
        let engine = client.settings().engine;
        let template = UriTemplate::parse(template);
        let mapping = RepositoryMapping::Uri(template.map_err(RegistryError::OciTemplate)?);
        let origin = match engine {
            Engine::Tofu => PackageOrigin::Oci(OciMirror::new(client, mapping, None)),
            Engine::Terraform => PackageOrigin::OnlyOpenTofu,
        };
        Ok(Self::all_providers(engine, [origin]))
    }

    /// Creates a source from methods that include every provider.
    fn all_providers(engine: Engine, origins: impl IntoIterator<Item = PackageOrigin>) -> Self {
        let method = |origin| SourceMethod {
            selector: Selector::default(),
            origin,
        };
        Self {
            engine,
            methods: origins.into_iter().map(method).collect(),
            configured: None,
        }
    }

    /// Creates a source from the methods of a `provider_installation` block.
    pub fn configured(client: &RegistryClient, block: &ProviderInstallation) -> Result<Self> {
        let methods = block.methods.iter().map(|method| {
            let origin = match &method.kind {
                MethodKind::Direct => PackageOrigin::Registry(client.clone()),
                MethodKind::FilesystemMirror { path } => {
                    PackageOrigin::Filesystem(FilesystemMirror::new(path))
                }
                MethodKind::NetworkMirror { url, .. } => PackageOrigin::Network(
                    NetworkMirror::new(client.clone(), url, Some(method.place.clone()))?,
                ),
                MethodKind::OciMirror(template) => {
                    let mapping = RepositoryMapping::Configured(template.clone());
                    let place = Some(method.place.clone());
                    PackageOrigin::Oci(OciMirror::new(client.clone(), mapping, place))
                }
            };
            let selector = method.selector.clone();
            Ok(SourceMethod { selector, origin })
        });
        Ok(Self {
            engine: client.settings().engine,
            methods: methods.collect::<Result<_, _>>()?,
            configured: Some(Box::new(block.place.clone())),
        })
    }

    /// Creates a source from the methods that `init` uses without a `provider_installation` block: the directories that exist, and
    /// the registry for providers that are in none of them.
    pub fn implied(client: RegistryClient, directories: impl IntoIterator<Item = PathBuf>) -> Self {
        let directories = directories.into_iter();
        let existing = directories.filter(|directory| directory.is_dir());
        let mirrors: Vec<_> = existing.map(FilesystemMirror::new).collect();
        let engine = client.settings().engine;
        let filesystem = mirrors.clone().into_iter().map(PackageOrigin::Filesystem);
        let registry = PackageOrigin::RegistryExcept(client, mirrors);
        Self::all_providers(engine, filesystem.chain([registry]))
    }

    /// Identifies the registry of the provider; see [`RegistryClient::origin`]. `None` if the provider may come from a mirror.
    pub fn origin(&self, provider: &ProviderAddr) -> Option<String> {
        let [method] = self.methods_for(provider).ok()?[..] else {
            return None;
        };
        match &method.origin {
            PackageOrigin::Registry(client) => client.origin(&provider.hostname),
            PackageOrigin::RegistryExcept(client, mirrors) if mirrors.is_empty() => {
                client.origin(&provider.hostname)
            }
            _ => None,
        }
    }

    pub async fn versions(&self, provider: &ProviderAddr) -> Result<Arc<AvailableVersions>> {
        let methods = self.methods_for(provider)?;
        if let [method] = methods[..] {
            return method.origin.versions(provider).await;
        }
        let mut union = AvailableVersions::default();
        let mut seen = BTreeSet::new();
        let mut known = false;
        for method in &methods {
            let found = match method.origin.versions(provider).await {
                Err(error) if error.is_unknown_provider() => continue,
                found => found?,
            };
            known |= !found.versions.is_empty();
            let new = found
                .versions
                .iter()
                .filter(|available| seen.insert(available.version.to_string()));
            union.versions.extend(new.cloned());
            union.invalid.extend(found.invalid.iter().cloned());
            union.warnings.extend(found.warnings.iter().cloned());
        }
        if known {
            return Ok(Arc::new(union));
        }
        Err(RegistryError::NotFound {
            provider: Box::new(provider.clone()),
            searched: methods
                .iter()
                .map(|method| method.origin.describe(provider))
                .collect(),
        })
    }

    /// Locates the package in the first method that has it.
    pub async fn locate(&self, package: &PackageId) -> Result<PackageLocation> {
        let mut missing = None;
        for method in self.methods_for(&package.provider)? {
            match method.origin.locate(package).await {
                Err(error) if error.is_absence() => missing = missing.or(Some(error)),
                found => return found,
            }
        }
        // There is at least one method, and each method without the package returned an error.
        Err(missing.unwrap_or_else(|| no_package(package, BTreeSet::new())))
    }

    fn methods_for(&self, provider: &ProviderAddr) -> Result<Vec<&SourceMethod>> {
        let includes = |method: &&SourceMethod| method.selector.matches(provider, self.engine);
        let matching: Vec<_> = self.methods.iter().filter(includes).collect();
        if matching.is_empty() {
            return Err(RegistryError::NoMethod {
                provider: Box::new(provider.clone()),
                configured: self.configured.clone(),
            });
        }
        Ok(matching)
    }
}

impl PackageOrigin {
    async fn versions(&self, provider: &ProviderAddr) -> Result<Arc<AvailableVersions>> {
        match self {
            Self::Registry(client) => client.versions(provider).await,
            Self::Network(mirror) => mirror.versions(provider).await,
            Self::Oci(mirror) => mirror.versions(provider).await,
            Self::OnlyOpenTofu => Err(RegistryError::OnlyOpenTofu),
            Self::Filesystem(mirror) => mirror.versions(provider).await.map(Arc::new),
            Self::RegistryExcept(client, mirrors) => {
                if is_in(mirrors, provider).await? {
                    return Ok(Arc::default());
                }
                client.versions(provider).await
            }
        }
    }

    async fn locate(&self, id: &PackageId) -> Result<PackageLocation> {
        match self {
            Self::Network(mirror) => {
                let package = mirror.package(id).await?;
                Ok(PackageLocation::Mirror(Box::new(package)))
            }
            Self::Oci(mirror) => {
                let package = mirror.package(id).await?;
                Ok(PackageLocation::Oci(Box::new(package)))
            }
            Self::OnlyOpenTofu => Err(RegistryError::OnlyOpenTofu),
            Self::Filesystem(mirror) => {
                if let Some(package) = mirror.package(id).await? {
                    return Ok(PackageLocation::Local(package));
                }
                let available = mirror.versions(&id.provider).await?;
                Err(no_package(id, available.platforms(&id.version)))
            }
            Self::RegistryExcept(_, mirrors) if is_in(mirrors, &id.provider).await? => {
                Err(no_package(id, BTreeSet::new()))
            }
            Self::Registry(client) | Self::RegistryExcept(client, _) => {
                Ok(PackageLocation::Registry(client.package_meta(id).await?))
            }
        }
    }

    /// Returns the name of the source for an error message.
    fn describe(&self, provider: &ProviderAddr) -> String {
        match self {
            Self::Registry(_) | Self::RegistryExcept(..) => {
                format!("registry `{}`", provider.hostname)
            }
            Self::Filesystem(mirror) => format!("`{}`", mirror.base().display()),
            Self::Network(mirror) => format!("mirror `{}`", mirror.redacted_url()),
            Self::Oci(mirror) => mirror.describe(provider),
            Self::OnlyOpenTofu => "`--oci-mirror`".to_owned(),
        }
    }
}

async fn is_in(mirrors: &[FilesystemMirror], provider: &ProviderAddr) -> Result<bool> {
    for mirror in mirrors {
        if !mirror.versions(provider).await?.versions.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn no_package(id: &PackageId, published: BTreeSet<Platform>) -> RegistryError {
    RegistryError::NoPackage {
        package: Box::new(id.clone()),
        published,
    }
}
