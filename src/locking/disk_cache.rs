//! Packages from earlier runs in the disk cache, which are verified again each time they are used.
//!
//! The cache stores the answers of registries and the lists that they signed, never the result of a verification. Expired or
//! revoked keys, a changed clock and stricter rules therefore affect a cached answer just like a fresh one. If a cached answer
//! no longer passes verification, tflock requests it again.

use std::sync::Arc;

use bytes::Bytes;

use crate::cache::{AnswerKey, DiskCache, PackageAnswer};
use crate::index::RecordKey;
use crate::package::{PackageHashes, VerifiedList};
use crate::provider::{Digest, Engine, PackageId, Platform};
use crate::registry::AvailableVersions;

use super::evidence::Evidence;
use super::package_index::{PackageIndex, SourcedHashes};
use super::packages::{Packages, VersionQuery};
use super::record::PackageRecord;
use super::trust::Verifier;

/// The parts of the disk cache that a run reads. A run with a cache writes all parts, even those that it does not read.
#[derive(Clone, Debug, Default)]
pub enum CacheAccess {
    /// There is no cache.
    #[default]
    None,
    /// Only the hashes of zips, which never change. Registry answers are requested again.
    Hashes(Arc<DiskCache>),
    /// Everything: no request is sent for a package that is completely cached.
    All(Arc<DiskCache>),
}

/// A completely cached package.
#[derive(Clone, Debug)]
pub(super) struct CachedPackage {
    pub(super) record: Arc<PackageRecord>,
    /// The registry's warnings, and the invalid versions that it listed. The field `versions` is always empty here.
    pub(super) messages: Arc<AvailableVersions>,
}

/// A version whose packages for all requested platforms are in the disk cache.
#[derive(Clone, Debug)]
pub(super) struct CachedVersion {
    /// The packages, in the order of the requested platforms.
    pub(super) records: Vec<(Platform, Arc<PackageRecord>)>,
    pub(super) evidence: Evidence,
    /// The [`CachedPackage::messages`] of the first package.
    pub(super) messages: Arc<AvailableVersions>,
}

impl CacheAccess {
    /// Returns the hashes of the zip with this digest, no matter which source the zip came from.
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

    /// Returns a record of a hash index that an earlier run stored. Its signatures have not been verified.
    pub(super) async fn index_record(&self, key: &RecordKey) -> Option<Vec<u8>> {
        let key = key.clone();
        self.run_blocking(move |store| store.index_record(key.zh, &key.type_name))
            .await?
    }

    pub(super) async fn keep_index_record(&self, key: &RecordKey, stored: Bytes) {
        let key = key.clone();
        self.run_blocking(move |store| store.write_index_record(key.zh, &key.type_name, &stored))
            .await;
    }

    /// Reads or writes the cache on a thread that may block. Returns `None` if there is no cache, or if the runtime is shutting
    /// down.
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

impl Packages {
    /// Returns a version from the disk cache without sending a request. The error lists the platforms that require a request.
    pub(super) async fn cached_version(
        &self,
        query: VersionQuery<'_>,
    ) -> Result<Arc<CachedVersion>, Arc<[Platform]>> {
        // Boxed to keep the callers' futures small: thousands of callers wait while one of them runs the job.
        let job = || Box::pin(self.read_version(query));
        let versions = &self.memo.cached_versions;
        versions.get_or_init(query.key(), job).await
    }

    async fn read_version(
        &self,
        query: VersionQuery<'_>,
    ) -> Result<Arc<CachedVersion>, Arc<[Platform]>> {
        let (mut cached, mut missing) = (None::<CachedVersion>, Vec::new());
        for platform in query.platforms {
            let id = query.package(platform);
            let Some(package) = self.cached_package(query.engine, id).await else {
                missing.push(platform.clone());
                continue;
            };
            let cached = cached.get_or_insert_with(|| CachedVersion {
                records: Vec::new(),
                evidence: Evidence::default(),
                messages: package.messages,
            });
            cached.evidence.extend(package.record.evidence.clone());
            cached.records.push((platform.clone(), package.record));
        }
        match cached {
            Some(cached) if missing.is_empty() => Ok(Arc::new(cached)),
            _ => Err(missing.into()),
        }
    }

    /// Returns a package if it is completely cached and passes verification.
    async fn cached_package(&self, engine: Engine, id: PackageId) -> Option<CachedPackage> {
        let CacheAccess::All(_) = &self.cache else {
            return None;
        };
        let key = (engine, id.clone());
        let job = || async {
            let origin = self.source(engine).packages.origin(&id.provider)?;
            let (verifier, index) = (self.verifier, Arc::clone(&self.index));
            let read = move |store: &DiskCache| {
                read_package(store, verifier, &index, &origin, engine, &id)
            };
            self.cache.run_blocking(read).await?
        };
        self.memo.cached_packages.get_or_init(key, job).await
    }

    /// Stores a verified answer, unless the provider can also come from a source other than a registry.
    pub(super) async fn keep_answer(&self, engine: Engine, id: &PackageId, answer: PackageAnswer) {
        let source = &self.source(engine).packages;
        let Some(origin) = source.origin(&id.provider) else {
            return;
        };
        // `versions` sends no request here, because the version was selected from the same list. A version that is missing from the
        // list could not be selected again, so it is not stored.
        let Ok(listed) = source.versions(&id.provider).await else {
            return;
        };
        if !listed.versions().any(|version| *version == id.version) {
            return;
        }
        let answer = PackageAnswer {
            warnings: listed.warnings.clone(),
            invalid: listed.invalid.clone(),
            ..answer
        };
        let id = id.clone();
        let write = move |store: &DiskCache| {
            let key = AnswerKey {
                origin: &origin,
                engine,
                package: &id,
            };
            store.write_answer(&key, &answer);
        };
        self.cache.run_blocking(write).await;
    }
}

fn read_package(
    store: &DiskCache,
    verifier: Verifier,
    index: &PackageIndex,
    origin: &str,
    engine: Engine,
    id: &PackageId,
) -> Option<CachedPackage> {
    let answer = store.answer(&AnswerKey {
        origin,
        engine,
        package: id,
    })?;
    // If verification fails, tflock requests the answer again, and reports a problem only if the new answer has one, too.
    let list = verifier.verify(engine, id, &answer).ok()?;
    let record = if let Some(record) = verifier.accept_report(&list).ok()? {
        record
    } else {
        let package = match store.hashes(list.digest(), &id.provider.type_name) {
            Some(hashes) => SourcedHashes {
                hashes,
                index_key: None,
            },
            None => read_index_record(store, index, &list, &id.provider.type_name)?,
        };
        PackageRecord::from_registry(&list, &package).ok()?
    };
    index.note_use(id, &record);
    Some(CachedPackage {
        record: Arc::new(record),
        messages: Arc::new(AvailableVersions {
            versions: Vec::new(),
            invalid: answer.invalid,
            warnings: answer.warnings,
        }),
    })
}

/// Returns the hashes in an index record that the disk cache stores. `None` if the run reads no index, the checksum list is unsigned,
/// no trusted key signed the record, or the package must be downloaded because it is in the audit sample.
fn read_index_record(
    store: &DiskCache,
    index: &PackageIndex,
    list: &VerifiedList,
    type_name: &str,
) -> Option<SourcedHashes> {
    let zh = list.digest();
    if !index.is_read() || index.audits(zh) || list.signer().is_none() {
        return None;
    }
    let stored = store.index_record(zh, type_name)?;
    let type_name = type_name.to_owned();
    let record = index.open(&stored, &RecordKey { zh, type_name })?;
    Some(record.into())
}
