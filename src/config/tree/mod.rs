//! Follows module calls from a root. docs/rules/config.md 8.
//!
//! The reader goes depth first and remembers two things: which directories are being read (a call to one of them would never
//! end), and below which everything was local and constant (a second visit finds nothing new).

mod locate;
mod runs;

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::provider::Requirements;
use crate::span::Place;

use super::cache::ModuleCache;
use super::call_target::{self, Evaluation, Target, Unresolved};
use super::calls::Call;
use super::error::ConfigError;
use super::location::Location;
use super::manifest::Manifest;
use super::module::Module;
use super::options::{ReadOptions, Tests};
use super::root::{LocalModules, ModuleFetcher, RootModule, import_in_child, is_missing_module};
use super::source::{ModuleSource, clean_path};
use super::statics::{Environment, Instance};
use super::test_files;

/// Real configurations nest a handful of levels; this many fit on a small stack.
const MAX_DEPTH: usize = 60;

/// More calls below one root than this are a mistake, or an attack: calls in pairs grow exponentially.
const MAX_CALLS: usize = 50_000;

/// More errors of one root module than these are not told: as many more calls of the same kind have the same.
const MAX_ERRORS: usize = 1000;

/// The steps to follow a call, beside those to evaluate it.
const STEPS_OF_CALL: usize = 20;

/// How many bytes of names are copied in the time of a step.
const BYTES_OF_STEP: usize = 64;

/// Reads one root module.
pub(super) struct TreeReader<'a> {
    options: &'a ReadOptions,
    cache: &'a ModuleCache,
    fetcher: Option<&'a dyn ModuleFetcher>,
    manifest: OnceCell<Result<Manifest, Arc<ConfigError>>>,
    found: RootModule,
    errors: Vec<Arc<ConfigError>>,
    calls: usize,
    settled: BTreeSet<PathBuf>,
    /// The directories of local modules as they are called, also of those that are not there.
    called: BTreeSet<PathBuf>,
}

/// A module in the tree.
struct Node {
    location: Location,
    /// The names of the calls from the root, joined by dots: the key of the manifest.
    key: String,
    /// The real directories from the root to this module.
    above: Vec<PathBuf>,
    evaluation: Evaluation,
}

