//! Where packages come from: the origin registries, one mirror, or what `provider_installation` says.
//!
//! With several methods, versions are the union of what all methods for a provider have, and a package comes from the first
//! method, in the written order, that has it. A provider that no method is for is an error: it is never taken from a
//! registry that the configuration excludes.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::cli_config::{MethodKind, ProviderInstallation, Selector};
use crate::mirror::LocalPackage;
use crate::provider::{Engine, PackageId, Platform, ProviderAddr, Version};
use crate::registry::client::RegistryClient;
use crate::registry::error::RegistryError;
use crate::registry::filesystem::FilesystemMirror;
use crate::registry::metadata::{AvailableVersions, PackageMeta};
use crate::registry::mirror::{MirrorPackage, NetworkMirror};
use crate::span::Place;

/// Where packages come from. Clones share all answers.
#[derive(Clone)]
pub struct PackageSource {
    engine: Engine,
    methods: Arc<[Step]>,
    configured: Option<Box<Place>>,
}

/// One method and the providers it is for.
struct Step {
    selector: Selector,
    kind: Kind,
}

enum Kind {
    Registry(RegistryClient),
    Filesystem(FilesystemMirror),
    Network(NetworkMirror),
    /// The origin registries, for what none of these directories has.
    Otherwise(RegistryClient, Vec<FilesystemMirror>),
}

/// Where one package is.
#[derive(Clone, Debug)]
pub enum Located {
    /// In a registry, with a signed checksum list.
    Registry(Arc<PackageMeta>),
    /// On a mirror server, with or without hashes.
    Mirror(Box<MirrorPackage>),
    /// On disk.
    Local(LocalPackage),
}

impl PackageSource {
    /// The origin registries.
    pub fn registry(client: RegistryClient) -> Self {
        Self::single(client.settings().engine, Kind::Registry(client))
    }

    /// One directory, as `--fs-mirror` names it.
    pub fn filesystem(engine: Engine, base: impl Into<PathBuf>) -> Self {
        Self::single(engine, Kind::Filesystem(FilesystemMirror::new(base)))
    }

    /// One mirror server, as `--net-mirror` names it.
    pub fn network(client: RegistryClient, base: &str) -> Result<Self, RegistryError> {
        let engine = client.settings().engine;
        Ok(Self::single(
            engine,
            Kind::Network(NetworkMirror::new(client, base, None)?),
        ))
    }

    fn single(engine: Engine, kind: Kind) -> Self {
        let selector = Selector::default();
        Self {
            engine,
            methods: Arc::new([Step { selector, kind }]),
            configured: None,
        }
    }

    /// What a `provider_installation` block says.
    pub fn configured(
        client: &RegistryClient,
        block: &ProviderInstallation,
    ) -> Result<Self, RegistryError> {
        let steps = block.methods.iter().map(|method| {
            let kind = match &method.kind {
                MethodKind::Direct => Kind::Registry(client.clone()),
                MethodKind::FilesystemMirror { path } => {
                    Kind::Filesystem(FilesystemMirror::new(path))
                }
                MethodKind::NetworkMirror { url, .. } => Kind::Network(NetworkMirror::new(
                    client.clone(),
                    url,
                    Some(method.place.clone()),
                )?),
                MethodKind::OciMirror { .. } => {
                    return Err(RegistryError::Unsupported {
                        method: "oci_mirror",
                        configured: Box::new(method.place.clone()),
                    });
                }
            };
            let selector = method.selector.clone();
            Ok(Step { selector, kind })
        });
        Ok(Self {
            engine: client.settings().engine,
            methods: steps.collect::<Result<_, _>>()?,
            configured: Some(Box::new(block.place.clone())),
        })
    }

    /// What `init` does without such a block: packages in one of these directories, if they exist, else the registry. A
    /// provider that is in one of the directories is never taken from the registry.
    pub fn implied(client: RegistryClient, directories: impl IntoIterator<Item = PathBuf>) -> Self {
        let existing = directories
            .into_iter()
            .filter(|directory| directory.is_dir());
        let mirrors: Vec<_> = existing.map(FilesystemMirror::new).collect();
        let engine = client.settings().engine;
        let mut kinds: Vec<_> = mirrors.iter().cloned().map(Kind::Filesystem).collect();
        kinds.push(Kind::Otherwise(client, mirrors));
        let step = |kind| Step {
            selector: Selector::default(),
            kind,
        };
        Self {
            engine,
            methods: kinds.into_iter().map(step).collect(),
            configured: None,
        }
    }

