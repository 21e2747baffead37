//! The report for programs: one JSON document with all that a run found out.
//!
//! `schemas/report-1.json` describes it, and the tests hold it to that. The rules of the number in `schema_version`: fields
//! may be added without a new one, and readers pass over those they do not know; whatever else changes has a new number.
//! Everything but `seconds` is the same in every run over the same state.

use std::time::Duration;

use serde::Serialize;

use super::{DirectoryReport, Fate, ProviderReport, RunReport, shown};
use crate::diagnostic::{Diagnostic, Severity};
use crate::lockfile::{Change, FILE_NAME};
use crate::locking::{Origin, PackageRecord, Voucher};
use crate::package::{Lapse, Signer, Tier};
use crate::provider::{Engine, Hash, Platform, VersionConstraints};

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

#[derive(Serialize)]
struct Document {
    schema_version: u32,
    tool: Tool,
    command: &'static str,
    check: bool,
    platforms: Vec<String>,
    platforms_defaulted: bool,
    summary: Summary,
    directories: Vec<Directory>,
}

#[derive(Serialize)]
struct Tool {
    name: &'static str,
    version: &'static str,
}

#[derive(Serialize)]
struct Summary {
    directories: usize,
    created: usize,
    updated: usize,
    unchanged: usize,
    skipped: usize,
    failed: usize,
    packages_downloaded: u64,
    bytes_downloaded: u64,
    seconds: f64,
}

#[derive(Serialize)]
struct Directory {
    path: String,
    lock_file: String,
    engine: Option<&'static str>,
    status: &'static str,
    providers: Vec<Provider>,
    diagnostics: Vec<Trouble>,
    diff: Option<String>,
    seconds: f64,
}

#[derive(Serialize)]
struct Provider {
    address: String,
    status: &'static str,
    version: OldAndNew,
    constraints: OldAndNew,
    hashes: Hashes,
    packages: Vec<Package>,
}

/// `null` where there is no entry, or no constraint.
#[derive(Serialize)]
struct OldAndNew {
    old: Option<String>,
    new: Option<String>,
}

#[derive(Serialize)]
struct Hashes {
    added: Vec<RecordedHash>,
    removed: Vec<RecordedHash>,
    kept: usize,
}

#[derive(Serialize)]
struct RecordedHash {
    hash: String,
    from: &'static str,
    /// Of the package that it was taken over.
    platform: Option<String>,
}

#[derive(Serialize)]
struct Package {
    platform: String,
    h1: String,
    bytes: Option<u64>,
    vouched_by: &'static str,
    signer: Option<SignedBy>,
    seconds: f64,
}

#[derive(Serialize)]
struct SignedBy {
    key_id: String,
    fingerprint: String,
    tier: &'static str,
    expired: Option<&'static str>,
}

#[derive(Serialize)]
struct Trouble {
    severity: &'static str,
    code: &'static str,
    message: String,
    causes: Vec<String>,
    hint: Option<String>,
    file: Option<String>,
    line: Option<usize>,
    column: Option<usize>,
}

fn summary(report: &RunReport) -> Summary {
    let [created, updated, unchanged, skipped, failed] = Fate::ALL.map(|fate| report.count(fate));
    Summary {
        directories: report.directories.len(),
        created,
        updated,
        unchanged,
        skipped,
        failed,
        packages_downloaded: report.downloaded.packages,
        bytes_downloaded: report.downloaded.bytes,
        seconds: seconds(report.elapsed),
    }
}

fn directory(report: &DirectoryReport) -> Directory {
    Directory {
        path: shown(&report.directory),
        lock_file: match shown(&report.directory).as_str() {
            "." => FILE_NAME.to_owned(),
            _ => shown(&report.directory.join(FILE_NAME)),
        },
        engine: report.engine.map(Engine::program),
        status: report.fate.name(),
        providers: report.providers.iter().map(provider).collect(),
        diagnostics: report.diagnostics.iter().map(trouble).collect(),
        diff: report.diff.clone(),
        seconds: seconds(report.elapsed),
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
    let from_old = |hash: &Hash| recorded(hash, Origin::OldLock, None);
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
        Some((Origin::Package, platform)) => recorded(hash, Origin::Package, Some(platform)),
        Some((origin, _)) => recorded(hash, origin, None),
        None => recorded(hash, Origin::OldLock, None),
    }
}

