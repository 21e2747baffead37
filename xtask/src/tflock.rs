//! Builds tflock for the tasks, and finds the project's directory.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the directory of the project.
pub(crate) fn project() -> &'static Path {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().expect("xtask is in the project")
}

/// Builds tflock with the release profile and returns its path.
pub(crate) fn build() -> PathBuf {
    match std::env::var_os("TFLOCK_BENCH_BINARY") {
        Some(binary) => binary.into(),
        None => build_with("release", "release", &[]),
    }
}

/// Builds tflock with the profile for development, which detects overflows, and returns its path.
pub(crate) fn build_for_development() -> PathBuf {
    build_with("dev", "debug", &[])
}

/// Like [`build_for_development`], but selects what `cargo test --workspace` has just built. Cargo would otherwise select fewer features of
/// tflock's dependencies, and compile many of them again.
#[cfg(test)]
pub(crate) fn build_for_tests() -> PathBuf {
    build_with("dev", "debug", &["--workspace", "--test", "it"])
}

/// Builds tflock, together with what the arguments `selected` select. `directory` is the directory of the profile in the target directory.
fn build_with(profile: &str, directory: &str, selected: &[&str]) -> PathBuf {
    let root = project();
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["build", "--quiet", "--profile", profile, "--bin", "tflock"])
        .args(selected)
        .current_dir(root);
    // Cargo sets these variables for this program. They would cause build scripts to run again.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    let status = command.status().expect("cargo can be started");
    assert!(status.success(), "tflock does not build");
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from);
    target.join(directory).join("tflock")
}
