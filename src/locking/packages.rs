//! The packages of one run. Each registry answer, checksum list and package is requested once, however many directories need
//! it. Failures are remembered as well, so that 200 directories do not repeat one 404.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::cache::PackageAnswer;
use crate::mirror::Mirror;
use crate::once_map::OnceMap;
use crate::package::{
    AuthenticityError, Limits, MAX_SHASUMS_BYTES, MAX_SIGNATURE_BYTES, PackageHashes,
    ReportedPackages,
};
use crate::provider::{Digest, Engine, PackageId, Platform, ProviderAddr, Version};
use crate::registry::{
    AvailableVersions, ByteLimit, LocalPackage, MirrorPackage, PackageLocation, PackageMeta,
    PackageSource, RegistryClient, RegistryError,
};
use crate::reporter::Reporter;

use super::disk_cache::{CacheAccess, CachedPackage, CachedVersion};
use super::error::PackageFailure;
use super::evidence::Evidence;
use super::min_age::Undated;
use super::package_mirror::PackageMirror;
use super::record::PackageRecord;
use super::transfer::{Downloaded, PackageDownload, TransferError, Transfers, hash_files};
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
    transfers: Transfers,
    verifier: Verifier,
    cache: CacheAccess,
    memo: Memo,
    /// Number of packages requested so far, for the progress bar.
    planned: AtomicU64,
}

/// What the run knows already. If several callers need one key, the first runs the job and the others wait.
#[derive(Default)]
struct Memo {
    records: OnceMap<(Engine, PackageId), Result<Arc<PackageRecord>, Arc<PackageFailure>>>,
    /// By the digest of the zip and the provider type that its executable must be named after.
    hashes: OnceMap<(Digest, String), Result<PackageHashes, Arc<PackageFailure>>>,
    cached_packages: OnceMap<(Engine, PackageId), Option<CachedPackage>>,
    cached_versions: OnceMap<VersionKey, Result<Arc<CachedVersion>, Arc<[Platform]>>>,
    list_dates: OnceMap<VersionKey, Result<SystemTime, Undated>>,
}

/// A version and the platforms that it is needed for. The engine is part of every key, because its rules decide whether a
/// signature is valid.
type VersionKey = (Engine, ProviderAddr, Version, Vec<Platform>);

const SHASUMS_LIMIT: ByteLimit = ByteLimit {
    name: "limit for checksum lists",
    bytes: MAX_SHASUMS_BYTES as u64,
};
const SIGNATURE_LIMIT: ByteLimit = ByteLimit {
    name: "limit for signatures",
    bytes: MAX_SIGNATURE_BYTES as u64,
};

impl Packages {
    /// `now` is the time at which signatures must be valid, `jobs` the maximum number of packages in flight.
    pub fn new(
        sources: BTreeMap<Engine, EngineSource>,
        reporter: Arc<dyn Reporter>,
        trust: Trust,
        now: SystemTime,
        jobs: usize,
    ) -> Self {
        Self {
            sources,
            transfers: Transfers::new(reporter, Limits::default(), jobs),
            verifier: Verifier { trust, now },
            cache: CacheAccess::None,
            memo: Memo::default(),
            planned: AtomicU64::new(0),
        }
    }

    /// Uses a disk cache.
    #[must_use]
    pub fn with_cache(self, cache: CacheAccess) -> Self {
        Self { cache, ..self }
    }

    /// Also stages the zip of each requested package for `mirror`. The caller moves it to its final path once a lock file
    /// names it.
    #[must_use]
    pub fn with_mirror(mut self, mirror: Arc<Mirror>) -> Self {
        self.transfers.mirror = PackageMirror(Some(mirror));
        self
    }

    /// The versions that the source of a provider lists.
    pub async fn versions(
        &self,
        engine: Engine,
        provider: &ProviderAddr,
    ) -> Result<Arc<AvailableVersions>, RegistryError> {
        self.source(engine).packages.versions(provider).await
    }

    /// A package from its source, verified and hashed.
    pub async fn package(
        &self,
        engine: Engine,
        id: &PackageId,
    ) -> Result<Arc<PackageRecord>, Arc<PackageFailure>> {
        let job = || async move {
            let reporter = &self.transfers.reporter;
            reporter.packages_planned(self.planned.fetch_add(1, Ordering::Relaxed) + 1);
            let started = Instant::now();
            let record = self.request(engine, id).await;
            reporter.package_finished();
            let elapsed = started.elapsed();
            record.map(|record| Arc::new(PackageRecord { elapsed, ..record }))
        };
        self.memo
            .records
            .get_or_init((engine, id.clone()), job)
            .await
    }

