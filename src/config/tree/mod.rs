//! Follows module calls from a root module, depth first. See section 8 of docs/rules/config.md.

mod locate;
mod test_runs;

use std::cell::OnceCell;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::functions::clean_path;
use crate::provider::Requirements;
use crate::span::Explain as _;

use super::{
    AssembledModule, BlockProblem, CallError, CallProblem, CallTarget, ConfigError, Evaluation,
    Instance, LocalModules, Location, Manifest, Module, ModuleCache, ModuleCall, ModuleFetcher,
    ModuleSource, ReadOptions, RootContext, RootModule, Tests, call_target, test_files,
};

/// The maximum depth of nested calls. Real configurations need only a few levels, and this many fit on a small stack.
const MAX_DEPTH: usize = 60;

/// The maximum number of calls below one root module. More calls are a mistake or an attack: with two calls per module, their number
/// doubles at each level.
const MAX_CALLS: usize = 50_000;

/// The maximum number of errors in one root module. Once it is reached, the reader follows no more calls.
const MAX_ERRORS: usize = 1000;

/// The number of budget steps for following a call, in addition to those for evaluating it.
const STEPS_PER_CALL: usize = 20;

/// The number of bytes of paths and keys that can be copied in the time of one budget step.
const BYTES_PER_STEP: usize = 64;

/// Where the files of a root module are.
#[derive(Clone, Copy)]
pub(super) enum RootFiles<'a> {
    Directory(&'a Path),
    Assembled(&'a AssembledModule),
}

impl RootFiles<'_> {
    fn location(self) -> Result<Location, ConfigError> {
        match self {
            Self::Assembled(module) => Ok(Location::of_assembled(module)),
            Self::Directory(directory) => {
                let path = directory.to_path_buf();
                let failed = |source| ConfigError::ReadDirectory { path, source };
                Location::new(directory).map_err(failed)
            }
        }
    }
}

/// Reads one root module and everything that it calls.
pub(super) struct TreeReader<'a> {
    options: &'a ReadOptions,
    cache: &'a ModuleCache,
    fetcher: Option<&'a dyn ModuleFetcher>,
    manifest: OnceCell<Result<Manifest, Arc<ConfigError>>>,
    root_module: RootModule,
    errors: Vec<Arc<ConfigError>>,
    call_count: usize,
    /// The real directories of modules below which all calls are local and constant. Visiting them again would find nothing new.
    constant_modules: BTreeSet<PathBuf>,
    /// The directories of local modules as their callers name them, including those that do not exist.
    called_directories: BTreeSet<PathBuf>,
}

struct ModuleNode<'a> {
    instance: &'a Instance<'a>,
    location: Location,
    /// The key in the manifest: the names of the calls from the root, joined by dots. Empty for the root.
    key: String,
    /// The real directories from the root to this module. Calling one of them again would cause infinite recursion.
    path_from_root: Vec<PathBuf>,
    evaluation: Evaluation,
}

struct CallSite<'a> {
    call: &'a ModuleCall,
    /// The key of the called module in the manifest.
    key: String,
    caller: &'a ModuleNode<'a>,
}

impl<'a> CallSite<'a> {
    fn context(&self) -> &'a RootContext<'a> {
        self.caller.instance.context()
    }

    fn error(&self, problem: CallProblem) -> CallError {
        self.call.error(problem)
    }
}

/// The error for a call that is not followed. The reason has already been recorded.
struct Stopped;

impl<'a> TreeReader<'a> {
    pub(super) fn new(
        options: &'a ReadOptions,
        cache: &'a ModuleCache,
        fetcher: Option<&'a dyn ModuleFetcher>,
    ) -> Self {
        Self {
            options,
            cache,
            fetcher,
            manifest: OnceCell::new(),
            root_module: RootModule::default(),
            errors: Vec::new(),
            call_count: 0,
            constant_modules: BTreeSet::new(),
            called_directories: BTreeSet::new(),
        }
    }

    pub(super) fn read(mut self, root: RootFiles<'_>) -> Result<RootModule, Vec<Arc<ConfigError>>> {
        self.follow_root(root)?;
        if self.errors.is_empty() {
            Ok(self.root_module)
        } else {
            Err(self.errors)
        }
    }

