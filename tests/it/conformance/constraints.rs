//! Constraint strings: the selected version and the recorded form.

use serde_json::Value;
use tflock::provider::{Engine, Version, VersionConstraints, newest};

use super::{ENGINES, cases, outcome, recorded, report};

/// The result of a test case.
#[derive(Debug, PartialEq)]
enum ConstraintResult {
    Selected {
        version: String,
        constraints: String,
    },
    None,
    Refused,
}

#[test]
fn constraints_select_and_read_as_recorded() {
    let offer: Vec<String> =
        serde_json::from_str(&recorded("constraints-available.json")).expect("a list");
    let offer: Vec<Version> = offer
        .iter()
        .map(|text| Version::parse(text).expect("a version"))
        .collect();
    let cases = cases("constraints.jsonl");
    let mut differences = Vec::new();
    for case in &cases {
        let text = case["constraint"].as_str().expect("a string");
        for (engine, names) in ENGINES {
            let expected = expected(outcome(case, names).expect("an outcome"));
            let found = found(text, engine, &offer);
            if found != expected {
                differences.push(format!(
                    "{engine} {text:?}: expected {expected:?}, found {found:?}"
                ));
            }
        }
    }
    assert!(cases.len() > 100, "the file contains its cases");
    report(&differences, cases.len() * ENGINES.len());
}

fn expected(outcome: &Value) -> ConstraintResult {
    if outcome.get("error").is_some() {
        return ConstraintResult::Refused;
    }
    let text = |key: &str| outcome.get(key).and_then(Value::as_str).map(str::to_owned);
    text("version").map_or(ConstraintResult::None, |version| {
        ConstraintResult::Selected {
            version,
            constraints: text("constraints").unwrap_or_default(),
        }
    })
}

fn found(text: &str, engine: Engine, offer: &[Version]) -> ConstraintResult {
    let Ok(constraints) = VersionConstraints::parse(text) else {
        return ConstraintResult::Refused;
    };
    match newest(offer, &constraints) {
        Some(version) => ConstraintResult::Selected {
            version: version.to_string(),
            constraints: constraints.to_string(),
        },
        // The error that OpenTofu reports here is recorded as a different kind.
        None if engine == Engine::Tofu && constraints.names_only_zero() => {
            ConstraintResult::Refused
        }
        None => ConstraintResult::None,
    }
}
