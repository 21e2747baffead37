//! Finds the real tools, and skips or fails tests without them.

use std::env;
use std::path::PathBuf;

/// Prints why a test was skipped.
pub fn skip(reason: &str) {
    eprintln!("skipped: {reason}");
}

/// `terraform` on PATH. Without it the test is skipped, with a line that says so; or fails, where
/// `TFLOCK_REQUIRE_TERRAFORM=1` demands that parity was really tested.
pub fn terraform_on_path() -> Option<PathBuf> {
    require_or_skip(
        "terraform",
        env::var("TFLOCK_REQUIRE_TERRAFORM").is_ok_and(|value| value == "1"),
    )
}

/// `tofu` on PATH, which nothing requires.
pub fn tofu_on_path() -> Option<PathBuf> {
    require_or_skip("tofu", false)
}

/// The program `name` on PATH.
///
/// # Panics
///
/// When it is not there and `required`.
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
