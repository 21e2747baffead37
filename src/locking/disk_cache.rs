//! Packages that the disk cache knows from earlier runs, verified again each time they are used.
//!
//! The cache keeps what registries answered and the lists that they signed, never the result of a verification. So an expired
//! or revoked key, another clock and stricter rules apply to a cached answer as they do to a fresh one. tflock requests
//! again what no longer passes.

use std::sync::Arc;

use crate::cache::{AnswerKey, DiskCache, PackageAnswer};
use crate::package::PackageHashes;
use crate::provider::{Digest, Engine, PackageId, Platform};
use crate::registry::AvailableVersions;

use super::evidence::Evidence;
use super::record::PackageRecord;
use super::trust::Verifier;

/// Which parts of the disk cache a run reads. It writes all parts unless there is no cache.
#[derive(Clone, Debug, Default)]
pub enum CacheAccess {
    /// There is no cache.
    #[default]
    None,
    /// Only the hashes of zips, which cannot change. Registry answers are requested again.
    Hashes(Arc<DiskCache>),
    /// Everything: no request is sent for a package that the cache knows completely.
    All(Arc<DiskCache>),
}

/// A package that the cache knows completely.
#[derive(Clone, Debug)]
pub(super) struct CachedPackage {
    pub(super) record: Arc<PackageRecord>,
    /// The registry's warnings and invalid versions. Its list of versions is empty.
    pub(super) messages: Arc<AvailableVersions>,
}

/// A version whose packages for all requested platforms are in the disk cache.
#[derive(Clone, Debug)]
pub(super) struct CachedVersion {
    /// In the order of the platforms.
    pub(super) records: Vec<(Platform, Arc<PackageRecord>)>,
    pub(super) evidence: Evidence,
    /// The registry's warnings and invalid versions. Its list of versions is empty.
    pub(super) messages: Arc<AvailableVersions>,
}

impl CacheAccess {
    /// A package, if the cache has all of it and it passes verification.
    pub(super) async fn package(
        &self,
        verifier: Verifier,
        origin: String,
        engine: Engine,
        id: PackageId,
    ) -> Option<CachedPackage> {
        match self {
            Self::All(_) => {}
            Self::None | Self::Hashes(_) => return None,
        }
        self.run_blocking(move |store| read_package(store, verifier, &origin, engine, &id))
            .await?
    }

    /// The hashes of the zip with this digest, from any source.
    pub(super) async fn hashes(&self, zh: Digest, type_name: &str) -> Option<PackageHashes> {
        let type_name = type_name.to_owned();
        self.run_blocking(move |store| store.hashes(zh, &type_name))
            .await?
    }

    pub(super) async fn keep_hashes(&self, type_name: &str, hashes: &PackageHashes) {
        let (type_name, hashes) = (type_name.to_owned(), hashes.clone());
        self.run_blocking(move |store| store.write_hashes(&type_name, &hashes))
            .await;
    }

    /// Stores the answer of the registry at `origin`.
    pub(super) async fn keep_answer(
        &self,
        origin: String,
        engine: Engine,
        id: PackageId,
        answer: PackageAnswer,
    ) {
        self.run_blocking(move |store| {
            let key = AnswerKey {
                origin: &origin,
                engine,
                package: &id,
            };
            store.write_answer(&key, &answer);
        })
        .await;
    }

    /// Reads or writes the cache on a thread that may block. `None` without a cache, or if the runtime shuts down.
    async fn run_blocking<T: Send + 'static>(
        &self,
        job: impl FnOnce(&DiskCache) -> T + Send + 'static,
    ) -> Option<T> {
        let store = match self {
            Self::None => return None,
            Self::Hashes(store) | Self::All(store) => Arc::clone(store),
        };
        tokio::task::spawn_blocking(move || job(&store)).await.ok()
    }
}

fn read_package(
    store: &DiskCache,
    verifier: Verifier,
    origin: &str,
    engine: Engine,
    id: &PackageId,
) -> Option<CachedPackage> {
    let answer = store.answer(&AnswerKey {
        origin,
        engine,
        package: id,
    })?;
    // If it fails, tflock requests the answer again and reports what is wrong with that one.
    let list = verifier.verify(engine, id, &answer).ok()?;
    let record = if let Some(record) = verifier.accept_report(&list).ok()? {
        record
    } else {
        let hashes = store.hashes(list.digest(), &id.provider.type_name)?;
        PackageRecord::from_registry(&list, &hashes).ok()?
    };
    Some(CachedPackage {
        record: Arc::new(record),
        messages: Arc::new(AvailableVersions {
            versions: Vec::new(),
            invalid: answer.invalid,
            warnings: answer.warnings,
        }),
    })
}
