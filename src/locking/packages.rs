//! The packages of one run. Each registry answer, checksum list and package is requested only once, however many directories
//! need it. Failures are remembered as well, so 200 directories do not repeat the same 404.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime};

use crate::cache::PackageAnswer;
use crate::index::{IndexWarning, RecordKey};
use crate::mirror::Mirror;
use crate::once_map::OnceMap;
use crate::package::{
    AuthenticityError, Limits, MAX_SHASUMS_BYTES, MAX_SIGNATURE_BYTES, PackageHashes,
    ReportedPackages, VerifiedList,
};
use crate::provider::{Digest, Engine, PackageId, Platform, ProviderAddr, Version};
use crate::registry::{
    AvailableVersions, ByteLimit, PackageLocation, PackageMeta, PackageSource, RegistryClient,
    RegistryError,
};
use crate::reporter::Reporter;

use super::disk_cache::{CacheAccess, CachedPackage, CachedVersion};
use super::error::PackageFailure;
use super::min_age::Undated;
use super::package_index::{FalseRecord, IndexUsage, PackageIndex, SourcedHashes};
use super::package_mirror::PackageMirror;
use super::record::PackageRecord;
use super::transfer::{DownloadSource, Downloaded, PackageDownload, TransferError, Transfers};
use super::trust::{Trust, Verifier};

/// Where the packages for directories of one engine come from.
#[derive(Clone)]
pub struct EngineSource {
    /// Lists versions and locates packages.
    pub packages: PackageSource,
    /// Downloads documents and packages.
    pub client: RegistryClient,
}

/// The packages of one run, from their sources and from the disk cache.
pub struct Packages {
    sources: BTreeMap<Engine, EngineSource>,
    pub(super) transfers: Transfers,
    pub(super) verifier: Verifier,
    /// The start of the run. The age of a version is measured from it.
    pub(super) started: SystemTime,
    pub(super) cache: CacheAccess,
    pub(super) index: Arc<PackageIndex>,
    pub(super) memo: Memo,
    /// The number of packages requested so far, for progress events.
    planned: AtomicU64,
}

/// The results that the run has computed. If several callers need the same key, the first one runs the job and the others wait.
/// The engine is part of most keys, because its rules decide whether a signature is valid.
#[derive(Default)]
pub(super) struct Memo {
    records: OnceMap<(Engine, PackageId), Result<Arc<PackageRecord>, Arc<PackageFailure>>>,
    /// Keyed by the zip and the provider type, and by whether an index may have provided the hashes.
    hashes: OnceMap<(RecordKey, bool), Result<SourcedHashes, Arc<PackageFailure>>>,
    pub(super) cached_packages: OnceMap<(Engine, PackageId), Option<CachedPackage>>,
    pub(super) cached_versions: OnceMap<VersionKey, Result<Arc<CachedVersion>, Arc<[Platform]>>>,
    pub(super) list_dates: OnceMap<VersionKey, Result<SystemTime, Undated>>,
}

type VersionKey = (Engine, ProviderAddr, Version, Vec<Platform>);

/// A version, and the platforms for which its packages are required.
#[derive(Clone, Copy)]
pub(super) struct VersionQuery<'a> {
    pub(super) engine: Engine,
    pub(super) provider: &'a ProviderAddr,
    pub(super) version: &'a Version,
    pub(super) platforms: &'a [Platform],
}

impl VersionQuery<'_> {
    pub(super) fn package(self, platform: &Platform) -> PackageId {
        PackageId {
            provider: self.provider.clone(),
            version: self.version.clone(),
            platform: platform.clone(),
        }
    }

    pub(super) fn key(self) -> VersionKey {
        (
            self.engine,
            self.provider.clone(),
            self.version.clone(),
            self.platforms.to_vec(),
        )
    }
}

pub(super) const SHASUMS_LIMIT: ByteLimit = ByteLimit {
    name: "limit for checksum lists",
    bytes: MAX_SHASUMS_BYTES as u64,
};
const SIGNATURE_LIMIT: ByteLimit = ByteLimit {
    name: "limit for signatures",
    bytes: MAX_SIGNATURE_BYTES as u64,
};

impl Packages {
    /// Creates the packages of a run. `started` is the start of the run, `jobs` the maximum number of
    /// packages in flight.
    pub fn new(
        sources: BTreeMap<Engine, EngineSource>,
        reporter: Arc<dyn Reporter>,
        trust: Trust,
        started: SystemTime,
        jobs: usize,
    ) -> Self {
        Self {
            sources,
            transfers: Transfers::new(reporter, Limits::default(), jobs),
            verifier: Verifier { trust },
            started,
            cache: CacheAccess::None,
            index: Arc::default(),
            memo: Memo::default(),
            planned: AtomicU64::new(0),
        }
    }

    #[must_use]
    pub fn with_cache(self, cache: CacheAccess) -> Self {
        Self { cache, ..self }
    }

