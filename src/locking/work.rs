//! One provider of one root module: its requirement and its old entry become its new entry.
//!
//! What cannot turn out otherwise is taken from the disk cache, without a request; everything else is asked for.

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::future::join_all;

use crate::lockfile::ProviderLock;
use crate::provider::{Engine, Hash, HashScheme, Platform, ProviderAddr, Requirement, Version};
use crate::registry::AvailableVersions;
use crate::span::Place;

use super::assemble::{Evidence, Verdict, assemble, judge, strays};
use super::directory::VerifiedPackage;
use super::error::{CacheGap, LockingError, LockingProblem};
use super::note::Note;
use super::packages::Packages;
use super::policy::{Mismatch, Missing, Policy, VersionTarget};
use super::record::PackageRecord;
use super::select::{Selection, check_constraints, foregone, select};
use super::signers::RefusedSigner;

/// One provider of one directory.
pub(super) struct Work<'a> {
    pub(super) engine: Engine,
    pub(super) address: &'a ProviderAddr,
    pub(super) requirement: &'a Requirement,
    pub(super) old: Option<&'a ProviderLock>,
    /// Where the entry stands in the lock file.
    pub(super) entry: Option<&'a Place>,
    pub(super) policy: &'a Policy,
    pub(super) packages: &'a Packages,
}

/// What became of one provider.
pub(super) struct Done {
    pub(super) lock: ProviderLock,
    pub(super) notes: Vec<Note>,
    pub(super) verified: Vec<VerifiedPackage>,
}

/// How far the cache leads.
enum Recalled {
    /// To the end.
    Done(Done),
    /// The source has to be asked.
    Lacking(CacheGap),
}

/// What is known of the packages of one version.
struct Gathered {
    verified: Vec<VerifiedPackage>,
    notes: Vec<Note>,
    /// No recorded hash of the version is genuine.
    foreign: bool,
}

