//! One required provider of a lock file: what its source and its packages say, held against its entry.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::future::join_all;

use super::{Audit, AuditTarget};
use crate::lockfile::ProviderLock;
use crate::locking::assemble::{Evidence, ListedHashes, Verdict, judge};
use crate::locking::directory::VerifiedPackage;
use crate::locking::error::{LockingProblem, PackageFailure};
use crate::locking::finding::{Finding, Rule};
use crate::locking::policy::Policy;
use crate::locking::{PackageRecord, Packages};
use crate::provider::{Hash, HashScheme, Platform, ProviderAddr, Requirement};

/// Platforms whose packages are looked at first when recorded `h1` have no owner yet: most hashes belong to one of them.
const LIKELY: [&str; 5] = [
    "linux_amd64",
    "darwin_arm64",
    "linux_arm64",
    "darwin_amd64",
    "windows_amd64",
];

/// One required provider.
pub(super) struct Entry<'a> {
    pub(super) audited: AuditTarget<'a>,
    pub(super) text: &'a [u8],
    pub(super) address: &'a ProviderAddr,
    pub(super) requirement: &'a Requirement,
    pub(super) policy: &'a Policy,
    pub(super) packages: &'a Packages,
}

/// What the source says of the locked version.
enum Listing {
    /// It has it, for these platforms as far as that can be asked.
    Has(BTreeSet<Platform>),
    /// It does not, or cannot be asked.
    Unknown,
}

/// What is known of packages that nobody asked for.
enum Rest {
    /// All that matters.
    Seen,
    /// Not all, since there is no network.
    Offline,
    /// Not all, since one could not be had.
    Failed(Platform, Arc<PackageFailure>),
}

/// What its packages say.
pub(super) struct Looked {
    pub(super) records: BTreeMap<Platform, Arc<PackageRecord>>,
    pub(super) evidence: Evidence,
}

