//! Reads one directory: its lock file, its engine and its requirements. These decide what the command does with the directory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::access::repository_root;
use crate::config::{self, ConfigError, ModuleCache, MovedModule, RootModule};
use crate::diagnostic::{Code, Diagnostic};
use crate::lockfile::{self, LockFile, Locks};
use crate::locking::{LockJob, Missing, ProviderScope, requirements_from_lock};
use crate::modules::Fetcher;
use crate::options::Create;
use crate::parallel::lock;
use crate::provider::Engine;
use crate::run::callers::SkipReason;
use crate::run::lock_files::LockFiles;
use crate::settings::{Area, TreeSettings};
use crate::span::Explain;
use crate::temporary_file::Owner;
use crate::walk::{FoundBy, WalkedDirectory};

use super::directories::InArea;
use super::engine_detector::EngineDetector;
use super::{ReadDirectory, Task};

/// Reads directories. It holds the caches that all directories share.
pub(super) struct DirectoryReader<'a> {
    pub(super) settings: &'a TreeSettings,
    pub(super) cache: ModuleCache,
    pub(super) engines: EngineDetector<'a>,
    pub(super) repositories: Repositories,
    fetcher: &'a Fetcher,
    lock_files: LockFiles,
}

/// A directory that has been read, with its module calls. Whether other directories call it is not known yet.
pub(super) struct ReadWithCalls {
    pub(super) directory: ReadDirectory,
    /// The real paths of the local modules that the directory calls.
    pub(super) calls: BTreeSet<PathBuf>,
}

/// The content of the old lock file. Empty if the file does not exist.
#[derive(Default)]
struct OldLockFile {
    bytes: Option<Arc<[u8]>>,
    locks: Arc<Locks>,
    /// The parsed file without its locks.
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

