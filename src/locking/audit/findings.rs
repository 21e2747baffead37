//! Creates the findings about one required provider. Each has a message, a position and a suggested fix.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::provider_audit::{CheckedPackages, ProviderAudit};
use super::requested_platforms;
use crate::diagnostic::{Code, Diagnostic, Fix};
use crate::display::{counted, quoted};
use crate::locking::PackageRecord;
use crate::locking::cache_server::has_server_constraints;
use crate::locking::error::{LockingError, LockingProblem, PackageFailure};
use crate::locking::policy::Missing;
use crate::provider::{Hash, HashScheme, Platform};
use crate::span::Place;

impl ProviderAudit<'_> {
    /// Returns the provider and its locked version, for messages.
    pub(super) fn subject(&self) -> String {
        format!("`{}` {}", self.task.address, self.lock.version)
    }

    /// Creates a finding that points to the provider's entry in the lock file, or to the whole file if it has no such entry.
    pub(super) fn finding(&self, code: Code, message: String, fix: Fix) -> Diagnostic {
        let place = self.task.entry.unwrap_or(self.target.file);
        self.finding_at(place.clone(), code, message, fix)
    }

    pub(super) fn finding_at(
        &self,
        place: Place,
        code: Code,
        message: String,
        fix: Fix,
    ) -> Diagnostic {
        Diagnostic {
            provider: Some(self.task.address.clone()),
            ..Diagnostic::finding(code, place, message, fix)
        }
    }

    pub(super) fn fix<const N: usize>(&self, options: [String; N]) -> Fix {
        Fix::lock(options, requested_platforms(self.task.policy))
    }

    /// Returns the position of `needle` in the provider's entry, or the start of the entry if it does not contain `needle`.
    pub(super) fn line_with(&self, needle: &str) -> Place {
        let entry = self.task.entry.unwrap_or(self.target.file);
        self.text
            .split(|byte| *byte == b'\n')
            .zip(1..)
            .skip(entry.line)
            .take_while(|(line, _)| !line.starts_with(b"}"))
            .find_map(|(line, number)| {
                let line = String::from_utf8_lossy(line).into_owned();
                let at = line.find(needle)?;
                Some(Place {
                    path: entry.path.clone(),
                    line: number,
                    column: line[..at].chars().count() + 1,
                    width: needle.chars().count(),
                    source_line: Some(line),
                })
            })
            .unwrap_or_else(|| entry.clone())
    }

    pub(super) fn outside_constraints(&self) -> Option<Diagnostic> {
        let constraints = &self.task.requirement.constraints;
        (!constraints.allows(&self.lock.version)).then(|| {
            let (address, version) = (self.task.address, &self.lock.version);
            let message = format!(
                "the locked version {version} of `{address}` is outside the constraints `{constraints}`"
            );
            let code = Code::AuditVersionOutsideConstraints;
            self.finding_at(self.line_with("version"), code, message, self.fix([]))
        })
    }

    pub(super) fn recorded_constraints(&self) -> Option<Diagnostic> {
        let (recorded, required) = (&self.lock.constraints, &self.task.requirement.constraints);
        let shown = |text: String| match text.as_str() {
            "" => "none".to_owned(),
            _ => format!("`{text}`"),
        };
        (recorded != required).then(|| {
            let subject = format!("the recorded constraints of `{}`", self.task.address);
            let [recorded_text, required_text] =
                [recorded, required].map(|constraints| shown(constraints.to_string()));
            let is_server = self.target.job.is_unit
                && has_server_constraints(recorded, required, &self.lock.version);
            let (code, message) = if is_server {
                let message = format!(
                    "{subject} are {recorded_text}, which Terragrunt's provider cache server wrote instead of {required_text}"
                );
                (Code::AuditCacheServerConstraints, message)
            } else {
                let message = format!(
                    "{subject} are {recorded_text}, but the configuration has {required_text}"
                );
                (Code::AuditConstraintsDiffer, message)
            };
            self.finding_at(self.line_with("constraints"), code, message, self.fix([]))
        })
    }

    /// Reports a missing `h1` hash for every requested platform if the entry has no `h1` hash at all. Requires no packages.
    pub(super) fn certainly_without_h1(&self) -> Vec<Diagnostic> {
        if self
            .lock
            .hashes
            .iter()
            .any(|hash| hash.scheme() == HashScheme::H1)
        {
            return Vec::new();
        }
        let platforms = self.task.policy.platforms.iter();
        platforms
            .map(|platform| self.without_h1(platform))
            .collect()
    }

    pub(super) fn without_h1(&self, platform: &Platform) -> Diagnostic {
        let message = format!(
            "{} has no `h1` hash for {platform}: on that platform, `init` will download the package even if it is in the plugin cache",
            self.subject()
        );
        let fix = Fix::lock([], std::slice::from_ref(platform));
        self.finding(Code::AuditPlatformWithoutH1, message, fix)
    }

    pub(super) fn foreign(&self) -> Diagnostic {
        let message = format!(
            "no recorded hash of {} belongs to any of its packages: the file was tampered with, or the version was published \
             again",
            self.subject()
        );
        let fix = self.fix(["--mismatch".to_owned(), "replace".to_owned()]);
        self.finding(Code::AuditForeignHashes, message, fix)
    }

    /// Reports the hashes that `tflock lock` would add, apart from the `h1` hashes of requested platforms.
    pub(super) fn incomplete(&self, checked: &CheckedPackages) -> Option<Diagnostic> {
        let own: BTreeSet<&Hash> = checked.records.values().map(|record| &record.h1).collect();
        let recorded = checked.evidence.recorded.iter();
        let missing =
            recorded.filter(|hash| !self.lock.hashes.contains(hash) && !own.contains(hash));
        let count = missing.count();
        (count > 0).then(|| {
            let message = format!(
                "{} that the registry lists for {} {} not recorded",
                counted(count, "hash", "hashes"),
                self.subject(),
                if count == 1 { "is" } else { "are" }
            );
            self.finding(Code::AuditHashSetIncomplete, message, self.fix([]))
        })
    }

    pub(super) fn strays(&self, strays: &[&Hash]) -> Option<Diagnostic> {
        let first = strays.first()?;
        let (hashes, matches, them) = match strays.len() {
            1 => ("hash", "matches", "it"),
            _ => ("hashes", "match", "them"),
        };
        let message = format!(
            "{} recorded {hashes} of {} {matches} no signed checksum list and no package: {}",
            strays.len(),
            self.subject(),
            quoted(strays)
        );
        let fix = Fix::ByHand(format!(
            "delete the {hashes} from the file (`--mismatch` does not remove {them}, because other hashes of the entry are correct)"
        ));
        let place = self.line_with(first.as_str());
        Some(self.finding_at(place, Code::AuditStrayHashes, message, fix))
    }

    pub(super) fn unpublished(&self, platform: &Platform) -> Option<Diagnostic> {
        (self.task.policy.missing_platform == Missing::Error).then(|| {
            let message = format!("{} has no package for {platform}", self.subject());
            let fix = Fix::ByHand(format!(
                "choose a version that has one, drop {platform}, or accept the missing package with `--missing-platform warn`"
            ));
            self.finding(Code::AuditPlatformNotPublished, message, fix)
        })
    }

    pub(super) fn refused(
        &self,
        platform: &Platform,
        record: &PackageRecord,
    ) -> Option<Diagnostic> {
        let refused = self.task.refused_signer(record)?;
        let message = format!(
            "the package of {} for {platform} is not accepted: {refused}",
            self.subject()
        );
        let fix = Fix::ByHand("find out who signed it before you change `[signers]`".to_owned());
        Some(self.finding(Code::AuditSignerRefused, message, fix))
    }

    pub(super) fn failure(
        &self,
        platform: &Platform,
        failure: Arc<PackageFailure>,
    ) -> LockingError {
        self.error(LockingProblem::Package {
            version: self.lock.version.clone(),
            platform: platform.clone(),
            failure,
        })
    }

    pub(super) fn error(&self, problem: LockingProblem) -> LockingError {
        self.task.error(self.task.entry, problem)
    }
}
