//! Locks for the tests of this room, from rows of text.

use super::{Locks, ProviderLock};
use crate::provider::{Engine, Hash, ProviderAddr, Version, VersionConstraints};

pub(super) fn address(source: &str) -> ProviderAddr {
    ProviderAddr::parse(source, Engine::Terraform).unwrap()
}

/// Address, version, constraints, and hashes with spaces between them.
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
