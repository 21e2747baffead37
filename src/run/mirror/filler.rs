//! One package after the other into the mirror, each once, however many lock files name it.
//!
//! A package that lies where it belongs is right if its digest (its `h1`, where it is unpacked) is one that the lock file
//! records; then nobody is asked. Else its source is asked, which verifies signature and checksum, and what arrived is
//! compared with `[signers]` and the lock file before it is put in its place. A lock file without hashes accepts what its registry
//! signs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};

use crate::locking::{PackageFailure, PackageForm, PackageRecord, Packages, SignerRules};
use crate::mirror::{Layout, Mirror, MirrorDirectory, MirrorError, PublishedHashes, StoredPackage};
use crate::once_map::OnceMap;
use crate::package::PackageHashes;
use crate::provider::{Digest, Engine, Hash, HashScheme, PackageId};

use super::problem::MirrorProblem;

/// What became of one package.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PackageState {
    /// It was there.
    Kept,
    /// It was not there, and is now.
    Added,
    /// Something else was there.
    Repaired,
}

/// Fills a mirror.
pub(super) struct Filler {
    mirror: Arc<Mirror>,
    packages: Arc<Packages>,
    found: OnceMap<PackageId, Result<StoredPackage, Arc<MirrorError>>>,
    hashed: OnceMap<PackageId, Option<PackageHashes>>,
    placed: OnceMap<PackageId, Result<PackageState, Arc<MirrorError>>>,
    kept: Mutex<BTreeMap<PackageId, PlacedPackage>>,
}

/// What is known of a package that is in its place, for the index.
struct PlacedPackage {
    state: PackageState,
    /// Terraform's, where both engines need it.
    engine: Engine,
    zh: Option<Digest>,
    zip_h1: Option<Hash>,
    /// The registry has told the hash of the zip's entries.
    is_reported: bool,
    /// What lock files say of its version.
    locked: BTreeSet<Hash>,
}

impl Filler {
    pub(super) fn new(mirror: Arc<Mirror>, packages: Arc<Packages>) -> Self {
        Self {
            mirror,
            packages,
            found: OnceMap::default(),
            hashed: OnceMap::default(),
            placed: OnceMap::default(),
            kept: Mutex::default(),
        }
    }

