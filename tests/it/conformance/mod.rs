//! The recorded cases of `testdata/conformance`: inputs, and the results of Terraform and OpenTofu.

mod config;
mod constraints;
mod locks;
mod merge;
mod packages;
mod terragrunt;
mod zips;

use std::path::PathBuf;

use serde_json::Value;
use tflock::provider::Engine;

/// Both engines with the names under which their results are recorded. The first name that a case contains applies. The
/// releases to come are recorded only where they accept more than the current ones.
const ENGINES: [(Engine, &[&str]); 2] = [
    (
        Engine::Terraform,
        &["terraform-1.16", "terraform-1.15", "terraform"],
    ),
    (Engine::Tofu, &["tofu-1.13", "tofu"]),
];

/// Reads a file with recorded cases.
fn recorded(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("testdata/conformance")
        .join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Parses all cases of a file, in their order.
pub(crate) fn cases(name: &str) -> Vec<Value> {
    recorded(name)
        .lines()
        .map(|line| serde_json::from_str(line).expect("one JSON object per line"))
        .collect()
}

/// Returns an engine's recorded result of a case.
fn outcome<'a>(case: &'a Value, names: &[&str]) -> Option<&'a Value> {
    names.iter().find_map(|name| case.get(name))
}

/// Returns the cases in which tflock may differ from this engine. `rows` is the text of a file with the engines and the name of
/// such a case in each row.
fn exceptions(rows: &'static str, engine: Engine) -> Vec<&'static str> {
    let rows = rows.lines().filter_map(|line| line.split_once(" | "));
    let names = rows.filter(|(engines, _)| engines.split(' ').any(|one| one == engine.program()));
    names.map(|(_, name)| name).collect()
}

/// Fails with all differences at once. Each difference has one or more lines.
pub(crate) fn report(differences: &[String], cases: usize) {
    assert!(
        differences.is_empty(),
        "{} of {cases} cases differ:\n{}",
        differences.len(),
        differences.join("\n")
    );
}
