//! What an audit says of one provider: each finding with its words, its place and what mends it.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::named;
use super::provider_audit::{CheckedPackages, ProviderAudit};
use crate::lockfile::ProviderLock;
use crate::locking::PackageRecord;
use crate::locking::error::{LockingError, LockingProblem, PackageFailure};
use crate::locking::finding::{Finding, Fix, Rule};
use crate::locking::policy::Missing;
use crate::provider::{Hash, HashScheme, Platform};
use crate::span::Place;

impl ProviderAudit<'_> {
    pub(super) fn finding(&self, rule: Rule, message: String, fix: Fix) -> Finding {
        let place = self.task.entry;
        Finding {
            rule,
            address: Some(self.task.address.clone()),
            place: place.unwrap_or(self.target.file).clone(),
            message,
            fix,
        }
    }

    pub(super) fn lock<const N: usize>(&self, options: [String; N]) -> Fix {
        Fix::lock(options, named(self.task.policy))
    }

    /// The line of the entry that holds `needle`; else where the entry begins.
    pub(super) fn line_with(&self, needle: &str) -> Place {
        let entry = self.task.entry.unwrap_or(self.target.file);
        let lines = self.text.split(|byte| *byte == b'\n').zip(1..);
        let lines = lines.skip(entry.line);
        let mut lines = lines.take_while(|(line, _)| !line.starts_with(b"}"));
        let found = lines.find_map(|(line, number)| {
            let line = String::from_utf8_lossy(line).into_owned();
            let at = line.find(needle)?;
            Some(Place {
                path: entry.path.clone(),
                line: number,
                column: line[..at].chars().count() + 1,
                width: needle.chars().count(),
                source_line: Some(line),
            })
        });
        found.unwrap_or_else(|| entry.clone())
    }

    pub(super) fn outside(&self, lock: &ProviderLock) -> Option<Finding> {
        let constraints = &self.task.requirement.constraints;
        (!constraints.allows(&lock.version)).then(|| Finding {
            place: self.line_with("version"),
            ..self.finding(
                Rule::VersionOutsideConstraints,
                format!(
                    "the locked version {} of `{}` is outside the constraints `{constraints}`",
                    lock.version, self.task.address
                ),
                self.lock([]),
            )
        })
    }

    pub(super) fn recorded_constraints(&self, lock: &ProviderLock) -> Option<Finding> {
        let (recorded, required) = (&lock.constraints, &self.task.requirement.constraints);
        let shown = |text: String| match text.as_str() {
            "" => "none".to_owned(),
            _ => format!("`{text}`"),
        };
        (recorded != required).then(|| Finding {
            place: self.line_with("constraints"),
            ..self.finding(
                Rule::ConstraintsDiffer,
                format!(
                    "the constraints recorded for `{}` are {}, those of the configuration {}",
                    self.task.address,
                    shown(recorded.to_string()),
                    shown(required.to_string())
                ),
                self.lock([]),
            )
        })
    }

    /// Without packages, nobody can tell whose `h1` it is; but where there are fewer than platforms, some have none.
    pub(super) fn certainly_without_h1(&self, lock: &ProviderLock) -> Vec<Finding> {
        let is_h1 = |hash: &&Hash| hash.scheme() == HashScheme::H1;
        if lock.hashes.iter().any(|hash| is_h1(&hash)) {
            return Vec::new();
        }
        let platforms = self.task.policy.platforms.iter();
        platforms
            .map(|platform| self.without_h1(lock, platform))
            .collect()
    }

    pub(super) fn without_h1(&self, lock: &ProviderLock, platform: &Platform) -> Finding {
        self.finding(
            Rule::PlatformWithoutH1,
            format!(
                "`{}` {} has no `h1` hash for {platform}: `init` there downloads it again, whatever its plugin cache holds",
                self.task.address, lock.version
            ),
            Fix::lock([], std::slice::from_ref(platform)),
        )
    }

    pub(super) fn foreign(&self, lock: &ProviderLock) -> Finding {
        let subject = format!("`{}` {}", self.task.address, lock.version);
        self.finding(
            Rule::ForeignHashes,
            format!(
                "no recorded hash of {subject} belongs to a package of it: the file was tampered with, or the version was \
                 published anew"
            ),
            self.lock(["--mismatch".to_owned(), "replace".to_owned()]),
        )
    }

    /// What `tflock lock` would add beside the `h1` of asked platforms.
    pub(super) fn incomplete(
        &self,
        lock: &ProviderLock,
        checked: &CheckedPackages,
    ) -> Option<Finding> {
        let own: BTreeSet<&Hash> = checked.records.values().map(|record| &record.h1).collect();
        let recorded = checked.evidence.recorded.iter();
        let missing = recorded.filter(|hash| !lock.hashes.contains(hash) && !own.contains(hash));
        let count = missing.count();
        let (hashes, are) = if count == 1 {
            ("hash", "is")
        } else {
            ("hashes", "are")
        };
        (count > 0).then(|| {
            self.finding(
                Rule::HashSetIncomplete,
                format!(
                    "{count} {hashes} that the registry lists for `{}` {} {are} not recorded",
                    self.task.address, lock.version
                ),
                self.lock([]),
            )
        })
    }

    pub(super) fn strays(&self, lock: &ProviderLock, strays: &[&Hash]) -> Option<Finding> {
        let first = strays.first()?;
        let (hashes, are) = match strays.len() {
            1 => ("hash", "is"),
            _ => ("hashes", "are"),
        };
        let quoted: Vec<String> = strays.iter().map(|hash| format!("`{hash}`")).collect();
        Some(Finding {
            place: self.line_with(first.as_str()),
            ..self.finding(
                Rule::StrayHashes,
                format!(
                    "{} recorded {hashes} of `{}` {} {are} in no signed list and no package: {}",
                    strays.len(),
                    self.task.address,
                    lock.version,
                    quoted.join(", ")
                ),
                Fix::ByHand(format!(
                    "delete the {hashes} from the file (no `--mismatch` does it: others beside {} genuine)",
                    if strays.len() == 1 { "it are" } else { "them are" }
                )),
            )
        })
    }

    pub(super) fn unpublished(&self, lock: &ProviderLock, platform: &Platform) -> Option<Finding> {
        (self.task.policy.missing_platform == Missing::Error).then(|| {
            self.finding(
                Rule::PlatformNotPublished,
                format!(
                    "`{}` {} has no package for {platform}",
                    self.task.address, lock.version
                ),
                Fix::ByHand(format!(
                    "choose a version that has one, drop {platform}, or accept it with `--missing-platform warn`"
                )),
            )
        })
    }

    pub(super) fn refused(
        &self,
        lock: &ProviderLock,
        platform: &Platform,
        record: &PackageRecord,
    ) -> Option<Finding> {
        let refused = self.task.refused_signer(record)?;
        Some(self.finding(
            Rule::SignerRefused,
            format!(
                "the package of `{}` {} for {platform} is not accepted: {refused}",
                self.task.address, lock.version
            ),
            Fix::ByHand("find out who signed it before `[signers]` is changed".to_owned()),
        ))
    }

    pub(super) fn failure(
        &self,
        lock: &ProviderLock,
        platform: &Platform,
        failure: Arc<PackageFailure>,
    ) -> LockingError {
        self.error(LockingProblem::Package {
            version: lock.version.clone(),
            platform: platform.clone(),
            failure,
        })
    }

    pub(super) fn error(&self, problem: LockingProblem) -> LockingError {
        self.task.error(self.task.entry, problem)
    }
}
