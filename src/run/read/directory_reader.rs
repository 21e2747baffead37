//! Reads one directory: its lock file, its engine and its requirements. These decide what the command does with the directory.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use crate::access::repository_root;
use crate::config::{self, ConfigError, ModuleCache, MovedModule, RootModule};
use crate::diagnostic::{Code, Diagnostic};
use crate::lockfile::{self, LockFile, Locks};
use crate::locking::{LockJob, ProviderScope};
use crate::modules::Fetcher;
use crate::options::Create;
use crate::parallel::lock;
use crate::provider::{Engine, Requirements};
use crate::run::callers::SkipReason;
use crate::run::lock_files::LockFiles;
use crate::run::units::{Units, engine_of_unit};
use crate::settings::{Area, TreeSettings};
use crate::span::Explain;
use crate::temporary_file::Owner;
use crate::terragrunt::UnitOutcome;
use crate::walk::{FoundBy, WalkedDirectory};

use super::directories::InArea;
use super::engine_detector::{EngineClues, EngineDetector};
use super::requirements::UsedLockFile;
use super::{ReadDirectory, Task};

/// Reads directories. It holds the caches that all directories share.
pub(super) struct DirectoryReader<'a> {
    pub(super) settings: &'a TreeSettings,
    pub(super) cache: ModuleCache,
    pub(super) engines: EngineDetector<'a>,
    pub(super) repositories: Repositories,
    pub(super) fetcher: &'a Fetcher,
    pub(super) units: Units<'a>,
    lock_files: LockFiles,
}

/// A directory that has been read, with its module calls. Whether other directories call it is not known yet.
pub(super) struct ReadWithCalls {
    pub(super) directory: ReadDirectory,
    /// The real paths of the local modules that the directory calls.
    pub(super) calls: BTreeSet<PathBuf>,
    pub(super) is_unit: bool,
}

/// The content of the old lock file. Empty if the file does not exist.
#[derive(Default)]
pub(super) struct OldLockFile {
    pub(super) bytes: Option<Arc<[u8]>>,
    pub(super) locks: Arc<Locks>,
    /// The parsed file without its locks.
    pub(super) rest: LockFile,
}

