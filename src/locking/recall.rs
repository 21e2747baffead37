//! What the disk cache knows of packages, verified anew each time it is used.
//!
//! The cache keeps what registries said and the lists that they signed, never that something was found right. So a key that
//! has expired or was revoked since, another clock and stricter rules count here as they do for an answer that has just
//! arrived; and what does not hold is asked for again.

use std::sync::Arc;
use std::time::SystemTime;

use crate::cache::{Answer, Question, Store};
use crate::package::{AuthenticityError, PackageClaims, PackageHashes, VerifiedList, verify_list};
use crate::provider::{Digest, Engine, Platform, ProviderAddr, Version};
use crate::registry::{AvailableVersions, PackageId};

use super::assemble::Evidence;
use super::packages::{PackageKey, Packages};
use super::record::PackageRecord;
use super::trust::Trust;

/// How much of the disk cache is used.
#[derive(Clone, Debug, Default)]
pub enum CacheAccess {
    /// There is none.
    #[default]
    Nothing,
    /// The hashes of zips, which cannot change. Registries are asked for everything else, and their answers kept.
    Hashes(Arc<Store>),
    /// All: what it knows completely is not asked for.
    Everything(Arc<Store>),
}

impl CacheAccess {
    fn store(&self) -> Option<&Arc<Store>> {
        match self {
            Self::Nothing => None,
            Self::Hashes(store) | Self::Everything(store) => Some(store),
        }
    }
}

/// A package that nobody had to be asked for.
#[derive(Clone, Debug)]
pub(super) struct Remembered {
    /// What is known of it.
    pub(super) record: Arc<PackageRecord>,
    /// What the registry said beside its list of versions. The versions are not in it.
    pub(super) said: Arc<AvailableVersions>,
}

/// A version that nobody had to be asked for: its packages for some platforms.
#[derive(Clone, Debug)]
pub(super) struct Known {
    /// In the order of the platforms.
    pub(super) records: Vec<(Platform, Arc<PackageRecord>)>,
    /// What all of them say.
    pub(super) evidence: Evidence,
    /// What the registry said beside its list of versions.
    pub(super) said: Arc<AvailableVersions>,
}

/// A version and the platforms that it is needed for.
pub(super) type KnownKey = (Engine, ProviderAddr, Version, Vec<Platform>);

/// The rules and the clock of one run.
#[derive(Clone, Copy)]
pub(super) struct Verifier {
    pub(super) trust: Trust,
    pub(super) now: SystemTime,
}

impl Verifier {
    /// Verifies what a registry says of a package.
    pub(super) fn verify(
        self,
        engine: Engine,
        package: &PackageId,
        answer: &Answer,
    ) -> Result<VerifiedList, AuthenticityError> {
        let claims = PackageClaims {
            platform: &package.platform,
            filename: &answer.filename,
            shasum: &answer.shasum,
            keys: &answer.keys,
            reported: &answer.reported,
        };
        let policy = self.trust.policy(engine, &package.provider, self.now);
        verify_list(&claims, &answer.list, &answer.signature, &policy)
    }

    /// A package as far as the cache has all of it, and all of it still holds.
    fn recall(
        self,
        store: &Store,
        origin: &str,
        engine: Engine,
        package: &PackageId,
    ) -> Option<Remembered> {
        let answer = store.answer(&question(origin, engine, package))?;
        // What is wrong with it is told when the registry, which is asked now, says the same.
        let list = self.verify(engine, package, &answer).ok()?;
        let record = if let Some(record) = self.trust.on_report(&list).ok()? {
            record
        } else {
            let hashes = store.hashes(list.digest(), &package.provider.type_name)?;
            PackageRecord::from_registry(&list, &hashes).ok()?
        };
        Some(Remembered {
            record: Arc::new(record),
            said: Arc::new(AvailableVersions {
                versions: Vec::new(),
                invalid: answer.invalid,
                warnings: answer.warnings,
            }),
        })
    }
}

impl Packages {
    /// Whether no request may be made for `address`, which registries alone decide about.
    pub(super) fn must_remember(&self, engine: Engine, address: &ProviderAddr) -> bool {
        let source = self.source(engine);
        source.client.settings().http.offline && source.packages.origin(address).is_some()
    }

