//! Compares both parsers on the recorded files.

use std::fs;
use std::path::Path;

use serde_json::Value;
use walkdir::WalkDir;

use super::exceptions::{EXCEPTIONS, is_repeated_key};
use super::{Judgment, judge};
use crate::conformance::cases;

/// The name and the text of a file.
type File = (String, String);

/// Returns the files in native syntax below `testdata`.
fn files() -> Vec<File> {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let paths = WalkDir::new(testdata)
        .into_iter()
        .map(|entry| entry.unwrap().into_path());
    let paths = paths.filter(|path| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        matches!(extension, Some("tf" | "tofu" | "hcl"))
    });
    let read = paths.map(|path| (path.display().to_string(), fs::read_to_string(path).ok()));
    read.filter_map(|(name, text)| Some((name, text?)))
        .collect()
}

/// Returns the files in the recorded cases.
fn files_of_cases() -> Vec<File> {
    let mut files = Vec::new();
    for case in cases("config.jsonl") {
        for (path, content) in case["files"].as_object().into_iter().flatten() {
            let is_native = [".tf", ".tofu", ".hcl"]
                .iter()
                .any(|end| path.ends_with(end));
            if let (Value::String(text), true) = (content, is_native) {
                files.push((format!("{} {path}", case["name"]), text.clone()));
            }
        }
    }
    for case in cases("locks.jsonl") {
        for tool in ["terraform", "tofu"] {
            if let Value::String(text) = &case[tool]["input"] {
                files.push((format!("{} {tool}", case["name"]), text.clone()));
            }
        }
    }
    files
}

#[test]
fn recorded_files_have_the_same_structure() {
    let mut same = 0;
    let mut differences = Vec::new();
    for (name, text) in files().into_iter().chain(files_of_cases()) {
        // hcl-edit does not support a byte order mark.
        let text = text.trim_start_matches('\u{feff}');
        match judge(text) {
            Judgment::Same => same += 1,
            Judgment::Different(both) if EXCEPTIONS.iter().any(|it| it.applies(text, &both)) => {}
            Judgment::Refused(both) if both.ours.is_err() || is_repeated_key(&both) => {}
            Judgment::Refused(both) | Judgment::Different(both) => {
                differences.push(format!("{name}: {both:#?}"));
            }
        }
    }
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    assert!(same > 1_700, "{same} files have the same structure");
}
