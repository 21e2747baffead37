//! Locks one provider: computes its new entry from its requirement and its old entry.
//!
//! If no answer from the registry could change the outcome, everything comes from the disk cache and no request is sent.

use std::collections::BTreeSet;

use futures_util::future::join_all;

use crate::lockfile::ProviderLock;
use crate::provider::{Hash, HashScheme, Platform, Version};
use crate::registry::AvailableVersions;

use super::directory::VerifiedPackage;
use super::disk_cache::CachedVersion;
use super::error::{CacheGap, LockingError, LockingProblem};
use super::evidence::{Evidence, Verdict, assemble};
use super::note::Note;
use super::policy::{Mismatch, Missing, VersionTarget};
use super::provider_task::{Coverage, ProviderTask};
use super::select::{Selection, check_constraints, select, select_without_list};

/// The new entry of a provider.
pub(super) struct LockedProvider {
    pub(super) lock: ProviderLock,
    pub(super) notes: Vec<Note>,
    /// The packages of the requested platforms.
    pub(super) verified: Vec<VerifiedPackage>,
}

impl ProviderTask<'_> {
    pub(super) async fn lock(
        self,
        target: VersionTarget<'_>,
    ) -> Result<LockedProvider, Vec<LockingError>> {
        check_constraints(&self.requirement.constraints, self.engine)
            .map_err(|problem| self.lock_error(problem))?;
        match self.select_cached(target).await {
            Ok((selection, cached)) => self.lock_from_cache(selection, &cached),
            Err(gap) if self.packages.is_cache_only(self.engine, self.address) => {
                Err(self.lock_error(LockingProblem::Offline(gap)))
            }
            // Boxed to keep the callers' futures small: thousands of directories are locked at the same time, and few of them need
            // this one.
            Err(_) => Box::pin(self.lock_from_source(target)).await,
        }
    }

    /// Returns an error that points to the requirement in the configuration.
    fn lock_error(&self, problem: impl Into<Box<LockingProblem>>) -> Vec<LockingError> {
        vec![self.error(self.requirement.declared.as_ref(), problem)]
    }

    /// Selects the version to lock without sending a request, and returns it with its cached packages. The error says what the cache
    /// lacks.
    async fn select_cached(
        &self,
        target: VersionTarget<'_>,
    ) -> Result<(Selection, std::sync::Arc<CachedVersion>), CacheGap> {
        let locked = self.old.map(|lock| &lock.version);
        let selection = select_without_list(&self.requirement.constraints, locked, target)
            .ok_or(CacheGap::Version)?;
        let version = selection.version();
        let query = self.version_query(version, &self.policy.platforms);
        let cached = self.packages.cached_version(query).await;
        let cached = cached.map_err(|platforms| CacheGap::Packages {
            version: version.clone(),
            platforms: platforms.to_vec(),
        })?;
        // Before tflock rejects a recorded hash or a signer, it requests the checksum list again, because the registry may have
        // signed a new list.
        let is_doubtful = matches!((&selection, self.old), (Selection::Kept(_), Some(old))
            if cached.evidence.judge(&old.hashes) != Verdict::Genuine);
        let mut records = cached.records.iter();
        if is_doubtful || records.any(|(_, record)| self.refused_signer(record).is_some()) {
            let version = version.clone();
            return Err(CacheGap::Proof { version });
        }
        Ok((selection, cached))
    }

    fn lock_from_cache(
        &self,
        selection: Selection,
        cached: &CachedVersion,
    ) -> Result<LockedProvider, Vec<LockingError>> {
        let selection = self.check_platforms_kept(selection)?;
        let records = cached.records.iter();
        let verified = records
            .map(|(platform, record)| self.verified(selection.version(), platform, record))
            .collect();
        let evidence = &cached.evidence;
        Ok(self.locked(&selection, evidence, false, verified, &cached.messages))
    }

    async fn lock_from_source(
        &self,
        target: VersionTarget<'_>,
    ) -> Result<LockedProvider, Vec<LockingError>> {
        let constraints = &self.requirement.constraints;
        let listed = self.packages.versions(self.engine, self.address).await;
        let listed = listed.map_err(|error| self.lock_error(LockingProblem::Registry(error)))?;
        let locked = self.old.map(|lock| &lock.version);
        let old_enough = match (target, self.policy.min_age) {
            (VersionTarget::Newest, Some(min_age)) => self
                .newest_old_enough(&listed, min_age)
                .await
                .map_err(|problem| self.lock_error(problem))?,
            _ => None,
        };
        let (target, age_notes) = match &old_enough {
            Some(found) => (VersionTarget::To(&found.version), found.notes.clone()),
            None => (target, Vec::new()),
        };
        let selection = select(self.address, constraints, locked, target, &listed)
            .map_err(|problem| self.lock_error(problem))?;
        let selection = self.check_platforms_kept(selection)?;

        let published = listed.platforms(selection.version());
        let (verified, mut notes) = self.gather(selection.version(), &published).await?;
        let mut evidence = Evidence::default();
        for package in &verified {
            evidence.extend(package.record.evidence.clone());
        }
        let is_foreign = self
            .is_foreign(&selection, &mut evidence, &published)
            .await?;
        let mut locked = self.locked(&selection, &evidence, is_foreign, verified, &listed);
        notes.extend(age_notes);
        notes.append(&mut locked.notes);
        Ok(LockedProvider { notes, ..locked })
    }

    /// Builds the result for the selected version. `is_foreign` is set if the version is kept, but none of its recorded hashes
    /// belongs to a package of this version.
    fn locked(
        &self,
        selection: &Selection,
        evidence: &Evidence,
        is_foreign: bool,
        verified: Vec<VerifiedPackage>,
        listed: &AvailableVersions,
    ) -> LockedProvider {
        let mut notes = self.notes_on_source(listed, &verified);
        if let Some(note) = self.note_on_hashes(selection, evidence, is_foreign) {
            notes.insert(0, note);
        }
        let constraints = self.requirement.constraints.clone();
        let replace = is_foreign && self.policy.mismatch == Mismatch::Replace;
        LockedProvider {
            lock: assemble(constraints, selection, self.old, evidence, replace),
            notes,
            verified,
        }
    }

    /// Fails if no platform was requested and a different version would replace the hashes of several platforms (see
    /// docs/reference/lock-files.md).
    fn check_platforms_kept(&self, selection: Selection) -> Result<Selection, Vec<LockingError>> {
        let (Selection::Moved { from, to }, true, Some(old)) =
            (&selection, self.policy.platforms_defaulted, self.old)
        else {
            return Ok(selection);
        };
        let is_h1 = |hash: &&Hash| hash.scheme() == HashScheme::H1;
        match old.hashes.iter().filter(is_h1).count() {
            0 | 1 => Ok(selection),
            count => Err(self.lock_error(LockingProblem::PlatformsNotNamed {
                from: from.clone(),
                to: to.clone(),
                count,
            })),
        }
    }

    /// Fetches the packages of all requested platforms from their source.
    async fn gather(
        &self,
        version: &Version,
        published: &BTreeSet<Platform>,
    ) -> Result<(Vec<VerifiedPackage>, Vec<Note>), Vec<LockingError>> {
        let platforms = &self.policy.platforms;
        let requests = platforms
            .iter()
            .map(|platform| self.package(version, platform));
        let records = join_all(requests).await;
        let (mut verified, mut missing, mut errors) = (Vec::new(), Vec::new(), Vec::new());
        for (platform, record) in platforms.iter().zip(records) {
            match record {
                Ok(record) => match self.refused_signer(&record) {
                    None => verified.push(self.verified(version, platform, &record)),
                    Some(refused) => errors.extend(self.lock_error(LockingProblem::Signer {
                        version: version.clone(),
                        platform: platform.clone(),
                        refused,
                    })),
                },
                Err(failure) if failure.is_missing_platform() => missing.push(platform.clone()),
                Err(failure) => errors.extend(self.lock_error(LockingProblem::Package {
                    version: version.clone(),
                    platform: platform.clone(),
                    failure,
                })),
            }
        }
        let mut notes = Vec::new();
        let warns = self.policy.missing_platform == Missing::Warn
            && !verified.is_empty()
            && errors.is_empty();
        for platform in missing {
            let version = version.clone();
            if warns {
                let address = self.address.clone();
                notes.push(Note::PlatformMissing {
                    address,
                    version,
                    platform,
                });
            } else {
                errors.extend(self.lock_error(LockingProblem::PlatformMissing {
                    version,
                    platform,
                    published: published.clone(),
                }));
            }
        }
        if errors.is_empty() {
            Ok((verified, notes))
        } else {
            Err(errors)
        }
    }

    /// Returns whether none of the recorded hashes of a kept version belongs to a package of this version. If necessary, compares
    /// `h1` hashes with the packages of other platforms, too. With `--mismatch error`, fails instead of returning true.
    async fn is_foreign(
        &self,
        selection: &Selection,
        evidence: &mut Evidence,
        published: &BTreeSet<Platform>,
    ) -> Result<bool, Vec<LockingError>> {
        let (Selection::Kept(version), Some(old)) = (selection, self.old) else {
            return Ok(false);
        };
        let others: Vec<&Platform> = published
            .iter()
            .filter(|platform| !self.policy.platforms.contains(platform))
            .collect();
        let coverage = self.check_other_platforms(
            version,
            &others,
            evidence,
            |record| self.refused_signer(record).is_none(),
            |evidence| evidence.judge(&old.hashes) != Verdict::Undecided,
        );
        // Failures that are not fatal are ignored: a package that is unavailable proves nothing.
        if let Coverage::Failed(platform, failure) = coverage.await
            && failure.is_fatal()
        {
            let version = version.clone();
            return Err(self.lock_error(LockingProblem::Package {
                version,
                platform,
                failure,
            }));
        }
        let is_foreign = evidence.judge(&old.hashes) != Verdict::Genuine;
        if is_foreign && self.policy.mismatch == Mismatch::Error {
            let version = version.clone();
            return Err(vec![
                self.error(self.entry, LockingProblem::AllForeign { version }),
            ]);
        }
        Ok(is_foreign)
    }

    /// Returns notes about the registry's warnings, invalid versions, and expired signatures.
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

    fn note_on_hashes(
        &self,
        selection: &Selection,
        evidence: &Evidence,
        is_foreign: bool,
    ) -> Option<Note> {
        let (Selection::Kept(version), Some(old)) = (selection, self.old) else {
            return None;
        };
        let (address, version) = (self.address.clone(), version.clone());
        match (is_foreign, self.policy.mismatch) {
            (true, Mismatch::Replace) => Some(Note::ForeignReplaced { address, version }),
            (true, _) => Some(Note::ForeignKept { address, version }),
            (false, _) => {
                let count = evidence.strays(&old.hashes, false).len();
                (count > 0).then_some(Note::StrayHashes {
                    address,
                    version,
                    count,
                })
            }
        }
    }
}
