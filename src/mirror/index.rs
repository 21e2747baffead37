//! The index files of a network mirror: which versions there are, and for each its archives with their hashes.
//!
//! ```text
//! index.json      {"versions": {"1.0.0": {}}}
//! VERSION.json    {"archives": {"linux_amd64": {"hashes": ["h1:..."], "url": "terraform-provider-..."}}}
//! ```
//!
//! Indented by two spaces, keys sorted, no final newline, as `terraform providers mirror` and `tofu providers mirror` write
//! them. Both make them from all zips in the directory, whoever has put them there. They differ in the hashes: Terraform
//! gives the `h1` of the zip's entries, OpenTofu the `zh` of what it has downloaded in that run (and the `h1` if the registry
//! has told it), and Terraform's for all else. One thing is not copied: OpenTofu 1.12.6 gives the `zh` of the version that it
//! has just downloaded to every other version of that provider for the same platform, and then refuses its own mirror.
//!
//! For zips that a run does not need, the hash is taken from the file that is there, unless the zip is newer: should the zip
//! have changed all the same, both tools refuse it, while a new hash would make a damaged package look right.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::directory::{MirrorDirectory, with_causes};
use super::error::MirrorError;
use super::listing::{ListedPackage, LocalPackage, list_provider, providers};
use super::writer::Mirror;
use crate::access::open_regular;
use crate::owner::rename;
use crate::package::{Limits, hash_archive};
use crate::provider::{Hash, HashScheme, PackageId, ProviderAddr, Version};

/// The hashes to publish of the packages of this run, by where they lie.
pub type PublishedHashes = BTreeMap<PathBuf, BTreeSet<Hash>>;

/// A zip that cannot be in the index: nobody needs it, and it is damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnlistedZip {
    /// The zip.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: String,
}

#[derive(Debug, Deserialize, Serialize)]
struct IndexFile {
    /// Nothing is said of a version here.
    versions: BTreeMap<String, serde_json::Map<String, serde_json::Value>>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
struct VersionFile {
    archives: BTreeMap<String, Archive>,
}

#[derive(Debug, Deserialize, Serialize)]
struct Archive {
    hashes: Vec<String>,
    url: String,
}

/// How often a directory is looked at again because somebody has changed it meanwhile. Each time that is one package of
/// another process, which has taken its time to arrive.
const ATTEMPTS: usize = 100;

/// A larger index file is not read. A version of a thousand platforms has 300 KB.
const MAX_FILE_SIZE: u64 = 64 << 20;

/// Why a file of the mirror is not read.
const IS_LINK: &str = "it is a link";

/// What tells that a zip is another one now.
type Stamp = (PathBuf, u64, Option<SystemTime>);

impl Mirror {
    /// Brings the index files of all providers up to date, without the packages that are about to go.
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

/// Writes the index of one provider.
struct Indexer<'a> {
    mirror: &'a Mirror,
    provider: &'a ProviderAddr,
    directory: &'a Path,
    published: &'a PublishedHashes,
    doomed: Vec<&'a ListedPackage>,
    /// What was hashed before somebody changed the directory.
    known: BTreeMap<Stamp, Result<Hash, String>>,
}

impl Indexer<'_> {
    /// Writes until what was written is about what is there: then no entry of another process can be lost, since each looks
    /// after it has written.
    fn run(&mut self) -> Result<Vec<UnlistedZip>, MirrorError> {
        for _ in 0..ATTEMPTS {
            let zips = self.zips()?;
            let unlisted = self.write(&zips)?;
            let stamps = |zips: &[(ListedPackage, Stamp)]| -> Vec<Stamp> {
                zips.iter().map(|(_, stamp)| stamp.clone()).collect()
            };
            if stamps(&self.zips()?) == stamps(&zips) {
                return Ok(unlisted);
            }
        }
        let path = self.directory.to_path_buf();
        Err(MirrorError::Restless { path })
    }

    /// The zips that are to be in the index.
    fn zips(&self) -> Result<Vec<(ListedPackage, Stamp)>, MirrorError> {
        let listed = list_provider(self.provider, self.directory)
            .map_err(MirrorError::read(self.directory))?;
        let stays = |listed: &ListedPackage| !self.doomed.contains(&listed);
        let zips = listed.into_iter().filter(stays).filter_map(|listed| {
            let LocalPackage::Zip(path) = &listed.package else {
                return None;
            };
            // What cannot be looked at any more is gone.
            let found = fs::metadata(path).ok()?;
            let stamp = (path.clone(), found.len(), found.modified().ok());
            Some((listed, stamp))
        });
        Ok(zips.collect())
    }

    fn write(&mut self, zips: &[(ListedPackage, Stamp)]) -> Result<Vec<UnlistedZip>, MirrorError> {
        let mut versions: BTreeMap<String, (Version, VersionFile)> = BTreeMap::new();
        let mut unlisted = Vec::new();
        let mut files = OldFiles::new(self.directory);
        for (listed, stamp) in zips {
            let (path, id) = (&stamp.0, &listed.id);
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
            // A version that is in the index must have its file already.
            for (version, file) in versions.values() {
                self.save(
                    &MirrorDirectory::version_file(self.directory, version),
                    file,
                )?;
            }
            self.save(&MirrorDirectory::index_file(self.directory), &index)?;
        } else if !self.doomed.is_empty() {
            remove(&MirrorDirectory::index_file(self.directory))?;
        }
        for doomed in &self.doomed {
            if !versions.contains_key(&doomed.id.version.to_string()) {
                remove(&MirrorDirectory::version_file(
                    self.directory,
                    &doomed.id.version,
                ))?;
            }
        }
        Ok(unlisted)
    }