    /// The registry that alone decides about the provider; see [`RegistryClient::origin`]. None if a mirror has a say.
    pub fn origin(&self, provider: &ProviderAddr) -> Option<String> {
        match self.steps(provider).ok()?[..] {
            [step] => match &step.kind {
                Kind::Registry(client) => client.origin(&provider.hostname),
                Kind::Otherwise(client, mirrors) if mirrors.is_empty() => {
                    client.origin(&provider.hostname)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// The versions of the provider.
    pub async fn versions(
        &self,
        provider: &ProviderAddr,
    ) -> Result<Arc<AvailableVersions>, RegistryError> {
        let steps = self.steps(provider)?;
        if let [step] = steps[..] {
            return step.kind.versions(provider).await;
        }
        let mut union = AvailableVersions::default();
        let mut seen = BTreeSet::new();
        let mut known = false;
        for step in &steps {
            let found = match step.kind.versions(provider).await {
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
            searched: steps
                .iter()
                .map(|step| step.kind.describe(provider))
                .collect(),
        })
    }

    /// The package, from the first method that has it.
    pub async fn locate(
        &self,
        provider: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Result<Located, RegistryError> {
        let steps = self.steps(provider)?;
        let mut missing = None;
        for step in &steps {
            match step.kind.locate(provider, version, platform).await {
                Err(error) if error.is_absence() => missing = missing.or(Some(error)),
                found => return found,
            }
        }
        // There is at least one step, and a step without the package says so.
        Err(missing.unwrap_or_else(|| no_package(provider, version, platform, BTreeSet::new())))
    }

    fn steps(&self, provider: &ProviderAddr) -> Result<Vec<&Step>, RegistryError> {
        let matching = self
            .methods
            .iter()
            .filter(|step| step.selector.matches(provider, self.engine));
        let matching: Vec<_> = matching.collect();
        if matching.is_empty() {
            return Err(RegistryError::NoMethod {
                provider: Box::new(provider.clone()),
                configured: self.configured.clone(),
            });
        }
        Ok(matching)
    }
}

impl Kind {
    async fn versions(
        &self,
        provider: &ProviderAddr,
    ) -> Result<Arc<AvailableVersions>, RegistryError> {
        match self {
            Self::Registry(client) => client.versions(provider).await,
            Self::Network(mirror) => mirror.versions(provider).await,
            Self::Filesystem(mirror) => mirror.versions(provider).await.map(Arc::new),
            Self::Otherwise(client, mirrors) => {
                if is_in(mirrors, provider).await? {
                    return Ok(Arc::default());
                }
                client.versions(provider).await
            }
        }
    }

    async fn locate(
        &self,
        provider: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Result<Located, RegistryError> {
        match self {
            Self::Network(mirror) => {
                let package = mirror.package(provider, version, platform).await?;
                Ok(Located::Mirror(Box::new(package)))
            }
            Self::Filesystem(mirror) => {
                if let Some(package) = mirror.package(provider, version, platform).await? {
                    return Ok(Located::Local(package));
                }
                let published = mirror.versions(provider).await?.platforms(version);
                Err(no_package(provider, version, platform, published))
            }
            Self::Otherwise(_, mirrors) if is_in(mirrors, provider).await? => {
                Err(no_package(provider, version, platform, BTreeSet::new()))
            }
            Self::Registry(client) | Self::Otherwise(client, _) => client
                .package_meta(provider, version, platform)
                .await
                .map(Located::Registry),
        }
    }

    /// The method in a list of those that were asked.
    fn describe(&self, provider: &ProviderAddr) -> String {
        match self {
            Self::Registry(_) | Self::Otherwise(..) => format!("registry `{}`", provider.hostname),
            Self::Filesystem(mirror) => format!("`{}`", mirror.base().display()),
            Self::Network(mirror) => format!("mirror `{}`", mirror.shown()),
        }
    }
}

async fn is_in(
    mirrors: &[FilesystemMirror],
    provider: &ProviderAddr,
) -> Result<bool, RegistryError> {
    for mirror in mirrors {
        if !mirror.versions(provider).await?.versions.is_empty() {
            return Ok(true);
        }
    }
    Ok(false)
}

fn no_package(
    provider: &ProviderAddr,
    version: &Version,
    platform: &Platform,
    published: BTreeSet<Platform>,
) -> RegistryError {
    let package = PackageId {
        provider: provider.clone(),
        version: version.clone(),
        platform: platform.clone(),
    };
    RegistryError::NoPackage {
        package: Box::new(package),
        published,
    }
}
