//! Stores packages in the mirror. Each package is stored once, even if many lock files name it.
//!
//! A stored package is intact if the lock file records its digest or, for an unpacked package, its `h1`. In that case, tflock
//! sends no request. Otherwise, it downloads the package, verifies its checksum and signature, and compares it with `[signers]`
//! and the lock file before storing it. If a lock file entry has no hashes, every verified package is accepted.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use crate::locking::{PackageForm, PackageRecord, Packages, SignerRules};
use crate::mirror::{Layout, Mirror, MirrorDirectory, MirrorError, PublishedHashes, StoredPackage};
use crate::once_map::OnceMap;
use crate::package::PackageHashes;
use crate::parallel::lock;
use crate::provider::{Digest, Engine, Hash, HashScheme, PackageId};

use super::problem::MirrorProblem;

/// How a package got into the mirror.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PackageState {
    /// The package was already stored and intact.
    Kept,
    /// The package was missing.
    Added,
    /// The package was stored, but damaged.
    Repaired,
}

impl PackageState {
    /// Returns the word that reports use for the state.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Kept => "kept",
            Self::Added => "added",
            Self::Repaired => "repaired",
        }
    }
}

pub(super) struct MirrorFiller {
    pub(super) mirror: Arc<Mirror>,
    packages: Arc<Packages>,
    inspected: OnceMap<PackageId, Result<StoredPackage, Arc<MirrorError>>>,
    hashed: OnceMap<PackageId, Option<PackageHashes>>,
    stored: OnceMap<PackageId, Result<PackageState, Arc<MirrorError>>>,
    provided: Mutex<BTreeMap<PackageId, ProvidedPackage>>,
}

/// A package that is in the mirror, with the data for its index entry.
struct ProvidedPackage {
    state: PackageState,
    /// The engine that needs the package. Terraform if both do.
    engine: Engine,
    zh: Option<Digest>,
    zip_h1: Option<Hash>,
    /// Whether the registry reported `zip_h1`.
    is_reported: bool,
    /// The hashes that lock files record for this version of the provider.
    locked: BTreeSet<Hash>,
}

impl MirrorFiller {
    pub(super) fn new(mirror: Arc<Mirror>, packages: Arc<Packages>) -> Self {
        Self {
            mirror,
            packages,
            inspected: OnceMap::default(),
            hashed: OnceMap::default(),
            stored: OnceMap::default(),
            provided: Mutex::default(),
        }
    }

    /// Ensures that the mirror contains a package that matches the hashes of one lock file.
    pub(super) async fn provide(
        &self,
        engine: Engine,
        id: &PackageId,
        locked: &BTreeSet<Hash>,
        signers: &SignerRules,
    ) -> Result<(), MirrorProblem> {
        let found = self.inspect(id).await.map_err(MirrorProblem::Write)?;
        let (zh, hashes) = match &found {
            StoredPackage::Zip(digest) if locked.contains(&Hash::zh(*digest)) => {
                (Some(*digest), None)
            }
            StoredPackage::Files(h1) if locked.contains(h1) => (None, None),
            StoredPackage::Zip(digest) if has_no_zh(locked) => {
                match self.hash(id).await.filter(|all| in_lock(all, locked)) {
                    Some(hashes) => (Some(*digest), Some(hashes)),
                    None => return self.fetch(engine, id, locked, signers, &found).await,
                }
            }
            _ => return self.fetch(engine, id, locked, signers, &found).await,
        };
        self.record(
            id,
            ProvidedPackage {
                state: PackageState::Kept,
                engine,
                zh,
                zip_h1: hashes.and_then(|hashes| hashes.zip_h1),
                is_reported: false,
                locked: locked.clone(),
            },
        );
        Ok(())
    }

    /// Inspects the stored package once per run.
    async fn inspect(&self, id: &PackageId) -> Result<StoredPackage, Arc<MirrorError>> {
        let job = || async {
            let (directory, id) = (self.mirror.directory().clone(), id.clone());
            let found = tokio::task::spawn_blocking(move || directory.inspect(&id)).await;
            // Joining fails if the task panicked or the runtime is shutting down. The package then counts as missing.
            found
                .unwrap_or(Ok(StoredPackage::Missing))
                .map_err(Arc::new)
        };
        self.inspected.get_or_init(id.clone(), job).await
    }

    /// Computes all hashes of the stored zip. `None` if the package is not a readable zip.
    async fn hash(&self, id: &PackageId) -> Option<PackageHashes> {
        let job = || async {
            let (directory, id) = (self.mirror.directory().clone(), id.clone());
            let hashed = tokio::task::spawn_blocking(move || directory.hash_zip(&id).ok()).await;
            hashed.ok().flatten()
        };
        self.hashed.get_or_init(id.clone(), job).await
    }

    async fn fetch(
        &self,
        engine: Engine,
        id: &PackageId,
        locked: &BTreeSet<Hash>,
        signers: &SignerRules,
        found: &StoredPackage,
    ) -> Result<(), MirrorProblem> {
        let record = self
            .packages
            .package(engine, id)
            .await
            .map_err(MirrorProblem::Package)?;
        signers
            .check(&id.provider, record.signer())
            .map_err(MirrorProblem::Signer)?;
        self.compare(&record, locked)?;
        let state = self
            .stored
            .get_or_init(id.clone(), || self.store(id, &record, found))
            .await
            .map_err(MirrorProblem::Write)?;
        let (hashes, is_reported) = match &record.form {
            PackageForm::Zip {
                hashes,
                is_reported,
            } => (Some(hashes), *is_reported),
            PackageForm::Files(_) => (None, false),
        };
        self.record(
            id,
            ProvidedPackage {
                state,
                engine,
                zh: hashes.map(|hashes| hashes.zh),
                zip_h1: hashes.and_then(|hashes| hashes.zip_h1.clone()),
                is_reported,
                locked: locked.clone(),
            },
        );
        Ok(())
    }

