//! Finds the directory of a called module: relative to the caller, installed by `init`, or fetched.

use std::path::Path;
use std::sync::Arc;

use crate::access::ReadAccess;
use crate::config::manifest::InstalledModule;
use crate::config::{
    CallError, CallProblem, CallTarget, ChosenModule, ConfigError, FetchError, FileTree, Location,
    Manifest, ModuleFetcher, ModuleRequest, ModuleSource, MovedModule, RootContext, clean,
};
use crate::provider::ModuleVersionConstraints;

use super::{CallSite, Stopped, TreeReader};

type RemoteLocation = (Location, Option<String>);

impl TreeReader<'_> {
    pub(super) fn locate(
        &mut self,
        site: &CallSite<'_>,
        target: &CallTarget,
    ) -> Result<Location, Stopped> {
        if let ModuleSource::Local(path) = &target.source {
            let caller = &site.caller.location;
            match caller.in_tree() {
                None => drop(
                    self.called_directories
                        .insert(clean(&caller.shown.join(path))),
                ),
                Some((tree, _)) => {
                    let target = tree.path_in_tree(&caller.real.join(path));
                    let possible = target
                        .iter()
                        .flat_map(|path| tree.possible_directories(path));
                    self.called_directories.extend(possible);
                }
            }
            return locate_local(path, site, self.confinement(site.context()))
                .or_else(|error| {
                    let recorded = self.recorded_outside_package(&error, site, target);
                    recorded.ok_or(error)
                })
                .map_err(|error| self.fail_call(target, error));
        }
        let (location, version) = self.locate_remote(site, target)?;
        let exact = |versions: &ModuleVersionConstraints| versions.exact().is_some();
        if let Some(version) = version
            && target.hidden.is_none()
            && !target.versions.as_ref().is_some_and(exact)
        {
            let source = target.source.shown();
            let chosen = ChosenModule { source, version };
            let chosen_modules = &mut self.root_module.chosen_modules;
            chosen_modules.insert(site.key.clone(), chosen);
        }
        Ok(location)
    }

    fn locate_remote(
        &mut self,
        site: &CallSite<'_>,
        target: &CallTarget,
    ) -> Result<RemoteLocation, Stopped> {
        match (self.locate_installed(site, target), self.fetcher) {
            (Ok(Some(found)), _) => Ok(found),
            (Ok(None), Some(fetcher)) => self.fetch(fetcher, site, target),
            (Ok(None), None) => {
                let problem = CallProblem::NotInstalled(target.source.shown());
                Err(self.fail_call(target, site.error(problem)))
            }
            (Err(error), Some(fetcher)) if error.is_missing_module() => {
                let (location, version) = self.fetch(fetcher, site, target)?;
                if let (CallProblem::VersionChanged { recorded, .. }, Some(to)) =
                    (error.problem, &version)
                    && target.hidden.is_none()
                {
                    self.root_module.moved_modules.push(MovedModule {
                        call: site.key.clone(),
                        from: recorded,
                        to: to.clone(),
                    });
                }
                Ok((location, version))
            }
            (Err(error), _) => Err(self.fail_call(target, error)),
        }
    }

    /// Records that a call cannot be followed, without quoting a source or version that must stay hidden.
    fn fail_call(&mut self, target: &CallTarget, error: CallError) -> Stopped {
        self.fail(error.conceal(target.hidden.as_deref()))
    }

    /// Finds a local module outside the package of its installed caller. `init` never installs such a module, but if
    /// `modules.json` records one, Terraform and OpenTofu use it.
    fn recorded_outside_package(
        &self,
        error: &CallError,
        site: &CallSite<'_>,
        target: &CallTarget,
    ) -> Option<Location> {
        let package = site.caller.location.package.as_deref()?;
        let installed = Manifest::packages(&site.context().data_directory()).canonicalize();
        if !package.starts_with(installed.ok()?)
            || !matches!(error.problem, CallProblem::LeavesPackage(_))
        {
            return None;
        }
        let record = self.manifest.get()?.as_ref().ok()?.record(&site.key)?;
        let versions = target.versions.as_ref();
        record
            .check(&target.source, versions, self.options.engine)
            .ok()?;
        installed_location(record, site.context())
    }

    /// Returns the rules for the local directories that an untrusted configuration may use. `None` if all are allowed.
    fn confinement<'c>(&self, context: &'c RootContext<'_>) -> Option<&'c ReadAccess> {
        self.options.is_untrusted.then(|| context.files.get())
    }

    /// Returns the manifest of installed modules, which is read only once. The manifest of an untrusted configuration is ignored,
    /// because its author may have committed it.
    fn manifest(&self, context: &RootContext<'_>) -> &Result<Manifest, Arc<ConfigError>> {
        self.manifest.get_or_init(|| {
            // `init` has never run in an assembled tree.
            if self.options.is_untrusted || context.is_assembled() {
                return Ok(Manifest::default());
            }
            Manifest::read(&context.data_directory()).map_err(Arc::new)
        })
    }

    /// Finds the called module in the manifest. Fails if the record has a different source or version.
    fn locate_installed(
        &self,
        site: &CallSite<'_>,
        target: &CallTarget,
    ) -> Result<Option<RemoteLocation>, CallError> {
        let manifest = match self.manifest(site.context()) {
            Ok(manifest) => manifest,
            Err(error) => {
                let source = error.to_string().into();
                return Err(fetch_error(site, target, FetchError { source, hint: None }));
            }
        };
        let Some(record) = manifest.record(&site.key) else {
            return Ok(None);
        };
        let versions = target.versions.as_ref();
        record
            .check(&target.source, versions, self.options.engine)
            .map_err(|problem| site.error(problem))?;
        let version = Some(record.version.clone()).filter(|version| !version.is_empty());
        let location = installed_location(record, site.context());
        Ok(location.map(|location| (location, version)))
    }

    fn fetch(
        &mut self,
        fetcher: &dyn ModuleFetcher,
        site: &CallSite<'_>,
        target: &CallTarget,
    ) -> Result<RemoteLocation, Stopped> {
        let request = ModuleRequest {
            source: &target.source,
            versions: target.versions.as_ref(),
            root: site.context().root,
            place: &site.call.range.place(),
            engine: self.options.engine,
            confined_to: self.confinement(site.context()),
            is_hidden: target.hidden.is_some(),
        };
        let result = fetcher.fetch(&request).and_then(|fetched| {
            let location = Location::within(&fetched.directory, &fetched.package);
            let location = location.map_err(|error| FetchError {
                source: error.into(),
                hint: None,
            });
            Ok((location?, fetched.version))
        });
        result.map_err(|error| self.fail_call(target, fetch_error(site, target, error)))
    }

    /// Follows a call to its installed module without checking the source, because the source uses an unsupported function.
    /// Records `error` if no module is installed.
    pub(super) fn enter_recorded(
        &mut self,
        site: &CallSite<'_>,
        error: ConfigError,
    ) -> Result<(), Stopped> {
        let context = site.context();
        let manifest = self.manifest(context).as_ref().ok();
        let record = manifest.and_then(|manifest| manifest.record(&site.key));
        let location = record.and_then(|record| installed_location(record, context));
        let Some(location) = location else {
            return Err(self.fail(error));
        };
        self.root_module.warnings.push(format!(
            "{}: the source of module `{}` uses a function that tflock does not support; tflock reads the module installed in `{}` instead",
            site.call.range.place(),
            site.call.name,
            location.shown.display()
        ));
        let path = context.path_of(&location);
        self.enter(site, location, path)?;
        Ok(())
    }
}

