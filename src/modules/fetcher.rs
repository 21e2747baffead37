//! Fetches modules. Each package is fetched only once per run.
//!
//! Both packages and failures are memoized by address. The registry client memoizes responses.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::SystemTime;

use tokio::runtime::Handle;
use tokio::sync::watch;
use url::Url;

use crate::buckets::CloudEnvironment;
use crate::cache::DiskCache;
use crate::config::{FetchError, FetchedModule, ModuleFetcher, ModuleRequest};
use crate::git::GitSettings;
use crate::mercurial::HgSettings;
use crate::once_map::OnceMap;
use crate::provider::Engine;
use crate::registry::{RegistryClient, RegistryError};
use crate::reporter::unlogged;
use crate::span::Explain as _;

use super::run_directory::RunDirectory;
use super::{MAX_REPOSITORY_BYTES, ModuleError, ModulePackage, ModuleStore, subdirectory};

/// Fetches remote modules into the disk cache, or into a temporary directory that is removed when this value is dropped.
pub struct Fetcher {
    runtime: Handle,
    pub(super) clients: Box<dyn Fn(Engine) -> RegistryClient + Send + Sync>,
    pub(super) git: GitSettings,
    pub(super) mercurial: HgSettings,
    pub(super) redirects: OnceMap<Url, Result<Option<String>, RegistryError>>,
    /// The fetched packages. The boolean in the key indicates whether plain http is permitted.
    packages: OnceMap<(ModulePackage, bool), Result<PathBuf, Arc<ModuleError>>>,
    pub(super) run_directory: RunDirectory,
    pub(super) store: ModuleStore,
    pub(super) clouds: CloudEnvironment,
    /// The maximum size of a repository, in bytes.
    pub(super) max_bytes: u64,
    cancel: watch::Sender<bool>,
    /// The number of threads that are fetching a module.
    active: watch::Sender<usize>,
}

/// A guard that counts a thread as fetching a module until it is dropped.
struct ActiveFetch<'a>(&'a watch::Sender<usize>);

impl Drop for ActiveFetch<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl Fetcher {
    /// Creates a fetcher whose requests run on `runtime`, which must have several threads. `clients` returns the registry client
    /// for an engine; clones of a client share their memoized responses.
    pub fn new(
        runtime: Handle,
        clients: impl Fn(Engine) -> RegistryClient + Send + Sync + 'static,
        git: GitSettings,
        mercurial: HgSettings,
    ) -> Self {
        Self {
            runtime,
            clients: Box::new(clients),
            git,
            mercurial,
            redirects: OnceMap::default(),
            packages: OnceMap::default(),
            run_directory: RunDirectory::default(),
            store: ModuleStore::default(),
            clouds: CloudEnvironment::default(),
            max_bytes: MAX_REPOSITORY_BYTES,
            cancel: watch::Sender::new(false),
            active: watch::Sender::new(0),
        }
    }

    /// Stores packages in `store` for later runs. If `refresh` is set, cached locations and entity tags are ignored.
    pub fn with_cache(mut self, store: Arc<DiskCache>, refresh: bool) -> Self {
        self.store = ModuleStore::new(store, refresh);
        self
    }

    /// Sets how the user reaches object stores. Otherwise, requests to them have no credentials.
    pub fn with_clouds(mut self, clouds: CloudEnvironment) -> Self {
        self.clouds = clouds;
        self
    }

    /// Sets the maximum size of a repository in bytes, instead of [`MAX_REPOSITORY_BYTES`].
    pub fn with_max_repository_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// Fetches a module and blocks until it is available. Call this only from blocking threads, not from the runtime's worker
    /// threads.
    pub fn get(&self, request: &ModuleRequest<'_>) -> Result<FetchedModule, Arc<ModuleError>> {
        self.active.send_modify(|count| *count += 1);
        let _active = ActiveFetch(&self.active);
        let find = async {
            tokio::select! {
                biased;
                () = self.canceled() => Err(Arc::new(ModuleError::Interrupted)),
                found = self.find(request) => found,
            }
        };
        if request.is_hidden {
            self.runtime.block_on(unlogged(find))
        } else {
            self.runtime.block_on(find)
        }
    }

    /// Cancels all current and future requests and kills processes of git and Mercurial. Returns when no thread is fetching a module.
    pub async fn stop(&self) {
        self.cancel.send_replace(true);
        let mut active = self.active.subscribe();
        // This cannot fail: the sender lives as long as the fetcher.
        let _ = active.wait_for(|active| *active == 0).await;
    }

    async fn canceled(&self) {
        // This cannot fail: the sender lives as long as the fetcher.
        let _ = self.cancel.subscribe().wait_for(|canceled| *canceled).await;
    }

    async fn find(&self, request: &ModuleRequest<'_>) -> Result<FetchedModule, Arc<ModuleError>> {
        let source = self.resolve(request).await?;
        let key = (source.address.package.clone(), source.plain_http);
        let obtain = || async {
            let package = self.obtain(&source, request.engine).await;
            package.map_err(Arc::new)
        };
        let package = self.packages.get_or_init(key, obtain).await?;
        let shown = source.address.package.redacted();
        let directory = subdirectory::find(&package, &source.address.subdirectory, &shown)?;
        Ok(FetchedModule {
            directory,
            package,
            version: source.version.map(|(_, version)| version.to_string()),
        })
    }

    /// Prunes the module cache if this run has added packages to it.
    pub fn prune(&self, now: SystemTime) {
        self.store.prune(now);
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
