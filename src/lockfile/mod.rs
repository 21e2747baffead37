//! The dependency lock file `.terraform.lock.hcl`.
//!
//! ```text
//! bytes -> parse -> Locks -> render -> bytes -> save
//!                     `----> changes, diff
//! ```
//!
//! Meaning and bytes are apart: [`Locks`] says which versions and hashes are locked, and has one rendering per engine.
//! Reading is strict, as in the engines: what is not in normal form is an error at its place. Writing starts from nothing,
//! so comments and order of the old file are lost, as they are there.

mod changes;
mod diff;
mod error;
mod owner;
mod parse;
mod render;
mod save;
mod turn;

use std::collections::{BTreeMap, BTreeSet};

pub use changes::{Change, LockChanges, Update};
pub use diff::unified_diff;
pub use error::{ParseError, ParseProblem, SaveError};
pub use owner::{clean_stale, is_temporary};
pub use parse::{LockFile, parse};
pub use save::{Saved, read, save};

use crate::provider::{Engine, Hash, Hostname, ProviderAddr, Version, VersionConstraints};

/// The name of a lock file; there is one in each root module directory.
pub const FILE_NAME: &str = ".terraform.lock.hcl";

/// What a lock file says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Locks {
    /// By address, in the order of the file.
    pub providers: BTreeMap<ProviderAddr, ProviderLock>,
}

/// What a lock file says about one provider.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProviderLock {
    /// The selected version.
    pub version: Version,
    /// What the configuration asked for when the version was selected.
    pub constraints: VersionConstraints,
    /// The hashes of packages that may be installed, of all platforms together.
    pub hashes: BTreeSet<Hash>,
}

/// The namespace whose entries OpenTofu takes over from Terraform.
const TWIN_NAMESPACE: &str = "hashicorp";

impl Locks {
    /// Does what OpenTofu does after reading a lock file: every entry for `registry.terraform.io/hashicorp/X` gets a twin
    /// for `registry.opentofu.org/hashicorp/X` with the same version and constraints and no hashes, unless there is one
    /// already. Returns the addresses that were added.
    pub fn add_twins(&mut self) -> Vec<ProviderAddr> {
        let twins: Vec<_> = self
            .providers
            .iter()
            .filter_map(|(address, lock)| Some((twin(address)?, lock.without_hashes())))
            .filter(|(address, _)| !self.providers.contains_key(address))
            .collect();
        let added = twins.iter().map(|(address, _)| address.clone()).collect();
        self.providers.extend(twins);
        added
    }
}

/// The address that OpenTofu takes for this one, if it is Terraform's own.
fn twin(address: &ProviderAddr) -> Option<ProviderAddr> {
    let eligible = address.hostname.as_ascii() == Engine::Terraform.default_host()
        && address.namespace == TWIN_NAMESPACE;
    let hostname = Hostname::parse(Engine::Tofu.default_host()).ok()?;
    eligible.then(|| ProviderAddr {
        hostname,
        ..address.clone()
    })
}

impl ProviderLock {
    fn without_hashes(&self) -> Self {
        Self {
            version: self.version.clone(),
            constraints: self.constraints.clone(),
            hashes: BTreeSet::new(),
        }
    }
}

#[cfg(test)]
mod test_locks;

#[cfg(test)]
mod tests {
    use super::test_locks::{address, locks};
    use super::*;

    #[test]
    fn terraforms_own_entries_get_twins() {
        let mut locks = locks(&[
            (
                "registry.terraform.io/hashicorp/aws",
                "1.0.0",
                ">= 1.0.0",
                "h1:a",
            ),
            ("registry.terraform.io/hashicorp/null", "2.0.0", "", "h1:b"),
            ("registry.opentofu.org/hashicorp/null", "3.0.0", "", "h1:c"), // already there, whatever its version
            ("registry.terraform.io/acme/aws", "1.0.0", "", "h1:d"),       // another namespace
            ("registry.terraform.io:8443/hashicorp/tls", "1.0.0", "", ""), // another port
            ("example.com/hashicorp/tls", "1.0.0", "", ""),
        ]);
        let before = locks.clone();
        let twin = address("registry.opentofu.org/hashicorp/aws");
        assert_eq!(locks.add_twins(), std::slice::from_ref(&twin));
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
        assert_eq!(locks.add_twins().len(), 1);
        let once = locks.clone();
        assert_eq!(locks.add_twins(), []);
        assert_eq!(locks, once);
    }
}
