//! The dependency lock file `.terraform.lock.hcl`.
//!
//! ```text
//! bytes -> parse -> Locks -> render -> bytes -> save
//!                     `----> changes, diff
//! ```
//!
//! [`Locks`] is the content of a lock file: versions and hashes, without layout. It has one rendering per engine. As in Terraform
//! and OpenTofu, parsing is strict: any value that is not in normal form is an error. Rendering starts from an empty file, so
//! comments and the order of the old file are lost, as they are with Terraform and OpenTofu.

mod changes;
mod diff;
mod directory_lock;
mod error;
mod parse;
mod read;
mod render;
mod save;
mod temporary;

use std::collections::{BTreeMap, BTreeSet};

pub use changes::{Change, LockChanges, Update};
pub use diff::unified_diff;
pub use error::{ParseError, ParseProblem, SaveError};
pub use parse::{LockFile, ModuleBlocks, parse};
pub use read::read;
pub use save::{Saved, save};
pub use temporary::clean_stale;

use crate::provider::{Engine, Hash, Hostname, ProviderAddr, Version, VersionConstraints};

/// The name of the lock file of a directory whose engine is not known yet. Otherwise, use [`Engine::lock_file_name`].
pub const FILE_NAME: &str = Engine::Terraform.lock_file_name();

/// Whether this is the name of the lock file of any engine.
pub fn is_lock_file(name: &str) -> bool {
    let engines = [Engine::Terraform, Engine::Tofu];
    engines.iter().any(|engine| engine.lock_file_name() == name)
}

/// The content of a lock file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Locks {
    /// By address, in the order of the file.
    pub providers: BTreeMap<ProviderAddr, ProviderLock>,
}

/// The entry of a provider in a lock file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ProviderLock {
    pub version: Version,
    /// The constraints of the configuration when the version was selected.
    pub constraints: VersionConstraints,
    /// The hashes of acceptable packages, for all platforms together.
    pub hashes: BTreeSet<Hash>,
}

/// The namespace of the lock file entries that OpenTofu copies from the host of Terraform's registry to that of its own registry.
const TWIN_NAMESPACE: &str = "hashicorp";

impl Locks {
    /// Adds the entries that OpenTofu adds after parsing a lock file: every entry for `registry.terraform.io/hashicorp/X` gets
    /// a twin for `registry.opentofu.org/hashicorp/X` with the same version and constraints but without hashes, unless that
    /// entry already exists or `is_kept` is false for the original. Returns the added addresses.
    pub fn add_twins(
        &mut self,
        is_kept: impl Fn(&ProviderAddr, &ProviderLock) -> bool,
    ) -> Vec<ProviderAddr> {
        let twins: Vec<_> = self
            .providers
            .iter()
            .filter_map(|(address, lock)| Some((twin(address)?, address, lock)))
            .filter(|(twin, _, _)| !self.providers.contains_key(twin))
            .filter(|(_, address, lock)| is_kept(address, lock))
            .map(|(twin, _, lock)| (twin, lock.without_hashes()))
            .collect();
        let added = twins.iter().map(|(address, _)| address.clone()).collect();
        self.providers.extend(twins);
        added
    }
}

/// Returns the address of the twin that [`Locks::add_twins`] adds for an entry, or `None` if it adds none.
fn twin(address: &ProviderAddr) -> Option<ProviderAddr> {
    counterpart(address, Engine::Terraform, Engine::Tofu)
}

/// Returns the address of the entry for which [`Locks::add_twins`] adds `address`, or `None` if it never adds that address.
pub fn original_of_twin(address: &ProviderAddr) -> Option<ProviderAddr> {
    counterpart(address, Engine::Tofu, Engine::Terraform)
}

fn counterpart(address: &ProviderAddr, from: Engine, to: Engine) -> Option<ProviderAddr> {
    let eligible =
        address.hostname.as_ascii() == from.default_host() && address.namespace == TWIN_NAMESPACE;
    let hostname = Hostname::parse(to.default_host()).ok()?;
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
mod tests;
