//! One root module: its requirements and its old lock become its new lock.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::future::join_all;

use crate::lockfile::{Locks, ProviderLock};
use crate::provider::{
    Engine, Hash, HashScheme, Platform, ProviderAddr, Requirement, Requirements, Version,
};
use crate::registry::AvailableVersions;
use crate::span::Place;

use super::assemble::{Evidence, Verdict, assemble, judge, strays};
use super::error::{LockingError, Problem};
use super::note::Note;
use super::packages::{PackageRecord, Packages};
use super::policy::{Mismatch, Missing, Move, Policy, Scope};
use super::select::{Selection, check_constraints, select};
use super::signers::RefusedSigner;

/// What is to be locked for one directory.
#[derive(Clone, Debug)]
pub struct Job {
    /// Whose rules are followed.
    pub engine: Engine,
    /// What the configuration requires; with `lock_only`, what the lock file itself does.
    pub requirements: Arc<Requirements>,
    /// Whether that is all it requires. If not, nothing is pruned.
    pub complete: bool,
    /// The lock file beside no configuration: its entries are the requirements.
    pub lock_only: bool,
    /// What is locked now.
    pub old: Locks,
    /// Where each entry of the lock file stands.
    pub places: BTreeMap<ProviderAddr, Place>,
}

/// The new lock of one directory.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// What the lock file is to hold.
    pub locks: Locks,
    /// What the user should know.
    pub notes: Vec<Note>,
    /// The packages that stand behind it.
    pub verified: Vec<Verified>,
}

/// A package that was verified for this directory.
#[derive(Clone, Debug)]
pub struct Verified {
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
pub fn requirements_of(locks: &Locks, places: &BTreeMap<ProviderAddr, Place>) -> Requirements {
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
    job: &Job,
    policy: &Policy,
    packages: &Packages,
) -> Result<Outcome, Vec<LockingError>> {
    let scope = Scope::new(policy, job.engine);
    let mut old = job.old.clone();
    let mut notes = Vec::new();
    if job.engine == Engine::Tofu && !job.lock_only {
        let of = old.add_twins();
        if !of.is_empty() {
            notes.push(Note::Twins { of });
        }
    }
    let wanted = job
        .requirements
        .providers
        .iter()
        .filter(|(address, _)| address.is_lockable(job.engine) && scope.includes(address));
    let worked = join_all(wanted.map(|(address, requirement)| {
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
    }))
    .await;

    let mut errors = Vec::new();
    let mut verified = Vec::new();
    let mut locks = old;
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
    Ok(Outcome {
        locks,
        notes,
        verified,
    })
}

/// Entries that nothing requires stay and are told of, or go with `--prune`. Twins without hashes are told of once, as twins.
fn settle_the_rest(
    job: &Job,
    policy: &Policy,
    scope: &Scope,
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

/// One provider of one directory.
struct Work<'a> {
    engine: Engine,
    address: &'a ProviderAddr,
    requirement: &'a Requirement,
    old: Option<&'a ProviderLock>,
    /// Where the entry stands in the lock file.
    entry: Option<&'a Place>,
    policy: &'a Policy,
    packages: &'a Packages,
}

/// What became of one provider.
struct Done {
    lock: ProviderLock,
    notes: Vec<Note>,
    verified: Vec<Verified>,
}

impl Work<'_> {
    async fn run(self, wanted: Move<'_>) -> Result<Done, Vec<LockingError>> {
        let constraints = &self.requirement.constraints;
        check_constraints(constraints, self.engine).map_err(|problem| vec![self.error(problem)])?;
        let listed = self.packages.versions(self.engine, self.address).await;
        let listed = listed.map_err(|error| vec![self.error(Problem::Registry(error))])?;
        let locked = self.old.map(|lock| &lock.version);
        let selection = select(self.address, constraints, locked, wanted, &listed)
            .and_then(|selection| self.guard_platforms(selection))
            .map_err(|problem| vec![self.error(problem)])?;

        let published = listed.platforms(selection.version());
        let (verified, mut notes) = self.gather(selection.version(), &published).await?;
        let mut evidence = Evidence::default();
        for package in &verified {
            evidence.extend(package.record.evidence.clone());
        }
        let foreign = self
            .is_foreign(&selection, &mut evidence, &published)
            .await
            .map_err(|error| vec![error])?;
        notes.extend(self.notes_on_hashes(&selection, &evidence, foreign));
        notes.extend(self.notes_on_source(&listed, &verified));
        Ok(Done {
            lock: assemble(
                constraints.clone(),
                &selection,
                self.old,
                &evidence,
                foreign && self.policy.mismatch == Mismatch::Replace,
            ),
            notes,
            verified,
        })
    }

    /// A failure of this provider points at where the configuration asks for it.
    fn error(&self, problem: impl Into<Box<Problem>>) -> LockingError {
        LockingError {
            address: self.address.clone(),
            place: self.requirement.declared.first().cloned(),
            problem: problem.into(),
        }
    }

    /// Refuses to lose the hashes of platforms that nobody named (design, `--platform`).
    fn guard_platforms(&self, selection: Selection) -> Result<Selection, Box<Problem>> {
        let Selection::Moved { from, to } = &selection else {
            return Ok(selection);
        };
        let is_h1 = |hash: &&Hash| hash.scheme() == HashScheme::H1;
        let count = self
            .old
            .map_or(0, |old| old.hashes.iter().filter(is_h1).count());
        if self.policy.platforms_defaulted && count > 1 {
            return Err(Box::new(Problem::PlatformsNotNamed {
                from: from.clone(),
                to: to.clone(),
                count,
            }));
        }
        Ok(selection)
    }