    /// Sees to it that the mirror has a package, as one lock file wants it.
    pub(super) async fn provide(
        &self,
        engine: Engine,
        id: &PackageId,
        locked: &BTreeSet<Hash>,
        signers: &SignerRules,
    ) -> Result<(), MirrorProblem> {
        let found = self.find(id).await.map_err(MirrorProblem::Write)?;
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
        self.note(
            id,
            PlacedPackage {
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

    /// What lies where the package belongs, read once.
    async fn find(&self, id: &PackageId) -> Result<StoredPackage, Arc<MirrorError>> {
        let job = || async {
            let (directory, id) = (self.mirror.directory().clone(), id.clone());
            let found = tokio::task::spawn_blocking(move || directory.inspect(&id)).await;
            // A task that cannot be joined was cancelled with its runtime, or broke off: then nothing is known.
            found
                .unwrap_or(Ok(StoredPackage::Missing))
                .map_err(Arc::new)
        };
        self.found.get_or_init(id.clone(), job).await
    }

    /// All hashes of the zip that lies there, if it is one.
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
        let record = self.ask(engine, id).await.map_err(MirrorProblem::Package)?;
        signers
            .check(&id.provider, record.signer())
            .map_err(MirrorProblem::Signer)?;
        self.compare(&record, locked)?;
        let place = || self.place(id, &record, found);
        let state = self.placed.get_or_init(id.clone(), place).await;
        let state = state.map_err(MirrorProblem::Write)?;
        let (hashes, is_reported) = match &record.form {
            PackageForm::Zip {
                hashes,
                is_reported,
            } => (Some(hashes), *is_reported),
            PackageForm::Files(_) => (None, false),
        };
        self.note(
            id,
            PlacedPackage {
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

    async fn ask(
        &self,
        engine: Engine,
        id: &PackageId,
    ) -> Result<Arc<PackageRecord>, Arc<PackageFailure>> {
        self.packages.package(engine, id).await
    }

    /// Whether `init` takes the package by this lock file.
    fn compare(
        &self,
        record: &PackageRecord,
        locked: &BTreeSet<Hash>,
    ) -> Result<(), MirrorProblem> {
        if locked.is_empty() {
            return Ok(());
        }
        let zip_fits = match &record.form {
            PackageForm::Zip { hashes, .. } => in_lock(hashes, locked),
            PackageForm::Files(_) => false,
        };
        match self.mirror.directory().layout() {
            Layout::Unpacked if locked.contains(&record.h1) => Ok(()),
            Layout::Unpacked if zip_fits => Err(MirrorProblem::NoFileHash),
            Layout::Packed if zip_fits || matches!(record.form, PackageForm::Files(_)) => Ok(()),
            _ => Err(MirrorProblem::NotLocked),
        }
    }

    /// Puts a verified package where it belongs, unless it is what lies there.
    async fn place(
        &self,
        id: &PackageId,
        record: &PackageRecord,
        found: &StoredPackage,
    ) -> Result<PackageState, Arc<MirrorError>> {
        let is_there = match (found, &record.form) {
            (StoredPackage::Zip(digest), PackageForm::Zip { hashes, .. }) => *digest == hashes.zh,
            (StoredPackage::Files(h1), _) => *h1 == record.h1,
            _ => false,
        };
        if is_there {
            return Ok(PackageState::Kept);
        }
        let (mirror, id) = (Arc::clone(&self.mirror), id.clone());
        let (form, h1) = (record.form.clone(), record.h1.clone());
        let put = move || match form {
            PackageForm::Zip { hashes, .. } => mirror.put(&id, hashes.zh),
            PackageForm::Files(path) => mirror.put_files(&id, &path, &h1),
        };
        // A task that cannot be joined was cancelled with its runtime, or broke off.
        let put = tokio::task::spawn_blocking(put).await;
        put.unwrap_or(Err(MirrorError::Interrupted))
            .map_err(Arc::new)?;
        Ok(match found {
            StoredPackage::Missing => PackageState::Added,
            _ => PackageState::Repaired,
        })
    }

    fn note(&self, id: &PackageId, new: PlacedPackage) {
        let mut kept = self.lock();
        let Some(old) = kept.get_mut(id) else {
            kept.insert(id.clone(), new);
            return;
        };
        old.state = old.state.max(new.state);
        old.engine = old.engine.min(new.engine);
        old.zh = old.zh.or(new.zh);
        old.zip_h1 = old.zip_h1.take().or(new.zip_h1);
        old.is_reported |= new.is_reported;
        old.locked.extend(new.locked);
    }

    /// What became of the packages that are in their places.
    pub(super) fn states(&self) -> BTreeMap<PackageId, PackageState> {
        let kept = self.lock();
        kept.iter()
            .map(|(id, kept)| (id.clone(), kept.state))
            .collect()
    }

    /// What the index says of them.
    pub(super) fn published(&self) -> PublishedHashes {
        let directory = self.mirror.directory();
        let kept = self.lock();
        kept.iter()
            .filter_map(|(id, kept)| {
                Some((directory.package_path(id), kept.published(directory, id)?))
            })
            .collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<PackageId, PlacedPackage>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl PlacedPackage {
    /// Terraform publishes the hash of the zip's entries; OpenTofu the digest, and that hash if its registry has told it.
    fn published(&self, directory: &MirrorDirectory, id: &PackageId) -> Option<BTreeSet<Hash>> {
        let zh = Hash::zh(self.zh?);
        let before = || directory.published(id).unwrap_or_default();
        if self.engine == Engine::Tofu {
            let was_reported = || before().contains(&zh);
            let zip_h1 = if self.is_reported {
                self.zip_h1.clone()
            } else if self.zip_h1.is_none() && was_reported() {
                self.proven(before())
            } else {
                None
            };
            return Some([zh].into_iter().chain(zip_h1).collect());
        }
        let zip_h1 = self.zip_h1.clone().or_else(|| self.proven(before()));
        let zip_h1 = zip_h1.or_else(|| directory.hash_zip(id).ok()?.zip_h1);
        Some(BTreeSet::from([zip_h1.unwrap_or(zh)]))
    }

    /// The `h1` that an earlier run has published, if a lock file has it as well. Of nearly all packages, it does; of those
    /// with entries for directories, the zip has to be read.
    fn proven(&self, before: Vec<Hash>) -> Option<Hash> {
        before
            .into_iter()
            .find(|hash| hash.scheme() == HashScheme::H1 && self.locked.contains(hash))
    }
}

/// Whether `init` finds a zip with these hashes in the lock file. It knows the hash of the unpacked files only later.
pub(super) fn in_lock(hashes: &PackageHashes, locked: &BTreeSet<Hash>) -> bool {
    let zip_h1 = hashes.zip_h1.as_ref();
    locked.contains(&Hash::zh(hashes.zh)) || zip_h1.is_some_and(|hash| locked.contains(hash))
}

/// Whether the zip itself is not recorded, so that what is in it must do. The same content can be in another zip, which is
/// not the right one where the right one is known.
pub(super) fn has_no_zh(locked: &BTreeSet<Hash>) -> bool {
    locked.iter().all(|hash| hash.scheme() != HashScheme::Zh)
}
