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

use std::path::{Path, PathBuf};
use std::process::Command;

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
    let tflock = build();
    for (name, scenario) in SCENARIOS {
        if wanted.is_empty() || wanted.contains(&name) {
            scenario(&tflock);
        }
    }
}

/// The release build of tflock.
fn build() -> PathBuf {
    if let Some(binary) = std::env::var_os("TFLOCK_BENCH_BINARY") {
        return binary.into();
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the project");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["build", "--release", "--bin", "tflock"])
        .current_dir(root);
    // Cargo's own variables, which it sets for this program, would make build scripts run again.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    let status = command.status().expect("cargo runs");
    assert!(status.success(), "tflock does not build");
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    target.join("release/tflock")
}
