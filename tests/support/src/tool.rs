//! Finds the real tools. Tests that need a missing tool are skipped or fail.

use std::env;
use std::path::PathBuf;
#[cfg(unix)]
use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

/// Prints why a test was skipped.
pub fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
}

/// Returns the path of `terraform` on PATH. If it is missing, prints that the test is skipped and returns `None`, or
/// fails if `TFLOCK_REQUIRE_TERRAFORM=1` is set.
pub fn terraform_on_path() -> Option<PathBuf> {
    require_or_skip(
        "terraform",
        env::var("TFLOCK_REQUIRE_TERRAFORM").is_ok_and(|value| value == "1"),
    )
}

/// Returns the path of `tofu` on PATH, if it is installed.
pub fn tofu_on_path() -> Option<PathBuf> {
    require_or_skip("tofu", false)
}

/// Returns the path of the program `name` on PATH. If the program is missing, prints that the test is skipped.
///
/// # Panics
///
/// If the program is missing and `required` is true.
pub fn require_or_skip(name: &str, required: bool) -> Option<PathBuf> {
    let file = format!("{name}{}", env::consts::EXE_SUFFIX);
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path)
        .map(|directory| directory.join(&file))
        .find(|path| path.is_file());
    assert!(
        found.is_some() || !required,
        "{name} is required and not on PATH"
    );
    if found.is_none() {
        skip(&format!("{name} is not on PATH"));
    }
    found
}

/// Writes an executable shell script.
#[cfg(unix)]
pub fn write_script(path: &Path, commands: &str) {
    fs::write(path, format!("#!/bin/sh\n{commands}\n")).expect("the directory is accessible");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("the file exists");
}

/// Creates a named pipe.
#[cfg(unix)]
pub fn make_pipe(path: &Path) {
    let status = Command::new("mkfifo").arg(path).status();
    assert!(status.expect("mkfifo is on PATH").success());
}

/// Sends a signal such as `INT` to a process, or only checks it with `0`. Returns whether the process exists.
#[cfg(unix)]
pub fn send_signal(signal: &str, process: &str) -> bool {
    let output = Command::new("kill").args(["-s", signal, process]).output();
    output.expect("kill is on PATH").status.success()
}
