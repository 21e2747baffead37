//! Requirements of root modules: tflock reads them without `init` and must find what `providers lock` recorded after
//! `get`.
//!
//! Terraform's `providers lock` reads test files, OpenTofu's does not. `config-exceptions.txt` lists the cases that a
//! tool rejects but tflock accepts, with the rules that allow the difference.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use tflock::config::{
    ConfigError, EnvironmentValue, ModuleCache, ReadOptions, RootModule, Tests, read_root,
};
use tflock::provider::{Engine, Version, newest};
use tflock_test_support::error_chain;

use super::{ENGINES, cases, exceptions, outcome};

/// The versions of every provider in the recorded registry, unless the test case lists different ones.
const VERSIONS: [&str; 3] = ["1.0.0", "1.1.0", "2.0.0"];

/// Test cases with this file are skipped, because they test version selection rather than configuration. `merge.jsonl`
/// covers them.
const LOCK_FILE: &str = ".terraform.lock.hcl";

/// A namespace in which the recorded registry has no providers.
const ABSENT_NAMESPACE: &str = "missing";

/// The test cases in which tflock may differ from an engine, listed below the rules that allow it.
const EXCEPTIONS: &str = include_str!("../../../testdata/conformance/config-exceptions.txt");

#[test]
#[expect(clippy::print_stderr, reason = "developers read the figures")]
fn configurations_require_what_the_tools_found() {
    let cases = cases("config.jsonl");
    let mut differences = Vec::new();
    for (engine, names) in ENGINES {
        let exceptions = exceptions(EXCEPTIONS, engine);
        let (mut equal, mut compared) = (0, 0);
        let mut differing = BTreeSet::new();
        for case in &cases {
            let name = case["name"].as_str().unwrap();
            let Some(expected) = outcome(case, names) else {
                continue;
            };
            if case["files"].get(LOCK_FILE).is_some() {
                continue;
            }
            compared += 1;
            let difference = compare(case, expected, engine);
            equal += usize::from(difference.is_none());
            if let Some(difference) = difference {
                differing.insert(name);
                if !exceptions.contains(&name) {
                    differences.push(format!("{engine}: {name}: {difference}"));
                }
            }
        }
        for name in exceptions.iter().filter(|name| !differing.contains(*name)) {
            differences.push(format!(
                "{engine}: {name}: agrees, but is listed as an exception"
            ));
        }
        eprintln!("configurations, {engine}: {equal} of {compared} as recorded");
    }
    super::report(&differences, cases.len() * ENGINES.len());
}

#[test]
fn releases_to_come_are_recorded_where_they_accept_more() {
    for case in cases("config.jsonl") {
        for (_, names) in ENGINES {
            let (newest, current) = names.split_first().unwrap();
            let Some(newest) = case.get(newest) else {
                continue;
            };
            let current = outcome(&case, current).unwrap();
            let accepts_more = newest.get("locks").is_some() && current.get("locks").is_none();
            assert!(accepts_more, "{}", case["name"]);
        }
    }
}

/// Describes how the requirements that tflock finds differ from the recorded ones, or returns `None`.
fn compare(case: &Value, expected: &Value, engine: Engine) -> Option<String> {
    let found = requirements(case, engine).and_then(|root| rows(&root, case, engine));
    match (expected.get("locks"), found) {
        (Some(locks), Ok(rows)) if *locks == rows => None,
        (Some(locks), Ok(rows)) => Some(format!("found {rows}, recorded {locks}")),
        (Some(locks), Err(error)) => Some(format!("failed with {error}, recorded {locks}")),
        (None, Err(_)) => None,
        // The tool crashed, so any result is accepted.
        (None, Ok(_)) if expected.get("crash").is_some() => None,
        (None, Ok(rows)) => Some(format!("found {rows}, recorded {}", expected["error"])),
    }
}

fn requirements(case: &Value, engine: Engine) -> Result<RootModule, String> {
    let directory = tempfile::tempdir().unwrap();
    write(directory.path(), &case["files"]);
    let mut options = ReadOptions::new(engine);
    if engine == Engine::Tofu {
        options.tests = Tests::Skip;
    }
    for (name, value) in case["env"].as_object().into_iter().flatten() {
        let value = value.as_str().unwrap().to_owned();
        match (name.as_str(), name.strip_prefix("TF_VAR_")) {
            ("TF_DATA_DIR", _) => options.data_directory = Some(PathBuf::from(value)),
            ("TF_WORKSPACE", _) => options.workspace = Some(EnvironmentValue::Known(value)),
            (_, Some(variable)) => drop(
                options
                    .environment
                    .insert(variable.to_owned(), EnvironmentValue::Known(value)),
            ),
            _ => panic!("unknown variable {name}"),
        }
    }
    let root = read_root(directory.path(), &options, &ModuleCache::new(), None);
    let show = |errors: &[std::sync::Arc<ConfigError>]| {
        errors
            .iter()
            .map(|error| error_chain(&**error))
            .collect::<Vec<_>>()
            .join("; ")
    };
    match root {
        Ok(root) if root.missing.is_empty() => Ok(root),
        Ok(root) => Err(show(&root.missing)),
        Err(errors) => Err(show(&errors)),
    }
}

/// Returns the lock file entries that follow from the requirements: address, version, and constraints or null.
fn rows(root: &RootModule, case: &Value, engine: Engine) -> Result<Value, String> {
    let mut rows = Vec::new();
    for (address, requirement) in &root.requirements.providers {
        if !address.is_lockable(engine) {
            continue;
        }
        if address.namespace == ABSENT_NAMESPACE {
            return Err(format!("{address} does not exist"));
        }
        if engine == Engine::Tofu && requirement.constraints.names_only_zero() {
            return Err(format!("0.0.0 is not a valid version of {address}"));
        }
        let versions = versions(
            case,
            &format!("{}/{}", address.namespace, address.type_name),
        );
        let selected = newest(&versions, &requirement.constraints)
            .ok_or_else(|| format!("no version of {address} matches"))?;
        let constraints =
            (!requirement.constraints.is_empty()).then(|| requirement.constraints.to_string());
        rows.push(json!([
            address.to_string(),
            selected.to_string(),
            constraints
        ]));
    }
    Ok(Value::Array(rows))
}

fn versions(case: &Value, provider: &str) -> Vec<Version> {
    let given = case["versions"].get(provider).and_then(Value::as_array);
    let texts: Vec<&str> = match given {
        Some(given) => given.iter().filter_map(Value::as_str).collect(),
        None => VERSIONS.to_vec(),
    };
    texts
        .iter()
        .filter_map(|text| Version::parse(text).ok())
        .collect()
}

/// Writes the files of a test case. Symlinks come last because their targets must exist.
pub(super) fn write(directory: &Path, files: &Value) {
    let files: BTreeMap<&String, &Value> = files.as_object().unwrap().iter().collect();
    let mut links = Vec::new();
    for (name, content) in files {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match content {
            Value::String(text) => fs::write(path, text).unwrap(),
            content if content.get("base64").is_some() => {
                fs::write(
                    path,
                    STANDARD
                        .decode(content["base64"].as_str().unwrap())
                        .unwrap(),
                )
                .unwrap();
            }
            content if content.get("directory").is_some() => fs::create_dir_all(path).unwrap(),
            content => links.push((path, content["symlink"].as_str().unwrap())),
        }
    }
    for (path, target) in links {
        link(target, &path);
    }
}

#[cfg(unix)]
fn link(target: &str, path: &Path) {
    std::os::unix::fs::symlink(target, path).unwrap();
}

#[cfg(not(unix))]
fn link(_: &str, _: &Path) {}
