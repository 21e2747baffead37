//! Locks one root module: computes its new lock file from its requirements and its old lock file.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::lockfile::{Locks, ModuleBlocks};
use crate::provider::{Engine, Platform, ProviderAddr, Requirements, Version};
use crate::span::Place;

use super::cache_server::without_completion;
use super::error::LockingError;
use super::join_bounded::join_bounded;
use super::note::Note;
use super::packages::Packages;
use super::policy::{Policy, ProviderScope};
use super::provider_task::ProviderTask;
use super::record::PackageRecord;
use super::twins::Twins;

/// A root module to lock or verify.
#[derive(Clone, Debug)]
pub struct LockJob {
    /// The engine whose rules apply.
    pub engine: Engine,
    /// The requirements of the configuration or, with `lock_only`, of the lock file itself.
    pub requirements: Arc<Requirements>,
    /// Whether all requirements are known. If not, no entry is pruned.
    pub complete: bool,
    /// Whether there is a lock file but no configuration. If so, the entries of the lock file are the requirements.
    pub lock_only: bool,
    /// Whether the directory is a Terragrunt unit.
    pub is_unit: bool,
    /// The entries of the lock file. Empty if the file does not exist.
    pub old: Arc<Locks>,
    /// The `module` blocks of the lock file.
    pub modules: Option<ModuleBlocks>,
    /// Where each entry of the lock file begins.
    pub places: BTreeMap<ProviderAddr, Place>,
}

impl LockJob {
    /// Creates the job of a directory that requires nothing and has no lock file.
    pub fn empty(engine: Engine) -> Self {
        Self {
            engine,
            requirements: Arc::default(),
            complete: true,
            lock_only: false,
            is_unit: false,
            old: Arc::default(),
            modules: None,
            places: BTreeMap::new(),
        }
    }
}

/// The new lock file entries of one root module.
#[derive(Clone, Debug)]
pub struct LockedDirectory {
    pub locks: Locks,
    /// The entries of `locks` that [`Locks::add_twins`] added, as OpenTofu does, and that this run did not process. They have no
    /// hashes.
    pub(super) idle_twins: Vec<ProviderAddr>,
    pub notes: Vec<Note>,
    /// The packages whose hashes were recorded.
    pub verified: Vec<VerifiedPackage>,
}

/// A package that was verified for a root module.
#[derive(Clone, Debug)]
pub struct VerifiedPackage {
    pub address: ProviderAddr,
    pub version: Version,
    pub platform: Platform,
    pub record: Arc<PackageRecord>,
}

/// Converts the entries of a lock file into the requirements of a directory that has no configuration, or of a unit whose
/// configuration is unknown.
pub fn requirements_from_lock(
    locks: &Locks,
    places: &BTreeMap<ProviderAddr, Place>,
    is_unit: bool,
) -> Requirements {
    let mut requirements = Requirements::default();
    for (address, lock) in &locks.providers {
        let place = places.get(address).cloned();
        let original = without_completion(&lock.constraints, &lock.version);
        let original = original.filter(|_| is_unit);
        let constraints = original.as_ref().unwrap_or(&lock.constraints);
        requirements.require(address.clone(), constraints, place);
    }
    requirements
}

/// Computes the new lock file entries of one root module. The errors of all its providers are returned together.
pub async fn lock_directory(
    job: &LockJob,
    policy: &Policy,
    packages: &Packages,
) -> Result<LockedDirectory, Vec<LockingError>> {
    let scope = ProviderScope::new(policy, job.engine);
    let twins = Twins::new(job, &scope);
    let (old, mut added) = twins.add();
    let tasks = ProviderTask::all(job, &old.providers, &scope, policy, packages)
        .map(|task| {
            let target = twins.version_target(&task);
            async move { (task.address, task.lock(target).await) }
        })
        .collect();
    let results = join_bounded(tasks).await;

    let (mut notes, mut verified, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    // Cloned only now, so that directories with identical lock files share one copy while they wait for packages.
    let mut locks = Locks::clone(&old);
    for (address, result) in results {
        match result {
            Ok(locked) => {
                locks.providers.insert(address.clone(), locked.lock);
                notes.extend(locked.notes);
                verified.extend(locked.verified);
            }
            Err(failures) => errors.extend(failures),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    let idle_twins = twins.remove_outdated(&mut added, &mut locks);
    let is_pruned = policy.prune && job.complete && !job.lock_only;
    if !added.is_empty() && !is_pruned {
        notes.insert(0, Note::Twins { of: added });
    }
    if !job.lock_only {
        prune_or_report(job, policy, &scope, &mut locks, &mut notes);
    }
    Ok(LockedDirectory {
        locks,
        idle_twins,
        notes,
        verified,
    })
}

/// Removes entries that are not required if `--prune` is set, and reports them otherwise. Entries without hashes are not reported
/// here: they come from [`Locks::add_twins`], and [`Note::Twins`] reports them.
fn prune_or_report(
    job: &LockJob,
    policy: &Policy,
    scope: &ProviderScope,
    locks: &mut Locks,
    notes: &mut Vec<Note>,
) {
    let unrequired: Vec<ProviderAddr> = locks
        .providers
        .keys()
        .filter(|address| !job.requirements.providers.contains_key(*address))
        .filter(|address| scope.includes(address))
        .cloned()
        .collect();
    if policy.prune && job.complete {
        for address in &unrequired {
            locks.providers.remove(address);
        }
        return;
    }
    if policy.prune && !unrequired.is_empty() {
        notes.push(Note::NotPruned);
    }
    let kept = unrequired
        .into_iter()
        .filter(|address| !locks.providers[address].hashes.is_empty());
    notes.extend(kept.map(|address| Note::NotRequired { address }));
}