    /// What is published of a zip.
    fn hashes(
        &mut self,
        listed: &ListedPackage,
        stamp: &Stamp,
        files: &mut OldFiles<'_>,
    ) -> Result<BTreeSet<Hash>, String> {
        let checked = self.mirror.directory().check_no_links(&stamp.0);
        checked.map_err(|_link| IS_LINK.to_owned())?;
        if let Some(hashes) = self.published.get(&stamp.0) {
            return Ok(hashes.clone());
        }
        if let Some(hash) = files.h1(listed, stamp) {
            return Ok(BTreeSet::from([hash]));
        }
        let hashed = self.known.entry(stamp.clone()).or_insert_with(|| {
            let file = open_regular(&stamp.0).map_err(|error| with_causes(&error))?;
            let type_name = &listed.id.provider.type_name;
            let hashes = hash_archive(&file, type_name, &Limits::default())
                .map_err(|error| with_causes(&error))?;
            Ok(hashes.zip_h1.unwrap_or_else(|| Hash::zh(hashes.zh)))
        });
        hashed.clone().map(|hash| BTreeSet::from([hash]))
    }

    /// Replaces a file, unless it is as it should be.
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

/// The version files that are there already, each read once.
struct OldFiles<'a> {
    directory: &'a Path,
    read: BTreeMap<String, Option<(VersionFile, SystemTime)>>,
}

impl<'a> OldFiles<'a> {
    const fn new(directory: &'a Path) -> Self {
        let read = BTreeMap::new();
        Self { directory, read }
    }

    /// The `h1` of a zip as it was written down after the zip was there.
    fn h1(&mut self, listed: &ListedPackage, (path, _, modified): &Stamp) -> Option<Hash> {
        let version = &listed.id.version;
        let read = || {
            let path = MirrorDirectory::version_file(self.directory, version);
            let written = fs::metadata(&path).ok()?.modified().ok()?;
            Some((read_version(&path).ok()?, written))
        };
        let file = self.read.entry(version.to_string()).or_insert_with(read);
        let (file, written) = file.as_ref()?;
        let archive = file.archives.get(&listed.id.platform.to_string())?;
        if archive.url != file_name(path) || modified.as_ref()? > written {
            return None;
        }
        let hashes = archive
            .hashes
            .iter()
            .filter_map(|text| Hash::parse(text).ok());
        let mut h1 = hashes.filter(|hash| hash.scheme() == HashScheme::H1);
        h1.next().filter(|_| h1.next().is_none())
    }
}

impl MirrorDirectory {
    /// The hashes that the index files publish of a package, or what keeps a network mirror's reader from finding it.
    pub fn published(&self, id: &PackageId) -> Result<Vec<Hash>, String> {
        let directory = self.provider(&id.provider);
        let index: IndexFile = read_json(&Self::index_file(&directory))?;
        let (version, platform) = (id.version.to_string(), id.platform.to_string());
        if !index.versions.contains_key(&version) {
            return Err(format!("`index.json` does not list {version}"));
        }
        let file = read_version(&Self::version_file(&directory, &id.version))?;
        let Some(archive) = file.archives.get(&platform) else {
            return Err(format!("`{version}.json` does not list `{platform}`"));
        };
        if archive.url != file_name(&self.package_path(id)) {
            return Err(format!(
                "`{version}.json` names another file for `{platform}`"
            ));
        }
        let hashes = archive.hashes.iter().map(|text| Hash::parse(text));
        let hashes: Result<_, _> = hashes.collect();
        hashes.map_err(|_no_scheme| format!("`{version}.json` has what is no hash"))
    }
}

fn read_version(path: &Path) -> Result<VersionFile, String> {
    read_json(path)
}

/// Reads a small file that somebody may have changed, or what keeps it from being read.
fn read_json<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<T, String> {
    let name = file_name(path);
    if fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink()) {
        return Err(format!("cannot read `{name}`: {IS_LINK}"));
    }
    let bytes = match read_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(format!("there is no `{name}`"));
        }
        bytes => bytes.map_err(|error| format!("cannot read `{name}`: {error}"))?,
    };
    serde_json::from_slice(&bytes).map_err(|error| format!("cannot read `{name}`: {error}"))
}

/// The content of a regular file, up to a limit.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open_regular(path)?;
    if file.take(MAX_FILE_SIZE + 1).read_to_end(&mut bytes)? as u64 > MAX_FILE_SIZE {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// As Go writes it: with three characters of HTML, and two that older JavaScript does not take, escaped.
fn to_json(document: &impl Serialize) -> String {
    let mut text =
        serde_json::to_string_pretty(document).expect("maps with texts as keys can be written");
    for (char, escaped) in [
        ('<', "\\u003c"),
        ('>', "\\u003e"),
        ('&', "\\u0026"),
        ('\u{2028}', "\\u2028"),
        ('\u{2029}', "\\u2029"),
    ] {
        if text.contains(char) {
            text = text.replace(char, escaped);
        }
    }
    text
}

fn remove(path: &Path) -> Result<(), MirrorError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(MirrorError::write(path)(error))
        }
        _ => Ok(()),
    }
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    name.to_string_lossy().into_owned()
}