    /// Uses `index` to look up hashes before packages are downloaded, and to add the hashes that this run computes.
    #[must_use]
    pub fn with_index(self, index: PackageIndex) -> Self {
        let index = Arc::new(index);
        Self { index, ..self }
    }

    /// Also stages the zip of each requested package for `mirror`. The caller moves the zip to its final path once a lock file
    /// records it.
    #[must_use]
    pub fn with_mirror(mut self, mirror: Arc<Mirror>) -> Self {
        self.transfers.mirror = PackageMirror(Some(mirror));
        self
    }

    pub async fn versions(
        &self,
        engine: Engine,
        provider: &ProviderAddr,
    ) -> Result<Arc<AvailableVersions>, RegistryError> {
        self.source(engine).packages.versions(provider).await
    }

    /// Fetches a package from its source, verifies it and hashes it.
    pub async fn package(
        &self,
        engine: Engine,
        id: &PackageId,
    ) -> Result<Arc<PackageRecord>, Arc<PackageFailure>> {
        let job = || async move {
            self.plan(1);
            let started = Instant::now();
            let record = self.request(engine, id).await;
            self.finish_package();
            let elapsed = started.elapsed();
            record.map(|record| Arc::new(PackageRecord { elapsed, ..record }))
        };
        self.memo
            .records
            .get_or_init((engine, id.clone()), job)
            .await
    }

    /// Reports that the run needs this many more packages.
    pub fn plan(&self, packages: u64) {
        let before = self.planned.fetch_add(packages, Ordering::Relaxed);
        self.transfers.reporter.packages_planned(before + packages);
    }

    /// Reports that one of the planned packages is done.
    pub fn finish_package(&self) {
        self.transfers.reporter.package_finished();
    }

    /// Whether the packages of a provider must come from the disk cache, because `--offline` forbids requests and a registry is
    /// their only source.
    pub(super) fn is_cache_only(&self, engine: Engine, provider: &ProviderAddr) -> bool {
        let source = self.source(engine);
        source.client.settings().http.offline && source.packages.origin(provider).is_some()
    }

    pub fn downloaded(&self) -> Downloaded {
        self.transfers.total()
    }

    /// Waits for the records that are being added to an index, and returns what the run has used and added.
    pub async fn finish_index(&self) -> IndexUsage {
        self.index.finish().await
    }

    /// Returns a warning for each index that failed.
    pub fn index_warnings(&self) -> Vec<IndexWarning> {
        self.index.warnings()
    }

    pub(super) fn source(&self, engine: Engine) -> &EngineSource {
        self.sources
            .get(&engine)
            .expect("there is a source for the engine of each directory")
    }

    async fn request(
        &self,
        engine: Engine,
        id: &PackageId,
    ) -> Result<PackageRecord, Arc<PackageFailure>> {
        let source = &self.source(engine).packages;
        match source.locate(id).await.map_err(PackageFailure::from)? {
            PackageLocation::Registry(meta) => self.request_registry(engine, &meta).await,
            PackageLocation::Mirror(package) => Ok(self.request_mirror(engine, &package).await?),
            PackageLocation::Oci(package) => Ok(self.request_oci(engine, &package).await?),
            PackageLocation::Local(package) => Ok(self.hash_local(engine, package, id).await?),
        }
    }

    /// Verifies the signature over the checksum list, the package's line in the list, and the bytes of the package. Nothing is
    /// used until all three checks have passed.
    async fn request_registry(
        &self,
        engine: Engine,
        meta: &PackageMeta,
    ) -> Result<PackageRecord, Arc<PackageFailure>> {
        let answer = self.request_answer(engine, meta).await?;
        let list = self
            .verifier
            .verify(engine, &meta.package, &answer)
            .map_err(PackageFailure::from)?;
        let reported = self.verifier.accept_report(&list);
        let record = if let Some(record) = reported.map_err(PackageFailure::from)? {
            record
        } else {
            let package = self.hash_listed(engine, meta, &list).await?;
            PackageRecord::from_registry(&list, &package).map_err(PackageFailure::from)?
        };
        self.index.note_use(&meta.package, &record);
        self.keep_answer(engine, &meta.package, answer).await;
        Ok(record)
    }

    /// Returns the hashes of the zip whose digest is in the verified `list`. Hashes from an index are used only if the list is
    /// signed.
    async fn hash_listed(
        &self,
        engine: Engine,
        meta: &PackageMeta,
        list: &VerifiedList,
    ) -> Result<SourcedHashes, Arc<PackageFailure>> {
        let use_index = list.signer().is_some() && self.reads_index();
        let package = self
            .hash_once(engine, meta, list.digest(), use_index)
            .await?;
        // A record that contradicts the registry must not fail the run.
        if let Some(key) = &package.index_key
            && let Err(error) = list.accept(&package.hashes)
        {
            let record = RecordKey {
                zh: list.digest(),
                type_name: meta.package.provider.type_name.clone(),
            };
            self.index.note_contradiction(&record, key.clone(), error);
            return self.hash_once(engine, meta, list.digest(), false).await;
        }
        Ok(package)
    }

