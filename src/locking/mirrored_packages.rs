//! Packages from mirrors. Mirrors have no signed checksum list, so nothing else confirms the hashes that a mirror reports.

use crate::provider::{Engine, Hash, PackageId};
use crate::registry::{LocalPackage, MirrorPackage, OciPackage};

use super::error::PackageFailure;
use super::packages::Packages;
use super::record::PackageRecord;
use super::transfer::{DownloadSource, PackageDownload, TransferError, hash_files};

impl Packages {
    pub(super) async fn request_mirror(
        &self,
        engine: Engine,
        package: &MirrorPackage,
    ) -> Result<PackageRecord, PackageFailure> {
        let request = PackageDownload {
            package: &package.package,
            from: DownloadSource::Url(&package.url),
            digest: None,
        };
        let known = match package.zh() {
            Some(zh) => self.known_hashes(zh, request).await,
            None => None,
        };
        let hashes = match known {
            Some(hashes) => hashes,
            None => self.download(engine, request).await?,
        };
        let matching = package.check(hashes.zh, hashes.zip_h1.as_ref())?;
        Ok(PackageRecord::from_mirror(engine, hashes, matching))
    }

    /// Fetches a package from an OCI repository and hashes it. As in OpenTofu, the `zh` hash of the zip is recorded, because the
    /// manifest of the package contains it.
    pub(super) async fn request_oci(
        &self,
        engine: Engine,
        package: &OciPackage,
    ) -> Result<PackageRecord, PackageFailure> {
        let request = PackageDownload {
            package: &package.package,
            from: DownloadSource::Oci(package),
            digest: Some(package.zh),
        };
        let hashes = match self.known_hashes(package.zh, request).await {
            Some(hashes) => hashes,
            None => match self.download(engine, request).await {
                Err(TransferError::OtherDigest { found }) => {
                    return Err(PackageFailure::from(package.wrong_digest(found)));
                }
                hashes => hashes?,
            },
        };
        let zh = Hash::zh(package.zh);
        Ok(PackageRecord::from_mirror(engine, hashes, vec![zh]))
    }

    pub(super) async fn hash_local(
        &self,
        engine: Engine,
        package: LocalPackage,
        id: &PackageId,
    ) -> Result<PackageRecord, PackageFailure> {
        let type_name = id.provider.type_name.clone();
        match package {
            LocalPackage::Zip(path) => {
                let result = self.transfers.hash_local(&path, id).await;
                let hashes = result.map_err(|source| PackageFailure::Local { path, source })?;
                self.keep_computed(&type_name, &hashes).await;
                Ok(PackageRecord::from_mirror(engine, hashes, Vec::new()))
            }
            LocalPackage::Directory(path) => match hash_files(path.clone(), type_name).await {
                Ok(h1) => Ok(PackageRecord::unpacked(h1, path)),
                Err(source) => Err(PackageFailure::Local { path, source }),
            },
        }
    }
}