/// A call that was not followed; the reason is noted.
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
            found: RootModule::default(),
            errors: Vec::new(),
            calls: 0,
            settled: BTreeSet::new(),
            called: BTreeSet::new(),
        }
    }

    pub(super) fn read(mut self, directory: &Path) -> Result<RootModule, Vec<Arc<ConfigError>>> {
        self.follow(directory)?;
        if self.errors.is_empty() {
            Ok(self.found)
        } else {
            Err(self.errors)
        }
    }

    /// The local modules that can be found from `directory`.
    pub(super) fn local_modules(mut self, directory: &Path) -> LocalModules {
        // What cannot be read calls nothing; that it fails is told where it is read.
        let followed = self.follow(directory);
        let mut directories = self.called;
        directories.append(&mut self.found.local_modules);
        LocalModules {
            directories,
            complete: followed.is_ok() && self.errors.is_empty(),
        }
    }

    fn follow(&mut self, directory: &Path) -> Result<(), Vec<Arc<ConfigError>>> {
        let unreadable = |source| {
            Arc::new(ConfigError::ReadDirectory {
                path: directory.to_path_buf(),
                source,
            })
        };
        let location = Location::new(directory).map_err(|source| vec![unreadable(source)])?;
        let module = self
            .cache
            .module(&location.real, &location.shown, self.options.engine);
        let module = module.map_err(|errors| vec_of(&errors))?;
        let environment = Environment::new(&location.shown, self.options, self.cache.budget());
        let root = Node {
            above: vec![location.real.clone()],
            location: location.clone(),
            key: String::new(),
            evaluation: Evaluation::Dynamic,
        };
        self.found.requirements = Arc::clone(&module.requirements);
        self.require(&module.root_requirements);
        let instance = Instance::root(&module, &environment);
        self.visit(&instance, &root, &environment);
        self.tests(&instance, &root, &environment);
        Ok(())
    }

    /// Follows all calls of a module. The result is whether everything below is local and constant.
    fn visit(
        &mut self,
        instance: &Instance<'_>,
        node: &Node,
        environment: &Environment<'_>,
    ) -> bool {
        let mut settled = true;
        for call in instance.module.calls.values() {
            settled &= self
                .call(instance, call, node, environment)
                .unwrap_or(false);
        }
        settled
    }

    fn call(
        &mut self,
        instance: &Instance<'_>,
        call: &Call,
        node: &Node,
        environment: &Environment<'_>,
    ) -> Result<bool, Stopped> {
        self.count_call(call, node, environment)?;
        let key = if node.key.is_empty() {
            call.name.clone()
        } else {
            format!("{}.{}", node.key, call.name)
        };
        let target = match call_target::resolve(instance, call, node.evaluation) {
            Ok(target) => target,
            Err(Unresolved::Error(error)) => return Err(self.fail(error)),
            Err(Unresolved::Unsupported(error)) => {
                return self.by_record_only(&key, instance, call, node, environment, error);
            }
        };
        let is_local = matches!(target.source, ModuleSource::Local(_));
        let location = self.locate(
            &target,
            &key,
            &call.name,
            &call.spot,
            &node.location,
            environment,
        )?;
        let path = match &target.source {
            ModuleSource::Local(path) => clean_path(&format!("{}/{path}", instance.path())),
            _ => environment.path_of(&location),
        };
        let is_constant = is_local && target.is_constant;
        if is_local {
            self.found.local_modules.insert(location.real.clone());
        }
        if is_constant && self.settled.contains(&location.real) {
            return Ok(true);
        }
        let below = self.enter(
            instance,
            call,
            node,
            environment,
            Entered {
                location: location.clone(),
                key,
                path,
            },
        )?;
        if is_constant && below {
            self.settled.insert(location.real);
        }
        Ok(is_constant && below)
    }

    /// Whether one more call is followed: not after too many of them or of errors, nor once the budget is used up.
    fn count_call(
        &mut self,
        call: &Call,
        node: &Node,
        environment: &Environment<'_>,
    ) -> Result<(), Stopped> {
        if environment.is_exceeded()
            || self.errors.len().max(self.found.missing.len()) >= MAX_ERRORS
        {
            return Err(Stopped);
        }
        let bytes = node.key.len()
            + node
                .above
                .iter()
                .map(|path| path.as_os_str().len())
                .sum::<usize>();
        if let Err(budget) = environment.steps(STEPS_OF_CALL + bytes / BYTES_OF_STEP) {
            let place = Box::new(call.spot.place());
            return Err(self.fail(ConfigError::Exceeded { place, budget }));
        }
        self.calls += 1;
        if self.calls == MAX_CALLS {
            let place = Box::new(call.spot.place());
            self.fail(ConfigError::TooMany {
                limit: MAX_CALLS,
                place,
            });
        }
        if self.calls < MAX_CALLS {
            Ok(())
        } else {
            Err(Stopped)
        }
    }

    /// Reads the module that a call means, and follows its calls.
    fn enter(
        &mut self,
        instance: &Instance<'_>,
        call: &Call,
        node: &Node,
        environment: &Environment<'_>,
        entered: Entered,
    ) -> Result<bool, Stopped> {
        let Entered {
            location,
            key,
            path,
        } = entered;
        // A place takes a look through the file.
        let named = || (call.name.clone(), Box::new(call.spot.place()));
        if node.above.contains(&location.real) {
            let (module, place) = named();
            return Err(self.fail(ConfigError::Recursion {
                module,
                directory: location.shown,
                place,
            }));
        }
        if node.above.len() > MAX_DEPTH {
            let (module, place) = named();
            return Err(self.fail(ConfigError::TooDeep {
                module,
                limit: MAX_DEPTH,
                place,
            }));
        }
        let module = self.module(&location)?;
        let mut above = node.above.clone();
        above.push(location.real.clone());
        let child = Node {
            location,
            key,
            above,
            evaluation: node.evaluation,
        };
        let instance = instance.child(&module, call, path, &child.location);
        Ok(self.visit(&instance, &child, environment))
    }

    /// Reads a module that is called; what it requires joins the rest.
    fn module(&mut self, location: &Location) -> Result<Arc<Module>, Stopped> {
        let module = match self
            .cache
            .module(&location.real, &location.shown, self.options.engine)
        {
            Ok(module) => module,
            Err(errors) => {
                // Several calls of one broken module make one report.
                for error in vec_of(&errors) {
                    if !self.errors.iter().any(|known| {
                        known.to_string() == error.to_string()
                            && place_of(known) == place_of(&error)
                    }) {
                        self.errors.push(error);
                    }
                }
                return Err(Stopped);
            }
        };
        if let Some(import) = module.imports.first() {
            return Err(self.fail(import_in_child(&import.spot.place())));
        }
        self.require(&module.requirements);
        Ok(module)
    }

    /// Adds what another module requires. Roots that call none share what their module requires with it.
    fn require(&mut self, requirements: &Requirements) {
        if !requirements.providers.is_empty() {
            Arc::make_mut(&mut self.found.requirements).merge(requirements);
        }
    }

    fn fail(&mut self, error: ConfigError) -> Stopped {
        let list = if is_missing_module(&error) {
            &mut self.found.missing
        } else {
            &mut self.errors
        };
        list.push(Arc::new(error));
        Stopped
    }
}

/// The real directories that the module in `directory` calls itself, or runs in its tests.
pub(super) fn direct_local_calls(
    directory: &Path,
    options: &ReadOptions,
    cache: &ModuleCache,
) -> BTreeSet<PathBuf> {
    let Ok(location) = Location::new(directory) else {
        return BTreeSet::new();
    };
    let Ok(module) = cache.module(&location.real, &location.shown, options.engine) else {
        return BTreeSet::new();
    };
    let environment = Environment::new(&location.shown, options, cache.budget());
    let instance = Instance::root(&module, &environment);
    let runs = match &options.tests {
        Tests::Skip => Vec::new(),
        Tests::Read { directory } => {
            test_files::read(&location.shown, directory, options.engine).runs
        }
    };
    let calls = module
        .calls
        .values()
        .map(|call| (call, Evaluation::Dynamic));
    let calls = calls.chain(runs.iter().map(|run| (&run.call, Evaluation::Literal)));
    let target = |(call, evaluation)| match call_target::resolve(&instance, call, evaluation) {
        Ok(Target {
            source: ModuleSource::Local(path),
            ..
        }) => location.join(Path::new(&path)).ok(),
        _ => None,
    };
    calls
        .filter_map(target)
        .map(|location| location.real)
        .collect()
}

/// What is known of a module before it is read.
struct Entered {
    location: Location,
    key: String,
    path: String,
}

/// Each error with its list kept alive; errors cannot be cloned.
fn vec_of(errors: &Arc<Vec<Arc<ConfigError>>>) -> Vec<Arc<ConfigError>> {
    errors.iter().map(Arc::clone).collect()
}

fn place_of(error: &ConfigError) -> Option<&Place> {
    crate::span::Explain::place(error)
}
