//! The report as SARIF 2.1.0, for code scanning and viewers.
//!
//! One result per remark, each with a rule and a place. Files are named from the top of the repository, by the base
//! `SRCROOT`, as code scanning wants them. What changed without being asked to be checked is no result.
//! See <https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/sarif-v2.1.0-os.html>.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use serde_json::{Value, json};

use super::remark::{Base, Level, Remark, remarks};
use super::{RunReport, rules, shown};
use crate::span::Place;

/// The schema that viewers know the format by.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The name of the top of the repository.
const ROOT: &str = "SRCROOT";

/// The document, with a final newline.
pub(super) fn render(report: &RunReport, base: &Base, exit_code: u8) -> String {
    let mut remarks = remarks(report);
    remarks.retain(|remark| remark.level != Level::Notice);
    let codes: BTreeSet<&str> = remarks.iter().map(|remark| remark.code).collect();
    let codes: Vec<&str> = codes.into_iter().collect();
    let results = remarks.iter().map(|remark| result(remark, &codes, base));
    let document = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": env!("CARGO_PKG_NAME"),
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": codes.iter().map(|code| rule(code)).collect::<Vec<_>>(),
            }},
            "invocations": [{ "executionSuccessful": exit_code != 1, "exitCode": exit_code }],
            "originalUriBaseIds": { ROOT: {
                "description": { "text": "The top of the repository." },
            }},
            "columnKind": "unicodeCodePoints",
            "results": results.collect::<Vec<_>>(),
        }],
    });
    // Strings, numbers and lists: nothing that JSON could refuse.
    let mut text = serde_json::to_string_pretty(&document).unwrap_or_default();
    text.push('\n');
    text
}

fn rule(code: &str) -> Value {
    let rule = rules::rule(code);
    let mut descriptor = json!({
        "id": code,
        "shortDescription": { "text": rule.summary },
        "fullDescription": { "text": rule.summary },
        "help": { "text": rule.help },
    });
    // A name that only says the id once more is to be left out (3.49.7).
    if rule.name != code {
        descriptor["name"] = json!(rule.name);
    }
    descriptor
}

fn result(remark: &Remark, codes: &[&str], base: &Base) -> Value {
    let mut lines = vec![remark.message.clone()];
    lines.extend(remark.all_details());
    json!({
        "ruleId": remark.code,
        "ruleIndex": codes.iter().position(|code| *code == remark.code),
        "level": if remark.level == Level::Error { "error" } else { "warning" },
        "message": { "text": lines.join("\n") },
        "locations": [location(&remark.place, base)],
    })
}

fn location(place: &Place, base: &Base) -> Value {
    let artifact = match base.relative(&place.path) {
        Some(relative) => json!({ "uri": uri(&relative), "uriBaseId": ROOT }),
        None => json!({ "uri": format!("file://{}", uri(&place.path)) }),
    };
    // Code scanning wants a line also of what is about a whole file.
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

/// A path as the path of a URI.
fn uri(path: &Path) -> String {
    let mut out = String::new();
    for byte in shown(path).bytes() {
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
    use crate::diagnostic::Diagnostic;
    use crate::span::Span;

    fn base() -> Base {
        Base {
            working_directory: "/repo/live".into(),
            root: "/repo".into(),
        }
    }

    fn document(report: &RunReport, exit_code: u8) -> Value {
        serde_json::from_str(&render(report, &base(), exit_code)).unwrap()
    }

    #[test]
    fn results_have_rules_and_places() {
        let mut failed = directory("ä b", Fate::Failed, Vec::new());
        let place = Place::in_text("ä b/main.tf".as_ref(), b"x\n  yz\n", Span::new(4, 6));
        let warning = Diagnostic::warning("syntax", "mind this", None).at(Some(place));
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
                "message": { "text": "lock file would be created\nacme/anvil 1.0.0" },
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
    fn what_was_done_is_no_result() {
        let done = directory("c", Fate::Created, vec![added("acme/anvil", "1.0.0")]);
        let run = document(&report(vec![done]), 0)["runs"][0].clone();
        assert_eq!(run["results"], json!([]));
        assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    }

    #[test]
    fn files_outside_the_repository_have_their_own_address() {
        let place = Place::file("/etc/a b.rc".as_ref());
        let uri = location(&place, &base())["physicalLocation"]["artifactLocation"]["uri"].clone();
        assert_eq!(uri, "file:///etc/a%20b.rc");
    }
}
