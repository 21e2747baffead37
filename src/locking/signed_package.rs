//! Packages in signed checksum lists, whose hashes `tflock index` computes or compares with records.

use std::sync::Arc;

use crate::index::RecordKey;
use crate::package::{PackageHashes, VerifiedList};
use crate::provider::{Engine, PackageId};
use crate::registry::{PackageLocation, PackageMeta};

use super::error::PackageFailure;
use super::packages::Packages;

/// A package in a checksum list that its registry signed and this run verified. It has not been downloaded yet.
pub struct SignedPackage {
    meta: Arc<PackageMeta>,
    list: VerifiedList,
}

impl SignedPackage {
    /// Returns the key under which an index stores the record of the package.
    pub fn key(&self) -> RecordKey {
        RecordKey {
            zh: self.list.digest(),
            type_name: self.meta.package.provider.type_name.clone(),
        }
    }
}

impl Packages {
    /// Finds a package in the checksum list of its registry. `None` if the list is unsigned or the package is from a mirror: index
    /// records are never used for such packages.
    pub async fn signed_package(
        &self,
        engine: Engine,
        id: &PackageId,
    ) -> Result<Option<SignedPackage>, PackageFailure> {
        let PackageLocation::Registry(meta) = self.source(engine).packages.locate(id).await? else {
            return Ok(None);
        };
        let answer = self.request_answer(engine, &meta).await?;
        let list = self.verifier.verify(engine, id, &answer)?;
        let is_signed = list.signer().is_some();
        Ok(is_signed.then_some(SignedPackage { meta, list }))
    }

    /// Downloads a package and computes its hashes. The zip must match the list.
    pub async fn compute_hashes(
        &self,
        engine: Engine,
        package: &SignedPackage,
    ) -> Result<PackageHashes, Arc<PackageFailure>> {
        let SignedPackage { meta, list } = package;
        let computed = self.hash_once(engine, meta, list.digest(), false).await?;
        list.accept(&computed.hashes)
            .map_err(PackageFailure::from)?;
        Ok(computed.hashes)
    }
}
