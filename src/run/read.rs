//! Before anything is asked of the network: every directory, what it requires, and what is locked there now.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crate::config::{
    self, ConfigError, ModuleCache, MovedModule, Named, ReadOptions, RootModule, WalkOptions,
    clean, local_callers, on_all_cores,
};
use crate::diagnostic::Diagnostic;
use crate::lockfile::{self, FILE_NAME, LockFile};
use crate::locking::{Job, Missing, Scope, requirements_of};
use crate::modules::Fetcher;
use crate::owner::Owner;
use crate::provider::Engine;
use crate::settings::{Area, Create, TreeSettings, WorkingSet, repository_root};
use crate::span::Explain;

use super::callers::{Called, Skipped};
use super::changed::{Candidate, Changed};
use super::engine::{self, Reason, VersionFiles};
use super::lock_files::LockFiles;
use super::report::{DirectoryReport, Fate};

/// One directory, read.
pub(super) struct Directory {
    /// What holds for it.
    pub(super) area: Arc<Area>,
    /// As the user would name it.
    pub(super) path: PathBuf,
    /// How it was found.
    pub(super) named: Named,
    /// Whose rules it follows, and why; unknown if its lock file cannot be read.
    pub(super) engine: Option<(Engine, Reason)>,
    /// The top of the repository that holds it, absolute.
    pub(super) repository: PathBuf,
    /// Modules that are read in another version than `init` installed.
    pub(super) moved_modules: Vec<MovedModule>,
    /// What went wrong, and what should be known.
    pub(super) diagnostics: Vec<Diagnostic>,
    /// What is to be done.
    pub(super) task: Task,
}

/// What is to be done with a directory.
pub(super) enum Task {
    /// Nothing: it has no lock file and needs none.
    Skip {
        /// Why not.
        why: Skipped,
        /// What would be locked.
        job: Job,
    },
    /// Nothing: it could not be read.
    Fail,
    /// Work out its lock.
    Lock {
        /// The bytes of the lock file, if there is one.
        old: Option<Arc<[u8]>>,
        /// What is to be locked.
        job: Job,
    },
}

impl Directory {
    /// A report that says no more than what reading found.
    pub(super) fn report(&self, fate: Fate) -> DirectoryReport {
        DirectoryReport {
            directory: self.path.clone(),
            engine: self.engine.map(|(engine, _)| engine),
            fate,
            providers: Vec::new(),
            moved_modules: self.moved_modules.clone(),
            findings: Vec::new(),
            unchecked: Vec::new(),
            diff: None,
            diagnostics: self.diagnostics.clone(),
            elapsed: Duration::ZERO,
        }
    }

    /// The path of its lock file.
    pub(super) fn lock_file(&self) -> PathBuf {
        match self.path.to_str() {
            Some(".") => PathBuf::from(FILE_NAME),
            _ => self.path.join(FILE_NAME),
        }
    }
}

/// A directory with what became of reading it, before it is known who calls whom.
struct Read {
    found: config::Directory,
    directory: Directory,
    /// The real directories of the local modules it calls.
    calls: BTreeSet<PathBuf>,
}

/// Reads all directories that the settings name, on all cores; each file once.
pub(super) fn all(settings: &TreeSettings, fetcher: &Fetcher) -> Vec<Directory> {
    let (mut found, mut unreadable) = (BTreeMap::new(), Vec::new());
    for area in &settings.areas {
        let walk = walk(area);
        for directory in walk.directories {
            // A directory that is reached from two areas belongs to the first.
            found
                .entry(directory.path.clone())
                .or_insert((Arc::clone(area), directory));
        }
        let unread = |error| unread(settings, area, &error);
        unreadable.extend(walk.errors.into_iter().map(unread));
    }
    let found: Vec<_> = found.into_values().collect();
    let reader = Reader::new(settings, fetcher, &found);
    let read = on_all_cores(&found, |(area, directory)| {
        reader
            .is_wanted(area, directory)
            .then(|| reader.read(area, directory))
    });
    let read = read.into_iter().flatten().collect();
    let mut directories = reader.without_called_modules(read);
    directories.extend(unreadable);
    directories
}

/// The directories with a configuration or a lock file that `--ignore-path` leaves out.
pub(super) fn ignored(settings: &TreeSettings) -> BTreeSet<PathBuf> {
    let mut left_out = BTreeSet::new();
    for area in &settings.areas {
        if area.ignore_paths.is_empty() || !area.recursive {
            continue;
        }
        let mut everything = Area::clone(area);
        everything.ignore_paths.clear();
        let all = walk(&everything).directories.into_iter();
        left_out.extend(all.map(|directory| directory.path));
        for directory in walk(area).directories {
            left_out.remove(&directory.path);
        }
    }
    left_out
}

