//! The scenarios, and the program that they measure.

mod directories;
mod fixture;
mod measure;
mod mirror;
mod network;
mod package;
mod packages;
pub(crate) mod raw;
mod readers;
mod tree;

use std::path::Path;

use crate::tflock;

/// A scenario: its name and what it does with the binary of tflock.
type Scenario = (&'static str, fn(&Path));

/// In the order in which they are run.
const SCENARIOS: [Scenario; 8] = [
    ("package", package::run),
    ("packages", packages::run),
    ("network", network::run),
    ("directories", directories::run),
    ("tree", tree::run),
    ("mirror", mirror::run),
    ("inits", readers::inits),
    ("beside", readers::beside),
];

/// The names of all scenarios.
pub(crate) fn names() -> Vec<&'static str> {
    SCENARIOS.iter().map(|(name, _)| *name).collect()
}

/// Whether all of these are scenarios.
pub(crate) fn knows(wanted: &[&str]) -> bool {
    wanted.iter().all(|name| names().contains(name))
}

/// Runs the named scenarios, or all.
pub(crate) fn run(wanted: &[&str]) {
    let tflock = tflock::build();
    for (name, scenario) in SCENARIOS {
        if wanted.is_empty() || wanted.contains(&name) {
            scenario(&tflock);
        }
    }
}
