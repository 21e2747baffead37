//! The steps that `lock` and `verify` share for one required provider of a root module.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::lockfile::ProviderLock;
use crate::provider::{Engine, Platform, ProviderAddr, Requirement, Version};
use crate::span::Place;

use super::directory::{LockJob, VerifiedPackage};
use super::error::{LockingError, LockingProblem, PackageFailure};
use super::evidence::Evidence;
use super::packages::{Packages, VersionQuery};
use super::policy::{Policy, ProviderScope};
use super::record::PackageRecord;
use super::signers::RefusedSigner;

/// One required provider of a root module, to be locked or verified.
#[derive(Clone, Copy)]
pub(super) struct ProviderTask<'a> {
    pub(super) engine: Engine,
    pub(super) address: &'a ProviderAddr,
    pub(super) requirement: &'a Requirement,
    /// The provider's entry in the old lock file, if there is one.
    pub(super) old: Option<&'a ProviderLock>,
    /// The position in the lock file at which that entry begins.
    pub(super) entry: Option<&'a Place>,
    pub(super) policy: &'a Policy,
    pub(super) packages: &'a Packages,
}

/// Whether all packages of a version were checked and, if not, why.
pub(super) enum Coverage {
    /// Every package that had to be checked was checked.
    Complete,
    /// `--offline` prevented the download of a package.
    Offline,
    /// The package for this platform could not be downloaded or verified.
    Failed(Platform, Arc<PackageFailure>),
}

impl<'a> ProviderTask<'a> {
    /// Returns a task for each required provider of a root module that is in `scope`. `old` contains the entries of the lock
    /// file.
    pub(super) fn all(
        job: &'a LockJob,
        old: &'a BTreeMap<ProviderAddr, ProviderLock>,
        scope: &'a ProviderScope,
        policy: &'a Policy,
        packages: &'a Packages,
    ) -> impl Iterator<Item = Self> {
        let is_in_scope =
            |address: &ProviderAddr| address.is_lockable(job.engine) && scope.includes(address);
        job.requirements
            .providers
            .iter()
            .filter(move |(address, _)| is_in_scope(address))
            .map(move |(address, requirement)| Self {
                engine: job.engine,
                address,
                requirement,
                old: old.get(address),
                entry: job.places.get(address),
                policy,
                packages,
            })
    }

    /// Creates an error about this provider at `place`.
    pub(super) fn error(
        &self,
        place: Option<&Place>,
        problem: impl Into<Box<LockingProblem>>,
    ) -> LockingError {
        LockingError {
            address: self.address.clone(),
            place: place.cloned(),
            problem: problem.into(),
        }
    }

    /// Returns why `[signers]` does not allow the signer of a package, or `None` if it does.
    pub(super) fn refused_signer(&self, record: &PackageRecord) -> Option<Box<RefusedSigner>> {
        let signers = &self.policy.signers;
        signers.check(self.address, record.signer()).err()
    }

    pub(super) fn verified(
        &self,
        version: &Version,
        platform: &Platform,
        record: &Arc<PackageRecord>,
    ) -> VerifiedPackage {
        VerifiedPackage {
            address: self.address.clone(),
            version: version.clone(),
            platform: platform.clone(),
            record: Arc::clone(record),
        }
    }

    pub(super) const fn version_query<'q>(
        &'q self,
        version: &'q Version,
        platforms: &'q [Platform],
    ) -> VersionQuery<'q> {
        VersionQuery {
            engine: self.engine,
            provider: self.address,
            version,
            platforms,
        }
    }

    /// Fetches the package of a version for a platform from its source.
    pub(super) async fn package(
        &self,
        version: &Version,
        platform: &Platform,
    ) -> Result<Arc<PackageRecord>, Arc<PackageFailure>> {
        let id = self.version_query(version, &[]).package(platform);
        self.packages.package(self.engine, &id).await
    }

    /// Like [`Self::package`], but returns `None` if `--offline` forbids the requests that the package would require. A package from a
    /// registry must then be in the disk cache.
    pub(super) async fn package_if_available(
        &self,
        version: &Version,
        platform: &Platform,
    ) -> Result<Option<Arc<PackageRecord>>, Arc<PackageFailure>> {
        if self.packages.is_cache_only(self.engine, self.address) {
            let query = self.version_query(version, std::slice::from_ref(platform));
            let cached = self.packages.cached_version(query).await.ok();
            return Ok(cached.and_then(|cached| Some(Arc::clone(&cached.records.first()?.1))));
        }
        match self.package(version, platform).await {
            Err(failure) if failure.is_offline() => Ok(None),
            package => package.map(Some),
        }
    }

    /// Checks the packages of further platforms one by one until `is_enough` returns true, and adds their hashes to
    /// `evidence.genuine`. Ignores packages that `accepts` rejects.
    pub(super) async fn check_other_platforms(
        &self,
        version: &Version,
        platforms: &[&Platform],
        evidence: &mut Evidence,
        accepts: impl Fn(&PackageRecord) -> bool,
        is_enough: impl Fn(&Evidence) -> bool,
    ) -> Coverage {
        let mut coverage = Coverage::Complete;
        for platform in platforms {
            if is_enough(evidence) {
                return Coverage::Complete;
            }
            match self.package_if_available(version, platform).await {
                Ok(Some(record)) if accepts(&record) => {
                    evidence.genuine.extend(record.evidence.genuine.clone());
                }
                Ok(Some(_)) => {}
                Ok(None) => coverage = Coverage::Offline,
                Err(failure) if failure.is_missing_platform() => {}
                Err(failure) if failure.is_fatal() => {
                    return Coverage::Failed((*platform).clone(), failure);
                }
                Err(failure) => coverage = Coverage::Failed((*platform).clone(), failure),
            }
        }
        if is_enough(evidence) {
            return Coverage::Complete;
        }
        if self.packages.is_cache_only(self.engine, self.address) {
            return Coverage::Offline;
        }
        coverage
    }
}
