//! The resources of a command that processes directories: package sources, a runtime, progress, and a clean exit after Ctrl-C.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::Context as _;
use tokio::runtime::Runtime;

use crate::cache::{CacheError, DiskCache};
use crate::diagnostic::Diagnostic;
use crate::locking::{CacheAccess, EngineSource, Packages};
use crate::mirror::Mirror;
use crate::modules::Fetcher;
use crate::printer::Printer;
use crate::provider::Engine;
use crate::registry::{HttpExchange, RegistryClient};
use crate::settings::{CacheSettings, CacheUsage, SourceSettings, TreeSettings};

use super::package_index;
use super::progress_guard::ProgressGuard;
use super::sources;
use super::{CommandError, INTERRUPTED, Invocation};

/// How long a finished run waits for file operations that it has abandoned.
const MAX_SHUTDOWN: Duration = Duration::from_secs(1);

/// One run of a command: a runtime, the package sources, and progress.
pub(super) struct Session {
    runtime: Runtime,
    progress: ProgressGuard,
    pub(super) printer: Printer,
    /// The disk cache, or `None` if it is disabled or unusable.
    store: Option<Arc<DiskCache>>,
    /// The packages that the run needs. Each is downloaded at most once.
    pub(super) packages: Arc<Packages>,
    pub(super) fetcher: Arc<Fetcher>,
    /// The directory in which `tflock mirror` stores packages. `None` if the run stores no packages.
    pub(super) mirror: Option<Arc<Mirror>>,
    clients: Vec<RegistryClient>,
}

impl Session {
    /// Prepares a run without sending a request.
    pub(super) fn open(
        invocation: Invocation<'_>,
        progress: ProgressGuard,
        tree: &TreeSettings,
        settings: &SourceSettings,
    ) -> Result<Self, CommandError> {
        let printer = invocation.printer;
        for note in tree
            .working_set
            .notes()
            .into_iter()
            .chain(tree.units.notes())
        {
            progress.suspend(|| printer.message(&note));
        }
        let reporter = progress.reporter();
        let (sources, cautions) =
            sources::sources(invocation.environment, tree, settings, &reporter)?;
        for caution in &cautions {
            progress.suspend(|| printer.diagnostic(caution));
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("cannot start the threads for network requests")?;
        let client = sources.values().next().map(|source| &source.client);
        let index = package_index::open(&settings.index, client);
        let store = open_cache(&settings.cache).unwrap_or_else(|error| {
            progress.suspend(|| printer.diagnostic(&Diagnostic::caution(&error)));
            None
        });
        let clients = sources
            .values()
            .map(|source| source.client.clone())
            .collect();
        let fetcher = Arc::new(fetcher(&runtime, &sources, tree, store.as_ref(), settings));
        let mirror = settings.keep.clone().map(Mirror::open).transpose()?;
        let mirror = mirror.map(Arc::new);
        let started = SystemTime::now();
        let mut packages = Packages::new(sources, reporter, settings.trust, started, settings.jobs)
            .with_cache(cache_access(store.as_ref(), settings.cache.usage))
            .with_index(index);
        if let Some(mirror) = &mirror {
            packages = packages.with_mirror(Arc::clone(mirror));
        }
        Ok(Self {
            runtime,
            progress,
            printer,
            store,
            packages: Arc::new(packages),
            fetcher,
            mirror,
            clients,
        })
    }

    /// Creates a sender of requests to an index. `None` if the run has no package sources.
    pub(super) fn http_exchange(&self) -> Option<HttpExchange> {
        self.clients.first().map(HttpExchange::new)
    }

    /// Returns the client of OpenTofu, or that of Terraform if no directory uses OpenTofu. `None` if the run has no package source.
    pub(super) fn tofu_client(&self) -> Option<RegistryClient> {
        self.clients.last().cloned()
    }

    /// Runs `work` and passes its result to `show`, which returns the exit code. After Ctrl-C or SIGTERM, prints
    /// `when_interrupted` instead.
    pub(super) fn run<T>(
        self,
        work: impl Future<Output = Result<T, CommandError>>,
        show: impl FnOnce(T) -> u8,
        when_interrupted: &str,
    ) -> Result<u8, CommandError> {
        let ending = self.runtime.block_on(async {
            let signal = interrupted().context("cannot listen for Ctrl-C")?;
            tokio::select! {
                biased;
                () = signal => {
                    self.fetcher.stop().await;
                    Ok(None)
                }
                done = work => done.map(Some),
            }
        });
        // A hash index may be on a network file system. If that does not respond, a file operation may never end.
        self.runtime.shutdown_timeout(MAX_SHUTDOWN);
        drop(self.progress);
        self.fetcher.prune(SystemTime::now());
        if let Some(error) = self.store.as_ref().and_then(|store| store.write_error()) {
            self.printer.diagnostic(&Diagnostic::caution(error));
        }
        for warning in self.packages.index_warnings() {
            self.printer.diagnostic(&Diagnostic::caution(&warning));
        }
        // All clients share one netrc file, so only the first failure is reported.
        if let Some(error) = self.clients.iter().find_map(RegistryClient::netrc_error) {
            self.printer.diagnostic(&Diagnostic::caution(error));
        }
        if let Some(done) = ending? {
            return Ok(show(done));
        }
        self.printer.message(when_interrupted);
        Ok(INTERRUPTED)
    }
}

/// Opens the cache, unless it is disabled. The caller continues without a cache if this fails.
fn open_cache(settings: &CacheSettings) -> Result<Option<Arc<DiskCache>>, CacheError> {
    if settings.usage == CacheUsage::None {
        return Ok(None);
    }
    let directory = settings.directory.as_ref().ok_or(CacheError::NoPlace)?;
    DiskCache::open(directory).map(|store| Some(Arc::new(store)))
}

/// Decides which cache entries may replace requests.
fn cache_access(store: Option<&Arc<DiskCache>>, usage: CacheUsage) -> CacheAccess {
    match (store, usage) {
        (None, _) | (_, CacheUsage::None) => CacheAccess::None,
        (Some(store), CacheUsage::Refresh) => CacheAccess::Hashes(Arc::clone(store)),
        (Some(store), CacheUsage::All) => CacheAccess::All(Arc::clone(store)),
    }
}

/// Builds the fetcher for modules that `init` has not installed.
fn fetcher(
    runtime: &Runtime,
    sources: &BTreeMap<Engine, EngineSource>,
    tree: &TreeSettings,
    store: Option<&Arc<DiskCache>>,
    settings: &SourceSettings,
) -> Fetcher {
    let clients: BTreeMap<_, _> = sources
        .iter()
        .map(|(engine, source)| (*engine, source.client.clone()))
        .collect();
    let client = move |engine| clients[&engine].clone();
    let fetcher = Fetcher::new(
        runtime.handle().clone(),
        client,
        tree.git.clone(),
        tree.mercurial.clone(),
    )
    .with_clouds(settings.clouds.clone());
    match store {
        Some(store) => {
            let refresh = settings.cache.usage == CacheUsage::Refresh;
            fetcher.with_cache(Arc::clone(store), refresh)
        }
        None => fetcher,
    }
}

/// Resolves on Ctrl-C and, on Unix, on SIGTERM.
fn interrupted() -> std::io::Result<impl Future<Output = ()>> {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        Ok(async move {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
        })
    }
    #[cfg(not(unix))]
    {
        let mut interrupt = tokio::signal::windows::ctrl_c()?;
        Ok(async move {
            interrupt.recv().await;
        })
    }
}
