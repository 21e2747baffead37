//! Recorded packages of many kinds: the hash that `providers lock` computes, or an error.

use std::cell::Cell;
use std::fs::File;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde_json::Value;
use tflock::package::{Limits, StreamHasher, Streamed, hash_archive};

use super::{ENGINES, cases, outcome, report};

/// The provider type under which the packages are served.
const TYPE: &str = "p";

#[test]
fn whole_files_hash_as_recorded() {
    check(|bytes| {
        let hashes = hash_archive(&file_of(bytes), TYPE, &Limits::default());
        hashes.ok().map(|hashes| hashes.h1.to_string())
    });
}

/// Packages that cannot be hashed while downloading are hashed as a file, as in a run. Only a few may need this.
#[test]
fn streams_hash_as_recorded() {
    let needed = Cell::new(0);
    check(|bytes| match stream(bytes) {
        Streamed::Hashed(hashes) => Some(hashes.h1.to_string()),
        Streamed::Refused { .. } => None,
        Streamed::NeedsFile { .. } => {
            needed.set(needed.get() + 1);
            let hashes = hash_archive(&file_of(bytes), TYPE, &Limits::default());
            hashes.ok().map(|hashes| hashes.h1.to_string())
        }
    });
    assert_eq!(
        needed.get(),
        7,
        "other methods, broken data, prefixes, a stored entry with a descriptor"
    );
}

/// `terraform providers mirror` publishes the hash of the entries. For some archives that `providers lock` accepts, it cannot
/// compute that hash and fails; tflock then publishes the digest of the archive.
#[test]
fn providers_mirror_publishes_the_hash_of_the_entries() {
    let cases = cases("zips.jsonl");
    let mut differences = Vec::new();
    let mut without_hash = Vec::new();
    for case in cases.iter().filter(|case| case.get("mirror").is_some()) {
        let name = case["name"].as_str().expect("a string");
        let bytes = STANDARD.decode(case["zip"].as_str().expect("a string"));
        let file = file_of(&bytes.expect("Base64"));
        let hashes = hash_archive(&file, TYPE, &Limits::default()).expect("an accepted archive");
        let found = hashes.zip_h1.map(|hash| hash.to_string());
        let expected = expected(&case["mirror"]["terraform"]);
        if found.as_deref() != expected {
            differences.push(format!("{name}: expected {expected:?}, found {found:?}"));
        }
        if expected.is_none() {
            without_hash.push(name);
        }
    }
    assert_eq!(without_hash, ["dirwithdata", "newlinedir"]);
    report(&differences, cases.len());
}

fn stream(bytes: &[u8]) -> Streamed {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    runtime.expect("a runtime").block_on(async {
        let mut hasher = StreamHasher::new(TYPE, Limits::default()).expect("threads");
        let sent = hasher.send(Bytes::copy_from_slice(bytes)).await;
        sent.expect("the threads are running");
        hasher.finish().await.expect("the threads are running")
    })
}

/// Compares the results of `hash` for every archive with both engines. `None` means that the archive is rejected.
fn check(hash: impl Fn(&[u8]) -> Option<String>) {
    let cases = cases("zips.jsonl");
    let mut differences = Vec::new();
    for case in &cases {
        let bytes = STANDARD.decode(case["zip"].as_str().expect("a string"));
        let found = hash(&bytes.expect("Base64"));
        for (engine, names) in ENGINES {
            let expected = expected(outcome(case, names).expect("an outcome"));
            if found.as_deref() != expected {
                let name = &case["name"];
                differences.push(format!(
                    "{engine} {name}: expected {expected:?}, found {found:?}"
                ));
            }
        }
    }
    assert!(cases.len() > 80, "the file contains its cases");
    report(&differences, cases.len() * ENGINES.len());
}

fn expected(outcome: &Value) -> Option<&str> {
    match outcome
        .get("h1")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
    {
        Some([hash]) => hash.as_str(),
        None if outcome.get("error").is_some() => None,
        other => panic!("{other:?} is not an outcome of this test"),
    }
}

fn file_of(bytes: &[u8]) -> File {
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(bytes).expect("enough disk space");
    file
}