fn recorded(hash: &Hash, origin: Origin, platform: Option<&Platform>) -> RecordedHash {
    RecordedHash {
        hash: hash.to_string(),
        from: match origin {
            Origin::List => "list",
            Origin::Package => "package",
            Origin::Mirror => "mirror",
            Origin::RegistryPackages => "registry-packages",
            Origin::OldLock => "old-lock",
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
    let place = diagnostic.place.as_ref();
    let counted = |number: usize| (number > 0).then_some(number);
    Trouble {
        severity: match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        code: diagnostic.code,
        message: diagnostic.message.clone(),
        causes: diagnostic.causes.clone(),
        hint: diagnostic.hint.clone(),
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

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::samples::{added, address, directory, moved, report};
    use super::*;
    use crate::span::{Place, Span};

    fn document(report: &RunReport) -> Value {
        serde_json::from_str(&render(report)).unwrap()
    }

    #[test]
    fn hashes_say_where_they_come_from() {
        let moved = moved("acme/anvil", "3.1.1", "3.2.1");
        let report = report(vec![directory("stacks/a", Fate::Updated, vec![moved])]);
        let provider = document(&report)["directories"][0]["providers"][0].clone();
        assert_eq!(provider["version"], json!({"old": "3.1.1", "new": "3.2.1"}));
        let expected = json!({
            "added": [
                {"hash": "h1:linux", "from": "package", "platform": "linux_amd64"},
                {"hash": "zh:b", "from": "list", "platform": null},
            ],
            "removed": [{"hash": "h1:old", "from": "old-lock", "platform": null}],
            "kept": 2,
        });
        assert_eq!(provider["hashes"], expected);
        let signer = json!({
            "key_id": "34365D9472D7468F",
            "fingerprint": "C874011F0AB405110D02105534365D9472D7468F",
            "tier": "hashicorp",
            "expired": "key",
        });
        assert_eq!(provider["packages"][1]["signer"], signer);
        assert_eq!(provider["packages"][1]["bytes"], 12_345);
    }

    #[test]
    fn what_was_not_there_before_or_is_gone_is_null() {
        let new = added("acme/anvil", "3.2.1");
        let mut gone = added("acme/bolt", "1.0.0");
        let Some(Change::Added(lock)) = gone.change else {
            panic!("the sample is one that was added")
        };
        gone.change = Some(Change::Removed(lock));
        let mut same = added("acme/cog", "2.0.0");
        same.change = None;
        let report = report(vec![directory("", Fate::Updated, vec![new, gone, same])]);
        let document = document(&report);
        assert_eq!(
            document["directories"][0]["lock_file"],
            ".terraform.lock.hcl"
        );
        let providers = document["directories"][0]["providers"].as_array().unwrap();
        let rows = [
            (
                "added",
                json!({"old": null, "new": "3.2.1"}),
                json!({"old": null, "new": "~> 3.0"}),
            ),
            (
                "removed",
                json!({"old": "1.0.0", "new": null}),
                json!({"old": "~> 3.0", "new": null}),
            ),
            (
                "unchanged",
                json!({"old": "2.0.0", "new": "2.0.0"}),
                json!({"old": "~> 3.0", "new": "~> 3.0"}),
            ),
        ];
        for (provider, (status, version, constraints)) in providers.iter().zip(rows) {
            assert_eq!(provider["status"], status);
            assert_eq!(provider["version"], version);
            assert_eq!(provider["constraints"], constraints);
        }
        let reported = &providers[0]["hashes"]["added"][2];
        assert_eq!(reported["from"], "registry-packages", "{reported}");
    }

    #[test]
    fn diagnostics_say_code_file_line_and_hint() {
        let place = Place::in_text("a/main.tf".as_ref(), b"x\n  y\n", Span::new(4, 5));
        let mut failed = directory("a", Fate::Failed, Vec::new());
        let warning = Diagnostic::warning("registry", "mind this", None).at(Some(place));
        failed.diagnostics.push(warning);
        let expected = json!([{
            "severity": "warning", "code": "registry", "message": "mind this", "causes": [], "hint": null,
            "file": "a/main.tf", "line": 2, "column": 3,
        }]);
        let document = document(&report(vec![failed]));
        assert_eq!(document["directories"][0]["diagnostics"], expected);
        assert_eq!(document["directories"][0]["engine"], Value::Null);
        assert_eq!(document["summary"]["failed"], 1);
    }

    /// Checks a document against the part of JSON Schema that `schemas/report-1.json` is written in. Stricter in one point:
    /// a field that the schema does not name is wrong.
    fn check(value: &Value, schema: &Value, root: &Value, path: &str) {
        if let Some(reference) = schema["$ref"].as_str() {
            let target = root.pointer(reference.trim_start_matches('#')).unwrap();
            return check(value, target, root, path);
        }
        if let Some([null, other]) = schema["anyOf"].as_array().map(Vec::as_slice) {
            assert_eq!(null["type"], "null");
            if !value.is_null() {
                check(value, other, root, path);
            }
            return;
        }
        if let Some(allowed) = schema["enum"].as_array() {
            assert!(allowed.contains(value), "{path}: {value}");
            return;
        }
        if let Some(constant) = schema.get("const") {
            assert_eq!(value, constant, "{path}");
            return;
        }
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(number) if number.is_u64() && schema["type"] != "number" => "integer",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let types = schema["type"].as_array().cloned();
        let types = types.unwrap_or_else(|| vec![schema["type"].clone()]);
        assert!(
            types.contains(&json!(kind)),
            "{path}: {value} is no {types:?}"
        );
        for (index, item) in value.as_array().into_iter().flatten().enumerate() {
            check(item, &schema["items"], root, &format!("{path}/{index}"));
        }
        let Some(object) = value.as_object() else {
            return;
        };
        for name in schema["required"].as_array().unwrap() {
            assert!(
                object.contains_key(name.as_str().unwrap()),
                "{path}: no {name}"
            );
        }
        for (name, item) in object {
            let property = schema["properties"].get(name);
            let property = property.unwrap_or_else(|| panic!("{path}: `{name}` is not described"));
            check(item, property, root, &format!("{path}/{name}"));
        }
    }

    #[test]
    fn the_schema_describes_every_field() {
        let schema: Value =
            serde_json::from_str(include_str!("../../../schemas/report-1.json")).unwrap();
        let mut failed = directory("b", Fate::Failed, Vec::new());
        failed
            .diagnostics
            .push(Diagnostic::warning("registry", "x", None));
        let mut unsigned = added("acme/bolt", "1.0.0");
        unsigned.address = address("example.com/acme/bolt");
        for record in unsigned.packages.values_mut() {
            let mut plain = (**record).clone();
            (plain.voucher, plain.size) = (Voucher::Nothing, None);
            *record = plain.into();
        }
        let report = report(vec![
            directory(
                "a",
                Fate::Updated,
                vec![moved("acme/anvil", "1.0.0", "1.1.0"), unsigned],
            ),
            failed,
        ]);
        check(&document(&report), &schema, &schema, "");
    }
}
