//! The index files of a network mirror: a list of versions, and a list of packages for each version.
//!
//! ```text
//! index.json      {"versions": {"1.0.0": {}}}
//! VERSION.json    {"archives": {"linux_amd64": {"hashes": ["h1:..."], "url": "terraform-provider-..."}}}
//! ```
//!
//! The format is that of `terraform providers mirror` and `tofu providers mirror`: indented by two spaces, with sorted keys and
//! without a final newline.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use super::directory::MirrorDirectory;
use super::listing::{ListedPackage, file_name};
use crate::access::open_regular;
use crate::provider::{Hash, HashScheme, PackageId, Version};

/// The maximum size of an index file in bytes. A version with a thousand platforms takes 300 KB.
const MAX_FILE_SIZE: u64 = 64 << 20;

/// The reason why a symlink in the mirror is not read.
pub(super) const IS_LINK: &str = "it is a symlink";

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct IndexFile {
    /// Each version maps to an empty object.
    pub(super) versions: BTreeMap<String, serde_json::Map<String, serde_json::Value>>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
pub(super) struct VersionFile {
    pub(super) archives: BTreeMap<String, Archive>,
}

#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Archive {
    pub(super) hashes: Vec<String>,
    /// The URL of the package, relative to `VERSION.json`.
    pub(super) url: String,
}

/// Returns the path of the version list in the directory of a provider.
pub(super) fn index_path(directory: &Path) -> PathBuf {
    directory.join("index.json")
}

/// Returns the path of a version's package list in the directory of a provider.
pub(super) fn version_path(directory: &Path, version: &Version) -> PathBuf {
    directory.join(format!("{version}.json"))
}

/// Identifies the content of a zip: if the content changes, at least one of these fields changes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ZipStamp {
    pub(super) path: PathBuf,
    /// The size in bytes.
    pub(super) size: u64,
    pub(super) modified: Option<SystemTime>,
}

/// The version files of earlier runs, each read once.
pub(super) struct OldVersionFiles<'a> {
    directory: &'a Path,
    read: BTreeMap<String, Option<(VersionFile, SystemTime)>>,
}

impl<'a> OldVersionFiles<'a> {
    pub(super) const fn new(directory: &'a Path) -> Self {
        let read = BTreeMap::new();
        Self { directory, read }
    }

    /// Returns the `h1` that an earlier run recorded for a zip; `None` if the zip was modified after that.
    pub(super) fn h1(&mut self, listed: &ListedPackage, zip: &ZipStamp) -> Option<Hash> {
        let version = &listed.id.version;
        let read = || {
            let path = version_path(self.directory, version);
            let written = fs::metadata(&path).ok()?.modified().ok()?;
            Some((read_json(&path).ok()?, written))
        };
        let file = self.read.entry(version.to_string()).or_insert_with(read);
        let (file, written) = file.as_ref()?;
        let archive = file.archives.get(&listed.id.platform.to_string())?;
        if archive.url != file_name(&zip.path) || zip.modified? > *written {
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
    /// Returns the hashes that the index files list for a package. The error says why a client of the mirror would not find the package.
    pub fn published(&self, id: &PackageId) -> Result<Vec<Hash>, String> {
        let directory = self.provider_path(&id.provider);
        let index: IndexFile = read_json(&index_path(&directory))?;
        let (version, platform) = (id.version.to_string(), id.platform.to_string());
        if !index.versions.contains_key(&version) {
            return Err(format!("`index.json` does not list {version}"));
        }
        let file: VersionFile = read_json(&version_path(&directory, &id.version))?;
        let Some(archive) = file.archives.get(&platform) else {
            return Err(format!("`{version}.json` does not list `{platform}`"));
        };
        if archive.url != file_name(&self.package_path(id)) {
            return Err(format!(
                "`{version}.json` names a different file for `{platform}`"
            ));
        }
        let hashes: Result<_, _> = archive
            .hashes
            .iter()
            .map(|text| Hash::parse(text))
            .collect();
        hashes.map_err(|_no_scheme| format!("`{version}.json` has an invalid hash"))
    }
}

/// Parses an index file. The error is a phrase that names the file and the reason.
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

/// Reads a regular file that is not larger than [`MAX_FILE_SIZE`].
pub(super) fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = open_regular(path)?;
    if file.take(MAX_FILE_SIZE + 1).read_to_end(&mut bytes)? as u64 > MAX_FILE_SIZE {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    Ok(bytes)
}

/// Serializes a document as Go does: `<`, `>`, `&` and the two Unicode line separators are escaped.
pub(super) fn to_json(document: &impl Serialize) -> String {
    let mut text =
        serde_json::to_string_pretty(document).expect("maps with string keys can be serialized");
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
