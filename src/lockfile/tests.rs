//! Tests of twin entries, and helpers for all lock file tests.

use super::*;

pub(super) fn address(source: &str) -> ProviderAddr {
    ProviderAddr::parse(source, Engine::Terraform).unwrap()
}

/// Creates locks from rows of address, version, constraints, and hashes separated by spaces.
pub(super) fn locks(rows: &[(&str, &str, &str, &str)]) -> Locks {
    let providers = rows
        .iter()
        .map(|(source, version, constraints, hashes)| {
            let lock = ProviderLock {
                version: Version::parse(version).unwrap(),
                constraints: VersionConstraints::parse_canonical(constraints).unwrap(),
                hashes: hashes
                    .split_whitespace()
                    .map(|hash| Hash::parse(hash).unwrap())
                    .collect(),
            };
            (address(source), lock)
        })
        .collect();
    Locks { providers }
}

#[test]
fn entries_of_terraforms_namespace_get_twins() {
    let mut locks = locks(&[
        (
            "registry.terraform.io/hashicorp/aws",
            "1.0.0",
            ">= 1.0.0",
            "h1:a",
        ),
        ("registry.terraform.io/hashicorp/null", "2.0.0", "", "h1:b"),
        ("registry.opentofu.org/hashicorp/null", "3.0.0", "", "h1:c"), // already exists, so its version does not matter
        ("registry.terraform.io/acme/aws", "1.0.0", "", "h1:d"),       // a different namespace
        ("registry.terraform.io:8443/hashicorp/tls", "1.0.0", "", ""), // a different port
        ("example.com/hashicorp/tls", "1.0.0", "", ""),
    ]);
    let before = locks.clone();
    let twin = address("registry.opentofu.org/hashicorp/aws");
    assert_eq!(locks.add_twins(|_, _| true), std::slice::from_ref(&twin));
    let added = locks.providers.remove(&twin).unwrap();
    assert_eq!(
        (added.version.to_string(), added.constraints.to_string()),
        ("1.0.0".into(), ">= 1.0.0".into())
    );
    assert_eq!(added.hashes, BTreeSet::new());
    assert_eq!(locks, before);
}

#[test]
fn twins_are_added_once() {
    let mut locks = locks(&[("registry.terraform.io/hashicorp/aws", "1.0.0", "", "h1:a")]);
    assert_eq!(locks.add_twins(|_, _| true).len(), 1);
    let once = locks.clone();
    assert_eq!(locks.add_twins(|_, _| true), []);
    assert_eq!(locks, once);
}

/// The engines may choose different names one day. Each then reads its own file.
#[test]
fn each_engine_has_a_lock_file_name() {
    for engine in [Engine::Terraform, Engine::Tofu] {
        assert_eq!(engine.lock_file_name(), ".terraform.lock.hcl");
        assert!(is_lock_file(engine.lock_file_name()));
    }
    assert!(!is_lock_file(".terraform.lock.hcl.bak"));
}
