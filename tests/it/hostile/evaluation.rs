//! A bomb fails only its own directory, and the error names that directory.

use tflock_test_support::{FakeRegistry, Outcome, ProviderSpec, TestContext};

use super::bombs::{Bomb, bombs};
use crate::TFLOCK;

/// The number of valid directories in a run.
const GOOD: usize = 9;

/// Creates a tree with valid directories.
fn tree() -> (FakeRegistry, TestContext) {
    let registry = FakeRegistry::with(ProviderSpec::new("acme/anvil").platforms(["linux_amd64"]));
    let context = TestContext::new(TFLOCK, &registry);
    for at in 0..GOOD {
        context.require(&format!("good-{at}"), &[("acme/anvil", "")]);
    }
    (registry, context)
}

fn directory(bomb: &Bomb) -> String {
    format!("bomb-{}", bomb.name.replace(' ', "-"))
}

/// Returns the status and the diagnostics of a directory.
fn status_and_diagnostics(outcome: &Outcome, directory: &str) -> (String, String) {
    let report = outcome.json();
    let mut directories = report["directories"].as_array().unwrap().iter();
    let found = directories.find(|found| found["path"] == directory);
    let found = found.unwrap_or_else(|| panic!("`{directory}` is missing in\n{outcome}"));
    (
        found["status"].to_string(),
        found["diagnostics"].to_string(),
    )
}

#[test]
fn bombs_fail_alone_and_the_other_directories_are_written() {
    let (_registry, context) = tree();
    let bombs = bombs();
    for bomb in &bombs {
        for (name, text) in bomb.files() {
            context.write(&format!("{}/{name}", directory(bomb)), text);
        }
    }
    // If this variable names a directory, the bombs are copied there so that each can be measured by hand.
    if let Ok(place) = std::env::var("TFLOCK_BOMBS") {
        context.copy(&context.work(), &place);
    }
    let lock = "lock --platform linux_amd64 --format json -q".split(' ');
    let names: Vec<String> = bombs.iter().map(directory).collect();
    let good: Vec<String> = (0..GOOD).map(|at| format!("good-{at}")).collect();
    let paths = names.iter().chain(&good).map(String::as_str);
    let outcome = context.tflock(lock.chain(paths)).run();
    let mut wrong = Vec::new();
    for (bomb, name) in bombs.iter().zip(&names) {
        let (status, diagnostics) = status_and_diagnostics(&outcome, name);
        if status != "\"failed\"" || !diagnostics.contains(bomb.error) {
            let begin: String = diagnostics.chars().take(300).collect();
            wrong.push(format!("{}: {status} {begin}", bomb.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    for name in &good {
        assert!(context.lock_file(name).is_some(), "{name}\n{outcome}");
    }
}
