//! One directory: its lock file, whose rules it follows, what it requires, and so what is to be done with it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::{self, ConfigError, ModuleCache, MovedModule, RootModule};
use crate::diagnostic::{Code, Diagnostic};
use crate::lockfile::{self, LockFile, Locks};
use crate::locking::{LockJob, Missing, ProviderScope, requirements_from_lock};
use crate::modules::Fetcher;
use crate::options::Create;
use crate::owner::Owner;
use crate::provider::Engine;
use crate::run::callers::SkipReason;
use crate::run::lock_files::LockFiles;
use crate::settings::{Area, TreeSettings};
use crate::span::Explain;
use crate::walk::{FoundBy, WalkedDirectory};

use super::directories::InArea;
use super::engine_detector::EngineDetector;
use super::repositories::Repositories;
use super::{ReadDirectory, Task};

/// What all directories share while they are read.
pub(super) struct DirectoryReader<'a> {
    pub(super) settings: &'a TreeSettings,
    pub(super) cache: ModuleCache,
    pub(super) engines: EngineDetector<'a>,
    pub(super) repositories: Repositories,
    fetcher: &'a Fetcher,
    lock_files: LockFiles,
}

/// A directory with what became of reading it, before it is known who calls whom.
pub(super) struct ReadWithCalls {
    pub(super) directory: ReadDirectory,
    /// The real directories of the local modules it calls.
    pub(super) calls: BTreeSet<PathBuf>,
}

/// What a lock file holds; nothing where there is none.
#[derive(Default)]
struct Locked {
    bytes: Option<Arc<[u8]>>,
    locks: Arc<Locks>,
    /// The rest, without the locks.
    rest: LockFile,
}

impl<'a> DirectoryReader<'a> {
    pub(super) fn new(
        settings: &'a TreeSettings,
        fetcher: &'a Fetcher,
        found: &'a [InArea],
    ) -> Self {
        Self {
            settings,
            fetcher,
            cache: ModuleCache::new(),
            engines: EngineDetector::new(found),
            lock_files: LockFiles::default(),
            repositories: Repositories::default(),
        }
    }

    /// Reads one directory; what goes wrong is in its diagnostics.
    pub(super) fn read(&self, area: &Arc<Area>, found: &WalkedDirectory) -> ReadWithCalls {
        let absolute = self.settings.working_directory.join(&found.path);
        let mut read = ReadWithCalls {
            directory: ReadDirectory {
                area: Arc::clone(area),
                path: found.path.clone(),
                repository: self.repositories.top(&absolute),
                found_by: found.found_by,
                engine: None,
                moved_modules: Vec::new(),
                chosen_modules: BTreeMap::new(),
                diagnostics: Vec::new(),
                task: Task::Fail,
            },
            calls: BTreeSet::new(),
        };
        if self.settings.clean_up && found.has_leftovers {
            // What cannot be cleaned up is no reason to stop: the names are never read.
            let _ = lockfile::clean_stale(&found.path, &Owner::current());
        }
        match self.task(found, &absolute, &mut read) {
            Ok(task) => read.directory.task = task,
            Err(errors) => read.directory.diagnostics.extend(errors),
        }
        read
    }

    fn task(
        &self,
        found: &WalkedDirectory,
        absolute: &Path,
        read: &mut ReadWithCalls,
    ) -> Result<Task, Vec<Diagnostic>> {
        let area = Arc::clone(&read.directory.area);
        if let Some(error) = &area.refused {
            return Err(vec![Diagnostic::of(&**error, &found.path)]);
        }
        let (engine, locked) = self.locked(found, absolute, &mut read.directory)?;
        let lock_only = self.settings.locks_alone
            || locked.bytes.is_some()
                && !is_configured(found, engine)
                    .map_err(|error| vec![Diagnostic::of(&error, &found.path)])?;
        let root = if lock_only {
            RootModule {
                requirements: Arc::new(requirements_from_lock(&locked.locks, &locked.rest.places)),
                ..RootModule::default()
            }
        } else {
            self.root(engine, &mut read.directory)?
        };
        read.calls.extend(root.local_modules.iter().cloned());
        let scope = ProviderScope::new(&area.policy, engine);
        let mut required = root.requirements.providers.keys();
        let wants_lock =
            required.any(|address| address.is_lockable(engine) && scope.includes(address));
        let job = LockJob {
            engine,
            complete: root.missing.is_empty(),
            requirements: root.requirements,
            lock_only,
            old: locked.locks,
            places: locked.rest.places,
        };
        let old = locked.bytes;
        let refused =
            refused(area.options.create.value, found, wants_lock).filter(|_| old.is_none());
        Ok(match refused {
            Some(why) => Task::Skip { why, job },
            None => Task::Lock { old, job },
        })
    }

