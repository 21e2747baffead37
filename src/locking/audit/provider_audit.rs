//! Verifies the entry of one required provider against its registry or mirror and its packages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::future::join_all;

use super::{Audit, AuditTarget};
use crate::diagnostic::Code;
use crate::lockfile::ProviderLock;
use crate::locking::PackageRecord;
use crate::locking::error::LockingProblem;
use crate::locking::evidence::{Evidence, Verdict};
use crate::locking::provider_task::{Coverage, ProviderTask};
use crate::provider::Platform;

/// The platforms for which `h1` hashes are most often recorded. Their packages are checked first.
const LIKELY: [&str; 5] = [
    "linux_amd64",
    "darwin_arm64",
    "linux_arm64",
    "darwin_amd64",
    "windows_amd64",
];

/// The audit of a required provider that has an entry in the lock file.
pub(super) struct ProviderAudit<'a> {
    pub(super) task: ProviderTask<'a>,
    pub(super) target: AuditTarget<'a>,
    pub(super) text: &'a [u8],
    /// The provider's entry in the lock file.
    pub(super) lock: &'a ProviderLock,
}

/// The packages checked so far. `records` contains those of the requested platforms only.
#[derive(Default)]
pub(super) struct CheckedPackages {
    pub(super) records: BTreeMap<Platform, Arc<PackageRecord>>,
    pub(super) evidence: Evidence,
}

impl ProviderAudit<'_> {
    pub(super) async fn audit(self) -> Audit {
        let mut audit = Audit::default();
        if let Some(finding) = self.outside_constraints() {
            audit.findings.push(finding);
            return audit;
        }
        audit.findings.extend(self.recorded_constraints());
        match self.published_platforms(&mut audit).await {
            Some(published) => self.check_packages(&published, &mut audit).await,
            None => audit.findings.extend(self.certainly_without_h1()),
        }
        audit
    }

    /// Returns the platforms for which the source lists a package of the locked version. The set is empty if only the disk cache can
    /// be used. `None` if the source does not list the version or cannot be reached.
    async fn published_platforms(&self, audit: &mut Audit) -> Option<BTreeSet<Platform>> {
        let ProviderTask {
            engine,
            address,
            packages,
            ..
        } = self.task;
        let subject = format!("version {} of `{address}`", self.lock.version);
        if packages.is_cache_only(engine, address) {
            let unchecked = format!("whether the registry still has {subject}");
            audit.unchecked.push(unchecked);
            return Some(BTreeSet::new());
        }
        let listed = match packages.versions(engine, address).await {
            Ok(listed) => listed,
            Err(error) if error.is_offline() => {
                let unchecked = format!("whether {subject} still exists");
                audit.unchecked.push(unchecked);
                return None;
            }
            Err(error) => {
                audit
                    .errors
                    .push(self.error(LockingProblem::Registry(error)));
                return None;
            }
        };
        if listed
            .versions()
            .any(|version| *version == self.lock.version)
        {
            return Some(listed.platforms(&self.lock.version));
        }
        audit.findings.push(self.finding_at(
            self.line_with("version"),
            Code::AuditVersionGone,
            format!("the registry no longer has {subject}"),
            self.fix([format!("--upgrade={address}")]),
        ));
        None
    }

    /// Checks the packages of all requested platforms. If some recorded `h1` hashes match none of these packages, also checks
    /// packages of other platforms.
    async fn check_packages(&self, published: &BTreeSet<Platform>, audit: &mut Audit) {
        let mut checked = self.check_requested_platforms(audit).await;
        if checked.records.is_empty() {
            audit.findings.extend(self.certainly_without_h1());
            return;
        }
        for (platform, record) in &checked.records {
            let verified = self.task.verified(&self.lock.version, platform, record);
            audit.verified.push(verified);
        }
        let coverage = self.match_recorded_h1(published, &mut checked).await;
        let is_complete = matches!(coverage, Coverage::Complete);
        let is_foreign = match checked.evidence.judge(&self.lock.hashes) {
            Verdict::Genuine => false,
            Verdict::Undecided => is_complete,
            Verdict::Foreign => true,
        };
        if is_foreign {
            audit.findings.push(self.foreign());
            return;
        }
        for (platform, record) in &checked.records {
            if !self.lock.hashes.contains(&record.h1) {
                audit.findings.push(self.without_h1(platform));
            }
        }
        audit.findings.extend(self.incomplete(&checked));
        let strays = checked.evidence.strays(&self.lock.hashes, is_complete);
        audit.findings.extend(self.strays(&strays));
        match coverage {
            Coverage::Complete => {}
            Coverage::Offline => audit.unchecked.push(format!(
                "whether all other hashes of {} belong to its packages",
                self.subject()
            )),
            Coverage::Failed(platform, failure) => {
                audit.errors.push(self.failure(&platform, failure));
            }
        }
    }

    /// Returns the available packages of the requested platforms, and reports the platforms whose packages are unavailable.
    async fn check_requested_platforms(&self, audit: &mut Audit) -> CheckedPackages {
        let mut checked = CheckedPackages::default();
        let platforms = &self.task.policy.platforms;
        let packages = platforms
            .iter()
            .map(|platform| self.task.package_if_available(&self.lock.version, platform));
        let packages = join_all(packages).await;
        for (platform, package) in platforms.iter().zip(packages) {
            match package {
                Ok(Some(record)) => {
                    audit.findings.extend(self.refused(platform, &record));
                    checked.evidence.extend(record.evidence.clone());
                    checked.records.insert(platform.clone(), record);
                }
                Ok(None) => audit.unchecked.push(format!(
                    "whether the hashes of {} for {platform} are recorded",
                    self.subject()
                )),
                Err(failure) if failure.is_missing_platform() => {
                    audit.findings.extend(self.unpublished(platform));
                }
                Err(failure) => audit.errors.push(self.failure(platform, failure)),
            }
        }
        checked
    }

    /// Checks packages of other platforms until every recorded `h1` hash belongs to a checked package.
    async fn match_recorded_h1(
        &self,
        published: &BTreeSet<Platform>,
        checked: &mut CheckedPackages,
    ) -> Coverage {
        let mut others: Vec<&Platform> = published
            .iter()
            .filter(|platform| !checked.records.contains_key(*platform))
            .collect();
        others.sort_by_key(|platform| {
            let name = platform.to_string();
            LIKELY
                .iter()
                .position(|likely| *likely == name)
                .unwrap_or(LIKELY.len())
        });
        let is_enough =
            |evidence: &Evidence| evidence.unmatched_h1(&self.lock.hashes).next().is_none();
        self.task
            .check_other_platforms(
                &self.lock.version,
                &others,
                &mut checked.evidence,
                |_record| true,
                is_enough,
            )
            .await
    }
}
