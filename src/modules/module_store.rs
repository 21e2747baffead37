//! Stores fetched modules in the disk cache for later runs.
//!
//! | entry | key | content |
//! | --- | --- | --- |
//! | package | address and commit of a repository; checksum of an archive; registry module and version | its files |
//! | commit | address of a repository and `ref` | the commit that `ref` last resolved to |
//! | archive record | address of an archive | its last checksum, and the server's entity tag or date |
//! | versions | registry module | the list of versions, for runs with `--offline` |
//! | location | registry module and version | the address supplied by the registry, unless it may contain a secret |
//! | chosen versions | directory of a root module and engine | see `chosen_versions` |
//!
//! A package identified by a commit, checksum or version never changes. Before tflock uses a stored package for a branch or tag,
//! it requests the current commit from the repository. Before it uses a stored archive without a checksum, it asks the server
//! whether the archive has changed. Such an archive is not stored if the server sent neither an entity tag nor a date.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use crate::cache::{CacheArea, CacheKey, DiskCache, TrimLimits};
use crate::provider::ModuleVersion;
use crate::redacted_url::RedactedUrl;
use crate::registry::{HttpValidator, ModuleId, ModuleLocation, ModuleVersions};

use super::{
    ArchiveKind, ArchivePackage, Checksum, ModuleError, RepositoryPackage, VersionControl, disk,
    links,
};

/// The maximum total size of stored modules, in bytes. The modules of the largest monorepos take a few hundred megabytes.
const MAX_STORED_BYTES: u64 = 2 << 30;

/// The age at which an unused module is removed.
const MAX_STORED_AGE: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// The name of the directory in a cache entry that contains the package. [`INDEX`] is next to it.
const PACKAGE: &str = "package";

/// The file that lists the names and sizes of the package's files, in order to detect entries that a crash left incomplete.
const INDEX: &str = "index";

/// The first line of a stored location if the registry was reached over plain http.
const PLAIN_HTTP: &str = "plain http";

/// The section of the disk cache that contains modules. Without a store, every lookup returns `None` and nothing is written.
#[derive(Debug, Default)]
pub(super) struct ModuleStore {
    store: Option<Arc<DiskCache>>,
    /// Whether to ignore entries that may be outdated.
    refresh: bool,
    has_additions: AtomicBool,
}

pub(super) struct ArchiveRecord {
    pub(super) checksum: Checksum,
    /// The entity tag or date for asking the server whether the archive has changed. `None` if `refresh` is set.
    pub(super) stamp: Option<HttpValidator>,
}

/// A location where a package is assembled.
pub(super) struct PackageStaging {
    /// The directory of the package. Its parent exists and its path contains no symlinks; the directory itself does not exist yet.
    pub(super) target: PathBuf,
    cache_entry: Option<TempDir>,
}

impl PackageStaging {
    pub(super) const fn uncached(target: PathBuf) -> Self {
        Self {
            target,
            cache_entry: None,
        }
    }

    /// Returns the parent directory of the package, for temporary files.
    pub(super) fn directory(&self) -> &Path {
        self.target.parent().unwrap_or(&self.target)
    }
}

impl ModuleStore {
    pub(super) fn new(store: Arc<DiskCache>, refresh: bool) -> Self {
        Self {
            store: Some(store),
            refresh,
            has_additions: AtomicBool::new(false),
        }
    }

    /// Returns the package with this key if it is complete. Damaged packages are removed from the cache.
    pub(super) fn find(&self, key: &CacheKey, address: &RedactedUrl) -> Option<PathBuf> {
        let store = self.store.as_ref()?;
        let entry = store.find(key)?;
        let read = || -> io::Result<PathBuf> {
            let package = fs::canonicalize(entry.join(PACKAGE))?;
            if fs::read_to_string(entry.join(INDEX))? != index(&package)? {
                return Err(io::ErrorKind::InvalidData.into());
            }
            Ok(package)
        };
        // Symlinks are checked again, because the target of a dangling one may have been created since the package was stored.
        let is_confined = |package: &PathBuf| links::confine(package, address).is_ok();
        let package = read().ok().filter(is_confined);
        if package.is_none() {
            // Remove the damaged entry to allow a new one. If this fails, the module is fetched again in every run.
            let _ = store.remove(key);
        }
        package
    }