impl<'a> DirectoryReader<'a> {
    pub(super) fn new(
        settings: &'a TreeSettings,
        fetcher: &'a Fetcher,
        found: &'a [InArea],
    ) -> Self {
        let cache = ModuleCache::new();
        Self {
            settings,
            fetcher,
            units: Units::new(settings, &cache),
            cache,
            engines: EngineDetector::new(found, &settings.units),
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
            is_unit: found.has_unit_file,
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
        let outcome = self.read_unit(found)?;
        let directory = &mut read.directory;
        let unit_engine = outcome.as_ref().and_then(engine_of_unit);
        let (engine, mut locked) = self.old_lock_file(found, absolute, unit_engine, directory)?;
        let required = match &outcome {
            Some(outcome) => self.unit_requirements(outcome, engine, &locked, directory),
            None => self.own_requirements(found, engine, &locked, directory),
        }?;
        self.use_lock_file(&required.lock_file, engine, &found.path, &mut locked)?;
        let root = required.root;
        read.calls.extend(root.local_modules.iter().cloned());
        let scope = ProviderScope::new(&area.policy, engine);
        let needs_lock = has_lockable_provider(&root.requirements, &scope, engine);
        let job = LockJob {
            engine,
            complete: root.missing.is_empty(),
            requirements: root.requirements,
            lock_only: required.lock_only,
            is_unit: found.has_unit_file,
            old: locked.locks,
            modules: locked.rest.modules,
            places: locked.rest.places,
        };
        let old = locked.bytes;
        let facts = CreationFacts {
            found_by: found.found_by,
            is_configured: required.is_configured,
            is_stack: required.is_stack,
            needs_lock,
        };
        let skip_reason = required
            .no_creation
            .or_else(|| facts.skip_reason(area.options.create.value));
        let skip_reason = skip_reason.filter(|_| old.is_none());
        warn_of_missing_configuration(skip_reason.as_ref(), found, &mut read.directory);
        Ok(match skip_reason {
            Some(why) => Task::Skip { why, job },
            None => Task::Lock { old, job },
        })
    }

    /// Reads the unit in a directory, if it has one.
    fn read_unit(&self, found: &WalkedDirectory) -> Result<Option<UnitOutcome>, Vec<Diagnostic>> {
        if !found.has_unit_file || self.settings.locks_alone {
            return Ok(None);
        }
        let outcome = self.units.read(&found.path);
        let outcome = outcome.map_err(|errors| Diagnostic::all(&errors, &found.path))?;
        Ok(Some(outcome))
    }

    /// Detects the engine of a directory and parses its lock file by the rules of that engine. `unit_engine` is the engine that the
    /// unit in the directory names.
    fn old_lock_file(
        &self,
        found: &WalkedDirectory,
        absolute: &Path,
        unit_engine: Option<Engine>,
        directory: &mut ReadDirectory,
    ) -> Result<(Engine, OldLockFile), Vec<Diagnostic>> {
        let lock_file = directory.lock_file();
        let bytes = lockfile::read(&lock_file)
            .map_err(|error| vec![Diagnostic::of(&error, &found.path)])?;
        let detected = self.engines.detect(
            &directory.area,
            found,
            absolute,
            &directory.repository,
            EngineClues {
                lock: bytes.as_deref(),
                unit: unit_engine,
            },
        );
        directory.engine = Some(detected);
        let locked = self.parse_lock_file(&lock_file, bytes, detected.engine, &found.path)?;
        Ok((detected.engine, locked))
    }

    /// Replaces the entries in `locked` if the entries of a different lock file are used for `directory`, or none.
    fn use_lock_file(
        &self,
        used: &UsedLockFile,
        engine: Engine,
        directory: &Path,
        locked: &mut OldLockFile,
    ) -> Result<(), Vec<Diagnostic>> {
        let used = match used {
            UsedLockFile::Own => return Ok(()),
            UsedLockFile::OfSource(path) => self.read_lock_file(path, engine, directory)?,
            UsedLockFile::Nothing => OldLockFile::default(),
        };
        (locked.locks, locked.rest) = (used.locks, used.rest);
        Ok(())
    }

    /// Reads the lock file at `path`, whose entries are used for `directory`.
    fn read_lock_file(
        &self,
        path: &Path,
        engine: Engine,
        directory: &Path,
    ) -> Result<OldLockFile, Vec<Diagnostic>> {
        let bytes =
            lockfile::read(path).map_err(|error| vec![Diagnostic::of(&error, directory)])?;
        self.parse_lock_file(path, bytes, engine, directory)
    }

    fn parse_lock_file(
        &self,
        path: &Path,
        bytes: Option<Vec<u8>>,
        engine: Engine,
        directory: &Path,
    ) -> Result<OldLockFile, Vec<Diagnostic>> {
        let Some(bytes) = bytes else {
            return Ok(OldLockFile::default());
        };
        let read = self.lock_files.read(path, bytes, engine);
        let (bytes, locks, rest) = read.map_err(|errors| Diagnostic::all(&errors, directory))?;
        let bytes = Some(bytes);
        Ok(OldLockFile { bytes, locks, rest })
    }

    /// Returns the modules whose version differs from the one that `init` installed or, if `init` has not installed the module,
    /// from the one that an earlier run of tflock read.
    pub(super) fn moved_modules(
        &self,
        path: &Path,
        engine: Engine,
        root: &RootModule,
    ) -> Vec<MovedModule> {
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

/// Whether the requirements include a provider that is in `scope` and that `engine` can lock.
fn has_lockable_provider(
    requirements: &Requirements,
    scope: &ProviderScope,
    engine: Engine,
) -> bool {
    let mut addresses = requirements.providers.keys();
    addresses.any(|address| address.is_lockable(engine) && scope.includes(address))
}

/// Warns if a directory that the user named has no configuration.
fn warn_of_missing_configuration(
    skip_reason: Option<&SkipReason>,
    found: &WalkedDirectory,
    directory: &mut ReadDirectory,
) {
    if let Some(SkipReason::NoConfiguration) = skip_reason
        && found.found_by == FoundBy::DirectoryArgument
    {
        let warning = Diagnostic::warn(&NoConfiguration, &found.path);
        directory.diagnostics.push(warning);
    }
}

/// Returns whether the engine finds a configuration in a directory.
pub(super) fn is_configured(found: &WalkedDirectory, engine: Engine) -> Result<bool, ConfigError> {
    // If the directory has no files that only OpenTofu reads, both engines read the files that the walk found.
    if found.has_configuration && !found.has_tofu_files {
        return Ok(true);
    }
    Ok(!config::module_files(&found.path, engine)?.is_empty())
}

/// The facts that decide whether a missing lock file is created. Callers in other directories are checked later.
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
