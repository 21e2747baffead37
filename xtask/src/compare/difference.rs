//! Writes a difference as a directory.

use std::fs;
use std::path::Path;

use super::verdict::{ToolResult, Verdict};

/// Writes the files of a case to the subdirectory `input`. Writes the verdict, the options, and the output and lock file of both
/// programs next to it.
pub(super) fn write_difference(
    directory: &Path,
    verdict: &Verdict,
    files: &[(String, String)],
    options: &str,
    results: &[ToolResult; 2],
) {
    for (path, text) in files {
        write(&directory.join("input").join(path), text);
    }
    let (word, text) = verdict.words();
    write(
        &directory.join("verdict.txt"),
        &format!("{word} {text}\n{options}\n"),
    );
    for (name, result) in ["tool", "tflock"].into_iter().zip(results) {
        write(&directory.join(format!("{name}.txt")), &result.message);
        write(&directory.join(format!("{name}.lock.hcl")), &result.lock);
    }
}

fn write(path: &Path, text: &str) {
    let directory = path.parent().expect("a file has a parent directory");
    fs::create_dir_all(directory).expect("the directory of results is writable");
    fs::write(path, text).expect("the directory of results is writable");
}
