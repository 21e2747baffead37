//! The report for programs: one JSON document with all that a run found out.
//!
//! `report-1.schema.json` describes it, and the tests hold it to that. The rules of the number in `schema_version`: fields
//! may be added without a new one, and readers pass over those they do not know; whatever else changes has a new number.
//! Everything but `seconds` is the same in every run over the same state.

mod document;
#[cfg(test)]
mod tests;

use std::time::Duration;

use super::{DirectoryReport, Fate, ProviderReport, RunReport, shown};
use crate::config::MovedModule;
use crate::diagnostic::{Diagnostic, Severity};
use crate::lockfile::{Change, FILE_NAME};
use crate::locking::{Finding, HashOrigin, PackageRecord, Voucher};
use crate::package::{Lapse, Signer, Tier};
use crate::provider::{Engine, Hash, Platform, VersionConstraints};
use crate::span::Place;
use document::{
    Directory, Document, Found, Hashes, Moved, OldAndNew, Package, Position, Provider,
    RecordedHash, SignedBy, Summary, Tool, Trouble,
};

/// The number of the structure.
const SCHEMA_VERSION: u32 = 1;

/// The document, with a final newline.
pub(super) fn render(report: &RunReport) -> String {
    let document = Document {
        schema_version: SCHEMA_VERSION,
        tool: Tool {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
        },
        command: report.command,
        check: report.check,
        platforms: texts(&report.platforms),
        platforms_defaulted: report.platforms_defaulted,
        summary: summary(report),
        directories: report.directories.iter().map(directory).collect(),
    };
    // Strings, numbers and lists: nothing that JSON could refuse.
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

fn summary(report: &RunReport) -> Summary {
    Summary {
        directories: report.directories.len(),
        created: report.count(Fate::Created),
        updated: report.count(Fate::Updated),
        unchanged: report.count(Fate::Unchanged),
        sound: report.count(Fate::Sound),
        flagged: report.count(Fate::Flagged),
        skipped: report.count(Fate::Skipped),
        failed: report.count(Fate::Failed),
        findings: report.findings(),
        packages_downloaded: report.downloaded.packages,
        bytes_downloaded: report.downloaded.bytes,
        seconds: seconds(report.elapsed),
    }
}

fn directory(report: &DirectoryReport) -> Directory {
    let path = shown(&report.directory);
    let findings = report.findings.iter();
    let findings = findings.map(|finding| found(finding, &path));
    Directory {
        path: path.clone(),
        lock_file: match shown(&report.directory).as_str() {
            "." => FILE_NAME.to_owned(),
            _ => shown(&report.directory.join(FILE_NAME)),
        },
        engine: report.engine.map(Engine::program),
        status: report.fate.name(),
        providers: report.providers.iter().map(provider).collect(),
        moved_modules: report.moved_modules.iter().map(moved).collect(),
        findings: findings.collect(),
        unchecked: report.unchecked.clone(),
        diagnostics: report.diagnostics.iter().map(trouble).collect(),
        diff: report.diff.clone(),
        seconds: seconds(report.elapsed),
    }
}

fn moved(module: &MovedModule) -> Moved {
    Moved {
        call: module.call.clone(),
        version: OldAndNew {
            old: Some(module.from.clone()),
            new: Some(module.to.clone()),
        },
    }
}

fn provider(report: &ProviderReport) -> Provider {
    let (version, constraints) = (report.version.to_string(), constraints(&report.constraints));
    let (is_new, is_gone) = match &report.change {
        Some(Change::Added(_)) => (true, false),
        Some(Change::Removed(_)) => (false, true),
        Some(Change::Updated(_)) | None => (false, false),
    };
    let old_and_new = |old: Option<String>, now: Option<String>| OldAndNew {
        old: if is_new { None } else { old },
        new: if is_gone { None } else { now },
    };
    let (old_version, old_constraints) = match &report.change {
        Some(Change::Updated(update)) => (
            update.version.as_ref().map(|(old, _)| old.to_string()),
            update
                .constraints
                .as_ref()
                .map(|(old, _)| self::constraints(old)),
        ),
        _ => (None, None),
    };
    Provider {
        address: report.address.to_string(),
        status: match &report.change {
            Some(Change::Added(_)) => "added",
            Some(Change::Removed(_)) => "removed",
            Some(Change::Updated(_)) => "updated",
            None => "unchanged",
        },
        version: old_and_new(
            old_version.or_else(|| Some(version.clone())),
            Some(version.clone()),
        ),
        constraints: old_and_new(
            old_constraints.unwrap_or_else(|| constraints.clone()),
            constraints.clone(),
        ),
        hashes: hashes(report),
        packages: packages(report),
    }
}

/// As the lock file has them; `None` if there are none.
fn constraints(constraints: &VersionConstraints) -> Option<String> {
    (!constraints.is_empty()).then(|| constraints.to_string())
}

fn hashes(report: &ProviderReport) -> Hashes {
    let origin = |hash: &Hash| origin(report, hash);
    let from_old = |hash: &Hash| recorded(hash, HashOrigin::OldLock, None);
    let (added, removed) = match &report.change {
        None => (Vec::new(), Vec::new()),
        Some(Change::Added(lock)) => (lock.hashes.iter().map(origin).collect(), Vec::new()),
        Some(Change::Removed(lock)) => (Vec::new(), lock.hashes.iter().map(from_old).collect()),
        Some(Change::Updated(update)) => (
            update.hashes_added.iter().map(origin).collect(),
            update.hashes_removed.iter().map(from_old).collect(),
        ),
    };
    Hashes {
        added,
        removed,
        kept: report.kept,
    }
}

/// The first package that stands behind a hash says where it is from.
fn origin(report: &ProviderReport, hash: &Hash) -> RecordedHash {
    let mut origins = report.packages.iter().filter_map(|(platform, record)| {
        let origin = record.origin_of(hash)?;
        Some((origin, platform))
    });
    match origins.next() {
        Some((HashOrigin::Package, platform)) => {
            recorded(hash, HashOrigin::Package, Some(platform))
        }
        Some((origin, _)) => recorded(hash, origin, None),
        None => recorded(hash, HashOrigin::OldLock, None),
    }
}

fn recorded(hash: &Hash, origin: HashOrigin, platform: Option<&Platform>) -> RecordedHash {
    RecordedHash {
        hash: hash.to_string(),
        from: match origin {
            HashOrigin::List => "list",
            HashOrigin::Package => "package",
            HashOrigin::Mirror => "mirror",
            HashOrigin::RegistryPackages => "registry-packages",
            HashOrigin::OldLock => "old-lock",
        },
        platform: platform.map(ToString::to_string),
    }
}

fn packages(report: &ProviderReport) -> Vec<Package> {
    let package = |(platform, record): (&Platform, &std::sync::Arc<PackageRecord>)| Package {
        platform: platform.to_string(),
        h1: record.h1.to_string(),
        bytes: record.size,
        vouched_by: match &record.voucher {
            Voucher::Signature(_) => "signature",
            Voucher::Unsigned => "checksum-list",
            Voucher::MirrorHashes => "mirror",
            Voucher::Nothing => "nothing",
            Voucher::Report(_) => "registry-packages",
        },
        signer: record.signer().map(signed_by),
        seconds: seconds(record.elapsed),
    };
    report.packages.iter().map(package).collect()
}

fn signed_by(signer: &Signer) -> SignedBy {
    SignedBy {
        key_id: signer.key_id.clone(),
        fingerprint: signer.fingerprint.clone(),
        tier: match signer.tier {
            Tier::HashiCorp => "hashicorp",
            Tier::Partner => "partner",
            Tier::SelfSigned => "self-signed",
        },
        expired: signer.lapse.map(|lapse| match lapse {
            Lapse::Key => "key",
            Lapse::Signature => "signature",
        }),
    }
}

fn trouble(diagnostic: &Diagnostic) -> Trouble {
    Trouble {
        severity: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        code: diagnostic.code,
        message: diagnostic.message.clone(),
        causes: diagnostic.causes.clone(),
        hint: diagnostic.hint.clone(),
        position: position(diagnostic.place.as_ref()),
    }
}

fn found(finding: &Finding, directory: &str) -> Found {
    Found {
        code: finding.rule.code(),
        name: finding.rule.name(),
        message: finding.message.clone(),
        fix: finding.fix.text([directory]),
        provider: finding.address.as_ref().map(ToString::to_string),
        position: position(Some(&finding.place)),
    }
}

fn position(place: Option<&Place>) -> Position {
    let counted = |number: usize| (number > 0).then_some(number);
    Position {
        file: place.map(|place| shown(&place.path)),
        line: place.and_then(|place| counted(place.line)),
        column: place.and_then(|place| counted(place.column)),
    }
}

fn texts(items: &[impl ToString]) -> Vec<String> {
    items.iter().map(ToString::to_string).collect()
}

/// To the millisecond.
fn seconds(elapsed: Duration) -> f64 {
    Duration::from_millis(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)).as_secs_f64()
}