    /// Collects the local modules that a root module calls, directly or indirectly.
    pub(super) fn local_modules(mut self, root: RootFiles<'_>) -> LocalModules {
        let followed = self.follow_root(root);
        let mut directories = self.called_directories;
        directories.append(&mut self.root_module.local_modules);
        LocalModules {
            directories,
            complete: followed.is_ok() && self.errors.is_empty(),
        }
    }

    fn follow_root(&mut self, root: RootFiles<'_>) -> Result<(), Vec<Arc<ConfigError>>> {
        let location = root.location().map_err(|error| vec![Arc::new(error)])?;
        let engine = self.options.engine;
        let module = self
            .cache
            .module(&location, engine)
            .map_err(Arc::unwrap_or_clone)?;
        let context = RootContext::new(&location, self.options, self.cache.budget());
        let checked = context.check_variable_files(&module);
        checked.map_err(|error| vec![Arc::new(error)])?;
        let root = ModuleNode {
            instance: &Instance::root(&module, &context),
            path_from_root: vec![location.real.clone()],
            location: location.clone(),
            key: String::new(),
            evaluation: Evaluation::Dynamic,
        };
        self.root_module.requirements = Arc::clone(&module.requirements);
        self.require(&module.root_requirements);
        self.follow_calls(&root);
        self.follow_test_runs(&root);
        Ok(())
    }

    /// Follows all calls in a module. Returns whether these and all calls below them are local and constant.
    fn follow_calls(&mut self, caller: &ModuleNode<'_>) -> bool {
        let mut is_constant = true;
        for call in caller.instance.module.calls.values() {
            let key = if caller.key.is_empty() {
                call.name.clone()
            } else {
                format!("{}.{}", caller.key, call.name)
            };
            let site = CallSite { call, key, caller };
            is_constant &= self.follow_call(&site).unwrap_or(false);
        }
        is_constant
    }

    /// Follows one call. Returns whether it and all calls below it are local and constant.
    fn follow_call(&mut self, site: &CallSite<'_>) -> Result<bool, Stopped> {
        self.count_call(site)?;
        let caller = site.caller;
        let target = match call_target::resolve(caller.instance, site.call, caller.evaluation) {
            Ok(target) => target,
            Err(error) if error.needs_unsupported_function() => {
                return self.enter_recorded(site, error).map(|()| false);
            }
            Err(error) => return Err(self.fail(error)),
        };
        let location = self.locate(site, &target)?;
        let ModuleSource::Local(path) = &target.source else {
            let path = site.context().path_of(&location);
            self.enter(site, location, path)?;
            return Ok(false);
        };
        self.add_local_module(&location);
        if target.is_constant && self.constant_modules.contains(&location.real) {
            return Ok(true);
        }
        let path = clean_path(&format!("{}/{path}", caller.instance.path()));
        let real = location.real.clone();
        let is_constant = self.enter(site, location, path)? && target.is_constant;
        if is_constant {
            self.constant_modules.insert(real);
        }
        Ok(is_constant)
    }

    /// Counts a call. Fails after too many calls or errors, or if the budget is used up.
    fn count_call(&mut self, site: &CallSite<'_>) -> Result<(), Stopped> {
        let error_count = self.errors.len().max(self.root_module.missing.len());
        if site.context().is_exceeded() || error_count >= MAX_ERRORS {
            return Err(Stopped);
        }
        let paths = site.caller.path_from_root.iter();
        let bytes: usize = paths.map(|path| path.as_os_str().len()).sum();
        let steps = STEPS_PER_CALL + (site.caller.key.len() + bytes) / BYTES_PER_STEP;
        if let Err(budget) = site.context().steps(steps) {
            let place = Box::new(site.call.range.place());
            return Err(self.fail(ConfigError::Exceeded { place, budget }));
        }
        self.call_count += 1;
        match self.call_count.cmp(&MAX_CALLS) {
            Ordering::Less => Ok(()),
            Ordering::Equal => Err(self.fail(site.error(CallProblem::TooMany(MAX_CALLS)))),
            Ordering::Greater => Err(Stopped),
        }
    }