/// Returns the location of an installed module, if it exists. `init` installs each package in a directory named after the call.
/// In any other directory, the boundary of the package is unknown.
fn installed_location(record: &InstalledModule, context: &RootContext<'_>) -> Option<Location> {
    let data_directory = context.data_directory();
    let location = record.locate(context.root, &data_directory)?;
    let package = record.package(&data_directory).canonicalize().ok();
    Some(Location {
        package: package.filter(|package| location.real.starts_with(package)),
        ..location
    })
}

/// Finds the directory of a local module. A fetched or installed module may call only local modules in its own package.
fn locate_local(
    path: &str,
    site: &CallSite<'_>,
    confined_to: Option<&ReadAccess>,
) -> Result<Location, CallError> {
    let caller = &site.caller.location;
    let joined = caller.join(Path::new(path));
    if caller.tree.is_some() {
        return locate_in_tree(path, joined.ok(), site, confined_to);
    }
    let is_outside = |access: &ReadAccess| access.resolve(&caller.real.join(path)).is_err();
    let leaves_package = |package| match &joined {
        Ok(location) => !location.real.starts_with(package),
        // An error message may reveal whether a directory exists only if its path is inside the package.
        Err(_) => !clean(&caller.real.join(path)).starts_with(package),
    };
    match &caller.package {
        None if confined_to.is_some_and(is_outside) => {
            Err(site.error(CallProblem::LeavesRepository(path.to_owned())))
        }
        Some(package) if leaves_package(package) => {
            Err(site.error(CallProblem::LeavesPackage(path.to_owned())))
        }
        _ => joined.map_err(|source| {
            let directory = clean(&caller.shown.join(path));
            site.error(CallProblem::UnreadableDirectory(directory))
                .caused_by(source)
        }),
    }
}

/// Checks a local module in an assembled tree. It may call only modules that are in the tree.
fn locate_in_tree(
    path: &str,
    joined: Option<Location>,
    site: &CallSite<'_>,
    confined_to: Option<&ReadAccess>,
) -> Result<Location, CallError> {
    let tree = site.caller.location.tree.as_deref();
    let Some(location) = joined else {
        return Err(site.error(CallProblem::NotAssembled {
            path: path.to_owned(),
            hint: tree.and_then(FileTree::missing_hint).map(str::to_owned),
        }));
    };
    let is_outside = |access: &ReadAccess| {
        location.in_tree().is_some_and(|(tree, path)| {
            let mut own = tree
                .directories(path)
                .filter(|(_, package)| package.is_none());
            own.any(|(directory, _)| access.resolve(&directory).is_err())
        })
    };
    if confined_to.is_some_and(is_outside) {
        return Err(site.error(CallProblem::LeavesRepository(path.to_owned())));
    }
    Ok(location)
}

fn fetch_error(site: &CallSite<'_>, target: &CallTarget, error: FetchError) -> CallError {
    let (address, hint) = (target.source.shown(), error.hint);
    site.error(CallProblem::Fetch { address, hint })
        .caused_by(error.source)
}
