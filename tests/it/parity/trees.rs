//! Parity for whole trees: one `lock -r` writes the same files as each tool does for one root module after another.
//!
//! The inputs are `testdata/trees/CASE/tree`. For each root module, `testdata/trees/CASE` has `ROOT.terraform.hcl` and
//! `ROOT.tofu.hcl`, in which `-` replaces the `/` of the path. They record what `get` and `providers lock` of the two
//! tools wrote. `TFLOCK_RECORD=1` writes them again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tflock_test_support::{DEFAULT_PLATFORMS, TestContext, is_recording};

use super::{registry, testdata};
use crate::TFLOCK;

const TOOLS: [&str; 2] = ["terraform", "tofu"];

/// The trees and their root modules.
const CASES: [(&str, &[&str]); 2] = [
    ("shared-module", &["prod", "test"]),
    ("nested-roots", &["live", "live/eu"]),
];

fn recorded_path(case: &str, root: &str, tool: &str) -> PathBuf {
    let root = root.replace('/', "-");
    testdata(&format!("trees/{case}/{root}.{tool}.hcl"))
}

fn recorded(case: &str, root: &str, tool: &str) -> String {
    let path = recorded_path(case, root, tool);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Creates a fresh copy of a tree and returns its path.
fn lay_out(case: &str, who: &str, context: &TestContext) -> String {
    let directory = format!("{case}-{who}");
    context.copy(&testdata(&format!("trees/{case}/tree")), &directory);
    directory
}

/// Returns all lock files below a directory, by the relative path of their directory.
pub(super) fn lock_files(directory: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![directory.to_path_buf()];
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.ends_with(".terraform.lock.hcl") {
                let root = next.strip_prefix(directory).unwrap();
                let text = fs::read_to_string(&path).unwrap();
                found.insert(root.to_str().unwrap().replace('\\', "/"), text);
            }
        }
    }
    found
}

#[test]
fn the_tools_still_write_the_recorded_lock_files() {
    let registry = registry::start();
    let context = TestContext::new(TFLOCK, &registry);
    let record = is_recording();
    let platforms = DEFAULT_PLATFORMS.map(|platform| format!("-platform={platform}"));
    let mut lock = vec!["providers", "lock", "-no-color"];
    lock.extend(platforms.iter().map(String::as_str));
    for tool in TOOLS {
        for (case, roots) in CASES {
            let directory = lay_out(case, tool, &context);
            for root in roots {
                let place = format!("{directory}/{root}");
                let data = context.path(&format!("{}-data", place.replace('/', "-")));
                for arguments in [&["get", "-no-color"], lock.as_slice()] {
                    let arguments = arguments.iter().copied();
                    if let Some(program) = context.engine(tool, &place, arguments) {
                        program.env("TF_DATA_DIR", &data).run().expect_success();
                    }
                }
                let Some(written) = context.lock_file(&place) else {
                    continue;
                };
                if record {
                    fs::write(recorded_path(case, root, tool), &written).unwrap();
                }
                assert_eq!(written, recorded(case, root, tool), "{place}");
            }
        }
    }
}

#[test]
fn one_run_locks_every_root_as_the_tools_do_one_by_one() {
    let registry = registry::start();
    let context = TestContext::new(TFLOCK, &registry);
    let platforms = DEFAULT_PLATFORMS.join(",");
    for tool in TOOLS {
        for (case, roots) in CASES {
            let directory = lay_out(case, &format!("{tool}-tflock"), &context);
            let arguments = ["lock", "-r", "--engine", tool, "--platform", &platforms];
            let run = context.tflock(arguments).arg(&directory).run();
            run.expect_success();
            let expected: BTreeMap<String, String> = roots
                .iter()
                .map(|root| ((*root).to_owned(), recorded(case, root, tool)))
                .collect();
            let found = lock_files(&context.path(&directory));
            assert_eq!(found, expected, "{directory}");
        }
    }
}
