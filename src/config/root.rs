//! A root module with all modules below it: what `init` would find, without `init`. docs/rules/config.md 8.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::access::ReadAccess;
use crate::parallel;
use crate::provider::{Engine, ModuleVersionConstraints, Requirements};
use crate::span::Place;

use super::cache::ModuleCache;
use super::error::ConfigError;
use super::options::ReadOptions;
use super::source::ModuleSource;
use super::tree::{self, TreeReader};

/// What a root module and the modules below it need.
#[derive(Debug, Default)]
pub struct RootModule {
    /// The providers, with the places that ask for them. Built-in and legacy addresses are not left out.
    pub requirements: Arc<Requirements>,
    /// The real directories of all local modules that are called, directly or not.
    pub local_modules: BTreeSet<PathBuf>,
    /// What cannot be told without modules that are not there. If this is not empty, the requirements are incomplete.
    pub missing: Vec<Arc<ConfigError>>,
    /// What the user should know: modules that were found by their record only.
    pub warnings: Vec<String>,
    /// Modules that were installed in another version than the one that counts now.
    pub moved_modules: Vec<MovedModule>,
    /// The versions that were chosen for calls which leave a choice, by the names of the calls that lead there, joined by dots.
    pub chosen_modules: BTreeMap<String, ChosenModule>,
}

/// A module of a registry in the version that was chosen for a call. Another one may be chosen tomorrow, without any commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenModule {
    /// Which module.
    pub source: String,
    /// Its version.
    pub version: String,
}

/// A module that is now read in another version than `init` installed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MovedModule {
    /// The names of the calls that lead to it, joined by dots.
    pub call: String,
    /// The version that the manifest records.
    pub from: String,
    /// The version that was fetched.
    pub to: String,
}

/// A remote module that is wanted.
#[derive(Clone, Copy, Debug)]
pub struct ModuleRequest<'a> {
    /// Where it comes from; never local.
    pub source: &'a ModuleSource,
    /// Which versions will do; only for modules from a registry.
    pub versions: Option<&'a ModuleVersionConstraints>,
    /// The root module that needs it.
    pub root: &'a Path,
    /// Where it is called.
    pub place: &'a Place,
    /// Whose default registry and shorthands.
    pub engine: Engine,
    /// Where addresses on this machine may lead; `None`: anywhere.
    pub confined_to: Option<&'a ReadAccess>,
    /// Whether the source is shown nowhere, logs and notes of progress included.
    pub is_hidden: bool,
}

/// Gets modules that no manifest has. It is asked from several threads, once for each call.
pub trait ModuleFetcher: Sync {
    /// Where the module is. It stays there as long as the run.
    fn fetch(&self, request: &ModuleRequest<'_>) -> Result<FetchedModule, FetchError>;
}

/// A module that was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedModule {
    /// Its directory.
    pub directory: PathBuf,
    /// The directory of all that was fetched with it. Its own local modules lie in there.
    pub package: PathBuf,
    /// Its version, if it comes from a registry.
    pub version: Option<String>,
}

/// Why a fetcher has no directory for a module.
#[derive(Debug)]
pub struct FetchError {
    /// What went wrong.
    pub source: Box<dyn std::error::Error + Send + Sync>,
    /// What may help.
    pub hint: Option<String>,
}

/// Reads the root module in `directory`, a path as the user wrote it. Without a fetcher only installed remote modules are found.
pub fn read_root(
    directory: &Path,
    options: &ReadOptions,
    cache: &ModuleCache,
    fetcher: Option<&dyn ModuleFetcher>,
) -> Result<RootModule, Vec<Arc<ConfigError>>> {
    TreeReader::new(options, cache, fetcher).read(directory)
}

/// Reads many root modules on all cores; the results are in the order of `roots`. What several of them call is read once.
pub fn read_roots(
    roots: &[(PathBuf, ReadOptions)],
    cache: &ModuleCache,
    fetcher: Option<&dyn ModuleFetcher>,
) -> Vec<Result<RootModule, Vec<Arc<ConfigError>>>> {
    parallel::map(roots, |(directory, options)| {
        read_root(directory, options, cache, fetcher)
    })
}

/// Who calls a directory as a local module: for each real directory that is called, the directories that call it, as they
/// were given. Directories that cannot be read call nothing; that they fail is told where they are read.
///
/// With `--create auto` a directory that is called gets no lock file.
pub fn local_callers(
    directories: &[(PathBuf, ReadOptions)],
    cache: &ModuleCache,
) -> BTreeMap<PathBuf, BTreeSet<PathBuf>> {
    let called = parallel::map(directories, |(directory, options)| {
        tree::direct_local_calls(directory, options, cache)
    });
    let mut callers: BTreeMap<PathBuf, BTreeSet<PathBuf>> = BTreeMap::new();
    for ((directory, _), targets) in directories.iter().zip(called) {
        for target in targets {
            callers.entry(target).or_default().insert(directory.clone());
        }
    }
    callers
}

/// The local modules that a root module calls, directly or not.
#[derive(Debug, Default)]
pub struct LocalModules {
    /// Their directories: as they are called, and without links. Those that are not there are among them.
    pub directories: BTreeSet<PathBuf>,
    /// Whether everything could be read. Else there may be more of them.
    pub complete: bool,
}

/// The local modules of the root module in `directory`, as far as they can be found without fetching anything.
pub fn local_modules(directory: &Path, options: &ReadOptions, cache: &ModuleCache) -> LocalModules {
    TreeReader::new(options, cache, None).local_modules(directory)
}