    /// A version from the disk cache, without a request. The error lists the platforms for which a request is needed.
    pub(super) async fn cached_version(
        &self,
        engine: Engine,
        provider: &ProviderAddr,
        version: &Version,
        platforms: &[Platform],
    ) -> Result<Arc<CachedVersion>, Arc<[Platform]>> {
        let key = (
            engine,
            provider.clone(),
            version.clone(),
            platforms.to_vec(),
        );
        // Boxed, because thousands of callers hold this future while one of them runs it.
        let job = || Box::pin(self.read_version(engine, provider, version, platforms));
        self.memo.cached_versions.get_or_init(key, job).await
    }

    /// When the checksum list of a version was signed or, if nothing is signed, last modified. The list is that of the first
    /// of `platforms` for which there is a package.
    pub(super) async fn list_date(
        &self,
        engine: Engine,
        provider: &ProviderAddr,
        version: &Version,
        platforms: &[Platform],
    ) -> Result<SystemTime, Undated> {
        let key = (
            engine,
            provider.clone(),
            version.clone(),
            platforms.to_vec(),
        );
        let job = || async move {
            let source = &self.source(engine).packages;
            for platform in platforms {
                let package = PackageId {
                    provider: provider.clone(),
                    version: version.clone(),
                    platform: platform.clone(),
                };
                match source.locate(&package).await {
                    Ok(PackageLocation::Registry(meta)) => {
                        return self.date_of_list(engine, &meta).await;
                    }
                    Ok(PackageLocation::Mirror(_) | PackageLocation::Local(_)) => {
                        return Err(Undated::Mirror);
                    }
                    // If the version is selected for another reason, its error is reported then.
                    Err(_) => {}
                }
            }
            Err(Undated::Package)
        };
        self.memo.list_dates.get_or_init(key, job).await
    }

    /// The time between `date` and the start of the run; zero if `date` is in the future.
    pub(super) fn age(&self, date: SystemTime) -> Duration {
        self.verifier.now.duration_since(date).unwrap_or_default()
    }

    /// Whether `--offline` forbids requests for a provider and its packages can come only from a registry, so that the disk
    /// cache must have them.
    pub(super) fn is_cache_only(&self, engine: Engine, provider: &ProviderAddr) -> bool {
        let source = self.source(engine);
        source.client.settings().http.offline && source.packages.origin(provider).is_some()
    }

    /// How much was downloaded so far.
    pub fn downloaded(&self) -> Downloaded {
        self.transfers.total()
    }

