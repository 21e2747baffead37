//! Provider mirrors in OCI registries (OpenTofu only): a template maps each provider to a repository, whose tags are versions.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use crate::cli_config::RepositoryTemplate;
use crate::oci::{
    IMAGE_INDEX, OciDigest, OciIndex, OciManifest, OciProblem, RepositoryAddress, TARGET_ARTIFACT,
    UriTemplate, version_tag,
};
use crate::once_map::OnceMap;
use crate::provider::{Digest, PackageId, ProviderAddr, Version};
use crate::registry::client::RegistryClient;
use crate::registry::download::Download;
use crate::registry::error::{RegistryError, Result};
use crate::registry::metadata::{AvailableVersion, AvailableVersions};
use crate::registry::oci::repository::OciRepository;
use crate::registry::request_purpose::RequestPurpose;
use crate::span::Place;

/// A mirror, and its responses so far.
pub struct OciMirror {
    client: RegistryClient,
    mapping: RepositoryMapping,
    configured: Option<Box<Place>>,
    versions: OnceMap<ProviderAddr, Result<Arc<AvailableVersions>>>,
    indexes: OnceMap<(ProviderAddr, Version), Result<Arc<OciIndex>>>,
    packages: OnceMap<PackageId, Result<OciPackage>>,
}

/// How a mirror maps providers to repositories.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepositoryMapping {
    /// `repository_template` in the CLI configuration.
    Configured(RepositoryTemplate),
    /// `--oci-mirror`.
    Uri(UriTemplate),
}

/// A package in a repository. All manifests that lead to it have been checked.
#[derive(Clone)]
pub struct OciPackage {
    pub package: PackageId,
    /// The SHA-256 digest of the zip.
    pub zh: Digest,
    digest: OciDigest,
    /// The size of the zip in bytes, according to the manifest.
    size: u64,
    repository: OciRepository,
}

impl fmt::Debug for OciPackage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "OciPackage({}@{})",
            self.repository.address(),
            self.digest
        )
    }
}

impl OciPackage {
    /// Returns the error for a zip with a different digest.
    pub fn wrong_digest(&self, found: Digest) -> RegistryError {
        let found = OciDigest::sha256(found);
        let expected = self.digest.clone();
        let problem = OciProblem::Digest { found, expected };
        self.repository.problem(&self.digest.to_string(), problem)
    }

    /// Starts downloading the package. Fails if the server sends a size that differs from the one in the manifest. The caller
    /// checks the digest of the zip.
    pub async fn download(&self) -> Result<Download> {
        let download = self.repository.blob(&self.digest).await?;
        let expected = self.size;
        match download.size() {
            Some(found) if found != expected => {
                let problem = OciProblem::Size { found, expected };
                Err(self.repository.problem(&self.digest.to_string(), problem))
            }
            _ => Ok(download),
        }
    }
}

impl OciMirror {
    /// Creates a mirror without sending a request. `configured` is its position in the CLI configuration.
    pub fn new(
        client: RegistryClient,
        mapping: RepositoryMapping,
        configured: Option<Place>,
    ) -> Self {
        Self {
            client,
            mapping,
            configured: configured.map(Box::new),
            versions: OnceMap::default(),
            indexes: OnceMap::default(),
            packages: OnceMap::default(),
        }
    }

    /// Describes the source of a provider, for messages.
    pub fn describe(&self, provider: &ProviderAddr) -> String {
        match self.mapping.expand(provider) {
            Ok(address) => format!("OCI repository `{address}`"),
            Err(_) => "OCI mirror".to_owned(),
        }
    }

    pub async fn versions(&self, provider: &ProviderAddr) -> Result<Arc<AvailableVersions>> {
        let fetch = || self.fetch_versions(provider);
        self.versions.get_or_init(provider.clone(), fetch).await
    }

