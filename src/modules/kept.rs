//! Packages in the disk cache, for later runs.
//!
//! | entry | question | content |
//! | --- | --- | --- |
//! | a package | address and commit of a repository; checksum of an archive; registry module and version | its files |
//! | a commit | address of a repository and `ref` | the commit that it was, the last time somebody looked |
//! | an arrival | address of an archive | the checksum that it had, and the server's stamp by which to ask whether it still has it |
//! | versions | registry module | the list, for runs without a network |
//! | a location | registry module and version | where the registry said that it is, unless that may hold a secret |
//! | what was chosen | directory of a root module | see `chosen` |
//!
//! What a commit, a checksum or a version names never changes. A branch or tag is looked up in its repository before what is
//! kept for it is used. So is an archive without a checksum on its server, if that server gave it an entity tag or a date;
//! archives without either are not kept.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::cache::{Bounds, Key, Kind, Store};
use crate::provider::ModuleVersion;
use crate::redacted_url::RedactedUrl;
use crate::registry::{ModuleId, ModuleLocation, ModuleVersions, Stamp};

use super::address::{ArchiveKind, ArchivePackage, GitPackage};
use super::checksum::Checksum;
use super::error::ModuleError;
use super::links;

/// What fetched modules may take on disk. Those of the largest monorepos take some hundred megabytes.
const MAX_KEPT_BYTES: u64 = 2 << 30;

/// How long they are kept; what is still called by then is fetched again.
const MAX_KEPT_AGE: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// The files of a package, in its entry; beside them lies [`INDEX`].
const PACKAGE: &str = "package";

/// Names and sizes of these files: a crash may have left less.
const INDEX: &str = "index";

/// What is kept of earlier runs. Without a store it knows nothing and keeps nothing.
#[derive(Debug, Default)]
pub(super) struct Kept {
    store: Option<Arc<Store>>,
    /// Do not believe what may have changed.
    refresh: bool,
    has_more: AtomicBool,
}

/// What the address of an archive led to.
pub(super) struct Arrival {
    /// Of its bytes.
    pub(super) checksum: Checksum,
    /// By what its server can be asked whether it still has them, if that is to be believed.
    pub(super) stamp: Option<Stamp>,
}

/// Where the next package is put together.
pub(super) struct Place {
    /// Its directory: the parent exists and is a real path, it itself does not exist.
    pub(super) target: PathBuf,
    staged: Option<TempDir>,
}

impl Place {
    /// A place that is not in the cache.
    pub(super) const fn outside(target: PathBuf) -> Self {
        Self {
            target,
            staged: None,
        }
    }

    /// The directory that it will be in, where there is room for what it is made from.
    pub(super) fn directory(&self) -> &Path {
        self.target.parent().unwrap_or(&self.target)
    }
}

impl Kept {
    pub(super) fn new(store: Arc<Store>, refresh: bool) -> Self {
        Self {
            store: Some(store),
            refresh,
            has_more: AtomicBool::new(false),
        }
    }

    /// The package of this key, if it is there and whole.
    pub(super) fn find(&self, key: &Key, address: &RedactedUrl) -> Option<PathBuf> {
        let store = self.store.as_ref()?;
        let entry = store.find(key)?;
        let sound = || -> io::Result<PathBuf> {
            let package = fs::canonicalize(entry.join(PACKAGE))?;
            if fs::read_to_string(entry.join(INDEX))? != index(&package)? {
                return Err(io::ErrorKind::InvalidData.into());
            }
            Ok(package)
        };
        // Other entries may have come since to where a link leads.
        let confined = |package: &PathBuf| links::confine(package, address).is_ok();
        let found = sound().ok().filter(confined);
        if found.is_none() {
            // Whatever is left of it is in the way of a new one. If it cannot be removed, nothing is kept: no harm done.
            let _ = store.remove(key);
        }
        found
    }

    /// A place in the cache, if there is one.
    pub(super) fn place(&self) -> Option<Place> {
        let staged = self.store.as_ref()?.stage(Kind::Modules).ok()?;
        let target = fs::canonicalize(staged.path()).ok()?.join(PACKAGE);
        Some(Place {
            target,
            staged: Some(staged),
        })
    }

    /// Keeps what was put together, and says where it is now.
    pub(super) fn keep(&self, key: &Key, place: Place) -> Result<PathBuf, ModuleError> {
        let (Some(store), Some(staged)) = (&self.store, place.staged) else {
            return Ok(place.target);
        };
        let keep = || -> io::Result<PathBuf> {
            fs::write(staged.path().join(INDEX), index(&place.target)?)?;
            let entry = store.adopt(key, staged)?;
            fs::canonicalize(entry.join(PACKAGE))
        };
        self.has_more.store(true, Ordering::Relaxed);
        keep().map_err(|source| ModuleError::Disk {
            path: place.target.clone(),
            source,
        })
    }

    /// Removes what is too old or too much, if this run has added to it.
    pub(super) fn tidy(&self, now: SystemTime) {
        let Some(store) = &self.store else { return };
        if self.has_more.load(Ordering::Relaxed) {
            let since = now.checked_sub(MAX_KEPT_AGE);
            let bounds = Bounds {
                since: since.unwrap_or(SystemTime::UNIX_EPOCH),
                bytes: MAX_KEPT_BYTES,
            };
            // What cannot be removed today is removed by another run.
            let _ = store.trim(Kind::Modules, &bounds);
        }
    }

    /// The commit that a branch or tag was.
    pub(super) fn commit(&self, repository: &GitPackage) -> Option<String> {
        self.text(&commit_key(repository))
    }