    fn source(&self, engine: Engine) -> &EngineSource {
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
            PackageLocation::Local(package) => Ok(self.hash_local(engine, package, id).await?),
        }
    }

    /// Verifies the signature over the checksum list, the package's line in the list, and the bytes of the package. Nothing is
    /// used before all three are right.
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
            let zh = list.digest();
            // The same zip at several addresses is downloaded once.
            let key = (zh, meta.package.provider.type_name.clone());
            let job = || self.hash_listed(engine, meta, zh);
            let hashes = self.memo.hashes.get_or_init(key, job).await?;
            PackageRecord::from_registry(&list, &hashes).map_err(PackageFailure::from)?
        };
        self.keep_answer(engine, &meta.package, answer).await;
        Ok(record)
    }

    /// The hashes of the zip whose digest `zh` a signed list names.
    async fn hash_listed(
        &self,
        engine: Engine,
        meta: &PackageMeta,
        zh: Digest,
    ) -> Result<PackageHashes, Arc<PackageFailure>> {
        let request = PackageDownload {
            package: &meta.package,
            url: &meta.download_url,
            digest: Some(zh),
        };
        let hashes = self.hash(engine, Some(zh), request).await;
        hashes.map_err(|error| {
            Arc::new(match error {
                TransferError::OtherDigest { found } => AuthenticityError::OtherPackage {
                    filename: meta.filename.clone(),
                    expected: zh,
                    found,
                }
                .into(),
                other => other.into(),
            })
        })
    }

    async fn request_mirror(
        &self,
        engine: Engine,
        package: &MirrorPackage,
    ) -> Result<PackageRecord, PackageFailure> {
        let request = PackageDownload {
            package: &package.package,
            url: &package.url,
            digest: None,
        };
        let hashes = self.hash(engine, package.zh(), request).await?;
        let matching = package.check(hashes.zh, hashes.zip_h1.as_ref())?;
        Ok(PackageRecord::from_mirror(engine, hashes, matching))
    }

    async fn hash_local(
        &self,
        engine: Engine,
        package: LocalPackage,
        id: &PackageId,
    ) -> Result<PackageRecord, PackageFailure> {
        let type_name = id.provider.type_name.clone();
        match package {
            LocalPackage::Zip(path) => match self.transfers.hash_local(&path, id).await {
                Ok(hashes) => {
                    self.cache.keep_hashes(&type_name, &hashes).await;
                    Ok(PackageRecord::from_mirror(engine, hashes, Vec::new()))
                }
                Err(source) => Err(PackageFailure::Local { path, source }),
            },
            LocalPackage::Directory(path) => match hash_files(path.clone(), type_name).await {
                Ok(h1) => Ok(PackageRecord::unpacked(h1, path)),
                Err(source) => Err(PackageFailure::Local { path, source }),
            },
        }
    }

    /// The hashes of a zip. It is not downloaded if its digest `zh` is known and an earlier run has hashed it; if there is a
    /// mirror to fill, the zip must also be there.
    async fn hash(
        &self,
        engine: Engine,
        zh: Option<Digest>,
        request: PackageDownload<'_>,
    ) -> Result<PackageHashes, TransferError> {
        let type_name = &request.package.provider.type_name;
        if let Some(zh) = zh {
            let cached = self.cache.hashes(zh, type_name).await;
            let mirror = &self.transfers.mirror;
            if let Some(hashes) = mirror.hashes(request.package, zh, cached).await {
                return Ok(hashes);
            }
        }
        let client = &self.source(engine).client;
        let hashes = self.transfers.hash_download(client, request).await?;
        self.cache.keep_hashes(type_name, &hashes).await;
        Ok(hashes)
    }

    /// The registry's answer about a package, with its checksum list and signature. Nothing is verified yet.
    async fn request_answer(
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

    /// Stores a verified answer in the disk cache, unless the provider can also come from other sources than a registry.
    async fn keep_answer(&self, engine: Engine, id: &PackageId, answer: PackageAnswer) {
        let source = &self.source(engine).packages;
        let Some(origin) = source.origin(&id.provider) else {
            return;
        };
        // This sends no request, because the version was selected from the same list. A version that the list lacks would
        // not be selected again, so it is not stored.
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
        self.cache
            .keep_answer(origin, engine, id.clone(), answer)
            .await;
    }

    async fn read_version(
        &self,
        engine: Engine,
        provider: &ProviderAddr,
        version: &Version,
        platforms: &[Platform],
    ) -> Result<Arc<CachedVersion>, Arc<[Platform]>> {
        let (mut cached, mut missing) = (None::<CachedVersion>, Vec::new());
        for platform in platforms {
            let id = PackageId {
                provider: provider.clone(),
                version: version.clone(),
                platform: platform.clone(),
            };
            let Some(package) = self.cached_package(engine, id).await else {
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

    async fn cached_package(&self, engine: Engine, id: PackageId) -> Option<CachedPackage> {
        let CacheAccess::All(_) = &self.cache else {
            return None;
        };
        let key = (engine, id.clone());
        let job = || async {
            let origin = self.source(engine).packages.origin(&id.provider)?;
            self.cache.package(self.verifier, origin, engine, id).await
        };
        self.memo.cached_packages.get_or_init(key, job).await
    }

    async fn date_of_list(
        &self,
        engine: Engine,
        meta: &PackageMeta,
    ) -> Result<SystemTime, Undated> {
        let answer = self.request_answer(engine, meta).await;
        let answer = answer.map_err(|_failure| Undated::List)?;
        let list = self.verifier.verify(engine, &meta.package, &answer);
        let list = list.map_err(|_refusal| Undated::Signature)?;
        if let Some(signer) = list.signer() {
            return Ok(signer.signed_at);
        }
        let client = &self.source(engine).client;
        let modified = client.modified(&meta.shasums_url, SHASUMS_LIMIT).await;
        modified
            .map_err(|_failure| Undated::List)?
            .ok_or(Undated::NoDate)
    }
}
