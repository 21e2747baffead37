//! Pushes packages to an OCI registry. Each package is pushed once, even if many lock files name it.
//!
//! If the lock file records the digest of the package in the registry, nothing is downloaded. Otherwise, tflock downloads the
//! package into a temporary directory, verifies it as for a mirror on disk, and uploads it. The index manifests follow at the end
//! of the run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use futures_util::future::join_all;
use tempfile::TempDir;

use crate::locking::{PackageForm, Packages, SignerRules};
use crate::mirror::{Mirror, MirrorError};
use crate::once_map::OnceMap;
use crate::parallel::lock;
use crate::provider::{Digest, Engine, Hash, PackageId, Platform, ProviderAddr, Version};
use crate::registry::{OciMirrorWriter, RegistryError};
use crate::run::read::{ReadDirectory, Task};

use super::check::PackageFault;
use super::filler::{PackageState, has_no_zh};
use super::problem::MirrorProblem;

/// Reads and fills a mirror in an OCI registry.
pub(super) struct MirrorPusher {
    writer: OciMirrorWriter,
    packages: Arc<Packages>,
    /// Where the run stores the packages that it pushes. `None` with `--check`.
    staging: Option<PushStaging>,
    pushed: OnceMap<PackageId, Result<PackageState, MirrorProblem>>,
    states: Mutex<BTreeMap<PackageId, PackageState>>,
}

/// A mirror in a temporary directory, which is removed when the value is dropped.
pub(super) struct PushStaging {
    mirror: Arc<Mirror>,
    _directory: TempDir,
}

impl PushStaging {
    pub(super) const fn new(mirror: Arc<Mirror>, directory: TempDir) -> Self {
        Self {
            mirror,
            _directory: directory,
        }
    }
}

impl MirrorPusher {
    pub(super) fn new(
        writer: OciMirrorWriter,
        packages: Arc<Packages>,
        staging: Option<PushStaging>,
    ) -> Self {
        Self {
            writer,
            packages,
            staging,
            pushed: OnceMap::default(),
            states: Mutex::default(),
        }
    }

    /// Announces the providers in the existing lock files, so that repositories for several providers are noticed early.
    pub(super) fn announce(&self, directories: &[ReadDirectory]) {
        for directory in directories {
            if let Task::Lock { job, .. } = &directory.task
                && job.engine == Engine::Tofu
            {
                for provider in job.old.providers.keys() {
                    self.writer.announce(provider);
                }
            }
        }
    }

    /// Ensures that the registry has a package that matches the hashes of one lock file. With `--check`, only checks this, and
    /// returns the fault if the package is missing or does not match.
    pub(super) async fn provide_or_check(
        &self,
        engine: Engine,
        id: &PackageId,
        locked: &BTreeSet<Hash>,
        signers: &SignerRules,
    ) -> Result<Option<PackageFault>, MirrorProblem> {
        if !locked.is_empty() && has_no_zh(locked) {
            return Err(MirrorProblem::NoZipHash);
        }
        let found = self.writer.stored_zip(id).await;
        let found = found.map_err(|error| MirrorProblem::Registry(Arc::new(error)))?;
        let is_intact = |zip: Digest| locked.is_empty() || locked.contains(&Hash::zh(zip));
        let Some(staging) = &self.staging else {
            return Ok(match found {
                None => Some(PackageFault::Missing),
                Some(zip) if is_intact(zip) => None,
                Some(_) => Some(PackageFault::other_hashes()),
            });
        };
        let state = if found.is_some_and(is_intact) {
            PackageState::Kept
        } else {
            self.push(staging, engine, id, locked, signers, found)
                .await?
        };
        let mut states = lock(&self.states);
        let known = states.entry(id.clone()).or_insert(state);
        *known = state.max(*known);
        Ok(None)
    }

    /// Downloads a package, compares it with the lock file, and uploads it unless the registry has it.
    async fn push(
        &self,
        staging: &PushStaging,
        engine: Engine,
        id: &PackageId,
        locked: &BTreeSet<Hash>,
        signers: &SignerRules,
        found: Option<Digest>,
    ) -> Result<PackageState, MirrorProblem> {
        let record = self.packages.package(engine, id).await;
        let record = record.map_err(MirrorProblem::Package)?;
        signers
            .check(&id.provider, record.signer())
            .map_err(MirrorProblem::Signer)?;
        let zip = match &record.form {
            PackageForm::Zip { hashes, .. } => hashes.zh,
            PackageForm::Files(path) => {
                return Err(MirrorError::NoZip { path: path.clone() }.into());
            }
        };
        if !locked.is_empty() && !locked.contains(&Hash::zh(zip)) {
            return Err(MirrorProblem::NotLocked);
        }
        let upload = || async {
            if found == Some(zip) {
                return Ok(PackageState::Kept);
            }
            let (path, size) = store(Arc::clone(&staging.mirror), id.clone(), zip).await?;
            let pushed = self.writer.push(id, zip, path, size).await;
            pushed.map_err(|error| MirrorProblem::Registry(Arc::new(error)))?;
            Ok(match found {
                None => PackageState::Added,
                Some(_) => PackageState::Repaired,
            })
        };
        self.pushed.get_or_init(id.clone(), upload).await
    }

    /// Writes the index manifests of all versions to which packages were pushed. Returns the errors.
    pub(super) async fn write_indexes(&self) -> Vec<RegistryError> {
        let mut versions: BTreeMap<(ProviderAddr, Version), BTreeSet<Platform>> = BTreeMap::new();
        for (id, state) in self.states() {
            if state != PackageState::Kept {
                let version = versions.entry((id.provider, id.version)).or_default();
                version.insert(id.platform);
            }
        }
        let writes = versions.iter().map(|((provider, version), platforms)| {
            self.writer.write_index(provider, version, platforms)
        });
        let results = join_all(writes).await;
        results.into_iter().filter_map(Result::err).collect()
    }

    /// Returns how each package got into the registry.
    pub(super) fn states(&self) -> BTreeMap<PackageId, PackageState> {
        lock(&self.states).clone()
    }
}

/// Moves a downloaded zip to its path in the temporary directory. Returns the path, and the size in bytes.
async fn store(
    mirror: Arc<Mirror>,
    id: PackageId,
    zip: Digest,
) -> Result<(PathBuf, u64), MirrorError> {
    let put = move || {
        mirror.put(&id, zip)?;
        let path = mirror.directory().package_path(&id);
        let metadata = std::fs::metadata(&path);
        let metadata = metadata.map_err(|source| MirrorError::Read {
            path: path.clone(),
            source,
        })?;
        Ok((path, metadata.len()))
    };
    // Joining fails if the task panicked or the runtime is shutting down.
    let stored = tokio::task::spawn_blocking(put).await;
    stored.unwrap_or(Err(MirrorError::Interrupted))
}