    /// Reads one directory. Errors become diagnostics of the result.
    pub(super) fn read(&self, area: &Arc<Area>, found: &WalkedDirectory) -> ReadWithCalls {
        let absolute = self.settings.working_directory.join(&found.path);
        let mut read = ReadWithCalls {
            directory: ReadDirectory::unread(
                area,
                found.path.clone(),
                self.repositories.root(&absolute),
                found.found_by,
            ),
            calls: BTreeSet::new(),
        };
        if self.settings.clean_up && found.has_leftovers {
            // A failed cleanup does no harm, because tflock never reads these temporary files.
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
        let (engine, locked) = self.old_lock_file(found, absolute, &mut read.directory)?;
        let has_modules = self.settings.locks_alone
            || is_configured(found, engine)
                .map_err(|error| vec![Diagnostic::of(&error, &found.path)])?;
        let is_stack = !has_modules && found.has_stack_files && engine == Engine::Terraform;
        let is_configured = has_modules || is_stack;
        let lock_only = self.settings.locks_alone || locked.bytes.is_some() && !is_configured;
        let root = if lock_only {
            RootModule {
                requirements: Arc::new(requirements_from_lock(
                    &locked.locks,
                    &locked.rest.places,
                    found.has_unit_file,
                )),
                ..RootModule::default()
            }
        } else {
            self.read_root(engine, is_stack, &mut read.directory)?
        };
        read.calls.extend(root.local_modules.iter().cloned());
        let scope = ProviderScope::new(&area.policy, engine);
        let mut required = root.requirements.providers.keys();
        let needs_lock =
            required.any(|address| address.is_lockable(engine) && scope.includes(address));
        let job = LockJob {
            engine,
            complete: root.missing.is_empty(),
            requirements: root.requirements,
            lock_only,
            is_unit: found.has_unit_file,
            old: locked.locks,
            modules: locked.rest.modules,
            places: locked.rest.places,
        };
        let old = locked.bytes;
        let facts = CreationFacts {
            found_by: found.found_by,
            is_configured,
            is_stack,
            needs_lock,
        };
        let skip_reason = facts.skip_reason(area.options.create.value);
        let skip_reason = skip_reason.filter(|_| old.is_none());
        if let Some(SkipReason::NoConfiguration) = skip_reason
            && found.found_by == FoundBy::DirectoryArgument
        {
            let warning = Diagnostic::warn(&NoConfiguration, &found.path);
            read.directory.diagnostics.push(warning);
        }
        Ok(match skip_reason {
            Some(why) => Task::Skip { why, job },
            None => Task::Lock { old, job },
        })
    }

    /// Detects the engine of a directory and parses its lock file by the rules of that engine.
    fn old_lock_file(
        &self,
        found: &WalkedDirectory,
        absolute: &Path,
        directory: &mut ReadDirectory,
    ) -> Result<(Engine, OldLockFile), Vec<Diagnostic>> {
        let path = &found.path;
        let lock_file = directory.lock_file();
        let bytes =
            lockfile::read(&lock_file).map_err(|error| vec![Diagnostic::of(&error, path)])?;
        let detected = self.engines.detect(
            &directory.area,
            found,
            absolute,
            &directory.repository,
            bytes.as_deref(),
        );
        directory.engine = Some(detected);
        let engine = detected.engine;
        let Some(bytes) = bytes else {
            return Ok((engine, OldLockFile::default()));
        };
        let read = self.lock_files.read(&lock_file, bytes, engine);
        let (bytes, locks, rest) = read.map_err(|errors| Diagnostic::all(&errors, path))?;
        let bytes = Some(bytes);
        Ok((engine, OldLockFile { bytes, locks, rest }))
    }

    /// Reads the configuration of a directory and of all modules that it calls, or that of a stack.
    fn read_root(
        &self,
        engine: Engine,
        is_stack: bool,
        directory: &mut ReadDirectory,
    ) -> Result<RootModule, Vec<Diagnostic>> {
        let (area, path) = (&directory.area, &directory.path);
        let root = if is_stack {
            config::read_stack(path)
        } else {
            let options = area.read_options(engine);
            config::read_root(path, &options, &self.cache, Some(self.fetcher))
        };
        let root =
            root.map_err(|errors| Diagnostic::all(errors.iter().map(|error| &**error), path))?;
        directory.moved_modules = self.moved_modules(path, engine, &root);
        directory.chosen_modules.clone_from(&root.chosen_modules);
        for text in &root.warnings {
            let warning = Diagnostic::warning(Code::Configuration, text.clone(), Some(path));
            directory.diagnostics.push(warning);
        }
        let missing = Diagnostic::all(root.missing.iter().map(|error| &**error), path);
        if !missing.is_empty() && area.options.missing_module.value == Missing::Error {
            return Err(missing);
        }
        let warnings = missing.into_iter().map(Diagnostic::into_warning);
        directory.diagnostics.extend(warnings);
        Ok(root)
    }

    /// Returns the modules whose version differs from the one that `init` installed or, if `init` has not installed the module,
    /// from the one that an earlier run of tflock read.
    fn moved_modules(&self, path: &Path, engine: Engine, root: &RootModule) -> Vec<MovedModule> {
        let mut moved = root.moved_modules.clone();
        if !root.chosen_modules.is_empty()
            && let Ok(real) = path.canonicalize()
        {
            let since = self
                .fetcher
                .moved_modules(&real, engine, &root.chosen_modules);
            let is_known = |call: &str| root.moved_modules.iter().any(|known| known.call == call);
            moved.extend(since.into_iter().filter(|module| !is_known(&module.call)));
        }
        moved
    }
}

/// Returns whether the engine finds a configuration in a directory.
fn is_configured(found: &WalkedDirectory, engine: Engine) -> Result<bool, ConfigError> {
    // The walk has already found files that both engines read. Only files for OpenTofu could replace them.
    if found.has_configuration && !found.has_tofu_files {
        return Ok(true);
    }
    Ok(!config::module_files(&found.path, engine)?.is_empty())
}

/// What decides whether a missing lock file is created. Callers in other directories are checked later.
struct CreationFacts {
    found_by: FoundBy,
    is_configured: bool,
    is_stack: bool,
    /// Whether the directory, including its test files, requires a provider that a lock file can record.
    needs_lock: bool,
}

impl CreationFacts {
    /// Returns why a missing lock file is not created.
    fn skip_reason(&self, create: Create) -> Option<SkipReason> {
        match create {
            Create::Never => Some(SkipReason::CreationForbidden),
            Create::Always | Create::Auto if !self.is_configured && !self.needs_lock => {
                Some(SkipReason::NoConfiguration)
            }
            // A stack without a provider needs no lock file, and Terraform writes none.
            Create::Always | Create::Auto if self.is_stack && !self.needs_lock => {
                Some(SkipReason::RequiresNothing)
            }
            Create::Auto if self.found_by != FoundBy::DirectoryArgument && !self.needs_lock => {
                Some(SkipReason::RequiresNothing)
            }
            Create::Always | Create::Auto => None,
        }
    }
}

/// A directory that the user named has neither configuration nor a lock file. It is probably the root of a monorepo.
#[derive(Debug, thiserror::Error)]
#[error("no configuration and no lock file in this directory")]
struct NoConfiguration;

impl Explain for NoConfiguration {
    fn code(&self) -> Code {
        Code::NoConfiguration
    }

    fn hint(&self) -> Option<String> {
        Some("add `-r` to process all directories below it".to_owned())
    }
}

/// Finds the repository of each directory, with one search per parent directory.
#[derive(Default)]
pub(super) struct Repositories {
    /// Repository roots by parent directory. `None` if a directory is not in a repository.
    known: Mutex<BTreeMap<PathBuf, Option<PathBuf>>>,
}

impl Repositories {
    /// Returns the root of the repository that contains a directory, or the directory itself if it is not in a repository.
    pub(super) fn root(&self, absolute: &Path) -> PathBuf {
        let parent = absolute.parent().unwrap_or(absolute).to_path_buf();
        if absolute.join(".git").exists() {
            return absolute.to_path_buf();
        }
        let mut known = lock(&self.known);
        let look_up = || {
            let root = repository_root(&parent);
            root.join(".git").exists().then_some(root)
        };
        let root = known.entry(parent.clone()).or_insert_with(look_up);
        root.clone().unwrap_or_else(|| absolute.to_path_buf())
    }
}