    /// Creates a directory in the cache in which a package can be assembled. Returns `None` if there is no cache.
    pub(super) fn stage(&self) -> Option<PackageStaging> {
        let cache_entry = self.store.as_ref()?.stage(CacheArea::Modules).ok()?;
        let target = fs::canonicalize(cache_entry.path()).ok()?.join(PACKAGE);
        Some(PackageStaging {
            target,
            cache_entry: Some(cache_entry),
        })
    }

    /// Moves an assembled package into the cache, and returns its directory.
    pub(super) fn adopt(
        &self,
        key: &CacheKey,
        staging: PackageStaging,
    ) -> Result<PathBuf, ModuleError> {
        let PackageStaging {
            target,
            cache_entry,
        } = staging;
        let (Some(store), Some(cache_entry)) = (&self.store, cache_entry) else {
            return Ok(target);
        };
        let adopt = || -> io::Result<PathBuf> {
            fs::write(cache_entry.path().join(INDEX), index(&target)?)?;
            let entry = store.adopt(key, cache_entry)?;
            fs::canonicalize(entry.join(PACKAGE))
        };
        self.has_additions.store(true, Ordering::Relaxed);
        adopt().map_err(disk(&target))
    }

    /// If this run has added packages, removes the ones that exceed the limits on age and size.
    pub(super) fn prune(&self, now: SystemTime) {
        let Some(store) = &self.store else { return };
        if self.has_additions.load(Ordering::Relaxed) {
            let since = now.checked_sub(MAX_STORED_AGE);
            let bounds = TrimLimits {
                since: since.unwrap_or(SystemTime::UNIX_EPOCH),
                bytes: MAX_STORED_BYTES,
            };
            // Errors are ignored, because a later run tries again.
            let _ = store.trim(CacheArea::Modules, &bounds);
        }
    }

    pub(super) fn commit(&self, repository: &RepositoryPackage) -> Option<String> {
        self.text(&commit_key(repository))
    }

    pub(super) fn record_commit(&self, repository: &RepositoryPackage, commit: &str) {
        self.write(&commit_key(repository), commit);
    }

    pub(super) fn archive_record(&self, archive: &ArchivePackage) -> Option<ArchiveRecord> {
        let text = self.text(&archive_record_key(archive))?;
        let (checksum, stamp) = text.split_once('\n')?;
        Some(ArchiveRecord {
            checksum: Checksum::parse(checksum).ok()?,
            stamp: HttpValidator::parse(stamp).filter(|_| !self.refresh),
        })
    }

    pub(super) fn record_archive(
        &self,
        archive: &ArchivePackage,
        checksum: &Checksum,
        stamp: &HttpValidator,
    ) {
        let text = format!("{checksum}\n{stamp}");
        self.write(&archive_record_key(archive), &text);
    }

    pub(super) fn versions(&self, module: &ModuleId) -> Option<ModuleVersions> {
        let text = self.text(&key(&["versions", &module.to_string()]))?;
        let versions = text.lines().map(ModuleVersion::parse);
        Some(ModuleVersions {
            versions: versions.collect::<Result<_, _>>().ok()?,
            invalid: Vec::new(),
        })
    }

    pub(super) fn record_versions(&self, module: &ModuleId, known: &ModuleVersions) {
        let lines: Vec<String> = known.versions.iter().map(ToString::to_string).collect();
        let key = key(&["versions", &module.to_string()]);
        self.write(&key, &lines.join("\n"));
    }

    pub(super) fn location(
        &self,
        module: &ModuleId,
        version: &ModuleVersion,
    ) -> Option<ModuleLocation> {
        if self.refresh {
            return None;
        }
        let text = self.text(&location_key(module, version))?;
        let (transport, source) = text.split_once('\n')?;
        Some(ModuleLocation {
            source: source.to_owned(),
            plain_http: transport == PLAIN_HTTP,
        })
    }

