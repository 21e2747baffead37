//! What a run knows of packages: each registry answer, each checksum list and each package is asked for once, however
//! many directories need it. Failures are kept as well, so that 200 directories do not repeat one 404.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use crate::package::{
    AuthenticityError, Limits, MAX_SHASUMS_BYTES, MAX_SIGNATURE_BYTES, PackageClaims, PackageError,
    PackageHashes, ReportedPackages, SignaturePolicy, Signer, VerifiedList, verify_list,
};
use crate::provider::{Digest, Engine, Hash, Platform, ProviderAddr, Version};
use crate::registry::{
    AvailableVersions, ByteLimit, OnceMap, PackageMeta, PackagesError, RegistryClient,
    RegistryError,
};
use crate::reporter::Reporter;
use crate::span::Explain;

use super::assemble::Evidence;
use super::transfer::Transfers;

/// Why a package is not to be had, or not to be trusted.
#[derive(Debug, thiserror::Error)]
pub enum PackageFailure {
    /// The registry could not be asked, or answered with an error.
    #[error(transparent)]
    Registry(#[from] RegistryError),
    /// What the registry says does not hold: the signature, a checksum.
    #[error(transparent)]
    Authenticity(#[from] AuthenticityError),
    /// OpenTofu's report on all packages cannot be read.
    #[error(transparent)]
    Reported(#[from] PackagesError),
    /// The package has no hash.
    #[error(transparent)]
    Package(#[from] PackageError),
    /// The package could not be kept while it was hashed.
    #[error("cannot keep the package in a temporary file")]
    TemporaryFile(#[source] std::io::Error),
}

impl PackageFailure {
    /// Whether the registry says that the version has no package for the platform.
    pub fn is_missing_platform(&self) -> bool {
        matches!(self, Self::Registry(RegistryError::NoPackage { .. }))
    }
}

impl Explain for PackageFailure {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Registry(error) => error.hint(),
            Self::Authenticity(error) => error.hint(),
            Self::Package(error) => error.hint(),
            Self::Reported(_) | Self::TemporaryFile(_) => None,
        }
    }
}

/// What is known of one package: verified by signature and checksum, and hashed.
#[derive(Clone, Debug)]
pub struct PackageRecord {
    /// What it and its signed list say about the hashes of its version.
    pub evidence: Evidence,
    /// Who vouches for the list; nobody where OpenTofu's registry sends no keys.
    pub signer: Option<Signer>,
    /// Bytes of the zip.
    pub size: u64,
}

impl PackageRecord {
    fn new(list: &VerifiedList, package: &PackageHashes) -> Result<Self, AuthenticityError> {
        let recorded = list.accept(package)?;
        let shasums = list.shasums();
        let mut genuine = shasums.zip_hashes();
        genuine.extend([Hash::zh(package.zh), package.h1.clone()]);
        Ok(Self {
            evidence: Evidence {
                recorded,
                genuine,
                listed: shasums.is_readable().then(|| shasums.zh_hashes(package.zh)),
            },
            signer: list.signer().cloned(),
            size: package.size,
        })
    }
}

/// What is asked of signatures beyond the engine's own rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// `OPENTOFU_ENFORCE_GPG_VALIDATION=true`: OpenTofu accepts no list without keys.
    pub enforce_validation: bool,
    /// `OPENTOFU_ENFORCE_GPG_EXPIRATION=true`: OpenTofu accepts nothing that has expired.
    pub enforce_expiration: bool,
}

impl Trust {
    /// The rules for one provider (spec: registry.md 4 and 6).
    fn policy(self, engine: Engine, address: &ProviderAddr, now: SystemTime) -> SignaturePolicy {
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

/// What one run asks registries for, each thing once.
pub struct Packages {
    clients: BTreeMap<Engine, RegistryClient>,
    transfers: Transfers,
    trust: Trust,
    now: SystemTime,
    limits: Limits,
    records: OnceMap<PackageKey, Shared<Arc<PackageRecord>>>,
    /// By the digest of the zip and the type that its executable must be named for.
    hashes: OnceMap<(Digest, String), Shared<PackageHashes>>,
    planned: AtomicU64,
}

/// An outcome that everybody gets who asked for it.
type Shared<T> = Result<T, Arc<PackageFailure>>;

/// What makes two packages the same. The engine takes part, since its rules say whether a signature holds.
type PackageKey = (Engine, ProviderAddr, Version, Platform);

/// The limits for the documents that prove a package.
const SHASUMS_LIMIT: ByteLimit = ByteLimit {
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
        clients: BTreeMap<Engine, RegistryClient>,
        reporter: Arc<dyn Reporter>,
        trust: Trust,
        now: SystemTime,
        jobs: usize,
    ) -> Self {
        Self {
            clients,
            transfers: Transfers::new(reporter, jobs),
            trust,
            now,
            limits: Limits::default(),
            records: OnceMap::default(),
            hashes: OnceMap::default(),
            planned: AtomicU64::new(0),
        }
    }

    /// The versions that the source of `address` lists.
    pub async fn versions(
        &self,
        engine: Engine,
        address: &ProviderAddr,
    ) -> Result<Arc<AvailableVersions>, RegistryError> {
        self.client(engine).versions(address).await
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
            let record = self.obtain(engine, address, version, platform).await;
            self.transfers.reporter().package_settled();
            record.map(Arc::new)
        };
        self.records.get_or_init(key, job).await
    }

    /// How many packages were downloaded so far, and their bytes.
    pub fn downloaded(&self) -> (u64, u64) {
        self.transfers.total()
    }

    fn client(&self, engine: Engine) -> &RegistryClient {
        self.clients
            .get(&engine)
            .expect("a client is made for each engine that a directory has")
    }

    /// Signature over the list, checksum of this package in the list, bytes of the package, hashes: in that order, and
    /// nothing of it is used unless all of it holds.
    async fn obtain(
        &self,
        engine: Engine,
        address: &ProviderAddr,
        version: &Version,
        platform: &Platform,
    ) -> Result<PackageRecord, Arc<PackageFailure>> {
        let client = self.client(engine);
        let meta = client
            .package_meta(address, version, platform)
            .await
            .map_err(PackageFailure::from)?;
        let (list, signature) = tokio::try_join!(
            client.document(&meta.shasums_url, SHASUMS_LIMIT),
            client.document(&meta.signature_url, SIGNATURE_LIMIT),
        )
        .map_err(PackageFailure::from)?;
        let reported = match &meta.packages {
            Some(packages) if engine == Engine::Tofu => {
                packages.read().map_err(PackageFailure::from)?
            }
            _ => ReportedPackages::new(),
        };
        let claims = PackageClaims {
            platform,
            filename: &meta.filename,
            shasum: &meta.shasum_text,
            keys: &meta.signing_keys,
            reported: &reported,
        };
        let policy = self.trust.policy(engine, address, self.now);
        let list =
            verify_list(&claims, &list, &signature, &policy).map_err(PackageFailure::from)?;
        let package = self
            .hashes_of(engine, &meta, &address.type_name, list.digest())
            .await?;
        Ok(PackageRecord::new(&list, &package).map_err(PackageFailure::from)?)
    }

    /// The hashes of a package that must have the digest `zh`. The same zip behind several addresses is one download.
    async fn hashes_of(
        &self,
        engine: Engine,
        meta: &PackageMeta,
        type_name: &str,
        zh: Digest,
    ) -> Result<PackageHashes, Arc<PackageFailure>> {
        let job = || async {
            let client = self.client(engine);
            let hashed = self
                .transfers
                .hash(client, meta, type_name, zh, &self.limits);
            hashed.await.map_err(Arc::new)
        };
        self.hashes
            .get_or_init((zh, type_name.to_owned()), job)
            .await
    }
}
