//! The report as SARIF 2.1.0, for code scanning and viewers.
//!
//! Each error, warning and finding is one result. Paths are relative to the root of the repository, whose URI base is named
//! `SRCROOT`, as code scanning expects. A lock file that the run created or changed is not a result.
//! See <https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html>.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::RunReport;
use super::annotations::{annotations, lines};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::display::portable_path;
use crate::settings::RepositoryPaths;
use crate::span::Place;

/// The URL of the schema, by which viewers recognize the format.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The name of the URI base for the root of the repository.
const ROOT: &str = "SRCROOT";

/// Renders the document, with a final newline.
pub(in crate::run) fn render(report: &RunReport, paths: &RepositoryPaths, exit_code: u8) -> String {
    let mut annotations = annotations(report);
    annotations.retain(|annotation| annotation.severity != Severity::Notice);
    let codes: BTreeSet<Code> = annotations
        .iter()
        .map(|annotation| annotation.code)
        .collect();
    let codes: Vec<Code> = codes.into_iter().collect();
    let results = annotations
        .iter()
        .map(|annotation| result(annotation, &codes, paths));
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": env!("CARGO_PKG_NAME"),
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().map(|code| rule(*code)).collect::<Vec<_>>(),
            }},
            "invocations": [{ "executionSuccessful": exit_code != 1, "exitCode": exit_code }],
            "originalUriBaseIds": { ROOT: {
                "description": { "text": "The root of the repository." },
            }},
            "columnKind": "unicodeCodePoints",
            "results": results.collect::<Vec<_>>(),
        }],
    });
    // Strings, numbers and lists can always be serialized.
    serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
}

fn rule(code: Code) -> Value {
    let mut descriptor = json!({
        "id": code.id(),
        "shortDescription": { "text": code.summary() },
        "fullDescription": { "text": code.summary() },
        "help": { "text": code.help() },
    });
    // SARIF 2.1.0, section 3.49.7: a name that equals the id is omitted.
    if code.is_finding() {
        descriptor["name"] = json!(code.name());
    }
    descriptor
}

fn result(annotation: &Diagnostic, codes: &[Code], paths: &RepositoryPaths) -> Value {
    let locations: Vec<Value> = annotation
        .place
        .iter()
        .map(|place| location(place, paths))
        .collect();
    json!({
        "ruleId": annotation.code.id(),
        "ruleIndex": codes.iter().position(|code| *code == annotation.code),
        "level": annotation.severity.name(),
        "message": { "text": lines(annotation).join("\n") },
        "locations": locations,
    })
}

fn location(place: &Place, paths: &RepositoryPaths) -> Value {
    let artifact = match paths.relative_to_root(&place.path) {
        Some(relative) => json!({ "uri": uri(&relative), "uriBaseId": ROOT }),
        None => json!({ "uri": format!("file://{}", uri(&place.path)) }),
    };
    // Code scanning requires a line even for a whole file.
    let region = if place.line > 0 {
        json!({
            "startLine": place.line,
            "startColumn": place.column,
            "endColumn": place.column + place.width,
        })
    } else {
        json!({ "startLine": 1 })
    };
    json!({ "physicalLocation": { "artifactLocation": artifact, "region": region } })
}

/// Percent-encodes a path for a URI.
fn uri(path: &Path) -> String {
    let mut out = String::new();
    for byte in portable_path(path).bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::Fate;
    use super::super::samples::{added, directory, report};
    use super::*;
    use crate::span::Span;

    fn paths() -> RepositoryPaths {
        RepositoryPaths {
            working_directory: "/repo/live".into(),
            root: "/repo".into(),
        }
    }

    fn document(report: &RunReport, exit_code: u8) -> Value {
        serde_json::from_str(&render(report, &paths(), exit_code)).unwrap()
    }

    #[test]
    fn results_have_rules_and_places() {
        let mut failed = directory("ä b", Fate::Failed, Vec::new());
        let place = Place::in_text("ä b/main.tf".as_ref(), b"x\n  yz\n", Span::new(4, 6));
        let warning = Diagnostic::warning(Code::Syntax, "mind this", None).at(Some(place));
        failed.diagnostics.push(warning);
        let mut report = report(vec![
            failed,
            directory("c", Fate::Created, vec![added("acme/anvil", "1.0.0")]),
        ]);
        report.check = true;
        let run = document(&report, 1)["runs"][0].clone();
        let expected = json!([
            {
                "ruleId": "lock-file-drift", "ruleIndex": 0, "level": "error",
                "message": { "text": "lock file would be created\nacme/anvil 1.0.0\nhint: run the same command without `--check`, and commit the lock files" },
                "locations": [{ "physicalLocation": {
                    "artifactLocation": { "uri": "live/c/.terraform.lock.hcl", "uriBaseId": "SRCROOT" },
                    "region": { "startLine": 1 },
                }}],
            },
            {
                "ruleId": "syntax", "ruleIndex": 1, "level": "warning",
                "message": { "text": "mind this" },
                "locations": [{ "physicalLocation": {
                    "artifactLocation": { "uri": "live/%C3%A4%20b/main.tf", "uriBaseId": "SRCROOT" },
                    "region": { "startLine": 2, "startColumn": 3, "endColumn": 5 },
                }}],
            },
        ]);
        assert_eq!(run["results"], expected);
        let rule = &run["tool"]["driver"]["rules"][1];
        assert_eq!((&rule["id"], rule.get("name")), (&json!("syntax"), None));
        let invocation = json!([{ "executionSuccessful": false, "exitCode": 1 }]);
        assert_eq!(run["invocations"], invocation);
    }

    #[test]
    fn a_requested_change_is_not_a_result() {
        let done = directory("c", Fate::Created, vec![added("acme/anvil", "1.0.0")]);
        let run = document(&report(vec![done]), 0)["runs"][0].clone();
        assert_eq!(run["results"], json!([]));
        assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    }

    #[test]
    fn files_outside_the_repository_have_their_own_address() {
        let place = Place::file("/etc/a b.rc".as_ref());
        let uri = location(&place, &paths())["physicalLocation"]["artifactLocation"]["uri"].clone();
        assert_eq!(uri, "file:///etc/a%20b.rc");
    }
}
