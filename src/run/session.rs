//! What every command that works on directories needs: sources, a runtime, progress, and an end when somebody wants one.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::Context as _;
use tokio::runtime::Runtime;

use crate::cache::{CacheError, DiskCache};
use crate::diagnostic::Diagnostic;
use crate::locking::{CacheAccess, EngineSource, Packages};
use crate::mirror::Mirror;
use crate::modules::Fetcher;
use crate::printer::Printer;
use crate::provider::Engine;
use crate::registry::RegistryClient;
use crate::settings::{CacheSettings, CacheUsage, Environment, SourceSettings, TreeSettings};
use crate::span::Explain;

use super::alive::Alive;
use super::sources::{self, Sources};
use super::{INTERRUPTED, signals};

/// What a command was given cannot be followed; nothing has been done.
#[derive(Debug, thiserror::Error)]
#[error("the command cannot be run")]
pub(super) struct Refused(pub(super) Box<Diagnostic>);

impl Refused {
    /// Refuses because of `error`, with its place and its hint.
    pub(super) fn because<E: Explain>(error: &E) -> Self {
        Self(Box::new(Diagnostic::general(error)))
    }
}

/// One run of a command.
pub(super) struct Session {
    runtime: Runtime,
    alive: Alive,
    /// Where the report goes.
    pub(super) printer: Printer,
    /// The disk cache, where there is one.
    store: Option<Arc<DiskCache>>,
    /// What is known of packages.
    pub(super) packages: Arc<Packages>,
    /// Who gets remote modules.
    pub(super) fetcher: Arc<Fetcher>,
    /// Where packages are kept.
    pub(super) mirror: Option<Arc<Mirror>>,
    clients: Vec<RegistryClient>,
}

impl Session {
    /// Makes everything ready; asks nobody anything yet.
    pub(super) fn open(
        environment: &Environment,
        alive: Alive,
        printer: Printer,
        tree: &TreeSettings,
        settings: &SourceSettings,
    ) -> anyhow::Result<Self> {
        for note in tree.working_set.notes() {
            alive.aside(|| printer.message(&note));
        }
        let reporter = alive.reporter();
        let Sources { sources, cautions } =
            sources::sources(environment, tree, settings, &reporter).map_err(Refused)?;
        for caution in &cautions {
            alive.aside(|| printer.diagnostic(caution));
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .context("cannot start the threads that wait for the network")?;
        let store = open_cache(&settings.cache).unwrap_or_else(|error| {
            alive.aside(|| printer.diagnostic(&Diagnostic::caution(&error)));
            None
        });
        let recall = match (&store, settings.cache.usage) {
            (None, _) | (_, CacheUsage::None) => CacheAccess::None,
            (Some(store), CacheUsage::Refresh) => CacheAccess::Hashes(Arc::clone(store)),
            (Some(store), CacheUsage::All) => CacheAccess::All(Arc::clone(store)),
        };
        let fetcher = fetcher(&runtime, &sources, tree);
        let fetcher = Arc::new(match &store {
            Some(store) => {
                let refresh = settings.cache.usage == CacheUsage::Refresh;
                fetcher.with_cache(Arc::clone(store), refresh)
            }
            None => fetcher,
        });
        let clients = sources.values().map(|source| source.client.clone());
        let clients = clients.collect();
        let now = SystemTime::now();
        let packages = Packages::new(sources, reporter, settings.trust, now, settings.jobs);
        let mut packages = packages.with_cache(recall);
        let mirror = settings.keep.clone().map(Mirror::open).transpose();
        let mirror = mirror
            .map_err(|error| Refused::because(&error))?
            .map(Arc::new);
        if let Some(mirror) = &mirror {
            packages = packages.with_mirror(Arc::clone(mirror));
        }
        let packages = Arc::new(packages);
        Ok(Self {
            runtime,
            alive,
            printer,
            store,
            packages,
            fetcher,
            mirror,
            clients,
        })
    }

    /// Works until it is done and shown, or somebody wants it to end: then `when_interrupted` is said. The exit code.
    pub(super) fn run<T>(
        self,
        work: impl Future<Output = anyhow::Result<T>>,
        show: impl FnOnce(T) -> u8,
        when_interrupted: &str,
    ) -> anyhow::Result<u8> {
        let ending = self.runtime.block_on(async {
            let interrupted = signals::interrupted().context("cannot listen for Ctrl-C")?;
            tokio::select! {
                biased;
                () = interrupted => {
                    self.fetcher.stop().await;
                    Ok(None)
                }
                done = work => done.map(Some),
            }
        });
        drop(self.alive);
        self.fetcher.prune(SystemTime::now());
        if let Some(error) = self.store.as_ref().and_then(|store| store.write_error()) {
            self.printer.diagnostic(&Diagnostic::caution(error));
        }
        // They share the file, so one of them says it.
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

/// The cache, if it is to be used. A run goes on without one.
fn open_cache(settings: &CacheSettings) -> Result<Option<Arc<DiskCache>>, CacheError> {
    if settings.usage == CacheUsage::None {
        return Ok(None);
    }
    let directory = settings.directory.as_ref().ok_or(CacheError::NoPlace)?;
    DiskCache::open(directory).map(|store| Some(Arc::new(store)))
}

/// What gets the modules that no `init` has installed.
fn fetcher(
    runtime: &Runtime,
    sources: &BTreeMap<Engine, EngineSource>,
    tree: &TreeSettings,
) -> Fetcher {
    let clients = sources.iter();
    let clients: BTreeMap<_, _> = clients
        .map(|(engine, source)| (*engine, source.client.clone()))
        .collect();
    let client = move |engine| clients[&engine].clone();
    Fetcher::new(runtime.handle().clone(), client, tree.git.clone())
}
