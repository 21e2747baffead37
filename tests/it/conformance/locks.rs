//! Lock files of configurations that require no providers. `providers lock` parses them strictly and writes the
//! canonical form.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tflock::lockfile::{FILE_NAME, parse};
use tflock::provider::Engine;

use super::{ENGINES, cases, outcome, report};

#[test]
fn lock_files_are_read_and_written_as_recorded() {
    let cases = cases("locks.jsonl");
    let mut differences = Vec::new();
    for case in &cases {
        for (engine, names) in ENGINES {
            let outcome = outcome(case, names).expect("an outcome");
            let expected = outcome
                .get("output")
                .and_then(Value::as_str)
                .map(str::to_owned);
            let found = rewritten(&input(&outcome["input"]), engine);
            if found != expected {
                differences.push(format!(
                    "{engine} {}: expected {expected:?}, found {found:?}",
                    case["name"]
                ));
            }
        }
    }
    assert!(cases.len() >= 70, "the file contains its cases");
    report(&differences, cases.len() * ENGINES.len());
}

/// Decodes the bytes of a lock file, which are recorded as text or as Base64.
fn input(value: &Value) -> Vec<u8> {
    match (value.as_str(), value["base64"].as_str()) {
        (Some(text), _) => text.as_bytes().to_vec(),
        (None, Some(encoded)) => STANDARD.decode(encoded).expect("Base64"),
        (None, None) => panic!("no input: {value}"),
    }
}

/// Returns the file that tflock writes if the configuration requires no providers, or `None` if it rejects the input.
fn rewritten(input: &[u8], engine: Engine) -> Option<String> {
    let mut locks = parse(Path::new(FILE_NAME), input, engine).ok()?.locks;
    if engine == Engine::Tofu {
        locks.add_twins(|_, _| true);
    }
    Some(locks.render(engine))
}