/// The directories of one area.
fn walk(area: &Area) -> config::Walk {
    let options = WalkOptions {
        recursive: area.recursive,
        ignore: area.ignore_paths.clone(),
    };
    let mut walk = config::walk(&area.paths, &options);
    if area.recursive {
        // With -r, a named directory is where the search begins, and no more than any other.
        for directory in &mut walk.directories {
            if directory.named == Named::Directly {
                directory.named = Named::Walked;
            }
        }
        walk.directories
            .retain(|directory| directory.has_configuration || directory.has_lock_file);
    }
    walk
}

/// A directory that could not even be looked into.
fn unread(settings: &TreeSettings, area: &Arc<Area>, error: &ConfigError) -> Directory {
    let path = error
        .place()
        .map_or_else(PathBuf::new, |place| place.path.clone());
    Directory {
        area: Arc::clone(area),
        moved_modules: Vec::new(),
        diagnostics: vec![Diagnostic::of(error, &path)],
        repository: settings.working_directory.clone(),
        named: Named::Directly,
        engine: None,
        task: Task::Fail,
        path,
    }
}

/// What all directories share while they are read.
struct Reader<'a> {
    settings: &'a TreeSettings,
    fetcher: &'a Fetcher,
    cache: ModuleCache,
    changed: Option<Changed>,
    version_files: VersionFiles,
    lock_files: LockFiles,
    /// All directories that were found.
    found: &'a [(Arc<Area>, config::Directory)],
    /// What all lock files of the tree agree on, once a directory gives no hint of its own.
    tree: OnceLock<Option<Engine>>,
    /// The top of the repository by directory, where there is one.
    repositories: Mutex<BTreeMap<PathBuf, Option<PathBuf>>>,
}

impl<'a> Reader<'a> {
    fn new(
        settings: &'a TreeSettings,
        fetcher: &'a Fetcher,
        found: &'a [(Arc<Area>, config::Directory)],
    ) -> Self {
        Self {
            settings,
            fetcher,
            cache: ModuleCache::new(),
            changed: settings.working_set.changed.as_deref().map(Changed::new),
            version_files: VersionFiles::default(),
            lock_files: LockFiles::default(),
            found,
            tree: OnceLock::new(),
            repositories: Mutex::default(),
        }
    }

    /// What all lock files of the tree agree on. They are read for it, so nobody asks without need.
    fn tree(&self) -> Option<Engine> {
        *self.tree.get_or_init(|| {
            let engines = on_all_cores(self.found, |(_, directory)| {
                let path = directory.path.join(FILE_NAME);
                // A lock file that cannot be read is told of when its directory is worked on.
                let bytes = directory
                    .has_lock_file
                    .then(|| lockfile::read(&path).ok().flatten())??;
                engine::of_lock(&String::from_utf8_lossy(&bytes))
            });
            engine::agreed(engines.into_iter().flatten())
        })
    }

    /// Whether a directory is in the working set.
    fn is_wanted(&self, area: &Area, found: &config::Directory) -> bool {
        let WorkingSet { changed, failed } = &self.settings.working_set;
        if changed.is_none() && failed.is_none() {
            return true;
        }
        let absolute = self.settings.working_directory.join(&found.path);
        // A directory that is gone, or cannot be asked for, is told of when it is read.
        let Ok(real) = absolute.canonicalize() else {
            return true;
        };
        let failed = failed.as_ref();
        failed.is_none_or(|failed| failed.contains(&real))
            && self.can_have_changed(area, found, [clean(&absolute), real])
    }

    fn can_have_changed(
        &self,
        area: &Area,
        found: &config::Directory,
        names: [PathBuf; 2],
    ) -> bool {
        let Some(changed) = &self.changed else {
            return true;
        };
        let repository = self.repository(&names[1]);
        let lock = found
            .has_lock_file
            .then(|| lockfile::read(&found.path.join(FILE_NAME)).ok().flatten());
        let lock = lock.flatten();
        let (engine, reason) = self.engine(area, found, &names[1], &repository, lock.as_deref());
        let options = area.read_options(engine);
        let modules = config::local_modules(&found.path, &options, &self.cache);
        let modules = modules.directories.iter();
        let modules = modules.map(|module| clean(&self.settings.working_directory.join(module)));
        changed.concerns(&Candidate {
            modules: modules.collect(),
            repository: &repository,
            names,
            reason,
            area,
            options,
        })
    }

