//! One root module: its requirements and its old lock become its new lock.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::lockfile::Locks;
use crate::provider::{Engine, Platform, ProviderAddr, Requirements, Version};
use crate::span::Place;

use super::error::LockingError;
use super::join::join_bounded;
use super::note::Note;
use super::packages::Packages;
use super::policy::{Policy, ProviderScope};
use super::record::PackageRecord;
use super::work::Work;

/// What is to be locked for one directory.
#[derive(Clone, Debug)]
pub struct LockJob {
    /// Whose rules are followed.
    pub engine: Engine,
    /// What the configuration requires; with `lock_only`, what the lock file itself does.
    pub requirements: Arc<Requirements>,
    /// Whether that is all it requires. If not, nothing is pruned.
    pub complete: bool,
    /// The lock file beside no configuration: its entries are the requirements.
    pub lock_only: bool,
    /// What is locked now.
    pub old: Arc<Locks>,
    /// Where each entry of the lock file stands.
    pub places: BTreeMap<ProviderAddr, Place>,
}

/// The new lock of one directory.
#[derive(Clone, Debug)]
pub struct LockedDirectory {
    /// What the lock file is to hold.
    pub locks: Locks,
    /// What the user should know.
    pub notes: Vec<Note>,
    /// The packages that stand behind it.
    pub verified: Vec<VerifiedPackage>,
}

/// A package that was verified for this directory.
#[derive(Clone, Debug)]
pub struct VerifiedPackage {
    /// Which provider.
    pub address: ProviderAddr,
    /// Which version.
    pub version: Version,
    /// For which platform.
    pub platform: Platform,
    /// What is known of it.
    pub record: Arc<PackageRecord>,
}

/// The requirements that a lock file beside no configuration stands for: its own entries.
pub fn requirements_from_lock(
    locks: &Locks,
    places: &BTreeMap<ProviderAddr, Place>,
) -> Requirements {
    let mut requirements = Requirements::default();
    for (address, lock) in &locks.providers {
        let place = places.get(address).cloned();
        requirements.require(address.clone(), &lock.constraints, place);
    }
    requirements
}

/// Works out the new lock of one directory. All providers are worked on, and every failure is told; with any, there is no
/// new lock.
pub async fn lock_directory(
    job: &LockJob,
    policy: &Policy,
    packages: &Packages,
) -> Result<LockedDirectory, Vec<LockingError>> {
    let scope = ProviderScope::new(policy, job.engine);
    let mut old = Arc::clone(&job.old);
    let mut notes = Vec::new();
    if job.engine == Engine::Tofu && !job.lock_only {
        let mut with_twins = Locks::clone(&old);
        let of = with_twins.add_twins();
        if !of.is_empty() {
            old = Arc::new(with_twins);
            notes.push(Note::Twins { of });
        }
    }
    let wanted = job
        .requirements
        .providers
        .iter()
        .filter(|(address, _)| address.is_lockable(job.engine) && scope.includes(address));
    let work = wanted.map(|(address, requirement)| {
        let work = Work {
            engine: job.engine,
            address,
            requirement,
            old: old.providers.get(address),
            entry: job.places.get(address),
            policy,
            packages,
        };
        let wanted = scope.wanted(address);
        async move { (address, work.run(wanted).await) }
    });
    let work = work.collect();
    let worked = join_bounded(work).await;

    let mut errors = Vec::new();
    let mut verified = Vec::new();
    // Not before: while directories wait for one another's packages, they share what they have in common.
    let mut locks = Locks::clone(&old);
    for (address, result) in worked {
        match result {
            Ok(done) => {
                locks.providers.insert(address.clone(), done.lock);
                notes.extend(done.notes);
                verified.extend(done.verified);
            }
            Err(error) => errors.extend(error),
        }
    }
    if !errors.is_empty() {
        return Err(errors);
    }
    if !job.lock_only {
        settle_the_rest(job, policy, &scope, &mut locks, &mut notes);
    }
    Ok(LockedDirectory {
        locks,
        notes,
        verified,
    })
}

/// Entries that nothing requires stay and are told of, or go with `--prune`. Twins without hashes are told of once, as twins.
fn settle_the_rest(
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
        notes.retain(|note| !matches!(note, Note::Twins { .. }));
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
