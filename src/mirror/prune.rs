//! Removes packages that no lock file needs.
//!
//! Unneeded packages first leave the index, so that clients of the network mirror no longer request them. Then each package is
//! moved out of the directory by a rename, so that it is never visible half removed. Finally, empty directories are removed.
//!
//! An `init` that walks the directory fails if a name that it has listed is gone when it opens it. This cannot be ruled out, but
//! it is unlikely: the time between listing and opening a name is short, and once a package is gone, nothing else in its
//! directory changes.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use super::directory::{MirrorDirectory, is_absence};
use super::error::MirrorError;
use super::listing::{ListedPackage, list};
use super::writer::Mirror;
use crate::provider::{Hostname, ProviderAddr, Version};

/// The versions that lock files need. They are compared case-insensitively, like the names of zips.
#[derive(Clone, Debug, Default)]
pub struct NeededVersions(BTreeSet<(ProviderAddr, String)>);

impl NeededVersions {
    pub fn add(&mut self, provider: &ProviderAddr, version: &Version) {
        self.0.insert(key(provider, version));
    }

    fn has(&self, listed: &ListedPackage) -> bool {
        self.0
            .contains(&key(&listed.id.provider, &listed.id.version))
    }
}

fn key(provider: &ProviderAddr, version: &Version) -> (ProviderAddr, String) {
    (provider.clone(), version.to_string().to_lowercase())
}

/// The packages that may be pruned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PruneScope {
    /// Only packages from these hosts.
    Hosts(BTreeSet<Hostname>),
    All,
}

impl MirrorDirectory {
    /// Lists the packages in `scope` that are not needed, in both layouts.
    pub fn unneeded(
        &self,
        needed: &NeededVersions,
        scope: &PruneScope,
    ) -> Result<Vec<ListedPackage>, MirrorError> {
        let listed = match list(self.base()) {
            Err(error) if is_absence(&error) => Vec::new(),
            listed => listed.map_err(MirrorError::read(self.base()))?,
        };
        let is_in_scope = |listed: &ListedPackage| match scope {
            PruneScope::All => true,
            PruneScope::Hosts(hosts) => hosts.contains(&listed.id.provider.hostname),
        };
        Ok(listed
            .into_iter()
            .filter(|listed| is_in_scope(listed) && !needed.has(listed))
            .collect())
    }
}

impl Mirror {
    /// Removes packages that are no longer in the index.
    pub fn remove(&self, doomed: &[ListedPackage]) -> Result<(), MirrorError> {
        for ListedPackage { package, .. } in doomed {
            let path = package.path();
            let failed = |error| MirrorError::write(path)(error);
            let (_directory, aside) = self.staging().free_name().map_err(failed)?;
            match fs::rename(path, &aside) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                renamed => renamed.map_err(failed)?,
            }
            remove_empty(path, self.directory().base());
        }
        Ok(())
    }
}

/// Removes empty directories above `path`, but not `base` or its parents.
fn remove_empty(path: &Path, base: &Path) {
    let above = path.ancestors().skip(1);
    for directory in above.take_while(|directory| *directory != base) {
        if fs::remove_dir(directory).is_err() {
            return;
        }
    }
}
