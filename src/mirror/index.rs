//! Writes the index files of a network mirror ([`super::index_files`]).
//!
//! `terraform providers mirror` and `tofu providers mirror` list all zips in the directory, regardless of which process wrote them.
//! They differ in the hashes. Terraform publishes the `h1` of the zip's entries. OpenTofu publishes the `zh` of what it downloaded
//! in that run, and the `h1` if the registry reported it; for all other zips, the `h1` of the entries. tflock does not reproduce
//! one bug: OpenTofu 1.12.6 publishes the `zh` of the version that it downloaded last for every other version of that provider on
//! the same platform, and then rejects its own mirror.
//!
//! For zips that the run does not need, tflock keeps the hash of the existing index file, unless the zip is newer. If such a zip is
//! damaged, both tools reject it because of that hash; a new hash would make the damaged zip look correct.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::directory::with_causes;
use super::error::MirrorError;
use super::index_files::{
    Archive, IS_LINK, IndexFile, OldVersionFiles, VersionFile, ZipStamp, index_path, read_file,
    to_json, version_path,
};
use super::listing::{ListedPackage, LocalPackage, file_name, list_provider, providers};
use super::writer::Mirror;
use crate::access::open_regular;
use crate::package::{Limits, hash_archive};
use crate::provider::{Hash, ProviderAddr, Version};
use crate::temporary_file::rename;

/// The hashes to publish, by the path of the package. Contains the packages that this run stored or found intact.
pub type PublishedHashes = BTreeMap<PathBuf, BTreeSet<Hash>>;

/// A damaged zip that is left out of the index. No lock file needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlistedZip {
    pub path: PathBuf,
    pub problem: String,
}

/// The maximum number of times to write the index. It is written again if other processes have added packages in the meantime.
const ATTEMPTS: usize = 100;

impl Mirror {
    /// Writes the index files that have changed, of all providers. Leaves out the packages in `doomed`, which are about to be
    /// removed, and damaged zips. Returns the damaged zips.
    pub fn write_index(
        &self,
        published: &PublishedHashes,
        doomed: &[ListedPackage],
    ) -> Result<Vec<UnlistedZip>, MirrorError> {
        let base = self.directory().base();
        let mut unlisted = Vec::new();
        for (provider, directory) in providers(base).map_err(MirrorError::read(base))? {
            let doomed = doomed
                .iter()
                .filter(|listed| listed.id.provider == provider);
            let mut indexer = Indexer {
                mirror: self,
                provider: &provider,
                directory: &directory,
                published,
                doomed: doomed.collect(),
                known: BTreeMap::new(),
            };
            unlisted.extend(indexer.run()?);
        }
        Ok(unlisted)
    }
}

struct Indexer<'a> {
    mirror: &'a Mirror,
    provider: &'a ProviderAddr,
    directory: &'a Path,
    published: &'a PublishedHashes,
    doomed: Vec<&'a ListedPackage>,
    /// Hashes from earlier attempts.
    known: BTreeMap<ZipStamp, Result<Hash, String>>,
}

