//! What a run knows of packages: each registry answer, each checksum list and each package is asked for once, however
//! many directories need it. Failures are kept as well, so that 200 directories do not repeat one 404.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Instant, SystemTime};

use crate::cache::Answer;
use crate::package::{
    AuthenticityError, Limits, MAX_SHASUMS_BYTES, MAX_SIGNATURE_BYTES, PackageError, PackageHashes,
    ReportedPackages, hash_directory,
};
use crate::provider::{Digest, Engine, Platform, ProviderAddr, Version};
use crate::registry::{
    AvailableVersions, ByteLimit, LocalPackage, Located, MirrorPackage, OnceMap, PackageId,
    PackageMeta, PackageSource, RegistryClient, RegistryError,
};
use crate::reporter::Reporter;

use super::age::Dated;
use super::error::PackageFailure;
use super::recall::{CacheAccess, Known, KnownKey, Remembered, Verifier};
use super::record::PackageRecord;
use super::transfer::{Downloaded, TransferError, Transfers, Wanted};
use super::trust::Trust;

/// Where one engine's packages come from.
#[derive(Clone)]
pub struct EngineSource {
    /// Who is asked.
    pub packages: PackageSource,
    /// Who downloads.
    pub client: RegistryClient,
}

/// What one run asks sources for, each thing once.
pub struct Packages {
    sources: BTreeMap<Engine, EngineSource>,
    pub(super) transfers: Transfers,
    trust: Trust,
    now: SystemTime,
    records: OnceMap<PackageKey, Shared<Arc<PackageRecord>>>,
    pub(super) recall: CacheAccess,
    pub(super) dates: OnceMap<KnownKey, Dated>,
    pub(super) remembered: OnceMap<PackageKey, Option<Remembered>>,
    pub(super) known: OnceMap<KnownKey, Result<Arc<Known>, Arc<[Platform]>>>,
    /// By the digest of the zip and the type that its executable must be named for.
    hashes: OnceMap<(Digest, String), Shared<PackageHashes>>,
    planned: AtomicU64,
}

/// An outcome that everybody gets who asked for it.
type Shared<T> = Result<T, Arc<PackageFailure>>;

/// What makes two packages the same. The engine takes part, since its rules say whether a signature holds.
pub(super) type PackageKey = (Engine, ProviderAddr, Version, Platform);

/// The limits for the documents that prove a package.
pub(super) const SHASUMS_LIMIT: ByteLimit = ByteLimit {
    name: "limit for checksum lists",
    bytes: MAX_SHASUMS_BYTES as u64,
};
const SIGNATURE_LIMIT: ByteLimit = ByteLimit {
    name: "limit for signatures",
    bytes: MAX_SIGNATURE_BYTES as u64,
};