    /// The engine of a directory, and what its lock file holds by the rules of that engine.
    fn locked(
        &self,
        found: &WalkedDirectory,
        absolute: &Path,
        directory: &mut ReadDirectory,
    ) -> Result<(Engine, Locked), Vec<Diagnostic>> {
        let path = &found.path;
        let lock_file = directory.lock_file();
        let bytes =
            lockfile::read(&lock_file).map_err(|error| vec![Diagnostic::of(&error, path)])?;
        let (engine, reason) = self.engines.of(
            &directory.area,
            found,
            absolute,
            &directory.repository,
            bytes.as_deref(),
        );
        directory.engine = Some((engine, reason));
        let Some(bytes) = bytes else {
            return Ok((engine, Locked::default()));
        };
        let read = self.lock_files.read(&lock_file, bytes, engine);
        let (bytes, locks, rest) = read.map_err(|errors| all_of(errors.iter(), path))?;
        let warning = rest.warning();
        let warning = warning.map(|text| Diagnostic::warning(Code::ModuleLocks, text, Some(path)));
        directory.diagnostics.extend(warning);
        let bytes = Some(bytes);
        Ok((engine, Locked { bytes, locks, rest }))
    }

    /// What the configuration of a directory requires, with all modules that it calls.
    fn root(
        &self,
        engine: Engine,
        directory: &mut ReadDirectory,
    ) -> Result<RootModule, Vec<Diagnostic>> {
        let (area, path) = (&directory.area, &directory.path);
        let options = area.read_options(engine);
        let root = config::read_root(path, &options, &self.cache, Some(self.fetcher))
            .map_err(|errors| all_of(errors.iter().map(|error| &**error), path))?;
        directory.moved_modules = self.moved_modules(path, engine, &root);
        directory.chosen_modules.clone_from(&root.chosen_modules);
        let warnings = root.warnings.iter();
        let warnings =
            warnings.map(|text| Diagnostic::warning(Code::Configuration, text.clone(), Some(path)));
        directory.diagnostics.extend(warnings);
        let missing = all_of(root.missing.iter().map(|error| &**error), path);
        if !missing.is_empty() && area.options.missing_module.value == Missing::Error {
            return Err(missing);
        }
        let missing = missing.into_iter().map(Diagnostic::into_warning);
        directory.diagnostics.extend(missing);
        Ok(root)
    }

    /// The modules that moved, by what `init` has installed or else by what is remembered of the last run.
    fn moved_modules(&self, path: &Path, engine: Engine, root: &RootModule) -> Vec<MovedModule> {
        let mut moved = root.moved_modules.clone();
        if !root.chosen_modules.is_empty()
            && let Ok(real) = path.canonicalize()
        {
            let since = self
                .fetcher
                .moved_modules(&real, engine, &root.chosen_modules);
            let is_told = |call: &String| root.moved_modules.iter().any(|told| told.call == *call);
            moved.extend(since.into_iter().filter(|module| !is_told(&module.call)));
        }
        moved
    }
}

/// Whether the engine finds a configuration in a directory.
fn is_configured(found: &WalkedDirectory, engine: Engine) -> Result<bool, ConfigError> {
    // The walk has seen files that every engine reads, unless files for OpenTofu hide them.
    if found.has_configuration && !found.has_tofu_files {
        return Ok(true);
    }
    Ok(!config::module_files(&found.path, engine)?.is_empty())
}

/// Why a missing lock file may not be created, as far as the directory alone decides.
fn refused(create: Create, found: &WalkedDirectory, wants_lock: bool) -> Option<SkipReason> {
    match create {
        Create::Never => Some(SkipReason::NotWanted),
        Create::Auto if found.found_by != FoundBy::DirectoryArgument && !wants_lock => {
            Some(SkipReason::RequiresNothing)
        }
        Create::Always | Create::Auto => None,
    }
}

fn all_of<'a, E: Explain>(errors: impl Iterator<Item = &'a E>, path: &Path) -> Vec<Diagnostic> {
    errors.map(|error| Diagnostic::of(error, path)).collect()
}