impl Indexer<'_> {
    /// Writes until the index matches the directory. Every process reads the directory again after writing, so the last writer has
    /// seen all packages.
    fn run(&mut self) -> Result<Vec<UnlistedZip>, MirrorError> {
        for _ in 0..ATTEMPTS {
            let zips = self.zips()?;
            let unlisted = self.write(&zips)?;
            if self.zips()? == zips {
                return Ok(unlisted);
            }
        }
        let path = self.directory.to_path_buf();
        Err(MirrorError::KeepsChanging { path })
    }

    fn zips(&self) -> Result<Vec<(ListedPackage, ZipStamp)>, MirrorError> {
        let listed = list_provider(self.provider, self.directory)
            .map_err(MirrorError::read(self.directory))?;
        let stays = |listed: &ListedPackage| !self.doomed.contains(&listed);
        let zips = listed.into_iter().filter(stays).filter_map(|listed| {
            let LocalPackage::Zip(path) = &listed.package else {
                return None;
            };
            // If this fails, another process has removed the zip.
            let metadata = fs::metadata(path).ok()?;
            let stamp = ZipStamp {
                path: path.clone(),
                size: metadata.len(),
                modified: metadata.modified().ok(),
            };
            Some((listed, stamp))
        });
        Ok(zips.collect())
    }

    fn write(
        &mut self,
        zips: &[(ListedPackage, ZipStamp)],
    ) -> Result<Vec<UnlistedZip>, MirrorError> {
        let mut versions: BTreeMap<String, (Version, VersionFile)> = BTreeMap::new();
        let mut unlisted = Vec::new();
        let mut files = OldVersionFiles::new(self.directory);
        for (listed, stamp) in zips {
            let (path, id) = (&stamp.path, &listed.id);
            let hashes = match self.hashes(listed, stamp, &mut files) {
                Ok(hashes) => hashes.iter().map(Hash::to_string).collect(),
                Err(problem) => {
                    let path = path.clone();
                    unlisted.push(UnlistedZip { path, problem });
                    continue;
                }
            };
            let url = file_name(path);
            let file = versions.entry(id.version.to_string());
            let (_, file) = file.or_insert_with(|| (id.version.clone(), VersionFile::default()));
            let platform = id.platform.to_string();
            file.archives.insert(platform, Archive { hashes, url });
        }
        if !zips.is_empty() {
            let index = IndexFile {
                versions: versions
                    .keys()
                    .map(|key| (key.clone(), serde_json::Map::new()))
                    .collect(),
            };
            // Version files are written before the index, because a version in the index must have its file.
            for (version, file) in versions.values() {
                self.save(&version_path(self.directory, version), file)?;
            }
            self.save(&index_path(self.directory), &index)?;
        } else if !self.doomed.is_empty() {
            remove(&index_path(self.directory))?;
        }
        for doomed in &self.doomed {
            if !versions.contains_key(&doomed.id.version.to_string()) {
                remove(&version_path(self.directory, &doomed.id.version))?;
            }
        }
        Ok(unlisted)
    }

    fn hashes(
        &mut self,
        listed: &ListedPackage,
        stamp: &ZipStamp,
        files: &mut OldVersionFiles<'_>,
    ) -> Result<BTreeSet<Hash>, String> {
        let checked = self.mirror.directory().check_no_links(&stamp.path);
        checked.map_err(|_link| IS_LINK.to_owned())?;
        if let Some(hashes) = self.published.get(&stamp.path) {
            return Ok(hashes.clone());
        }
        if let Some(hash) = files.h1(listed, stamp) {
            return Ok(BTreeSet::from([hash]));
        }
        let hashed = self.known.entry(stamp.clone()).or_insert_with(|| {
            let file = open_regular(&stamp.path).map_err(|error| with_causes(&error))?;
            let type_name = &listed.id.provider.type_name;
            let hashes = hash_archive(&file, type_name, &Limits::default())
                .map_err(|error| with_causes(&error))?;
            Ok(hashes.zip_h1.unwrap_or_else(|| Hash::zh(hashes.zh)))
        });
        hashed.clone().map(|hash| BTreeSet::from([hash]))
    }

    /// Writes a file, unless it already has this content.
    fn save(&self, path: &Path, document: &impl Serialize) -> Result<(), MirrorError> {
        self.mirror.directory().check_no_links(path)?;
        let text = to_json(document);
        if read_file(path).is_ok_and(|old| old == text.as_bytes()) {
            return Ok(());
        }
        let write = || -> io::Result<()> {
            let mut file = self.mirror.staging().file()?;
            file.write_all(text.as_bytes())?;
            rename(file.into_temp_path(), path)
        };
        write().map_err(MirrorError::write(path))
    }
}

fn remove(path: &Path) -> Result<(), MirrorError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(MirrorError::write(path)(error))
        }
        _ => Ok(()),
    }
}