    /// The packages of all asked platforms.
    async fn gather(
        &self,
        version: &Version,
        published: &BTreeSet<Platform>,
    ) -> Result<(Vec<Verified>, Vec<Note>), Vec<LockingError>> {
        let platforms = &self.policy.platforms;
        let records = join_all(platforms.iter().map(|platform| {
            self.packages
                .package(self.engine, self.address, version, platform)
        }))
        .await;
        let (mut verified, mut missing, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        for (platform, record) in platforms.iter().zip(records) {
            match record {
                Ok(record) => match self.refused(&record) {
                    None => verified.push(Verified {
                        address: self.address.clone(),
                        version: version.clone(),
                        platform: platform.clone(),
                        record,
                    }),
                    Some(refused) => errors.push(self.error(Problem::Signer {
                        version: version.clone(),
                        platform: platform.clone(),
                        refused,
                    })),
                },
                Err(failure) if failure.is_missing_platform() => missing.push(platform.clone()),
                Err(failure) => errors.push(self.error(Problem::Package {
                    version: version.clone(),
                    platform: platform.clone(),
                    failure,
                })),
            }
        }
        let tolerated = self.policy.missing_platform == Missing::Warn && !verified.is_empty();
        if tolerated && errors.is_empty() {
            let notes = missing.into_iter().map(|platform| Note::PlatformMissing {
                address: self.address.clone(),
                version: version.clone(),
                platform,
            });
            return Ok((verified, notes.collect()));
        }
        errors.extend(missing.into_iter().map(|platform| {
            self.error(Problem::PlatformMissing {
                version: version.clone(),
                platform,
                published: published.clone(),
            })
        }));
        if errors.is_empty() {
            Ok((verified, Vec::new()))
        } else {
            Err(errors)
        }
    }

    /// Why the signer of a package is not accepted, if that is so.
    fn refused(&self, record: &PackageRecord) -> Option<Box<RefusedSigner>> {
        let signers = &self.policy.signers;
        signers
            .check(self.address, self.engine, record.signer())
            .err()
    }

    /// Whether no recorded hash of a kept version is genuine. An entry that records `h1` only is compared with the
    /// version's other platforms before it is called foreign.
    async fn is_foreign(
        &self,
        selection: &Selection,
        evidence: &mut Evidence,
        published: &BTreeSet<Platform>,
    ) -> Result<bool, LockingError> {
        let (Selection::Kept(version), Some(old)) = (selection, self.old) else {
            return Ok(false);
        };
        let mut verdict = judge(&old.hashes, evidence);
        let others = published
            .iter()
            .filter(|platform| !self.policy.platforms.contains(platform));
        for platform in others {
            if verdict != Verdict::PerhapsOtherPlatforms {
                break;
            }
            let other = self
                .packages
                .package(self.engine, self.address, version, platform);
            // A package that cannot be had proves nothing either way.
            if let Ok(record) = other.await
                && self.refused(&record).is_none()
            {
                evidence
                    .genuine
                    .extend(record.evidence.genuine.iter().cloned());
                verdict = judge(&old.hashes, evidence);
            }
        }
        let foreign = verdict != Verdict::Genuine;
        if foreign && self.policy.mismatch == Mismatch::Error {
            return Err(LockingError {
                address: self.address.clone(),
                place: self.entry.cloned(),
                problem: Box::new(Problem::AllForeign {
                    version: version.clone(),
                }),
            });
        }
        Ok(foreign)
    }

    /// What the source has said beside its answers.
    fn notes_on_source(&self, listed: &AvailableVersions, verified: &[Verified]) -> Vec<Note> {
        let address = || self.address.clone();
        let mut notes: Vec<Note> = Vec::new();
        notes.extend(listed.warnings.iter().map(|text| Note::RegistrySays {
            address: address(),
            text: text.clone(),
        }));
        if !listed.invalid.is_empty() {
            notes.push(Note::InvalidVersions {
                address: address(),
                versions: listed.invalid.clone(),
            });
        }
        for package in verified {
            if let Some(lapse) = package.record.signer().and_then(|signer| signer.lapse) {
                let note = Note::Expired {
                    address: address(),
                    version: package.version.clone(),
                    lapse,
                };
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
        notes
    }

    fn notes_on_hashes(
        &self,
        selection: &Selection,
        evidence: &Evidence,
        foreign: bool,
    ) -> Vec<Note> {
        let (Selection::Kept(version), Some(old)) = (selection, self.old) else {
            return Vec::new();
        };
        let (address, version) = (self.address.clone(), version.clone());
        match (foreign, self.policy.mismatch) {
            (true, Mismatch::Replace) => vec![Note::ForeignReplaced { address, version }],
            (true, _) => vec![Note::ForeignKept { address, version }],
            (false, _) => {
                let count = strays(&old.hashes, evidence).len();
                let note = Note::StrayHashes {
                    address,
                    version,
                    count,
                };
                (count > 0).then_some(note).into_iter().collect()
            }
        }
    }
}
