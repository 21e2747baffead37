//! Modules in OCI registries (OpenTofu only). See section 5 of docs/rules/oci.md.
//!
//! The tag or digest identifies a manifest, and the manifest names a layer, which is a zip. The zip is checked, unpacked and stored like
//! other archives with a checksum. A digest always identifies the same zip. A tag can be moved, so each run requests its manifest.

use std::path::PathBuf;

use crate::oci::{IMAGE_MANIFEST, MODULE_ARTIFACT, OciDigest, OciManifest, OciProblem};
use crate::redacted_url::RedactedUrl;
use crate::registry::{OciRepository, RegistryClient, RequestPurpose};

use super::address::{OciModule, OciReference};
use super::module_store::{content_key, key};
use super::{ArchiveKind, Checksum, Fetcher, ModuleError, archive, disk};

/// The zip of a module.
struct ModuleLayer {
    digest: OciDigest,
    checksum: Checksum,
    /// The size in bytes, according to the manifest.
    size: u64,
}

impl Fetcher {
    /// Obtains the package of a module in an OCI registry.
    pub(super) async fn obtain_oci_module(
        &self,
        client: &RegistryClient,
        module: &OciModule,
        address: &RedactedUrl,
    ) -> Result<PathBuf, ModuleError> {
        let record = key(&["oci", &module.to_string()]);
        let offline = client.settings().http.offline;
        if (offline || matches!(module.reference, OciReference::Digest(_)))
            && let Some(checksum) = self.store.text(&record)
            && let Ok(checksum) = Checksum::parse(&checksum)
            && let Some(package) = self.find_zip(&checksum, address)
        {
            return Ok(package);
        }
        if offline {
            return Err(ModuleError::Offline(address.clone()));
        }
        let repository = client.oci_repository(&module.repository, None).await;
        let layer = find_layer(&repository, module, address).await?;
        let package = match self.find_zip(&layer.checksum, address) {
            Some(package) => package,
            None => self.download_layer(&repository, &layer, address).await?,
        };
        self.store.write(&record, &layer.checksum.to_string());
        Ok(package)
    }

    fn find_zip(&self, checksum: &Checksum, address: &RedactedUrl) -> Option<PathBuf> {
        let key = content_key(ArchiveKind::Zip, checksum);
        self.store.find(&key, address)
    }

    async fn download_layer(
        &self,
        repository: &OciRepository,
        layer: &ModuleLayer,
        address: &RedactedUrl,
    ) -> Result<PathBuf, ModuleError> {
        let staging = self.stage()?;
        let directory = staging.directory();
        let mut download = repository.blob(&layer.digest).await?;
        let file = archive::save(&mut download, directory, address).await?;
        let (found, expected) = (file.metadata().map_err(disk(directory))?.len(), layer.size);
        if found != expected {
            let problem = OciProblem::Size { found, expected };
            return Err(repository
                .problem(&layer.digest.to_string(), problem)
                .into());
        }
        let (kind, checksum) = (ArchiveKind::Zip, &layer.checksum);
        archive::unpack(file, kind, Some(checksum), &staging.target, address)?;
        self.store.adopt(&content_key(kind, checksum), staging)
    }
}

/// Requests the manifest of a package, and returns the layer that is the package.
async fn find_layer(
    repository: &OciRepository,
    module: &OciModule,
    address: &RedactedUrl,
) -> Result<ModuleLayer, ModuleError> {
    let reference = module.reference.to_string();
    let manifest = repository.manifest(&reference, &RequestPurpose::Document);
    let manifest = manifest.await.map_err(|error| match error.status() {
        Some(404) => ModuleError::NoOciArtifact(address.clone()),
        _ => error.into(),
    })?;
    let failed = |problem| repository.problem(&reference, problem);
    if manifest.media_type != IMAGE_MANIFEST {
        return Err(failed(OciProblem::MediaType {
            found: manifest.media_type,
            expected: IMAGE_MANIFEST,
        })
        .into());
    }
    let manifest = OciManifest::parse(&manifest.body, MODULE_ARTIFACT).map_err(failed)?;
    let layer = manifest.zip_layer().map_err(failed)?;
    let digest = layer.digest().map_err(failed)?;
    // Archive checksums do not support SHA-384.
    let checksum = Checksum::parse(&digest.to_string());
    let checksum =
        checksum.map_err(|_sha384| failed(OciProblem::InvalidDigest(digest.to_string())))?;
    Ok(ModuleLayer {
        digest,
        checksum,
        size: layer.size,
    })
}
