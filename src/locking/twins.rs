//! The twins that OpenTofu adds to a lock file: an entry for `registry.terraform.io/hashicorp/X` gets a twin for
//! `registry.opentofu.org/hashicorp/X` (see section 5 of docs/rules/lock-file.md).
//!
//! An entry whose version no longer satisfies the constraints gets no twin. OpenTofu rejects a lock file with such an entry until the
//! user deletes the entry, and a deleted entry gets no twin.

use std::sync::Arc;

use crate::lockfile::{Locks, ModuleBlocks, ProviderLock, original_of_twin};
use crate::provider::{Engine, ProviderAddr};

use super::directory::{LockJob, LockedDirectory};
use super::note::Note;
use super::policy::{ProviderScope, VersionTarget};
use super::provider_task::ProviderTask;

/// Adds twins to the entries of one lock file, and removes outdated ones.
pub(super) struct Twins<'a> {
    job: &'a LockJob,
    scope: &'a ProviderScope,
}

impl<'a> Twins<'a> {
    pub(super) fn new(job: &'a LockJob, scope: &'a ProviderScope) -> Self {
        Self { job, scope }
    }

    fn has_twins(&self) -> bool {
        self.job.engine == Engine::Tofu && !self.job.lock_only
    }

    /// Returns the old lock together with the twins that it lacks, and the addresses of those twins.
    pub(super) fn add(&self) -> (Arc<Locks>, Vec<ProviderAddr>) {
        let old = &self.job.old;
        if !self.has_twins() {
            return (Arc::clone(old), Vec::new());
        }
        let mut locks = Locks::clone(old);
        let twins = locks.add_twins(|address, lock| self.fits(address, lock));
        if twins.is_empty() {
            return (Arc::clone(old), twins);
        }
        (Arc::new(locks), twins)
    }

    /// Whether the locked version of an entry still satisfies the constraints. Also true if the provider is not required or not in
    /// scope.
    fn fits(&self, address: &ProviderAddr, lock: &ProviderLock) -> bool {
        let requirement = self.job.requirements.providers.get(address);
        requirement.is_none_or(|requirement| {
            !self.scope.includes(address) || requirement.constraints.allows(&lock.version)
        })
    }

    /// Returns the version to select for a provider. If its entry no longer satisfies the constraints, but the entry for Terraform's
    /// registry does, this is the version of the latter: OpenTofu would add a new twin of it.
    pub(super) fn version_target(&self, task: &ProviderTask<'a>) -> VersionTarget<'a> {
        let stores_state = task.requirement.stores_state;
        let target = self.scope.version_target(task.address, stores_state);
        if target != VersionTarget::Keep || !self.has_twins() {
            return target;
        }
        let constraints = &task.requirement.constraints;
        let twin = || {
            task.old.filter(|lock| !constraints.allows(&lock.version))?;
            let original = original_of_twin(task.address)?;
            let lock = self.job.old.providers.get(&original)?;
            let is_kept = self.fits(&original, lock) && constraints.allows(&lock.version);
            is_kept.then_some(&lock.version)
        };
        twin().map_or(target, VersionTarget::Twin)
    }

    /// Removes the added twins that this run has not processed and whose originals now have a different version. Returns the other
    /// added twins that it has not processed, which have no hashes.
    pub(super) fn remove_outdated(
        &self,
        added: &mut Vec<ProviderAddr>,
        locks: &mut Locks,
    ) -> Vec<ProviderAddr> {
        let requirements = &self.job.requirements.providers;
        let is_idle =
            |twin: &ProviderAddr| !requirements.contains_key(twin) || !self.scope.includes(twin);
        let is_outdated = |twin: &ProviderAddr| {
            let original =
                original_of_twin(twin).and_then(|original| locks.providers.get(&original));
            original.map(|lock| &lock.version)
                != locks.providers.get(twin).map(|lock| &lock.version)
        };
        let outdated: Vec<_> = added
            .iter()
            .filter(|twin| is_idle(twin) && is_outdated(twin))
            .cloned()
            .collect();
        for twin in &outdated {
            locks.providers.remove(twin);
        }
        added.retain(|twin| !outdated.contains(twin));
        added.iter().filter(|twin| is_idle(twin)).cloned().collect()
    }
}

impl LockedDirectory {
    /// Removes the twins that this run has not processed if they would be the only change to the file, whose content is `old`. `init`
    /// would remove them again.
    pub fn leave_out_idle_twins(
        &mut self,
        old: Option<&[u8]>,
        modules: Option<&ModuleBlocks>,
        engine: Engine,
    ) {
        if self.idle_twins.is_empty() {
            return;
        }
        let mut locks = self.locks.clone();
        for twin in &self.idle_twins {
            locks.providers.remove(twin);
        }
        let rest = modules.map(|modules| &*modules.rest);
        if [old, rest].contains(&Some(locks.render(engine).as_bytes())) {
            self.locks = locks;
            self.notes
                .retain(|note| !matches!(note, Note::Twins { .. }));
        }
    }
}
