//! Recorded registry responses with checksum lists, signatures and packages: the recorded hashes, or an error.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::time::{Duration, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tflock::package::{
    Limits, PackageClaims, ReportedPackage, ReportedPackages, SignaturePolicy, SigningKey,
    hash_archive, verify_list,
};
use tflock::provider::{Engine, Platform};

use super::{ENGINES, cases, outcome, report};

/// The time at which the cases were recorded: 2026-11-21T12:00:00Z.
const RECORDED_AT: Duration = Duration::from_secs(1_795_262_400);

/// The host of OpenTofu's registry, where keys are optional.
const TOFU_REGISTRY: &str = "registry.opentofu.org";

#[test]
fn hashes_and_refusals_of_packages_are_as_recorded() {
    let cases = cases("packages.jsonl");
    let mut differences = Vec::new();
    let mut compared = 0;
    for case in cases.iter().filter(|case| !is_refused_before(case)) {
        for (engine, names) in ENGINES {
            let expected = expected(outcome(case, names).expect("an outcome"));
            let found = record(case, engine);
            compared += 1;
            if !agree(&case["name"], &expected, found.as_ref()) {
                let name = &case["name"];
                differences.push(format!(
                    "{engine} {name}: expected {expected:?}, found {found:?}"
                ));
            }
        }
    }
    assert!(compared > 400, "the file contains its cases");
    report(&differences, compared);
}

/// Returns whether the tools reject a case because of its protocol or address, before they read the package.
fn is_refused_before(case: &Value) -> bool {
    let provider = case["provider"].as_str().expect("a string");
    case["metadata"]["protocols"] == serde_json::json!(["4.0"]) || provider.contains('_')
}

#[derive(Debug)]
enum PackageResult {
    Recorded(BTreeSet<String>),
    Refused,
    Crash,
}

fn expected(outcome: &Value) -> PackageResult {
    if outcome.get("crash").is_some() {
        return PackageResult::Crash;
    }
    match outcome.get("hashes") {
        Some(hashes) => PackageResult::Recorded(strings(hashes).into_iter().collect()),
        None => PackageResult::Refused,
    }
}

/// Returns whether the result matches. If the tool crashed, every result does. Brainpool curves may be rejected.
fn agree(
    name: &Value,
    expected: &PackageResult,
    found: Result<&BTreeSet<String>, &String>,
) -> bool {
    let is_brainpool = name
        .as_str()
        .is_some_and(|name| name.starts_with("acme/bp"));
    match (expected, found) {
        (PackageResult::Recorded(expected), Ok(found)) => expected == found,
        (PackageResult::Recorded(_), Err(error)) => is_brainpool && error.contains("brainpool"),
        (PackageResult::Refused, found) => found.is_err(),
        (PackageResult::Crash, _) => true,
    }
}

/// Returns the hashes to record, or the error.
fn record(case: &Value, engine: Engine) -> Result<BTreeSet<String>, String> {
    let metadata = &case["metadata"];
    let platform = Platform::parse("linux_amd64").expect("a platform");
    let (keys, reported) = (keys(metadata)?, reported(&metadata["packages"], engine)?);
    let claims = PackageClaims {
        platform: &platform,
        filename: metadata["filename"].as_str().unwrap_or_default(),
        shasum: metadata["shasum"].as_str().unwrap_or_default(),
        keys: &keys,
        reported: &reported,
    };
    let (list, signature) = (bytes(&case["sums"]), bytes(&case["signature"]));
    let verified = verify_list(&claims, &list, &signature, &policy(case, engine)).map_err(chain)?;
    let mut file = tempfile::tempfile().expect("a temporary file");
    file.write_all(&bytes(&case["package"]))
        .expect("enough disk space");
    let type_name = case["provider"]
        .as_str()
        .and_then(|provider| provider.split('/').nth(1));
    let package = hash(&file, type_name.expect("namespace/type"))?;
    let hashes = verified.accept(&package).map_err(chain)?;
    Ok(hashes.iter().map(ToString::to_string).collect())
}

fn hash(file: &File, type_name: &str) -> Result<tflock::package::PackageHashes, String> {
    hash_archive(file, type_name, &Limits::default()).map_err(chain)
}

fn policy(case: &Value, engine: Engine) -> SignaturePolicy {
    let host = match case["host"].as_str() {
        Some("default") => engine.default_host(),
        host => host.expect("a string"),
    };
    let is_set = |name: &str| case["env"][name] == "true";
    SignaturePolicy {
        engine,
        now: UNIX_EPOCH + RECORDED_AT,
        keys_optional: engine == Engine::Tofu && host == TOFU_REGISTRY,
        enforce_validation: is_set("OPENTOFU_ENFORCE_GPG_VALIDATION"),
        enforce_expiration: is_set("OPENTOFU_ENFORCE_GPG_EXPIRATION"),
    }
}

fn keys(metadata: &Value) -> Result<Vec<SigningKey>, String> {
    let keys = metadata["signing_keys"]["gpg_public_keys"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let key = |key: Value| {
        let text = |name: &str| key[name].as_str().unwrap_or_default().to_owned();
        (!key.is_null())
            .then(|| SigningKey {
                ascii_armor: text("ascii_armor"),
                trust_signature: text("trust_signature"),
            })
            .ok_or_else(|| "a key is null".to_owned())
    };
    keys.into_iter().map(key).collect()
}

/// Parses the extension `packages`, which Terraform does not read.
fn reported(packages: &Value, engine: Engine) -> Result<ReportedPackages, String> {
    let packages = match packages {
        _ if engine == Engine::Terraform => return Ok(ReportedPackages::new()),
        Value::Null => return Ok(ReportedPackages::new()),
        Value::Object(packages) => packages,
        other => return Err(format!("packages is not an object: {other}")),
    };
    let entries = packages.iter();
    entries
        .map(|(name, value)| Ok((name.clone(), entry(value)?)))
        .collect()
}

fn entry(value: &Value) -> Result<Option<ReportedPackage>, String> {
    if value.is_null() {
        return Ok(None);
    }
    let size = match &value["package_size"] {
        Value::Null => 0,
        size => size
            .as_i64()
            .ok_or_else(|| format!("invalid size: {size}"))?,
    };
    let hashes = strings(&value["hashes"]);
    Ok(Some(ReportedPackage { hashes, size }))
}

fn strings(list: &Value) -> Vec<String> {
    let list = list.as_array().cloned().unwrap_or_default();
    list.iter()
        .filter_map(|text| text.as_str().map(str::to_owned))
        .collect()
}

fn bytes(base64: &Value) -> Vec<u8> {
    STANDARD
        .decode(base64.as_str().expect("a string"))
        .expect("Base64")
}

fn chain(error: impl std::error::Error) -> String {
    tflock_test_support::error_chain(&error)
}