    /// Reads the called module and follows its calls. `path` is the value of `path.module` in the called module. Returns whether
    /// all calls below that module are local and constant.
    fn enter(
        &mut self,
        site: &CallSite<'_>,
        location: Location,
        path: String,
    ) -> Result<bool, Stopped> {
        let caller = site.caller;
        if caller.path_from_root.contains(&location.real) {
            return Err(self.fail(site.error(CallProblem::Recursion(location.shown))));
        }
        if caller.path_from_root.len() > MAX_DEPTH {
            return Err(self.fail(site.error(CallProblem::TooDeep(MAX_DEPTH))));
        }
        let module = self.read_called_module(&location)?;
        let mut path_from_root = caller.path_from_root.clone();
        path_from_root.push(location.real.clone());
        let node = ModuleNode {
            instance: &caller.instance.child(&module, site.call, path, &location),
            location,
            key: site.key.clone(),
            path_from_root,
            evaluation: caller.evaluation,
        };
        Ok(self.follow_calls(&node))
    }

    /// Records the directory of a called local module. In an assembled tree, records the directories of the user that the module consists
    /// of.
    fn add_local_module(&mut self, location: &Location) {
        let modules = &mut self.root_module.local_modules;
        match location.in_tree() {
            None => drop(modules.insert(location.real.clone())),
            Some((tree, path)) => {
                let own = tree
                    .directories(path)
                    .filter(|(_, package)| package.is_none());
                modules.extend(own.filter_map(|(directory, _)| directory.canonicalize().ok()));
            }
        }
    }

    fn read_called_module(&mut self, location: &Location) -> Result<Arc<Module>, Stopped> {
        let engine = self.options.engine;
        let module = match self.cache.module(location, engine) {
            Ok(module) => module,
            Err(errors) => {
                for error in errors.iter() {
                    // If a broken module is called several times, its errors are reported only once.
                    let is_equal = |known: &Arc<ConfigError>| {
                        known.place() == error.place() && known.to_string() == error.to_string()
                    };
                    if !self.errors.iter().any(is_equal) {
                        self.errors.push(Arc::clone(error));
                    }
                }
                return Err(Stopped);
            }
        };
        if let Some(import) = module.imports.first()
            && !engine.allows_imports_in_called_modules()
        {
            let place = import.range.place();
            return Err(self.fail(ConfigError::invalid(place, BlockProblem::ImportInChild)));
        }
        self.require(&module.requirements);
        Ok(module)
    }

    /// Adds the requirements of another module. Copies those of the root module, which the cache shares, only if necessary.
    fn require(&mut self, requirements: &Requirements) {
        if !requirements.providers.is_empty() {
            Arc::make_mut(&mut self.root_module.requirements).merge(requirements);
        }
    }

    fn fail(&mut self, error: impl Into<ConfigError>) -> Stopped {
        let error = error.into();
        let list = match &error {
            ConfigError::Call(call) if call.is_missing_module() => &mut self.root_module.missing,
            _ => &mut self.errors,
        };
        list.push(Arc::new(error));
        Stopped
    }
}

/// Returns the real directories of the local modules that the module in `directory` calls directly or runs in tests.
pub(super) fn direct_local_calls(
    directory: &Path,
    options: &ReadOptions,
    cache: &ModuleCache,
) -> BTreeSet<PathBuf> {
    let Ok(location) = Location::new(directory) else {
        return BTreeSet::new();
    };
    let Ok(module) = cache.module(&location, options.engine) else {
        return BTreeSet::new();
    };
    let context = RootContext::new(&location, options, cache.budget());
    let instance = Instance::root(&module, &context);
    let runs = match &options.tests {
        Tests::Skip => Vec::new(),
        Tests::Read { directory } => {
            test_files::read(&location.directory(), directory, options.engine).runs
        }
    };
    let calls = module
        .calls
        .values()
        .map(|call| (call, Evaluation::Dynamic));
    let run_calls = runs.iter().map(|run| (&run.call, Evaluation::Literal));
    let real_directory =
        |(call, evaluation)| match call_target::resolve(&instance, call, evaluation) {
            Ok(CallTarget {
                source: ModuleSource::Local(path),
                ..
            }) => Some(location.join(Path::new(&path)).ok()?.real),
            _ => None,
        };
    calls.chain(run_calls).filter_map(real_directory).collect()
}
