//! From a call's source to a directory, each package once per run.
//!
//! A module of a registry is resolved to a version and that to an address; an address may name another one. What remains is a
//! package: its place on disk is kept in memory, and so is the failure to get it. Registry answers are kept by the client.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use tempfile::TempDir;
use tokio::runtime::Handle;
use tokio::sync::watch;
use url::Url;

use crate::cache::Store;
use crate::config::{FetchError, FetchedModule, ModuleFetcher, ModuleRequest, ModuleSource};
use crate::git::GitSettings;
use crate::provider::{Engine, ModuleVersion};
use crate::redacted_url::RedactedUrl;
use crate::registry::{
    ModuleId, ModuleLocation, OnceMap, RegistryClient, RegistryError, is_loopback,
};
use crate::reporter::hushed;
use crate::span::Explain as _;

use super::address::{ArchivePackage, GitPackage, Package, RemoteAddress};
use super::archive;
use super::checksum::Checksum;
use super::confinement::{check_host, check_place};
use super::error::ModuleError;
use super::git::{self, GitAccess};
use super::kept::{Kept, Place, archive_key, content_key, repository_key};
use super::subdirectory;
use super::versions;

/// How many web addresses in a row may name another one. Two happen: a vanity address that leads to a code host.
const MAX_REDIRECTS: usize = 5;

/// Gets remote modules. They lie in the disk cache, or in a temporary directory that goes with this value.
pub struct Fetcher {
    runtime: Handle,
    clients: Box<dyn Fn(Engine) -> RegistryClient + Send + Sync>,
    git: GitSettings,
    redirects: OnceMap<Url, Result<Option<String>, RegistryError>>,
    packages: OnceMap<(Package, bool), Result<PathBuf, Arc<ModuleError>>>,
    storage: Storage,
    pub(super) kept: Kept,
    /// The most bytes of a repository.
    max_bytes: u64,
    cancel: watch::Sender<bool>,
    /// How many threads are getting a module.
    active: watch::Sender<usize>,
}

/// A thread that is getting a module.
struct Active<'a>(&'a watch::Sender<usize>);

impl<'a> Active<'a> {
    fn begin(active: &'a watch::Sender<usize>) -> Self {
        active.send_modify(|count| *count += 1);
        Self(active)
    }
}

impl Drop for Active<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl Fetcher {
    /// A fetcher whose network runs on `runtime`, which has several threads. `clients` gives the registry client of an engine;
    /// all of its clones share what they know.
    pub fn new(
        runtime: Handle,
        clients: impl Fn(Engine) -> RegistryClient + Send + Sync + 'static,
        git: GitSettings,
    ) -> Self {
        Self {
            runtime,
            clients: Box::new(clients),
            git,
            redirects: OnceMap::default(),
            packages: OnceMap::default(),
            storage: Storage::default(),
            kept: Kept::default(),
            max_bytes: git::MAX_REPOSITORY_BYTES,
            cancel: watch::Sender::new(false),
            active: watch::Sender::new(0),
        }
    }

    /// Keeps packages in `store` for later runs. With `refresh` registries are asked again where versions are.
    pub fn with_cache(mut self, store: Arc<Store>, refresh: bool) -> Self {
        self.kept = Kept::new(store, refresh);
        self
    }

    /// With another limit than [`git::MAX_REPOSITORY_BYTES`] for repositories.
    pub fn with_max_repository_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// Gets a module. To be called outside of the runtime's own threads, but for its blocking ones.
    pub fn get(&self, request: &ModuleRequest<'_>) -> Result<FetchedModule, Arc<ModuleError>> {
        let _active = Active::begin(&self.active);
        let find = async {
            tokio::select! {
                biased;
                () = self.canceled() => Err(Arc::new(ModuleError::Interrupted)),
                found = self.find(request) => found,
            }
        };
        if request.is_hidden {
            self.runtime.block_on(hushed(find))
        } else {
            self.runtime.block_on(find)
        }
    }

    /// Ends all that is under way, the processes of git among it, and whatever is asked for from now on; resolves when nothing
    /// uses the network any more.
    pub async fn stop(&self) {
        self.cancel.send_replace(true);
        // The sender lives as long as this fetcher.
        let _ = self
            .active
            .subscribe()
            .wait_for(|active| *active == 0)
            .await;
    }

    /// Resolves once somebody wants an end.
    async fn canceled(&self) {
        // The sender lives as long as this fetcher.
        let _ = self.cancel.subscribe().wait_for(|canceled| *canceled).await;
    }

    async fn find(&self, request: &ModuleRequest<'_>) -> Result<FetchedModule, Arc<ModuleError>> {
        let found = self.resolve(request).await?;
        let package = self.package(&found, request.engine).await?;
        let shown = found.address.package.redacted();
        let directory = subdirectory::find(&package, &found.address.subdirectory, &shown)?;
        Ok(FetchedModule {
            directory,
            package,
            version: found.version.map(|(_, version)| version.to_string()),
        })
    }

