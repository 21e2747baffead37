//! OpenTofu's twins of the entries for Terraform's registry (docs/rules/lock-file.md 5).
//!
//! The twin of an entry that this run drops is left out: OpenTofu rejects a lock file until such an entry is deleted, and it adds
//! no twin of a deleted entry.

use std::sync::Arc;

use crate::lockfile::{Locks, ModuleBlocks, ProviderLock, original_of_twin};
use crate::provider::{Engine, ProviderAddr};

use super::directory::{LockJob, LockedDirectory};
use super::note::Note;
use super::policy::{ProviderScope, VersionTarget};
use super::provider_task::ProviderTask;

/// The twins of the entries of one lock file.
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

    /// Whether an entry stays unless an upgrade was requested.
    fn fits(&self, address: &ProviderAddr, lock: &ProviderLock) -> bool {
        let requirement = self.job.requirements.providers.get(address);
        requirement.is_none_or(|requirement| {
            !self.scope.includes(address) || requirement.constraints.allows(&lock.version)
        })
    }

    /// Returns the version to select for a provider. If its entry no longer satisfies the constraints and the twin that would
    /// replace the deleted entry does, this is the version of the twin.
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

    /// Removes the added twins whose original now has a different version. Returns the others that this run has not processed.
    /// They have no hashes.
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
    /// Leaves out the twins that nothing requires if they would be the only change of the file `old`: `init` removes them again.
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
