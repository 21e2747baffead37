//! A root module with all modules below it: what `init` would find, without `init`. spec/config.md 8.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::provider::{Engine, ModuleVersionConstraints, Requirements};
use crate::span::Place;

use super::cache::ModuleCache;
use super::error::{ConfigError, Problem};
use super::options::ReadOptions;
use super::source::ModuleSource;
use super::tree::TreeReader;

/// What a root module and the modules below it need.
#[derive(Debug, Default)]
pub struct RootModule {
    /// The providers, with the places that ask for them. Built-in and legacy addresses are not left out.
    pub requirements: Requirements,
    /// The real directories of all local modules that are called, directly or not.
    pub local_modules: BTreeSet<PathBuf>,
    /// What cannot be told without modules that are not there. If this is not empty, the requirements are incomplete.
    pub missing: Vec<Arc<ConfigError>>,
    /// What the user should know: modules that were found by their record only.
    pub warnings: Vec<String>,
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
}

/// Gets modules that no manifest has. It is asked from several threads, once for each call.
pub trait ModuleFetcher: Sync {
    /// The directory of the module, its subdirectory included. It stays there as long as the run.
    fn fetch(
        &self,
        request: &ModuleRequest<'_>,
    ) -> Result<PathBuf, Box<dyn std::error::Error + Send + Sync>>;
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

/// Whether `error` is about a module that is not there, which `--missing-module warn` forgives.
pub(super) const fn is_missing_module(error: &ConfigError) -> bool {
    matches!(
        error,
        ConfigError::NotInstalled { .. }
            | ConfigError::SourceChanged { .. }
            | ConfigError::VersionChanged { .. }
            | ConfigError::Fetch { .. }
    )
}

/// An `import` block in a module that is called.
pub(super) fn import_in_child(place: &Place) -> ConfigError {
    ConfigError::invalid(place.clone(), Problem::ImportInChild)
}