    /// Returns the package. If the mirror does not have it, the error names the available platforms.
    pub async fn package(&self, id: &PackageId) -> Result<OciPackage> {
        let fetch = || self.fetch_package(id);
        self.packages.get_or_init(id.clone(), fetch).await
    }

    async fn fetch_package(&self, id: &PackageId) -> Result<OciPackage> {
        let purpose = RequestPurpose::PackageMeta(Box::new(id.clone()));
        let repository = self.repository(&id.provider).await?;
        let tag = version_tag(&id.version);
        let key = (id.provider.clone(), id.version.clone());
        let fetch = || fetch_index(&repository, &tag, &purpose);
        let index = self.indexes.get_or_init(key, fetch).await?;
        let failed = |problem| repository.problem(&tag, problem);
        let target = index.target(&id.platform).map_err(failed)?;
        let target = target.ok_or_else(|| RegistryError::NoPackage {
            package: Box::new(id.clone()),
            published: index.platforms().collect(),
        })?;
        let manifest = repository.described_manifest(target, &purpose).await?;
        let failed = |problem| repository.problem(&target.digest, problem);
        let manifest = OciManifest::parse(&manifest.body, TARGET_ARTIFACT).map_err(failed)?;
        let layer = manifest.provider_zip(&id.platform).map_err(failed)?;
        let digest = layer.digest().map_err(failed)?;
        let zh = digest
            .as_sha256()
            .ok_or_else(|| failed(OciProblem::InvalidDigest(layer.digest.clone())))?;
        Ok(OciPackage {
            package: id.clone(),
            zh,
            digest,
            size: layer.size,
            repository,
        })
    }

    async fn fetch_versions(&self, provider: &ProviderAddr) -> Result<Arc<AvailableVersions>> {
        let purpose = RequestPurpose::Versions(Box::new(provider.clone()));
        let repository = self.repository(provider).await?;
        let tags = repository.tags(&purpose).await?;
        let tags = tags.ok_or_else(|| RegistryError::NotInOciMirror {
            provider: Box::new(provider.clone()),
            repository: Box::new(repository.address().clone()),
            configured: self.configured.clone(),
        })?;
        let mut seen = BTreeSet::new();
        // Tags that are not versions, such as `latest`, are skipped.
        let versions = tags
            .iter()
            .filter_map(|tag| Version::parse(&tag.replace('_', "+")).ok())
            .filter(|version| seen.insert(version.to_string()))
            .map(|version| AvailableVersion {
                version,
                protocols: Vec::new(),
                platforms: BTreeSet::new(),
            });
        Ok(Arc::new(AvailableVersions {
            versions: versions.collect(),
            ..AvailableVersions::default()
        }))
    }

    async fn repository(&self, provider: &ProviderAddr) -> Result<OciRepository> {
        let address = self.mapping.expand(provider);
        let address = address.map_err(|problem| RegistryError::OciAddress {
            provider: Box::new(provider.clone()),
            problem,
            configured: self.configured.clone(),
        })?;
        Ok(self
            .client
            .oci_repository(&address, self.configured.clone())
            .await)
    }
}

impl RepositoryMapping {
    pub(super) fn expand(&self, provider: &ProviderAddr) -> Result<RepositoryAddress, String> {
        match self {
            Self::Configured(template) => template.expand(provider),
            Self::Uri(template) => template.expand(provider).map_err(|error| error.to_string()),
        }
    }
}

async fn fetch_index(
    repository: &OciRepository,
    tag: &str,
    purpose: &RequestPurpose,
) -> Result<Arc<OciIndex>> {
    let manifest = repository.manifest(tag, purpose).await?;
    let failed = |problem| repository.problem(tag, problem);
    if manifest.media_type != IMAGE_INDEX {
        return Err(failed(OciProblem::MediaType {
            found: manifest.media_type,
            expected: IMAGE_INDEX,
        }));
    }
    let index = OciIndex::parse_provider(&manifest.body);
    index.map(Arc::new).map_err(failed)
}
