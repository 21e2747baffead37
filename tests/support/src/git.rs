//! Runs `git` to prepare repositories for tests.

use std::path::Path;
use std::process::{Command, Stdio};

/// Runs `git` in `directory` without this machine's git configuration. Spaces in `line` separate the arguments. Returns
/// the trimmed standard output.
#[track_caller]
pub fn git(directory: &Path, line: &str) -> String {
    git_with_input(directory, line, Stdio::null())
}

/// Commits all files of the work tree `directory`.
#[track_caller]
pub fn git_commit_all(directory: &Path) {
    git(directory, "add --all --force");
    git(directory, "commit --quiet --allow-empty --message=all");
}

/// Like [`git`], but with `input` as standard input.
#[track_caller]
pub fn git_with_input(directory: &Path, line: &str, input: impl Into<Stdio>) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=t", "-c", "user.email=t@t.test"])
        .args(["-c", "protocol.file.allow=always"])
        .args(line.split_whitespace())
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .stdin(input)
        .output()
        .expect("git is on PATH");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "git {line}: {errors}");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}
