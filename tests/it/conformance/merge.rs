//! Merged lock files: runs the binary on the recorded cases, with a registry of generated packages.

use serde_json::Value;
use tflock::provider::Engine;
use tflock_test_support::{FakeRegistry, ProviderSpec, TestContext};

use super::{ENGINES, cases, outcome, report};
use crate::TFLOCK;

/// Every host in the recorded cases. All hosts offer the same providers.
const HOSTS: [&str; 4] = [
    "registry.terraform.io",
    "registry.opentofu.org",
    "example.com",
    "zz.example.com",
];

#[test]
fn lock_files_merge_as_recorded() {
    let mut registry = FakeRegistry::start();
    for source in ["acme/anvil", "acme/bolt", "hashicorp/null"] {
        let spec = ProviderSpec::new(source).hosts(HOSTS);
        registry.publish(spec.versions(["1.0.0", "1.1.0", "1.2.0-beta1", "2.0.0"]));
    }
    let context = TestContext::new(TFLOCK, &registry);
    let cases = cases("merge.jsonl");
    let mut differences = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        for (engine, names) in ENGINES {
            let run = MergeRun {
                directory: format!("{engine}/{number}"),
                case,
                engine,
            };
            let expected = expected(outcome(case, names).unwrap(), &registry);
            if let Err(difference) = run.compare(expected.as_deref(), &registry, &context) {
                differences.push(format!("{engine}: {}: {difference}", case["name"]));
            }
        }
    }
    report(&differences, cases.len());
}

/// Returns the expected lock file after the run, or `None` if the run must fail.
fn expected(outcome: &Value, registry: &FakeRegistry) -> Option<String> {
    let outcome = outcome.get("tflock").unwrap_or(outcome);
    let template = outcome.get("output")?.as_str().unwrap();
    Some(sort_hashes(&registry.fill(template)))
}

/// A recorded case with one of its engines.
struct MergeRun<'a> {
    directory: String,
    case: &'a Value,
    engine: Engine,
}

impl MergeRun<'_> {
    fn compare(
        &self,
        expected: Option<&str>,
        registry: &FakeRegistry,
        context: &TestContext,
    ) -> Result<(), String> {
        let before = self.lay_out(registry, context);
        let platforms: Vec<_> = strings(&self.case["platforms"]);
        let outcome = context
            .tflock([
                "lock",
                "--mismatch",
                "add",
                "--engine",
                self.engine.program(),
            ])
            .args(["--platform", &platforms.join(",")])
            .arg(&self.directory)
            .run();
        let found = context.lock_file(&self.directory);
        let (code, after) = match expected {
            Some(expected) => (0, Some(expected)),
            None => (1, before.as_deref()),
        };
        if outcome.code == Some(code) && found.as_deref() == after {
            return Ok(());
        }
        Err(format!(
            "expected {code} and\n{after:?}\nfound\n{found:?}\n{outcome}"
        ))
    }

    /// Writes the files of the recorded case. Returns the lock file if there is one.
    fn lay_out(&self, registry: &FakeRegistry, context: &TestContext) -> Option<String> {
        for (name, text) in self.case["files"].as_object().unwrap() {
            context.write(
                &format!("{}/{name}", self.directory),
                text.as_str().unwrap(),
            );
        }
        let other = match self.engine {
            Engine::Terraform => Engine::Tofu,
            Engine::Tofu => Engine::Terraform,
        };
        let lock = self.case["lock"].as_str()?;
        let lock = lock
            .replace("{tool}", self.engine.program())
            .replace("{other}", other.program())
            .replace("{host}", self.engine.default_host());
        let lock = registry.fill(&lock);
        context.write_lock_file(&self.directory, &lock);
        Some(lock)
    }
}

fn strings(list: &Value) -> Vec<&str> {
    list.as_array()
        .unwrap()
        .iter()
        .map(|text| text.as_str().unwrap())
        .collect()
}

/// Sorts the lines of each `hashes` list. The hashes replace placeholders, whose order may differ.
fn sort_hashes(locks: &str) -> String {
    let mut lines: Vec<_> = locks.lines().collect();
    let is_hash = |line: &&str| line.starts_with("    \"");
    lines
        .chunk_by_mut(|a, b| is_hash(a) && is_hash(b))
        .for_each(<[_]>::sort_unstable);
    lines.into_iter().flat_map(|line| [line, "\n"]).collect()
}
