//! What a run knows of packages: each registry answer, each checksum list and each package is asked for once, however
//! many directories need it. Failures are kept as well, so that 200 directories do not repeat one 404.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use crate::cache::Answer;
use crate::package::{
    AuthenticityError, Limits, MAX_SHASUMS_BYTES, MAX_SIGNATURE_BYTES, PackageError, PackageHashes,
    Reported, ReportedPackages, SignaturePolicy, Signer, VerifiedList, hash_directory,
};
use crate::provider::{Digest, Engine, Hash, HashScheme, Platform, ProviderAddr, Version};
use crate::registry::{
    AvailableVersions, ByteLimit, LocalPackage, Located, MirrorPackage, OnceMap, PackageId,
    PackageMeta, PackageSource, RegistryClient, RegistryError,
};
use crate::reporter::Reporter;

use super::age::Dated;
use super::assemble::{Evidence, Listed};
use super::error::PackageFailure;
use super::recall::{Known, KnownKey, Recall, Remembered, Verifier};
use super::transfer::{Downloaded, TransferError, Transfers, Wanted};

/// What is known of one package: verified as far as its source allows, and hashed.
#[derive(Clone, Debug)]
pub struct PackageRecord {
    /// What it and its signed list say about the hashes of its version.
    pub evidence: Evidence,
    /// What vouches for it.
    pub voucher: Voucher,
    /// The hash of its files.
    pub h1: Hash,
    /// Size of its zip in bytes, if there is one and it was looked at.
    pub size: Option<u64>,
    /// How long it took to get and to hash, waiting for others included.
    pub elapsed: Duration,
    /// How its source has it.
    pub form: Form,
}

/// How a source has a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Form {
    /// As a zip.
    Zip {
        /// All its hashes.
        hashes: PackageHashes,
        /// Whether the registry has told the hash of the zip's entries (OpenTofu's `packages`).
        is_reported: bool,
    },
    /// Unpacked, in this directory.
    Files(PathBuf),
}

/// Where a recorded hash comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The checksum list that the registry names.
    List,
    /// The files of the package itself.
    Package,
    /// The hashes that a mirror gives.
    Mirror,
    /// OpenTofu's `packages`: what the registry says of all platforms.
    RegistryPackages,
    /// The lock file as it was.
    OldLock,
}

/// What vouches for a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Voucher {
    /// A signature over the checksum list.
    Signature(Box<Signer>),
    /// A checksum list without a signature: OpenTofu's registry has no keys for the provider.
    Unsigned,
    /// Hashes that a network mirror gives.
    MirrorHashes,
    /// Nothing: a mirror has it, and says no more.
    Nothing,
    /// The registry's word, with `--trust-registry-hashes`: the list is signed, and the package was not looked at.
    Report(Option<Box<Signer>>),
}

impl PackageRecord {
    /// Who signed the checksum list that has the package, if one did.
    pub fn signer(&self) -> Option<&Signer> {
        match &self.voucher {
            Voucher::Signature(signer) | Voucher::Report(Some(signer)) => Some(signer),
            Voucher::Report(None)
            | Voucher::Unsigned
            | Voucher::MirrorHashes
            | Voucher::Nothing => None,
        }
    }

    /// Where a hash that this package stands behind comes from; `None` if it does not.
    pub fn origin_of(&self, hash: &Hash) -> Option<Origin> {
        let is_reported = matches!(self.voucher, Voucher::Report(_));
        if *hash == self.h1 && !is_reported {
            return Some(Origin::Package);
        }
        if !self.evidence.recorded.contains(hash) {
            return None;
        }
        let is_listed = match &self.evidence.listed {
            Listed::All(listed) => listed.contains(hash),
            Listed::OwnZips | Listed::Unknown => self.evidence.genuine.contains(hash),
        };
        Some(match &self.voucher {
            Voucher::MirrorHashes | Voucher::Nothing => Origin::Mirror,
            _ if is_listed && hash.scheme() == HashScheme::Zh => Origin::List,
            _ => Origin::RegistryPackages,
        })
    }

    pub(super) fn from_registry(
        list: &VerifiedList,
        package: &PackageHashes,
    ) -> Result<Self, AuthenticityError> {
        let recorded = list.accept(package)?;
        let shasums = list.shasums();
        let mut genuine = shasums.zip_hashes();
        genuine.extend([Hash::zh(package.zh), package.h1.clone()]);
        let signer = list.signer().cloned();
        Ok(Self {
            evidence: Evidence {
                recorded,
                genuine,
                listed: Listed::of(shasums, package.zh),
            },
            voucher: signer.map_or(Voucher::Unsigned, |signer| {
                Voucher::Signature(Box::new(signer))
            }),
            h1: package.h1.clone(),
            size: Some(package.size),
            elapsed: Duration::ZERO,
            form: Form::Zip {
                is_reported: package
                    .zip_h1
                    .as_ref()
                    .is_some_and(|hash| list.reports(hash)),
                hashes: package.clone(),
            },
        })
    }