    /// Stores the address of a module version, unless it may contain a secret.
    pub(super) fn record_location(
        &self,
        module: &ModuleId,
        version: &ModuleVersion,
        location: &ModuleLocation,
    ) {
        let source = &location.source;
        if RedactedUrl::with_revision(source).to_string() == *source {
            let transport = if location.plain_http { PLAIN_HTTP } else { "" };
            let text = format!("{transport}\n{source}");
            self.write(&location_key(module, version), &text);
        }
    }

    pub(super) fn text(&self, key: &CacheKey) -> Option<String> {
        let parts = self.store.as_ref()?.read(key)?;
        String::from_utf8(parts.concat()).ok()
    }

    pub(super) fn write(&self, key: &CacheKey, text: &str) {
        if let Some(store) = &self.store {
            store.write(key, &[text.as_bytes()]);
        }
    }
}

pub(super) fn key(parts: &[&str]) -> CacheKey {
    CacheKey::new(CacheArea::Modules, parts)
}

fn location_key(module: &ModuleId, version: &ModuleVersion) -> CacheKey {
    let (module, version) = (module.to_string(), version.to_string());
    key(&["location", &module, &version])
}

fn commit_key(repository: &RepositoryPackage) -> CacheKey {
    let reference = repository.reference.as_deref().unwrap_or_default();
    let (_, commit) = entry_names(repository);
    key(&[commit, &repository.url, reference])
}

pub(super) fn repository_key(repository: &RepositoryPackage, commit: &str) -> CacheKey {
    let (name, _) = entry_names(repository);
    key(&[name, &repository.url, commit])
}

/// Returns the names of cache entries for packages and for commits.
const fn entry_names(repository: &RepositoryPackage) -> (&'static str, &'static str) {
    match repository.program {
        VersionControl::Git => ("repository", "commit"),
        VersionControl::Mercurial => ("hg repository", "hg commit"),
    }
}

fn archive_record_key(archive: &ArchivePackage) -> CacheKey {
    key(&["arrival", archive.url.as_str()])
}

pub(super) fn content_key(kind: ArchiveKind, checksum: &Checksum) -> CacheKey {
    key(&["archive", kind.name(), &checksum.to_string()])
}

/// Returns the cache key of an archive that is identified by a checksum or by the version of a registry module. `None` for an archive
/// whose content may change.
pub(super) fn archive_key(
    archive: &ArchivePackage,
    checksum: Option<&Checksum>,
    version: Option<&(ModuleId, ModuleVersion)>,
) -> Option<CacheKey> {
    match checksum {
        Some(strong) if strong.is_strong() => return Some(content_key(archive.kind, strong)),
        // An attacker can create another archive with the same weak checksum, so the key also contains the address.
        Some(weak) => {
            let (kind, checksum) = (archive.kind.name(), weak.to_string());
            let address = archive.url.as_str();
            return Some(key(&["archive", kind, &checksum, address]));
        }
        None => {}
    }
    let (module, version) = version?;
    let (module, version) = (module.to_string(), version.to_string());
    Some(key(&["version", archive.kind.name(), &module, &version]))
}

/// Lists the sizes and paths of all files below a directory, sorted.
fn index(directory: &Path) -> io::Result<String> {
    let mut waiting = vec![directory.to_path_buf()];
    let mut lines = Vec::new();
    while let Some(next) = waiting.pop() {
        for entry in fs::read_dir(next)? {
            let entry = entry?;
            let path = entry.path();
            let metadata = entry.metadata()?;
            if metadata.is_dir() {
                waiting.push(path);
            } else {
                let inner = path.strip_prefix(directory).unwrap_or(&path);
                lines.push(format!("{} {}\n", metadata.len(), inner.display()));
            }
        }
    }
    lines.sort();
    Ok(lines.concat())
}