    /// Where the package is that the source leads to.
    async fn resolve(&self, request: &ModuleRequest<'_>) -> Result<Resolved, ModuleError> {
        let client = (self.clients)(request.engine);
        let (text, plain_http, inner, version) = match request.source {
            ModuleSource::Local(path) => {
                return Err(ModuleError::Address {
                    address: RedactedUrl::local(Path::new(path)),
                    problem: "it is a directory of the calling module",
                });
            }
            ModuleSource::Remote(address) => (address.clone(), false, None, None),
            ModuleSource::Registry(source) => {
                check_host(&client.settings().allowed_hosts, request.source, None)?;
                let found = versions::locate(&client, &self.kept, source, request).await?;
                let ModuleLocation {
                    source: text,
                    plain_http,
                } = found.location;
                let version = Some((found.module, found.version));
                (text, plain_http, source.subdirectory.as_deref(), version)
            }
        };
        let mut address = RemoteAddress::parse(&text, request.engine)?;
        if version.is_none() {
            let hosts = &client.settings().allowed_hosts;
            check_host(hosts, request.source, Some(&address.package))?;
        }
        address.subdirectory = join(&address.subdirectory, inner.unwrap_or_default());
        for _ in 0..=MAX_REDIRECTS {
            let Package::Web(url) = &address.package else {
                check_place(request, &address)?;
                return Ok(Resolved {
                    address,
                    plain_http,
                    version,
                });
            };
            let asked = || client.module_redirect(url, plain_http);
            let target = self.redirects.get_or_init(url.clone(), asked).await?;
            let target = target.ok_or_else(|| ModuleError::NoRedirect {
                address: address.package.redacted(),
            })?;
            let next = RemoteAddress::parse(&target, request.engine)?;
            address = RemoteAddress {
                subdirectory: join(&next.subdirectory, &address.subdirectory),
                package: next.package,
            };
        }
        Err(ModuleError::TooManyRedirects {
            address: RedactedUrl::parse(&text),
            limit: MAX_REDIRECTS,
        })
    }

    async fn package(&self, found: &Resolved, engine: Engine) -> Result<PathBuf, Arc<ModuleError>> {
        let key = (found.address.package.clone(), found.plain_http);
        let job = || async { self.obtain(found, engine).await.map_err(Arc::new) };
        self.packages.get_or_init(key, job).await
    }

    async fn obtain(&self, found: &Resolved, engine: Engine) -> Result<PathBuf, ModuleError> {
        let client = (self.clients)(engine);
        let package = &found.address.package;
        let address = package.redacted();
        match package {
            Package::Directory(path) => real_directory(path),
            Package::File(path, kind, checksum) => {
                let file = File::open(path).map_err(|source| disk(path, source))?;
                let target = self.storage.next()?;
                archive::unpack(file, *kind, checksum.as_ref(), &target, &address)?;
                Ok(target)
            }
            Package::Git(repository) => self.repository(repository, &client, &address).await,
            Package::Archive(archive) => {
                check_scheme(archive, found.plain_http, &address)?;
                self.archive(&client, archive, found, &address).await
            }
            Package::Web(_) => Err(ModuleError::NoRedirect { address }),
        }
    }

    async fn repository(
        &self,
        repository: &GitPackage,
        client: &RegistryClient,
        address: &RedactedUrl,
    ) -> Result<PathBuf, ModuleError> {
        let offline = client.settings().http.offline;
        let git = GitAccess {
            settings: &self.git,
            hosts: &client.settings().allowed_hosts,
        };
        let whole = git::whole_commit(repository);
        let known = whole.map(str::to_owned);
        let known = known.or_else(|| self.kept.commit(repository));
        if let Some(commit) = known
            && let Some(package) = self
                .kept
                .find(&repository_key(repository, &commit), address)
            && (whole.is_some()
                || offline
                || git::is_still(git, repository, &commit, &package).await)
        {
            return Ok(package);
        }
        if offline && !repository.is_local {
            let address = address.to_owned();
            return Err(ModuleError::Offline { address });
        }
        let place = self.place()?;
        let commit = git::fetch(git, repository, &place.target, self.max_bytes).await?;
        self.kept.note_commit(repository, &commit);
        self.kept.keep(&repository_key(repository, &commit), place)
    }

    async fn archive(
        &self,
        client: &RegistryClient,
        archive: &ArchivePackage,
        found: &Resolved,
        address: &RedactedUrl,
    ) -> Result<PathBuf, ModuleError> {
        let plain_http = found.plain_http || archive.checksum.is_some();
        let Some(key) = archive_key(archive, found.version.as_ref()) else {
            let moving = self.moving_archive(client, archive, plain_http, address);
            return moving.await;
        };
        if let Some(package) = self.kept.find(&key, address) {
            return Ok(package);
        }
        let place = self.place()?;
        let download = client.download_module(&archive.url, plain_http, None);
        let mut download = download.await?;
        let file = archive::save(&mut download, place.directory(), address).await?;
        let checksum = archive.checksum.as_ref();
        archive::unpack(file, archive.kind, checksum, &place.target, address)?;
        self.kept.keep(&key, place)
    }

