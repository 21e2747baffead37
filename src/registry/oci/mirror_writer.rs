//! Adds packages to provider mirrors in OCI registries; see section 4 of docs/rules/oci.md.
//!
//! Any number of processes may add packages to the same version at the same time. Registries do not support conditional updates, so
//! a process may overwrite an index manifest that another process has just changed. Therefore, each package also gets a tag of its
//! own, such as `linux_amd64-1.0.0`. Each process adds all packages that have such tags to the index manifest, until the manifest
//! contains them all. The last process to write the manifest has seen the tags of all others, so no package is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;

use bytes::Bytes;

use crate::oci::{
    EMPTY_CONFIG, IMAGE_INDEX, IMAGE_MANIFEST, OciDigest, OciManifest, OciProblem, OciTarget,
    RepositoryAddress, TARGET_ARTIFACT, UriTemplate, add_targets, target_manifest, version_tag,
};
use crate::parallel::lock;
use crate::provider::{Digest, PackageId, Platform, ProviderAddr, Version};
use crate::registry::client::RegistryClient;
use crate::registry::error::{RegistryError, Result};
use crate::registry::oci::mirror::{OciMirror, RepositoryMapping};
use crate::registry::oci::repository::{OciManifestBody, OciRepository};
use crate::registry::request_method::{RequestContent, UploadFile};
use crate::registry::request_purpose::RequestPurpose;

/// The maximum number of times to write an index manifest. Each repetition means that at least one other process has made progress.
const MAX_INDEX_WRITES: usize = 30;

/// A provider mirror to which packages are added.
pub struct OciMirrorWriter {
    client: RegistryClient,
    mapping: RepositoryMapping,
    reader: OciMirror,
    /// For each repository that this run writes to, the providers stored in it.
    owners: Mutex<BTreeMap<RepositoryAddress, BTreeSet<ProviderAddr>>>,
}

impl OciMirrorWriter {
    pub fn new(client: RegistryClient, template: UriTemplate) -> Self {
        let mapping = RepositoryMapping::Uri(template);
        Self {
            reader: OciMirror::new(client.clone(), mapping.clone(), None),
            client,
            mapping,
            owners: Mutex::default(),
        }
    }

    /// Returns the digest of the zip that the mirror has for a package. `None` if the mirror does not have the package.
    pub async fn stored_zip(&self, id: &PackageId) -> Result<Option<Digest>> {
        self.repository(&id.provider).await?;
        match self.reader.package(id).await {
            Ok(package) => Ok(Some(package.zh)),
            Err(RegistryError::NoPackage { .. }) => Ok(None),
            Err(RegistryError::OciArtifact { source, .. }) if *source == OciProblem::NoTargets => {
                Ok(None)
            }
            Err(error) if error.status() == Some(404) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Uploads a zip of `size` bytes, and its manifest. Installers do not find the package before [`Self::write_index`] has added it.
    pub async fn push(&self, id: &PackageId, zip: Digest, path: PathBuf, size: u64) -> Result<()> {
        let repository = self.repository(&id.provider).await?;
        let zip = OciDigest::sha256(zip);
        let file = RequestContent::File(UploadFile::new(path, size));
        repository.push_blob(&zip, &file).await?;
        let config = RequestContent::Bytes(Bytes::from_static(EMPTY_CONFIG));
        let empty = OciDigest::sha256_of(EMPTY_CONFIG);
        repository.push_blob(&empty, &config).await?;
        let tag = format!("{}-{}", id.platform, version_tag(&id.version));
        let manifest = target_manifest(&zip, size);
        repository
            .push_manifest(&tag, IMAGE_MANIFEST, manifest)
            .await
    }

    /// Adds the packages of a version to the index manifest of that version. For the platforms in `own`, they replace existing entries.
    pub async fn write_index(
        &self,
        provider: &ProviderAddr,
        version: &Version,
        own: &BTreeSet<Platform>,
    ) -> Result<()> {
        let repository = self.repository(provider).await?;
        let tag = version_tag(version);
        let purpose = RequestPurpose::Versions(Box::new(provider.clone()));
        for _ in 0..MAX_INDEX_WRITES {
            let targets = tagged_targets(&repository, &tag, own, &purpose).await?;
            let index = find_manifest(&repository, &tag, &purpose).await?;
            let index = index.as_ref().map(|index| &*index.body);
            let changed = add_targets(index, &targets);
            match changed.map_err(|problem| repository.problem(&tag, problem))? {
                None => return Ok(()),
                Some(index) => repository.push_manifest(&tag, IMAGE_INDEX, index).await?,
            }
        }
        Err(repository.problem(&tag, OciProblem::Contended(MAX_INDEX_WRITES)))
    }

    /// Announces a provider whose packages the run will push. A repository with several providers is then reported before the first
    /// push. Invalid addresses are ignored here and reported later.
    pub fn announce(&self, provider: &ProviderAddr) {
        if let Ok(address) = self.mapping.expand(provider) {
            self.add_owner(&address, provider);
        }
    }

    /// Adds a provider to the providers of the repository, and returns all of them.
    fn add_owner(
        &self,
        address: &RepositoryAddress,
        provider: &ProviderAddr,
    ) -> BTreeSet<ProviderAddr> {
        let mut owners = lock(&self.owners);
        let owners = owners.entry(address.clone()).or_default();
        owners.insert(provider.clone());
        owners.clone()
    }

    /// Returns the repository of a provider. Fails if another provider of this run has the same repository.
    async fn repository(&self, provider: &ProviderAddr) -> Result<OciRepository> {
        let address = self.mapping.expand(provider);
        let address = address.map_err(|problem| RegistryError::OciAddress {
            provider: Box::new(provider.clone()),
            problem,
            configured: None,
        })?;
        let owners = self.add_owner(&address, provider);
        if owners.len() > 1 {
            return Err(RegistryError::SharedRepository {
                repository: Box::new(address),
                providers: owners,
            });
        }
        Ok(self.client.oci_repository(&address, None).await)
    }
}

/// Returns the packages of a version that have tags of their own.
async fn tagged_targets(
    repository: &OciRepository,
    version: &str,
    own: &BTreeSet<Platform>,
    purpose: &RequestPurpose,
) -> Result<BTreeMap<Platform, OciTarget>> {
    let mut targets = BTreeMap::new();
    for tag in repository.tags(purpose).await?.unwrap_or_default() {
        let platform = tag.strip_suffix(version);
        let platform = platform.and_then(|start| Platform::parse(start.strip_suffix('-')?).ok());
        let Some(platform) = platform else {
            continue;
        };
        // A registry may list a tag before its manifest is stored. The process that stores the manifest also adds it to the index
        // manifest.
        let Some(manifest) = find_manifest(repository, &tag, purpose).await? else {
            continue;
        };
        let is_target = OciManifest::parse(&manifest.body, TARGET_ARTIFACT).is_ok();
        if is_target {
            let target = OciTarget {
                digest: manifest.digest,
                size: manifest.body.len() as u64,
                replaces: own.contains(&platform),
            };
            targets.insert(platform, target);
        }
    }
    Ok(targets)
}

async fn find_manifest(
    repository: &OciRepository,
    tag: &str,
    purpose: &RequestPurpose,
) -> Result<Option<OciManifestBody>> {
    match repository.manifest(tag, purpose).await {
        Err(error) if error.status() == Some(404) => Ok(None),
        found => found.map(Some),
    }
}
