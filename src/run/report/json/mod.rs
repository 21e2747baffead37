//! The report for programs: one JSON document with all results of a run.
//!
//! `report-1.schema.json` describes the document, and tests compare the two. New fields do not change `schema_version`, so
//! readers must ignore unknown fields. Any other change increases it. The documents of two runs on the same state differ only
//! in `seconds`.

mod document;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

pub(in crate::run) use document::DiagnosticDocument;

use super::{DirectoryReport, Fate, ProviderReport, RunReport};
use crate::config::MovedModule;
use crate::diagnostic::Diagnostic;
use crate::display::portable_path;
use crate::lockfile::Change;
use crate::locking::{HashOrigin, PackageRecord, Voucher};
use crate::package::{LapsedPart, Signer, Tier};
use crate::provider::{Engine, Hash, Platform, VersionConstraints};
use document::{
    DirectoryDocument, FindingDocument, HashDocument, HashesDocument, MovedModuleDocument,
    OldAndNew, PackageDocument, ProviderDocument, ReportDocument, SignerDocument, SummaryDocument,
    ToolDocument,
};

/// The version of the document structure.
const SCHEMA_VERSION: u32 = 1;

/// Renders the document, with a final newline.
pub(in crate::run) fn render(report: &RunReport) -> String {
    let warnings: Vec<Diagnostic> = report
        .index
        .warnings
        .iter()
        .map(Diagnostic::caution)
        .collect();
    let document = ReportDocument {
        schema_version: SCHEMA_VERSION,
        tool: ToolDocument {
            name: env!("CARGO_PKG_NAME"),
            version: env!("CARGO_PKG_VERSION"),
        },
        command: report.command,
        check: report.check,
        platforms: texts(&report.platforms),
        platforms_defaulted: report.platforms_defaulted,
        summary: summary(report),
        directories: report.directories.iter().map(directory).collect(),
        diagnostics: warnings.iter().map(DiagnosticDocument::new).collect(),
    };
    // Strings, numbers and lists can always be serialized.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn summary(report: &RunReport) -> SummaryDocument {
    SummaryDocument {
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
        packages_from_index: report.index.read.values().sum(),
        index_records_added: report.index.written,
        seconds: seconds(report.elapsed),
    }
}

fn directory(report: &DirectoryReport) -> DirectoryDocument<'_> {
    let path = portable_path(&report.directory);
    let findings = report.findings.iter();
    DirectoryDocument {
        lock_file: match path.as_str() {
            "." => report.lock_file_name().to_owned(),
            _ => portable_path(&report.directory.join(report.lock_file_name())),
        },
        engine: report.engine.map(Engine::program),
        status: report.fate.name(),
        providers: report.providers.iter().map(provider).collect(),
        moved_modules: report.moved_modules.iter().map(moved_module).collect(),
        findings: findings
            .map(|finding| FindingDocument::new(finding, &path))
            .collect(),
        unchecked: &report.unchecked,
        diagnostics: report
            .diagnostics
            .iter()
            .map(DiagnosticDocument::new)
            .collect(),
        diff: report.diff.as_deref(),
        seconds: seconds(report.elapsed),
        path,
    }
}

fn moved_module(module: &MovedModule) -> MovedModuleDocument {
    MovedModuleDocument {
        call: module.call.clone(),
        version: OldAndNew {
            old: Some(module.from.clone()),
            new: Some(module.to.clone()),
        },
    }
}

fn provider(report: &ProviderReport) -> ProviderDocument {
    let (status, was_there, is_there, update) = match &report.change {
        Some(Change::Added(_)) => ("added", false, true, None),
        Some(Change::Removed(_)) => ("removed", true, false, None),
        Some(Change::Updated(update)) => ("updated", true, true, Some(update)),
        None => ("unchanged", true, true, None),
    };
    let version = update.and_then(|update| update.version.as_ref());
    let old_version = version.map_or(&report.version, |(old, _)| old);
    let changed = update.and_then(|update| update.constraints.as_ref());
    let old_constraints = changed.map_or(&report.constraints, |(old, _)| old);
    ProviderDocument {
        address: report.address.to_string(),
        status,
        version: OldAndNew {
            old: was_there.then(|| old_version.to_string()),
            new: is_there.then(|| report.version.to_string()),
        },
        constraints: OldAndNew {
            old: constraints(old_constraints).filter(|_| was_there),
            new: constraints(&report.constraints).filter(|_| is_there),
        },
        hashes: hashes(report),
        packages: packages(report),
    }
}

/// Returns the constraints as the lock file records them. `None` if the lock file records no constraints.
fn constraints(constraints: &VersionConstraints) -> Option<String> {
    (!constraints.is_empty()).then(|| constraints.to_string())
}

fn hashes(report: &ProviderReport) -> HashesDocument {
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
    HashesDocument {
        added,
        removed,
        kept: report.kept,
    }
}

/// Returns a hash with its origin, as stated by the first package that has the hash.
fn origin(report: &ProviderReport, hash: &Hash) -> HashDocument {
    let mut origins = report.packages.iter().filter_map(|(platform, record)| {
        let origin = record.origin_of(hash)?;
        Some((origin, platform, record))
    });
    match origins.next() {
        Some((HashOrigin::Package, from, _)) => recorded(hash, HashOrigin::Package, Some(from)),
        Some((HashOrigin::Index, from, record)) => HashDocument {
            index_key: record.index_key.as_ref().map(ToString::to_string),
            ..recorded(hash, HashOrigin::Index, Some(from))
        },
        Some((origin, _, _)) => recorded(hash, origin, None),
        None => recorded(hash, HashOrigin::OldLock, None),
    }
}

fn recorded(hash: &Hash, origin: HashOrigin, platform: Option<&Platform>) -> HashDocument {
    HashDocument {
        hash: hash.to_string(),
        from: match origin {
            HashOrigin::List => "list",
            HashOrigin::Package => "package",
            HashOrigin::Mirror => "mirror",
            HashOrigin::Index => "index",
            HashOrigin::RegistryPackages => "registry-packages",
            HashOrigin::OldLock => "old-lock",
        },
        platform: platform.map(ToString::to_string),
        index_key: None,
    }
}

fn packages(report: &ProviderReport) -> Vec<PackageDocument> {
    let package = |(platform, record): (&Platform, &Arc<PackageRecord>)| PackageDocument {
        platform: platform.to_string(),
        h1: record.h1.to_string(),
        index_key: record.index_key.as_ref().map(ToString::to_string),
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

fn signed_by(signer: &Signer) -> SignerDocument {
    SignerDocument {
        key_id: signer.key_id.clone(),
        fingerprint: signer.fingerprint.clone(),
        tier: match signer.tier {
            Tier::HashiCorp => "hashicorp",
            Tier::Partner => "partner",
            Tier::SelfSigned => "self-signed",
        },
        expired: signer.lapse.map(|lapse| match lapse.part {
            LapsedPart::Key => "key",
            LapsedPart::SelfSignature | LapsedPart::Signature => "signature",
        }),
    }
}

fn texts(items: &[impl ToString]) -> Vec<String> {
    items.iter().map(ToString::to_string).collect()
}

/// Returns the time in seconds, rounded down to milliseconds.
fn seconds(elapsed: Duration) -> f64 {
    Duration::from_millis(u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)).as_secs_f64()
}