    /// An archive that may be another one today: nothing but its address names it, so its server is asked.
    async fn moving_archive(
        &self,
        client: &RegistryClient,
        archive: &ArchivePackage,
        plain_http: bool,
        address: &RedactedUrl,
    ) -> Result<PathBuf, ModuleError> {
        let content = |checksum: &Checksum| content_key(archive.kind, checksum);
        let known = self.kept.arrival(archive).and_then(|known| {
            let package = self.kept.find(&content(&known.checksum), address)?;
            Some((package, known.stamp))
        });
        let (package, stamp) = known.unzip();
        if let Some(package) = &package
            && client.settings().http.offline
        {
            return Ok(package.clone());
        }
        let download = client.download_module(&archive.url, plain_http, stamp.flatten());
        let mut download = download.await?;
        if let Some(package) = package.filter(|_| download.is_unchanged()) {
            return Ok(package);
        }
        let outside = Place::outside(self.storage.next()?);
        let mut file = archive::save(&mut download, outside.directory(), address).await?;
        let Some(stamp) = download.stamp() else {
            archive::unpack(file, archive.kind, None, &outside.target, address)?;
            return Ok(outside.target);
        };
        let failed = |source| disk(outside.directory(), source);
        let checksum = Checksum::sha256(&mut file).map_err(failed)?;
        let place = self.place()?;
        archive::unpack(file, archive.kind, None, &place.target, address)?;
        let package = self.kept.keep(&content(&checksum), place)?;
        self.kept.note_arrival(archive, &checksum, stamp);
        Ok(package)
    }

    /// Where the next package goes: into the cache if there is one.
    fn place(&self) -> Result<Place, ModuleError> {
        match self.kept.place() {
            Some(place) => Ok(place),
            None => self.storage.next().map(Place::outside),
        }
    }

    /// Removes what is too old or too much in the cache, if this run has added to it.
    pub fn tidy(&self, now: SystemTime) {
        self.kept.tidy(now);
    }
}

impl ModuleFetcher for Fetcher {
    fn fetch(&self, request: &ModuleRequest<'_>) -> Result<FetchedModule, FetchError> {
        self.get(request).map_err(|error| FetchError {
            hint: error.hint(),
            source: Box::new(error),
        })
    }
}

/// What a source leads to.
struct Resolved {
    address: RemoteAddress,
    /// Whether plain http is as good as the registry that named it.
    plain_http: bool,
    /// Which version of a registry's module it is.
    version: Option<(ModuleId, ModuleVersion)>,
}

/// What is read from an archive decides what is locked: nobody on the way may change it.
fn check_scheme(
    archive: &ArchivePackage,
    plain_http: bool,
    address: &RedactedUrl,
) -> Result<(), ModuleError> {
    let is_safe = archive.url.scheme() == "https" || is_loopback(&archive.url);
    if is_safe || plain_http || archive.checksum.is_some() {
        return Ok(());
    }
    Err(ModuleError::PlainHttp {
        address: address.clone(),
    })
}

fn join(outer: &str, inner: &str) -> String {
    format!("{outer}/{inner}").trim_matches('/').to_owned()
}

fn real_directory(path: &Path) -> Result<PathBuf, ModuleError> {
    let real = fs::canonicalize(path).map_err(|source| disk(path, source))?;
    // Listing it tells whether it is a directory, and why not.
    fs::read_dir(&real).map_err(|source| disk(path, source))?;
    Ok(real)
}

fn disk(path: &Path, source: std::io::Error) -> ModuleError {
    ModuleError::Disk {
        path: path.to_path_buf(),
        source,
    }
}

/// The temporary directory of the run, made when the first module needs it.
#[derive(Debug, Default)]
struct Storage {
    directory: Mutex<Option<TempDir>>,
    count: AtomicUsize,
}

impl Storage {
    /// A path for the next package: its parent exists and is a real path, it itself does not exist.
    fn next(&self) -> Result<PathBuf, ModuleError> {
        let mut directory = self
            .directory
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if directory.is_none() {
            let made = tempfile::Builder::new().prefix("tflock-modules-").tempdir();
            *directory = Some(made.map_err(|source| disk(&tempfile::env::temp_dir(), source))?);
        }
        let made = directory.as_ref().map_or(Path::new(""), TempDir::path);
        let real = fs::canonicalize(made).map_err(|source| disk(made, source))?;
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        Ok(real.join(number.to_string()))
    }
}
