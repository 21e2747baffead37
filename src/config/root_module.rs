//! Reads root modules and all modules that they call, without running `init`. See section 8 of docs/rules/config.md.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::access::ReadAccess;
use crate::parallel;
use crate::provider::{Engine, ModuleVersionConstraints, Requirements};
use crate::span::Place;

use super::tree::{RootFiles, TreeReader};
use super::{AssembledModule, ConfigError, ModuleCache, ModuleSource, ReadOptions, tree};

/// The requirements of a root module and of the modules that it calls.
#[derive(Debug, Default)]
pub struct RootModule {
    /// The required providers, with the positions in the configuration that require them. Includes built-in and legacy addresses.
    pub requirements: Arc<Requirements>,
    /// The real directories of all local modules that are called, directly or indirectly.
    pub local_modules: BTreeSet<PathBuf>,
    pub missing: Vec<Arc<ConfigError>>,
    /// Warnings about missing test directories, and about installed modules that are used because their source cannot be
    /// evaluated.
    pub warnings: Vec<String>,
    /// Modules for which tflock fetched a different version, because the configuration no longer allows the installed one.
    pub moved_modules: Vec<MovedModule>,
    /// The versions chosen for calls that allow several versions. The key consists of the call names from the root, joined by
    /// dots.
    pub chosen_modules: BTreeMap<String, ChosenModule>,
}

/// A registry module and the version chosen for a call. A new release may change the choice even without a configuration change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChosenModule {
    /// The source without secrets.
    pub source: String,
    pub version: String,
}

/// A module for which tflock reads a different version from the one that `init` installed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct MovedModule {
    /// The names of the calls from the root, joined by dots.
    pub call: String,
    pub from: String,
    pub to: String,
}

#[derive(Clone, Copy, Debug)]
pub struct ModuleRequest<'a> {
    /// The source of the module, which is never a local path.
    pub source: &'a ModuleSource,
    /// The allowed versions. `None` if the call does not restrict them.
    pub versions: Option<&'a ModuleVersionConstraints>,
    pub root: &'a Path,
    pub place: &'a Place,
    /// The engine whose default registry and shorthands apply.
    pub engine: Engine,
    /// The local directories that the source may refer to. `None` allows all directories.
    pub confined_to: Option<&'a ReadAccess>,
    /// Whether the source may be secret, and must not appear even in logs and progress messages.
    pub is_hidden: bool,
}

/// Fetches modules that are not installed. Several threads use the fetcher, once for each module call.
pub trait ModuleFetcher: Sync {
    /// Fetches a module into a directory that exists until the end of the run.
    fn fetch(&self, request: &ModuleRequest<'_>) -> Result<FetchedModule, FetchError>;
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchedModule {
    pub directory: PathBuf,
    /// The directory of the whole package, which also contains the local modules that the module calls.
    pub package: PathBuf,
    /// The version, if the module comes from a registry.
    pub version: Option<String>,
}

#[derive(Debug)]
pub struct FetchError {
    pub source: Box<dyn std::error::Error + Send + Sync>,
    pub hint: Option<String>,
}

/// Reads the root module in `directory`, a path as the user wrote it. Without a fetcher, all remote modules must be installed.
pub fn read_root(
    directory: &Path,
    options: &ReadOptions,
    cache: &ModuleCache,
    fetcher: Option<&dyn ModuleFetcher>,
) -> Result<RootModule, Vec<Arc<ConfigError>>> {
    TreeReader::new(options, cache, fetcher).read(RootFiles::Directory(directory))
}

/// Reads an assembled root module like [`read_root`].
pub fn read_assembled(
    module: &AssembledModule,
    options: &ReadOptions,
    cache: &ModuleCache,
    fetcher: Option<&dyn ModuleFetcher>,
) -> Result<RootModule, Vec<Arc<ConfigError>>> {
    TreeReader::new(options, cache, fetcher).read(RootFiles::Assembled(module))
}

/// Reads root modules on all cores. The results are in the order of `roots`. Modules that several roots call are read only once.
pub fn read_roots(
    roots: &[(PathBuf, ReadOptions)],
    cache: &ModuleCache,
    fetcher: Option<&dyn ModuleFetcher>,
) -> Vec<Result<RootModule, Vec<Arc<ConfigError>>>> {
    parallel::map(roots, |(directory, options)| {
        read_root(directory, options, cache, fetcher)
    })
}

/// Finds the callers of local modules. Maps the real directory of each called module to those of `directories` that call it. With `--create
/// auto`, no lock file is created in a called directory.
///
/// A directory that cannot be read is ignored; reading it as a root module reports the error.
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

/// The local modules that a root module calls directly or indirectly.
#[derive(Debug, Default)]
pub struct LocalModules {
    /// The directories of the modules, both as their callers name them and without symlinks. Some may not exist.
    pub directories: BTreeSet<PathBuf>,
    /// Whether all modules were read. If not, there may be more local modules.
    pub complete: bool,
}

/// Finds the local modules of the root module in `directory` without fetching modules.
pub fn local_modules(directory: &Path, options: &ReadOptions, cache: &ModuleCache) -> LocalModules {
    TreeReader::new(options, cache, None).local_modules(RootFiles::Directory(directory))
}

/// Finds the local modules of an assembled root module like [`local_modules`].
pub fn local_modules_of_assembled(
    module: &AssembledModule,
    options: &ReadOptions,
    cache: &ModuleCache,
) -> LocalModules {
    TreeReader::new(options, cache, None).local_modules(RootFiles::Assembled(module))
}
