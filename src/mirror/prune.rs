//! What nobody needs disappears.
//!
//! First from the index, so that no reader of a network mirror is sent to it any more; then each package by one rename out
//! of the directory, so that none is ever seen half removed; then the directories that are empty now.
//!
//! A reader that walks through the directory fails if a name that it has just read is gone when it looks closer. Nobody can
//! know that a reader has read a name, but the time between the two is short, and after a package has gone nothing else in
//! its directory changes.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use super::directory::{MirrorDirectory, is_absence};
use super::error::MirrorError;
use super::listing::{ListedPackage, list};
use super::writer::Mirror;
use crate::provider::{Hostname, ProviderAddr, Version};

/// The versions that are needed. Names of zips count in any case, and so do versions here.
#[derive(Clone, Debug, Default)]
pub struct NeededVersions(BTreeSet<(ProviderAddr, String)>);

impl NeededVersions {
    /// Adds a version.
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

/// Which packages may go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PruneScope {
    /// Those on these hosts. What others have put there from elsewhere stays.
    Hosts(BTreeSet<Hostname>),
    /// All.
    All,
}

impl MirrorDirectory {
    /// The packages within reach that are not needed, in both layouts.
    pub fn unneeded(
        &self,
        needed: &NeededVersions,
        reach: &PruneScope,
    ) -> Result<Vec<ListedPackage>, MirrorError> {
        let listed = match list(self.base()) {
            Err(error) if is_absence(&error) => Vec::new(),
            listed => listed.map_err(MirrorError::read(self.base()))?,
        };
        let within = |listed: &ListedPackage| match reach {
            PruneScope::All => true,
            PruneScope::Hosts(hosts) => hosts.contains(&listed.id.provider.hostname),
        };
        let unneeded = listed.into_iter();
        Ok(unneeded
            .filter(|listed| within(listed) && !needed.has(listed))
            .collect())
    }
}

impl Mirror {
    /// Removes packages that are in no index any more.
    pub fn remove(&self, doomed: &[ListedPackage]) -> Result<(), MirrorError> {
        for ListedPackage { package, .. } in doomed {
            let path = package.path();
            let failed = |error| MirrorError::write(path)(error);
            let (_room, aside) = self.staging().free_name().map_err(failed)?;
            match fs::rename(path, &aside) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                renamed => renamed.map_err(failed)?,
            }
            remove_empty(path, self.directory().base());
        }
        Ok(())
    }
}

/// Removes the directories above `path` that are empty, up to `base`. One to which somebody has just added something is not.
fn remove_empty(path: &Path, base: &Path) {
    let above = path.ancestors().skip(1);
    for directory in above.take_while(|directory| *directory != base) {
        if fs::remove_dir(directory).is_err() {
            return;
        }
    }
}