    /// Returns the hashes of the zip with the digest `zh`. The same zip at several addresses is downloaded once.
    pub(super) async fn hash_once(
        &self,
        engine: Engine,
        meta: &PackageMeta,
        zh: Digest,
        use_index: bool,
    ) -> Result<SourcedHashes, Arc<PackageFailure>> {
        let request = PackageDownload {
            package: &meta.package,
            from: DownloadSource::Url(&meta.download_url),
            digest: Some(zh),
        };
        let type_name = meta.package.provider.type_name.clone();
        let key = RecordKey { zh, type_name };
        let job = || async {
            let package = self.hash_or_look_up(engine, request, &key, use_index).await;
            package.map_err(|failure| {
                Arc::new(match failure {
                    PackageFailure::Transfer(TransferError::OtherDigest { found }) => {
                        let filename = meta.filename.clone();
                        let expected = zh;
                        AuthenticityError::OtherPackage {
                            filename,
                            expected,
                            found,
                        }
                        .into()
                    }
                    other => other,
                })
            })
        };
        self.memo
            .hashes
            .get_or_init((key.clone(), use_index), job)
            .await
    }

    /// Returns the hashes of a zip from the disk cache, from an index, or from the zip itself.
    async fn hash_or_look_up(
        &self,
        engine: Engine,
        request: PackageDownload<'_>,
        key: &RecordKey,
        use_index: bool,
    ) -> Result<SourcedHashes, PackageFailure> {
        let computed = |hashes| SourcedHashes {
            hashes,
            index_key: None,
        };
        if let Some(hashes) = self.known_hashes(key.zh, request).await {
            return Ok(computed(hashes));
        }
        let record = if use_index {
            self.index.find(&self.cache, key).await
        } else {
            None
        };
        match record {
            Some(record) if !self.index.audits(key.zh) => Ok(record.into()),
            Some(record) => {
                let hashes = self.download(engine, request).await?;
                FalseRecord::check(&record, key, &hashes)?;
                Ok(computed(hashes))
            }
            None => Ok(computed(self.download(engine, request).await?)),
        }
    }

    /// Whether hashes are looked up in an index. If there is a mirror to fill, they are not, because the zips must be downloaded
    /// anyway.
    fn reads_index(&self) -> bool {
        self.index.is_read() && self.transfers.mirror.0.is_none()
    }

    /// Returns the hashes of the zip with the digest `zh` if an earlier run has computed them. If there is a mirror to fill, the zip
    /// must also be in the mirror.
    pub(super) async fn known_hashes(
        &self,
        zh: Digest,
        request: PackageDownload<'_>,
    ) -> Option<PackageHashes> {
        let type_name = &request.package.provider.type_name;
        let cached = self.cache.hashes(zh, type_name).await;
        let mirror = &self.transfers.mirror;
        mirror.hashes(request.package, zh, cached).await
    }

    pub(super) async fn download(
        &self,
        engine: Engine,
        request: PackageDownload<'_>,
    ) -> Result<PackageHashes, TransferError> {
        if self.index.no_download {
            return Err(TransferError::Forbidden);
        }
        let client = &self.source(engine).client;
        let hashes = self.transfers.hash_download(client, request).await?;
        self.keep_computed(&request.package.provider.type_name, &hashes)
            .await;
        Ok(hashes)
    }

    /// Stores hashes that this run computed from the bytes of a zip.
    pub(super) async fn keep_computed(&self, type_name: &str, hashes: &PackageHashes) {
        self.index.push(type_name, hashes);
        self.cache.keep_hashes(type_name, hashes).await;
    }

    /// Fetches the registry's answer about a package, with its checksum list and signature. Nothing is verified yet.
    pub(super) async fn request_answer(
        &self,
        engine: Engine,
        meta: &PackageMeta,
    ) -> Result<PackageAnswer, PackageFailure> {
        let client = &self.source(engine).client;
        let (list, signature) = tokio::try_join!(
            client.document(&meta.shasums_url, SHASUMS_LIMIT),
            client.document(&meta.signature_url, SIGNATURE_LIMIT),
        )?;
        Ok(PackageAnswer {
            filename: meta.filename.clone(),
            shasum: meta.shasum_text.clone(),
            keys: meta.signing_keys.clone(),
            reported: match &meta.packages {
                Some(packages) if engine == Engine::Tofu => packages.read()?,
                _ => ReportedPackages::new(),
            },
            warnings: Vec::new(),
            invalid: Vec::new(),
            list: list.into(),
            signature: signature.into(),
        })
    }
}