    fn read(&self, area: &Arc<Area>, found: &config::Directory) -> Read {
        let absolute = self.settings.working_directory.join(&found.path);
        let mut directory = Directory {
            area: Arc::clone(area),
            path: found.path.clone(),
            repository: self.repository(&absolute),
            named: found.named,
            engine: None,
            moved_modules: Vec::new(),
            diagnostics: Vec::new(),
            task: Task::Fail,
        };
        if self.settings.clean_up && found.has_leftovers {
            // What cannot be cleaned up is no reason to stop: the names are never read.
            let _ = lockfile::clean_stale(&found.path, &Owner::current());
        }
        let mut calls = BTreeSet::new();
        match self.task(found, &absolute, &mut directory, &mut calls) {
            Ok(task) => directory.task = task,
            Err(errors) => directory.diagnostics.extend(errors),
        }
        Read {
            found: found.clone(),
            directory,
            calls,
        }
    }

    fn task(
        &self,
        found: &config::Directory,
        absolute: &Path,
        directory: &mut Directory,
        calls: &mut BTreeSet<PathBuf>,
    ) -> Result<Task, Vec<Diagnostic>> {
        let path = &found.path;
        let area = Arc::clone(&directory.area);
        let old = lockfile::read(&directory.lock_file())
            .map_err(|error| vec![Diagnostic::of(&error, path)])?;
        let (engine, reason) = self.engine(
            &area,
            found,
            absolute,
            &directory.repository,
            old.as_deref(),
        );
        directory.engine = Some((engine, reason));
        let (old, locks, locked) = match old {
            None => (None, Arc::default(), LockFile::default()),
            Some(bytes) => {
                let read = self.lock_files.read(&directory.lock_file(), bytes, engine);
                let (bytes, locks, rest) = read.map_err(|errors| all_of(errors.iter(), path))?;
                (Some(bytes), locks, rest)
            }
        };
        let warning = locked.warning();
        let warning = warning.map(|text| Diagnostic::warning("module-locks", text, Some(path)));
        directory.diagnostics.extend(warning);

        let lock_only = self.settings.locks_alone
            || old.is_some()
                && !is_configured(found, engine)
                    .map_err(|error| vec![Diagnostic::of(&error, path)])?;
        let root = if lock_only {
            RootModule {
                requirements: Arc::new(requirements_of(&locks, &locked.places)),
                ..RootModule::default()
            }
        } else {
            let options = area.read_options(engine);
            config::read_root(path, &options, &self.cache, Some(self.fetcher))
                .map_err(|errors| all_of(errors.iter().map(|error| &**error), path))?
        };
        calls.extend(root.local_modules.iter().cloned());
        directory.moved_modules.clone_from(&root.moved_modules);
        let warnings = root.warnings.iter();
        let warnings =
            warnings.map(|text| Diagnostic::warning("configuration", text.clone(), Some(path)));
        directory.diagnostics.extend(warnings);
        if !root.missing.is_empty() {
            let missing = all_of(root.missing.iter().map(|error| &**error), path);
            if area.missing_module == Missing::Error {
                return Err(missing);
            }
            let missing = missing.into_iter().map(Diagnostic::into_warning);
            directory.diagnostics.extend(missing);
        }
        let scope = Scope::new(&area.policy, engine);
        let mut required = root.requirements.providers.keys();
        let wants_lock =
            required.any(|address| address.is_lockable(engine) && scope.includes(address));
        let job = Job {
            engine,
            complete: root.missing.is_empty(),
            requirements: root.requirements,
            lock_only,
            old: locks,
            places: locked.places,
        };
        let refused = refused(area.create, found, wants_lock).filter(|_| old.is_none());
        Ok(match refused {
            Some(why) => Task::Skip { why, job },
            None => Task::Lock { old, job },
        })
    }

    fn engine(
        &self,
        area: &Area,
        found: &config::Directory,
        absolute: &Path,
        repository: &Path,
        lock: Option<&[u8]>,
    ) -> (Engine, Reason) {
        let of_lock = || engine::of_lock(&String::from_utf8_lossy(lock?));
        let of_files = || found.has_tofu_files.then_some(Engine::Tofu);
        let of_version_file = || self.version_files.nearest(absolute, repository);
        let because = |reason| move |engine| (engine, reason);
        let asked = area.engine.map(because(Reason::Asked));
        asked
            .or_else(|| of_lock().map(because(Reason::LockFile)))
            .or_else(|| of_files().map(because(Reason::TofuFiles)))
            .or_else(|| of_version_file().map(because(Reason::VersionFile)))
            .or_else(|| self.tree().map(because(Reason::Tree)))
            .unwrap_or((Engine::Terraform, Reason::Default))
    }