impl Entry<'_> {
    pub(super) async fn audit(self) -> Audit {
        let mut audit = Audit::default();
        let Some(lock) = self.audited.job.old.providers.get(self.address) else {
            let place = self.requirement.declared.as_ref();
            audit.findings.push(Finding {
                place: place.unwrap_or(self.audited.file).clone(),
                ..self.finding(
                    Rule::ProviderNotLocked,
                    format!("`{}` is required but not locked", self.address),
                    self.lock([]),
                )
            });
            return audit;
        };
        if let Some(finding) = self.outside(lock) {
            audit.findings.push(finding);
            return audit;
        }
        audit.findings.extend(self.recorded_constraints(lock));
        match self.listed(lock, &mut audit).await {
            Listing::Has(published) => self.packages(lock, &published, &mut audit).await,
            Listing::Unknown => audit.findings.extend(self.certainly_without_h1(lock)),
        }
        audit
    }

    /// Whether the source has the locked version.
    async fn listed(&self, lock: &ProviderLock, audit: &mut Audit) -> Listing {
        let engine = self.audited.job.engine;
        let subject = format!("version {} of `{}`", lock.version, self.address);
        if self.packages.must_remember(engine, self.address) {
            let unchecked = format!("whether the registry still has {subject}");
            audit.unchecked.push(unchecked);
            return Listing::Has(BTreeSet::new());
        }
        let listed = match self.packages.versions(engine, self.address).await {
            Ok(listed) => listed,
            Err(error) if error.is_offline() => {
                audit
                    .unchecked
                    .push(format!("whether there still is {subject}"));
                return Listing::Unknown;
            }
            Err(error) => {
                audit
                    .errors
                    .push(self.error(LockingProblem::Registry(error)));
                return Listing::Unknown;
            }
        };
        if listed.versions().any(|version| *version == lock.version) {
            return Listing::Has(listed.platforms(&lock.version));
        }
        audit.findings.push(Finding {
            place: self.line_with("version"),
            ..self.finding(
                Rule::VersionGone,
                format!("its registry no longer has {subject}"),
                self.lock([format!("--upgrade={}", self.address)]),
            )
        });
        Listing::Unknown
    }

    /// Looks at the packages of all asked platforms, and at others where recorded hashes have no owner yet.
    async fn packages(
        &self,
        lock: &ProviderLock,
        published: &BTreeSet<Platform>,
        audit: &mut Audit,
    ) {
        let Some(mut looked) = self.look(lock, audit).await else {
            audit.findings.extend(self.certainly_without_h1(lock));
            return;
        };
        for (platform, record) in &looked.records {
            audit.verified.push(VerifiedPackage {
                address: self.address.clone(),
                version: lock.version.clone(),
                platform: platform.clone(),
                record: Arc::clone(record),
            });
        }
        let rest = self.find_owners(lock, published, &mut looked).await;
        let is_foreign = match judge(&lock.hashes, &looked.evidence) {
            Verdict::Genuine => false,
            Verdict::PerhapsOtherPlatforms => matches!(rest, Rest::Seen),
            Verdict::Foreign => true,
        };
        if is_foreign {
            audit.findings.push(self.foreign(lock));
            return;
        }
        let lacks = |record: &PackageRecord| !lock.hashes.contains(&record.h1);
        let lacking = looked.records.iter().filter(|(_, record)| lacks(record));
        let lacking = lacking.map(|(platform, _)| self.without_h1(lock, platform));
        audit.findings.extend(lacking);
        audit.findings.extend(self.incomplete(lock, &looked));
        let strays = strays(lock, &looked.evidence, matches!(rest, Rest::Seen));
        audit.findings.extend(self.strays(lock, &strays));
        match rest {
            Rest::Seen => {}
            Rest::Offline => audit.unchecked.push(format!(
                "whether all other hashes of `{}` {} belong to packages of it",
                self.address, lock.version
            )),
            Rest::Failed(platform, failure) => {
                audit.errors.push(self.failure(lock, &platform, failure));
            }
        }
    }

    /// The packages of the asked platforms; nothing if none could be had.
    async fn look(&self, lock: &ProviderLock, audit: &mut Audit) -> Option<Looked> {
        let mut looked = Looked {
            records: BTreeMap::new(),
            evidence: Evidence::default(),
        };
        let platforms = &self.policy.platforms;
        let records = join_all(platforms.iter().map(|platform| self.record(lock, platform))).await;
        for (platform, record) in platforms.iter().zip(records) {
            match record {
                Ok(Some(record)) => {
                    audit.findings.extend(self.refused(lock, platform, &record));
                    looked.evidence.extend(record.evidence.clone());
                    looked.records.insert(platform.clone(), record);
                }
                Ok(None) => audit.unchecked.push(format!(
                    "whether the hashes of `{}` {} for {platform} are recorded",
                    self.address, lock.version
                )),
                Err(failure) if failure.is_missing_platform() => {
                    audit.findings.extend(self.unpublished(lock, platform));
                }
                Err(failure) => audit.errors.push(self.failure(lock, platform, failure)),
            }
        }
        (!looked.records.is_empty()).then_some(looked)
    }

    /// One package; `None` if it cannot be had without the network that there must not be.
    async fn record(
        &self,
        lock: &ProviderLock,
        platform: &Platform,
    ) -> Result<Option<Arc<PackageRecord>>, Arc<PackageFailure>> {
        let (engine, packages) = (self.audited.job.engine, self.packages);
        if packages.must_remember(engine, self.address) {
            let platforms = std::slice::from_ref(platform);
            let known = packages.known(engine, self.address, &lock.version, platforms);
            let records = known.await.map(|known| known.records.clone());
            let record = records.unwrap_or_default().pop();
            return Ok(record.map(|(_, record)| record));
        }
        let package = packages.package(engine, self.address, &lock.version, platform);
        match package.await {
            Err(failure) if failure.is_offline() => Ok(None),
            found => found.map(Some),
        }
    }

    /// Looks at the packages of platforms that nobody asked for until every recorded `h1` is known to be of one.
    async fn find_owners(
        &self,
        lock: &ProviderLock,
        published: &BTreeSet<Platform>,
        looked: &mut Looked,
    ) -> Rest {
        let others = published.iter();
        let mut others: Vec<&Platform> = others
            .filter(|platform| !looked.records.contains_key(*platform))
            .collect();
        others.sort_by_key(|platform| likelihood(platform));
        let mut rest = Rest::Seen;
        for platform in others {
            if ownerless(lock, &looked.evidence).next().is_none() {
                return Rest::Seen;
            }
            match self.record(lock, platform).await {
                Ok(Some(record)) => {
                    let genuine = record.evidence.genuine.iter().cloned();
                    looked.evidence.genuine.extend(genuine);
                }
                Ok(None) => rest = Rest::Offline,
                Err(failure) if failure.is_missing_platform() => {}
                Err(failure) => rest = Rest::Failed(platform.clone(), failure),
            }
        }
        if self
            .packages
            .must_remember(self.audited.job.engine, self.address)
        {
            rest = Rest::Offline;
        }
        if ownerless(lock, &looked.evidence).next().is_none() {
            rest = Rest::Seen;
        }
        rest
    }
}

fn likelihood(platform: &Platform) -> usize {
    let text = platform.to_string();
    let known = LIKELY.iter().position(|name| *name == text);
    known.unwrap_or(LIKELY.len())
}

/// The recorded `h1` that are of no package seen so far.
fn ownerless<'a>(lock: &'a ProviderLock, evidence: &Evidence) -> impl Iterator<Item = &'a Hash> {
    lock.hashes.iter().filter(|hash| {
        hash.scheme() == HashScheme::H1
            && !evidence.genuine.contains(hash)
            && !evidence.recorded.contains(hash)
    })
}

/// The recorded hashes that are certainly wrong, by a complete signed list: `zh` that it lacks, and `h1` if all packages of
/// the version were seen.
fn strays<'a>(lock: &'a ProviderLock, evidence: &Evidence, all_seen: bool) -> Vec<&'a Hash> {
    let ListedHashes::All(listed) = &evidence.listed else {
        return Vec::new();
    };
    let h1 = ownerless(lock, evidence).filter(|_| all_seen);
    let zh = lock.hashes.iter().filter(|hash| {
        hash.scheme() == HashScheme::Zh
            && !listed.contains(hash)
            && !evidence.recorded.contains(hash)
    });
    h1.chain(zh).collect()
}