    /// Remembers it.
    pub(super) fn note_commit(&self, repository: &GitPackage, commit: &str) {
        self.write(&commit_key(repository), commit);
    }

    /// The archive that an address led to.
    pub(super) fn arrival(&self, archive: &ArchivePackage) -> Option<Arrival> {
        let text = self.text(&arrival_key(archive))?;
        let (checksum, stamp) = text.split_once('\n')?;
        Some(Arrival {
            checksum: Checksum::parse(checksum).ok()?,
            stamp: Stamp::parse(stamp).filter(|_| !self.refresh),
        })
    }

    /// Remembers it.
    pub(super) fn note_arrival(
        &self,
        archive: &ArchivePackage,
        checksum: &Checksum,
        stamp: &Stamp,
    ) {
        self.write(&arrival_key(archive), &format!("{checksum}\n{stamp}"));
    }

    /// The versions that a registry had.
    pub(super) fn versions(&self, module: &ModuleId) -> Option<ModuleVersions> {
        let text = self.text(&Key::new(Kind::Modules, &["versions", &module.to_string()]))?;
        let versions = text.lines().map(ModuleVersion::parse);
        Some(ModuleVersions {
            versions: versions.collect::<Result<_, _>>().ok()?,
            invalid: Vec::new(),
        })
    }

    /// Remembers them.
    pub(super) fn note_versions(&self, module: &ModuleId, known: &ModuleVersions) {
        let lines: Vec<String> = known.versions.iter().map(ToString::to_string).collect();
        let key = Key::new(Kind::Modules, &["versions", &module.to_string()]);
        self.write(&key, &lines.join("\n"));
    }

    /// Where a version is.
    pub(super) fn location(
        &self,
        module: &ModuleId,
        version: &ModuleVersion,
    ) -> Option<ModuleLocation> {
        if self.refresh {
            return None;
        }
        let text = self.text(&location_key(module, version))?;
        let (way, source) = text.split_once('\n')?;
        Some(ModuleLocation {
            source: source.to_owned(),
            plain_http: way == PLAIN_HTTP,
        })
    }

    /// Remembers it, unless it holds what may be a secret.
    pub(super) fn note_location(
        &self,
        module: &ModuleId,
        version: &ModuleVersion,
        location: &ModuleLocation,
    ) {
        let source = &location.source;
        if RedactedUrl::with_revision(source).to_string() == *source {
            let way = if location.plain_http { PLAIN_HTTP } else { "" };
            self.write(&location_key(module, version), &format!("{way}\n{source}"));
        }
    }

    /// The text of an entry.
    pub(super) fn text(&self, key: &Key) -> Option<String> {
        let parts = self.store.as_ref()?.read(key)?;
        String::from_utf8(parts.concat()).ok()
    }

    /// Writes an entry that is a text.
    pub(super) fn write(&self, key: &Key, text: &str) {
        if let Some(store) = &self.store {
            store.write(key, &[text.as_bytes()]);
        }
    }
}

/// Says of a location that its registry was allowed to be asked over plain http.
const PLAIN_HTTP: &str = "plain http";

fn location_key(module: &ModuleId, version: &ModuleVersion) -> Key {
    let (module, version) = (module.to_string(), version.to_string());
    Key::new(Kind::Modules, &["location", &module, &version])
}

fn commit_key(repository: &GitPackage) -> Key {
    let reference = repository.reference.as_deref().unwrap_or_default();
    Key::new(Kind::Modules, &["commit", &repository.url, reference])
}

/// The key of a repository at a commit.
pub(super) fn repository_key(repository: &GitPackage, commit: &str) -> Key {
    Key::new(Kind::Modules, &["repository", &repository.url, commit])
}

fn arrival_key(archive: &ArchivePackage) -> Key {
    Key::new(Kind::Modules, &["arrival", archive.url.as_str()])
}

/// The key of an archive with these bytes.
pub(super) fn content_key(kind: ArchiveKind, checksum: &Checksum) -> Key {
    let parts = ["archive", form(kind), &checksum.to_string()];
    Key::new(Kind::Modules, &parts)
}

const fn form(kind: ArchiveKind) -> &'static str {
    match kind {
        ArchiveKind::Zip => "zip",
        ArchiveKind::TarGz => "tar.gz",
    }
}

/// The key of an archive whose bytes something vouches for: a checksum, or the registry whose version it is.
pub(super) fn archive_key(
    archive: &ArchivePackage,
    version: Option<&(ModuleId, ModuleVersion)>,
) -> Option<Key> {
    if let Some(checksum) = &archive.checksum {
        return Some(content_key(archive.kind, checksum));
    }
    let (module, version) = version?;
    let (module, version) = (module.to_string(), version.to_string());
    Some(Key::new(
        Kind::Modules,
        &["version", form(archive.kind), &module, &version],
    ))
}

/// Names and sizes of all files below a directory, in one order.
fn index(directory: &Path) -> io::Result<String> {
    let mut waiting = vec![directory.to_path_buf()];
    let mut lines = Vec::new();
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next)? {
            let entry = entry?;
            let found = entry.metadata()?;
            if found.is_dir() {
                waiting.push(entry.path());
                continue;
            }
            let path = entry.path();
            let inner = path.strip_prefix(directory).unwrap_or(&path);
            let mut line = String::new();
            let _ = writeln!(line, "{} {}", found.len(), inner.display());
            lines.push(line);
        }
    }
    lines.sort();
    Ok(lines.concat())
}
