//! The scenarios of the benchmark.

mod directories;
mod fill;
mod fixture;
mod index;
mod measure;
mod mirror;
mod network;
mod oci;
mod package;
mod packages;
pub(crate) mod raw;
mod readers;
mod relay;
mod s3_server;
mod tree;
mod units;

use std::path::Path;

use crate::tflock;

/// The name of a scenario and its function, whose argument is the path of the tflock binary.
type Scenario = (&'static str, fn(&Path));

/// All scenarios in the order in which they are run.
const SCENARIOS: [Scenario; 13] = [
    ("package", package::run),
    ("packages", packages::run),
    ("network", network::run),
    ("oci", oci::run),
    ("directories", directories::run),
    ("tree", tree::run),
    ("units", units::run),
    ("mirror", mirror::run),
    ("index", index::run),
    ("index-network", index::run_over_network),
    ("fill", fill::run),
    ("inits", readers::inits),
    ("beside", readers::beside),
];

/// Returns the names of all scenarios.
pub(crate) fn names() -> Vec<&'static str> {
    SCENARIOS.iter().map(|(name, _)| *name).collect()
}

/// Returns whether each of the `wanted` names is the name of a scenario.
pub(crate) fn knows(wanted: &[&str]) -> bool {
    wanted.iter().all(|name| names().contains(name))
}

/// Runs the named scenarios, or all of them if there are no names.
pub(crate) fn run(wanted: &[&str]) {
    let tflock = tflock::build();
    for (name, scenario) in SCENARIOS {
        if wanted.is_empty() || wanted.contains(&name) {
            scenario(&tflock);
        }
    }
}