    /// A package that nobody looked at: what its registry reports, and the list that it signed.
    fn from_report(list: &VerifiedList, reported: Reported) -> Self {
        let shasums = list.shasums();
        let own = list.digest();
        let mut genuine = shasums.zip_hashes();
        genuine.insert(Hash::zh(own));
        genuine.extend(
            reported
                .hashes
                .iter()
                .filter(|hash| hash.scheme() == HashScheme::H1)
                .cloned(),
        );
        Self {
            evidence: Evidence {
                recorded: reported.hashes,
                genuine,
                listed: Listed::of(shasums, own),
            },
            voucher: Voucher::Report(list.signer().cloned().map(Box::new)),
            h1: reported.package.h1.clone(),
            size: None,
            elapsed: Duration::ZERO,
            form: Form::Zip {
                hashes: reported.package,
                is_reported: true,
            },
        }
    }

    /// A package from a mirror: `h1`, and what OpenTofu records besides (spec: mirrors.md 1).
    fn from_mirror(engine: Engine, package: PackageHashes, matching: Vec<Hash>) -> Self {
        let voucher = if matching.is_empty() {
            Voucher::Nothing
        } else {
            Voucher::MirrorHashes
        };
        let mut recorded = BTreeSet::from([package.h1.clone()]);
        if engine == Engine::Tofu {
            recorded.extend(matching);
        }
        Self {
            evidence: Evidence {
                recorded,
                genuine: BTreeSet::from([package.h1.clone(), Hash::zh(package.zh)]),
                listed: Listed::OwnZips,
            },
            voucher,
            h1: package.h1.clone(),
            size: Some(package.size),
            elapsed: Duration::ZERO,
            form: Form::Zip {
                hashes: package,
                is_reported: false,
            },
        }
    }

    /// The unpacked files of a package: what zip they came in is not known.
    fn unpacked(h1: Hash, directory: PathBuf) -> Self {
        Self {
            evidence: Evidence {
                recorded: BTreeSet::from([h1.clone()]),
                genuine: BTreeSet::from([h1.clone()]),
                listed: Listed::Unknown,
            },
            voucher: Voucher::Nothing,
            h1,
            size: None,
            elapsed: Duration::ZERO,
            form: Form::Files(directory),
        }
    }
}

/// What is asked of signatures beyond the engine's own rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// `OPENTOFU_ENFORCE_GPG_VALIDATION=true`: OpenTofu accepts no list without keys.
    pub enforce_validation: bool,
    /// `OPENTOFU_ENFORCE_GPG_EXPIRATION=true`: OpenTofu accepts nothing that has expired.
    pub enforce_expiration: bool,
    /// `--trust-registry-hashes`: what a registry reports in `packages` is recorded without a look at the packages.
    pub registry_hashes: bool,
}

impl Trust {
    /// What is recorded on the word of a registry alone, where that is trusted and given. Who demands signatures everywhere
    /// (`OPENTOFU_ENFORCE_GPG_VALIDATION`) does not take reports either, as in OpenTofu.
    pub(super) fn on_report(
        self,
        list: &VerifiedList,
    ) -> Result<Option<PackageRecord>, AuthenticityError> {
        if !self.registry_hashes || self.enforce_validation {
            return Ok(None);
        }
        let reported = list.reported()?;
        Ok(reported.map(|reported| PackageRecord::from_report(list, reported)))
    }

    /// The rules for one provider (spec: registry.md 4 and 6).
    pub(super) fn policy(
        self,
        engine: Engine,
        address: &ProviderAddr,
        now: SystemTime,
    ) -> SignaturePolicy {
        let own_registry = address.hostname.as_ascii() == Engine::Tofu.default_host();
        SignaturePolicy {
            engine,
            now,
            keys_optional: engine == Engine::Tofu && own_registry,
            enforce_validation: self.enforce_validation,
            enforce_expiration: self.enforce_expiration,
        }
    }
}

/// Where one engine's packages come from.
#[derive(Clone)]
pub struct Source {
    /// Who is asked.
    pub packages: PackageSource,
    /// Who downloads.
    pub client: RegistryClient,
}

/// What one run asks sources for, each thing once.
pub struct Packages {
    sources: BTreeMap<Engine, Source>,
    pub(super) transfers: Transfers,
    trust: Trust,
    now: SystemTime,
    records: OnceMap<PackageKey, Shared<Arc<PackageRecord>>>,
    pub(super) recall: Recall,
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
        sources: BTreeMap<Engine, Source>,
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
            recall: Recall::Nothing,
            dates: OnceMap::default(),
            remembered: OnceMap::default(),
            known: OnceMap::default(),
            hashes: OnceMap::default(),
            planned: AtomicU64::new(0),
        }
    }

    /// The same with a disk cache.
    #[must_use]
    pub fn with_cache(self, recall: Recall) -> Self {
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

    pub(super) fn source(&self, engine: Engine) -> &Source {
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