impl Packages {
    /// Nothing is known yet. `now` is the time against which signatures are judged, `jobs` bounds the packages in flight.
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
            trust,
            now,
            records: OnceMap::default(),
            recall: CacheAccess::Nothing,
            dates: OnceMap::default(),
            remembered: OnceMap::default(),
            known: OnceMap::default(),
            hashes: OnceMap::default(),
            planned: AtomicU64::new(0),
        }
    }

    /// The same with a disk cache.
    #[must_use]
    pub fn with_cache(self, recall: CacheAccess) -> Self {
        Self { recall, ..self }
    }

    /// The versions that the source of `address` lists.
    pub async fn versions(
        &self,
        engine: Engine,
        address: &ProviderAddr,
    ) -> Result<Arc<AvailableVersions>, RegistryError> {
        self.source(engine).packages.versions(address).await
    }

    /// The package of a version for a platform, verified and hashed.
    pub async fn package(
        &self,
        engine: Engine,
        address: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Shared<Arc<PackageRecord>> {
        let key = (engine, address.clone(), version.clone(), platform.clone());
        let job = || async move {
            let planned = self.planned.fetch_add(1, Ordering::Relaxed) + 1;
            self.transfers.reporter().packages_planned(planned);
            let started = Instant::now();
            let record = self.obtain(engine, address, version, platform).await;
            self.transfers.reporter().package_settled();
            record.map(|record| {
                Arc::new(PackageRecord {
                    elapsed: started.elapsed(),
                    ..record
                })
            })
        };
        self.records.get_or_init(key, job).await
    }

    /// How much was downloaded so far.
    pub fn downloaded(&self) -> Downloaded {
        self.transfers.total()
    }

    pub(super) fn source(&self, engine: Engine) -> &EngineSource {
        self.sources
            .get(&engine)
            .expect("there is a source for each engine that a directory has")
    }

    async fn obtain(
        &self,
        engine: Engine,
        address: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Shared<PackageRecord> {
        let source = &self.source(engine).packages;
        let located = source.locate(address, version, platform).await;
        match located.map_err(PackageFailure::from)? {
            Located::Registry(meta) => self.registered(engine, &meta).await,
            Located::Mirror(mirrored) => Ok(self.mirrored(engine, &mirrored).await?),
            Located::Local(local) => {
                let package = PackageId {
                    provider: address.clone(),
                    version: version.clone(),
                    platform: platform.clone(),
                };
                Ok(self.on_disk(engine, local, &package).await?)
            }
        }
    }

    /// Signature over the list, checksum of this package in the list, bytes of the package, hashes: in that order, and
    /// nothing of it is used unless all of it holds.
    async fn registered(&self, engine: Engine, meta: &PackageMeta) -> Shared<PackageRecord> {
        let answer = self.answer(engine, meta).await?;
        let list = self.verifier().verify(engine, &meta.package, &answer);
        let list = list.map_err(PackageFailure::from)?;
        let trusted = self.trust.on_report(&list);
        if let Some(record) = trusted.map_err(PackageFailure::from)? {
            self.keep_answer(engine, &meta.package, answer).await;
            return Ok(record);
        }
        let zh = list.digest();
        let type_name = meta.package.provider.type_name.clone();
        // The same zip behind several addresses is one download.
        let job = || self.hash_promised(engine, meta, zh);
        let package = self.hashes.get_or_init((zh, type_name), job).await?;
        let record = PackageRecord::from_registry(&list, &package);
        let record = record.map_err(PackageFailure::from)?;
        self.keep_answer(engine, &meta.package, answer).await;
        Ok(record)
    }

    /// The hashes of the zip that a signed list promises: as earlier runs found them, or by download.
    async fn hash_promised(
        &self,
        engine: Engine,
        meta: &PackageMeta,
        zh: Digest,
    ) -> Shared<PackageHashes> {
        let type_name = &meta.package.provider.type_name;
        if let Some(known) = self.in_hand(&meta.package, zh).await {
            return Ok(known);
        }
        let wanted = Wanted {
            package: &meta.package,
            url: &meta.download_url,
            digest: Some(zh),
        };
        let client = &self.source(engine).client;
        let hashed = self.transfers.hash(client, wanted).await;
        let hashed = hashed.map_err(|error| Arc::new(not_as_promised(error, meta, zh)))?;
        self.keep_hashes(type_name, &hashed).await;
        Ok(hashed)
    }

    /// All that the registry says of a package, with its signed list; nothing of it is verified yet.
    pub(super) async fn answer(
        &self,
        engine: Engine,
        meta: &PackageMeta,
    ) -> Result<Answer, PackageFailure> {
        let client = &self.source(engine).client;
        let (list, signature) = tokio::try_join!(
            client.document(&meta.shasums_url, SHASUMS_LIMIT),
            client.document(&meta.signature_url, SIGNATURE_LIMIT),
        )?;
        Ok(Answer {
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

    /// The time of this run.
    pub(super) const fn now(&self) -> SystemTime {
        self.now
    }

    /// Who judges answers in this run.
    pub(super) fn verifier(&self) -> Verifier {
        Verifier {
            trust: self.trust,
            now: self.now,
        }
    }

    async fn mirrored(
        &self,
        engine: Engine,
        mirrored: &MirrorPackage,
    ) -> Result<PackageRecord, PackageFailure> {
        let wanted = Wanted {
            package: &mirrored.package,
            url: &mirrored.url,
            digest: None,
        };
        let type_name = &mirrored.package.provider.type_name;
        // A mirror that names one zip means that one.
        let known = match mirrored.zh() {
            Some(zh) => self.in_hand(&mirrored.package, zh).await,
            None => None,
        };
        let hashes = if let Some(known) = known {
            known
        } else {
            let client = &self.source(engine).client;
            let hashed = self.transfers.hash(client, wanted).await?;
            self.keep_hashes(type_name, &hashed).await;
            hashed
        };
        let matching = mirrored.check(hashes.zh, hashes.zip_h1.as_ref())?;
        Ok(PackageRecord::from_mirror(engine, hashes, matching))
    }

    async fn on_disk(
        &self,
        engine: Engine,
        local: LocalPackage,
        package: &PackageId,
    ) -> Result<PackageRecord, PackageFailure> {
        match local {
            LocalPackage::Zip(path) => {
                let failed = |source| PackageFailure::Local {
                    path: path.clone(),
                    source,
                };
                let opened = self.open_local(&path);
                let (file, kept) = opened.map_err(|error| failed(PackageError::Read(error)))?;
                match self.transfers.hash_file(file, package).await {
                    Ok(hashes) => {
                        let type_name = &package.provider.type_name;
                        self.keep_hashes(type_name, &hashes).await;
                        self.transfers.keep(hashes.zh, kept);
                        Ok(PackageRecord::from_mirror(engine, hashes, Vec::new()))
                    }
                    Err(TransferError::Package(error)) => Err(failed(error)),
                    Err(other) => Err(other.into()),
                }
            }
            LocalPackage::Directory(path) => {
                let (directory, type_name) = (path.clone(), package.provider.type_name.clone());
                let hashed =
                    tokio::task::spawn_blocking(move || hash_directory(&directory, &type_name));
                // A task that cannot be joined was cancelled with its runtime, or broke off.
                let hashed = hashed.await.unwrap_or(Err(PackageError::Interrupted));
                match hashed {
                    Ok(h1) => Ok(PackageRecord::unpacked(h1, path)),
                    Err(source) => Err(PackageFailure::Local { path, source }),
                }
            }
        }
    }
}

/// A package with another digest is told of in the words of what was promised.
fn not_as_promised(error: TransferError, meta: &PackageMeta, expected: Digest) -> PackageFailure {
    match error {
        TransferError::OtherDigest { found } => AuthenticityError::OtherPackage {
            filename: meta.filename.clone(),
            expected,
            found,
        }
        .into(),
        other => other.into(),
    }
}
