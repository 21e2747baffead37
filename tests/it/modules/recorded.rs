//! Recorded module sources: what `terraform get` and `tofu get` install, or that they refuse the source.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tflock_test_support::Document;

use super::ModuleSite;
use crate::conformance::{cases, report};

/// Returns what a case expects: the files of the module, or `None` if it is refused. tflock accepts what one of the tools accepts.
pub(super) fn expected(case: &Value) -> Option<BTreeMap<String, String>> {
    let outcomes = match case.get("tflock") {
        Some(own) => vec![own],
        None => vec![&case["terraform"], &case["tofu"]],
    };
    let mut files = outcomes.iter().filter_map(|outcome| outcome.get("files"));
    let files = files.next()?.as_object().unwrap().iter();
    let text = |(path, text): (&String, &Value)| (path.clone(), text.as_str().unwrap().to_owned());
    Some(files.map(text).collect())
}

pub(super) fn files_below(root: &Path) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for entry in walkdir::WalkDir::new(root) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let path = entry.path().strip_prefix(root).unwrap();
            let text = fs::read_to_string(entry.path()).unwrap();
            files.insert(path.to_str().unwrap().replace('\\', "/"), text);
        }
    }
    files
}

#[test]
fn archives_and_checksums_are_those_of_the_tools() {
    let site = ModuleSite::start();
    let directory = tempfile::tempdir().unwrap();
    for document in cases("module-documents.jsonl") {
        let path = document["path"].as_str().unwrap();
        let bytes = STANDARD.decode(document["bytes"].as_str().unwrap());
        let bytes = bytes.unwrap();
        let local = directory.path().join(path);
        fs::create_dir_all(local.parent().unwrap()).unwrap();
        fs::write(local, &bytes).unwrap();
        site.registry
            .serve(&format!("/{path}"), Document::octets(bytes));
    }
    let cases = cases("module-sources.jsonl");
    let mut differences = Vec::new();
    for case in &cases {
        let source = case["source"].as_str().unwrap();
        let base = site.registry.url("");
        let located = source
            .replace("BASE", base.trim_end_matches('/'))
            .replace("DIRECTORY", directory.path().to_str().unwrap());
        let found = site.fetch(&located, None);
        let found_files = found.as_deref().ok().map(files_below);
        if found_files != expected(case) {
            differences.push(format!("{source}: found {found:?} {found_files:?}"));
        }
    }
    report(&differences, cases.len());
}