    /// The top of the repository that holds a directory; looked up once per directory.
    fn repository(&self, absolute: &Path) -> PathBuf {
        let parent = absolute.parent().unwrap_or(absolute).to_path_buf();
        if absolute.join(".git").exists() {
            return absolute.to_path_buf();
        }
        let mut known = self
            .repositories
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let look_up = || {
            let root = repository_root(&parent);
            root.join(".git").exists().then_some(root)
        };
        let root = known.entry(parent.clone()).or_insert_with(look_up);
        root.clone().unwrap_or_else(|| absolute.to_path_buf())
    }

    /// Skips directories without a lock file that another directory of the repository calls as a local module: their
    /// callers lock for them. Callers are looked for in the whole repository, also where only a part of it is worked on.
    fn without_called_modules(&self, read: Vec<Read>) -> Vec<Directory> {
        let undecided = |read: &Read| {
            read.directory.area.create == Create::Auto
                && read.found.named != Named::Directly
                && matches!(read.directory.task, Task::Lock { old: None, .. })
        };
        let repositories: BTreeMap<PathBuf, Arc<Area>> = read
            .iter()
            .filter(|read| undecided(read))
            .map(|read| {
                (
                    read.directory.repository.clone(),
                    Arc::clone(&read.directory.area),
                )
            })
            .collect();
        let mut called = Called::default();
        for read in &read {
            called.note(&read.directory.path, read.calls.iter());
        }
        for (repository, area) in repositories {
            for (module, callers) in self.calls_within(&repository, &area, &read) {
                for caller in callers {
                    let shown = caller.strip_prefix(&self.settings.working_directory);
                    called.note(shown.unwrap_or(&caller), [&module]);
                }
            }
        }
        let skip_called = |mut read: Read| {
            if undecided(&read)
                && let Ok(real) = std::fs::canonicalize(&read.directory.path)
                && let Some(why) = called.of(&real)
                && let Task::Lock { job, .. } = read.directory.task
            {
                read.directory.task = Task::Skip { why, job };
            }
            read.directory
        };
        read.into_iter().map(skip_called).collect()
    }

    /// The local modules that directories of a repository call which are not worked on themselves, and which these are.
    fn calls_within(
        &self,
        repository: &Path,
        area: &Area,
        read: &[Read],
    ) -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
        let absolute = |path: &Path| self.settings.working_directory.join(path);
        let known: BTreeSet<PathBuf> = read.iter().map(|read| absolute(&read.found.path)).collect();
        let options = WalkOptions {
            recursive: true,
            ..WalkOptions::default()
        };
        let walk = config::walk(&[repository.to_path_buf()], &options);
        let others: Vec<(PathBuf, ReadOptions)> = walk
            .directories
            .into_iter()
            .filter(|directory| directory.has_configuration && !known.contains(&directory.path))
            .map(|directory| {
                let (engine, _) = self.engine(area, &directory, &directory.path, repository, None);
                (directory.path, area.read_options(engine))
            })
            .collect();
        local_callers(&others, &self.cache)
    }
}

/// Whether the engine finds a configuration in a directory.
fn is_configured(found: &config::Directory, engine: Engine) -> Result<bool, ConfigError> {
    // The walk has seen files that every engine reads, unless files for OpenTofu hide them.
    if found.has_configuration && !found.has_tofu_files {
        return Ok(true);
    }
    Ok(!config::module_files(&found.path, engine)?.is_empty())
}

/// Why a missing lock file may not be created, as far as the directory alone decides.
fn refused(create: Create, found: &config::Directory, wants_lock: bool) -> Option<Skipped> {
    match create {
        Create::Never => Some(Skipped::NotWanted),
        Create::Auto if found.named != Named::Directly && !wants_lock => {
            Some(Skipped::RequiresNothing)
        }
        Create::Always | Create::Auto => None,
    }
}

fn all_of<'a, E: Explain>(errors: impl Iterator<Item = &'a E>, path: &Path) -> Vec<Diagnostic> {
    errors.map(|error| Diagnostic::of(error, path)).collect()
}