    /// A version as the cache knows it; else the platforms for which its source has to be asked.
    pub(super) async fn known(
        &self,
        engine: Engine,
        address: &ProviderAddr,
        version: &Version,
        platforms: &[Platform],
    ) -> Result<Arc<Known>, Arc<[Platform]>> {
        let key = (engine, address.clone(), version.clone(), platforms.to_vec());
        let job = || async {
            let (mut known, mut missing) = (None::<Known>, Vec::new());
            for platform in platforms {
                let key = (engine, address.clone(), version.clone(), platform.clone());
                let Some(Remembered { record, said }) = self.remembered(key).await else {
                    missing.push(platform.clone());
                    continue;
                };
                let known = known.get_or_insert_with(|| Known {
                    records: Vec::new(),
                    evidence: Evidence::default(),
                    said,
                });
                known.evidence.extend(record.evidence.clone());
                known.records.push((platform.clone(), record));
            }
            match known {
                Some(known) if missing.is_empty() => Ok(Arc::new(known)),
                _ => Err(missing.into()),
            }
        };
        // One works, and thousands wait: for those the work should take no memory.
        self.known.get_or_init(key, || Box::pin(job())).await
    }

    /// A package as the cache knows it; nothing if its source has to be asked.
    async fn remembered(&self, key: PackageKey) -> Option<Remembered> {
        let CacheAccess::Everything(store) = &self.recall else {
            return None;
        };
        let (engine, provider, version, platform) = key.clone();
        let job = || async {
            let origin = self.source(engine).packages.origin(&provider)?;
            let package = PackageId {
                provider,
                version,
                platform,
            };
            let (store, verifier) = (Arc::clone(store), self.verifier());
            let look = move || verifier.recall(&store, &origin, engine, &package);
            // A task that cannot be joined was cancelled with its runtime, or broke off.
            tokio::task::spawn_blocking(look).await.ok().flatten()
        };
        self.remembered.get_or_init(key, job).await
    }

    /// The hashes of a zip that was seen before, wherever it came from.
    pub(super) async fn known_hashes(&self, zh: Digest, type_name: &str) -> Option<PackageHashes> {
        let type_name = type_name.to_owned();
        self.with_store(move |store| store.hashes(zh, &type_name))
            .await
            .flatten()
    }

    /// Keeps the hashes of a zip for later runs.
    pub(super) async fn keep_hashes(&self, type_name: &str, hashes: &PackageHashes) {
        let (type_name, hashes) = (type_name.to_owned(), hashes.clone());
        self.with_store(move |store| store.keep_hashes(&type_name, &hashes))
            .await;
    }

    /// Keeps what a registry said of a package, if it is a registry that alone decides about it.
    pub(super) async fn keep_answer(&self, engine: Engine, package: &PackageId, answer: Answer) {
        let source = &self.source(engine).packages;
        let Some(origin) = source.origin(&package.provider) else {
            return;
        };
        // Nobody is asked again: the version came from this list. One that is not on it could not be selected.
        let Ok(listed) = source.versions(&package.provider).await else {
            return;
        };
        if !listed.versions().any(|version| *version == package.version) {
            return;
        }
        let (package, answer) = (
            package.clone(),
            Answer {
                warnings: listed.warnings.clone(),
                invalid: listed.invalid.clone(),
                ..answer
            },
        );
        self.with_store(move |store| {
            store.keep_answer(&question(&origin, engine, &package), &answer);
        })
        .await;
    }

    /// Reads or writes the cache where waiting for a disk holds nobody up.
    async fn with_store<T: Send + 'static>(
        &self,
        job: impl FnOnce(&Store) -> T + Send + 'static,
    ) -> Option<T> {
        let store = Arc::clone(self.recall.store()?);
        tokio::task::spawn_blocking(move || job(&store)).await.ok()
    }
}

fn question<'a>(origin: &'a str, engine: Engine, package: &'a PackageId) -> Question<'a> {
    Question {
        origin,
        engine,
        provider: &package.provider,
        version: &package.version,
        platform: &package.platform,
    }
}