impl Work<'_> {
    pub(super) async fn run(self, wanted: VersionTarget<'_>) -> Result<Done, Vec<LockingError>> {
        let constraints = &self.requirement.constraints;
        check_constraints(constraints, self.engine).map_err(|problem| vec![self.error(problem)])?;
        match self.recall(wanted).await? {
            Recalled::Done(done) => Ok(done),
            Recalled::Lacking(lack) if self.packages.must_remember(self.engine, self.address) => {
                Err(vec![self.error(LockingProblem::Offline(lack))])
            }
            // Boxed, since it is large, and thousands of directories are under way at the same time without it.
            Recalled::Lacking(_) => Box::pin(self.ask(wanted)).await,
        }
    }

    /// Everything from memory, if nothing that its registry could say would change the outcome for the better.
    async fn recall(&self, wanted: VersionTarget<'_>) -> Result<Recalled, Vec<LockingError>> {
        let locked = self.old.map(|lock| &lock.version);
        let Some(selection) = foregone(&self.requirement.constraints, locked, wanted) else {
            return Ok(Recalled::Lacking(CacheGap::Version));
        };
        let version = selection.version();
        let platforms = &self.policy.platforms;
        let known = self
            .packages
            .known(self.engine, self.address, version, platforms);
        let known = match known.await {
            Ok(known) => known,
            Err(platforms) => {
                return Ok(Recalled::Lacking(CacheGap::Packages {
                    version: version.clone(),
                    platforms: platforms.to_vec(),
                }));
            }
        };
        // Before a hash of the lock file is called wrong, or a signer refused, the registry is heard: it may have signed
        // another list since.
        let is_refused = |record: &Arc<PackageRecord>| self.refused(record).is_some();
        let is_doubtful = matches!((&selection, self.old), (Selection::Kept(_), Some(old))
            if judge(&old.hashes, &known.evidence) != Verdict::Genuine);
        if is_doubtful || known.records.iter().any(|(_, record)| is_refused(record)) {
            return Ok(Recalled::Lacking(CacheGap::Proof {
                version: version.clone(),
            }));
        }
        let selection = self
            .guard_platforms(selection)
            .map_err(|problem| vec![self.error(problem)])?;
        let verified = known
            .records
            .iter()
            .map(|(platform, record)| VerifiedPackage {
                address: self.address.clone(),
                version: selection.version().clone(),
                platform: platform.clone(),
                record: Arc::clone(record),
            });
        let gathered = Gathered {
            verified: verified.collect(),
            notes: Vec::new(),
            foreign: false,
        };
        Ok(Recalled::Done(self.finish(
            &selection,
            &known.evidence,
            &known.said,
            gathered,
        )))
    }

    /// The versions from the source, and from there on.
    async fn ask(&self, wanted: VersionTarget<'_>) -> Result<Done, Vec<LockingError>> {
        let constraints = &self.requirement.constraints;
        let listed = self.packages.versions(self.engine, self.address).await;
        let listed = listed.map_err(|error| vec![self.error(LockingProblem::Registry(error))])?;
        let locked = self.old.map(|lock| &lock.version);
        let settled = match (wanted, self.policy.min_age) {
            (VersionTarget::Newest, Some(least)) => self.settled(&listed, least).await,
            _ => Ok(None),
        };
        let settled = settled.map_err(|problem| vec![self.error(problem)])?;
        let wanted = settled
            .as_ref()
            .map_or(wanted, |settled| VersionTarget::To(&settled.version));
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
        notes.extend(settled.into_iter().flat_map(|settled| settled.notes));
        let gathered = Gathered {
            verified,
            notes,
            foreign,
        };
        Ok(self.finish(&selection, &evidence, &listed, gathered))
    }

    fn finish(
        &self,
        selection: &Selection,
        evidence: &Evidence,
        listed: &AvailableVersions,
        gathered: Gathered,
    ) -> Done {
        let Gathered {
            verified,
            mut notes,
            foreign,
        } = gathered;
        notes.extend(self.notes_on_hashes(selection, evidence, foreign));
        notes.extend(self.notes_on_source(listed, &verified));
        Done {
            lock: assemble(
                self.requirement.constraints.clone(),
                selection,
                self.old,
                evidence,
                foreign && self.policy.mismatch == Mismatch::Replace,
            ),
            notes,
            verified,
        }
    }

    /// A failure of this provider points at where the configuration asks for it.
    fn error(&self, problem: impl Into<Box<LockingProblem>>) -> LockingError {
        LockingError {
            address: self.address.clone(),
            place: self.requirement.declared.clone(),
            problem: problem.into(),
        }
    }

    /// Refuses to lose the hashes of platforms that nobody named (docs/reference/lock-files.md).
    fn guard_platforms(&self, selection: Selection) -> Result<Selection, Box<LockingProblem>> {
        let Selection::Moved { from, to } = &selection else {
            return Ok(selection);
        };
        let is_h1 = |hash: &&Hash| hash.scheme() == HashScheme::H1;
        let count = self
            .old
            .map_or(0, |old| old.hashes.iter().filter(is_h1).count());
        if self.policy.platforms_defaulted && count > 1 {
            return Err(Box::new(LockingProblem::PlatformsNotNamed {
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
    ) -> Result<(Vec<VerifiedPackage>, Vec<Note>), Vec<LockingError>> {
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
                    None => verified.push(VerifiedPackage {
                        address: self.address.clone(),
                        version: version.clone(),
                        platform: platform.clone(),
                        record,
                    }),
                    Some(refused) => errors.push(self.error(LockingProblem::Signer {
                        version: version.clone(),
                        platform: platform.clone(),
                        refused,
                    })),
                },
                Err(failure) if failure.is_missing_platform() => missing.push(platform.clone()),
                Err(failure) => errors.push(self.error(LockingProblem::Package {
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
            self.error(LockingProblem::PlatformMissing {
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
        signers.check(self.address, record.signer()).err()
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
                problem: Box::new(LockingProblem::AllForeign {
                    version: version.clone(),
                }),
            });
        }
        Ok(foreign)
    }

    /// What the source has said beside its answers.
    fn notes_on_source(
        &self,
        listed: &AvailableVersions,
        verified: &[VerifiedPackage],
    ) -> Vec<Note> {
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