    /// Checks that `init` accepts the package with this lock file.
    fn compare(
        &self,
        record: &PackageRecord,
        locked: &BTreeSet<Hash>,
    ) -> Result<(), MirrorProblem> {
        if locked.is_empty() {
            return Ok(());
        }
        let is_zip_locked = match &record.form {
            PackageForm::Zip { hashes, .. } => in_lock(hashes, locked),
            PackageForm::Files(_) => false,
        };
        match self.mirror.directory().layout() {
            Layout::Unpacked if locked.contains(&record.h1) => Ok(()),
            Layout::Unpacked if is_zip_locked => Err(MirrorProblem::NoFileHash),
            Layout::Packed if is_zip_locked || matches!(record.form, PackageForm::Files(_)) => {
                Ok(())
            }
            _ => Err(MirrorProblem::NotLocked),
        }
    }

    /// Stores a verified package, unless the same package is already stored.
    async fn store(
        &self,
        id: &PackageId,
        record: &PackageRecord,
        found: &StoredPackage,
    ) -> Result<PackageState, Arc<MirrorError>> {
        let is_stored = match (found, &record.form) {
            (StoredPackage::Zip(digest), PackageForm::Zip { hashes, .. }) => *digest == hashes.zh,
            (StoredPackage::Files(h1), _) => *h1 == record.h1,
            _ => false,
        };
        if is_stored {
            return Ok(PackageState::Kept);
        }
        let (mirror, id) = (Arc::clone(&self.mirror), id.clone());
        let (form, h1) = (record.form.clone(), record.h1.clone());
        let put = move || match form {
            PackageForm::Zip { hashes, .. } => mirror.put(&id, hashes.zh),
            PackageForm::Files(path) => mirror.put_files(&id, &path, &h1),
        };
        // Joining fails if the task panicked or the runtime is shutting down.
        tokio::task::spawn_blocking(put)
            .await
            .unwrap_or(Err(MirrorError::Interrupted))
            .map_err(Arc::new)?;
        Ok(match found {
            StoredPackage::Missing => PackageState::Added,
            _ => PackageState::Repaired,
        })
    }

    fn record(&self, id: &PackageId, new: ProvidedPackage) {
        let mut provided = lock(&self.provided);
        let Some(old) = provided.get_mut(id) else {
            provided.insert(id.clone(), new);
            return;
        };
        old.state = old.state.max(new.state);
        old.engine = old.engine.min(new.engine);
        old.zh = old.zh.or(new.zh);
        old.zip_h1 = old.zip_h1.take().or(new.zip_h1);
        old.is_reported |= new.is_reported;
        old.locked.extend(new.locked);
    }

    /// Returns how each provided package got into the mirror.
    pub(super) fn states(&self) -> BTreeMap<PackageId, PackageState> {
        lock(&self.provided)
            .iter()
            .map(|(id, package)| (id.clone(), package.state))
            .collect()
    }

    /// Returns the hashes of the packages that this run stored or found intact, for the mirror's index files.
    pub(super) fn published(&self) -> PublishedHashes {
        let directory = self.mirror.directory();
        lock(&self.provided)
            .iter()
            .filter_map(|(id, package)| {
                let hashes = package.published(directory, id)?;
                Some((directory.package_path(id), hashes))
            })
            .collect()
    }
}

impl ProvidedPackage {
    /// Returns the hashes that the engine itself would publish. `terraform providers mirror` publishes the `h1` of the zip.
    /// `tofu providers mirror` publishes the digest of the zip, and the `h1` if the registry reported it.
    fn published(&self, directory: &MirrorDirectory, id: &PackageId) -> Option<BTreeSet<Hash>> {
        let zh = Hash::zh(self.zh?);
        let before = || directory.published(id).unwrap_or_default();
        if self.engine == Engine::Tofu {
            let was_reported = || before().contains(&zh);
            let zip_h1 = if self.is_reported {
                self.zip_h1.clone()
            } else if self.zip_h1.is_none() && was_reported() {
                self.find_locked_h1(before())
            } else {
                None
            };
            return Some([zh].into_iter().chain(zip_h1).collect());
        }
        let zip_h1 = self
            .zip_h1
            .clone()
            .or_else(|| self.find_locked_h1(before()))
            .or_else(|| directory.hash_zip(id).ok()?.zip_h1);
        Some(BTreeSet::from([zip_h1.unwrap_or(zh)]))
    }

    /// Returns the `h1` that an earlier run published, if a lock file records it, too; otherwise, the zip must be read again. A
    /// lock file records the `h1` of the unpacked files, which differs from that of the zip if the zip contains entries for
    /// directories.
    fn find_locked_h1(&self, published: Vec<Hash>) -> Option<Hash> {
        published
            .into_iter()
            .find(|hash| hash.scheme() == HashScheme::H1 && self.locked.contains(hash))
    }
}

/// Returns whether the lock file records the digest or the `h1` of a zip. `init` can compute both before it unpacks the zip.
pub(super) fn in_lock(hashes: &PackageHashes, locked: &BTreeSet<Hash>) -> bool {
    let zip_h1 = hashes.zip_h1.as_ref();
    locked.contains(&Hash::zh(hashes.zh)) || zip_h1.is_some_and(|hash| locked.contains(hash))
}

/// Returns whether the lock file records no zip digests. Only then may a zip be identified by the `h1` of its content: if digests
/// are recorded, `init` rejects a different zip with the same content.
pub(super) fn has_no_zh(locked: &BTreeSet<Hash>) -> bool {
    locked.iter().all(|hash| hash.scheme() != HashScheme::Zh)
}
