//! Where the module of a call is: beside the caller, installed, or fetched.

use std::path::Path;
use std::sync::Arc;

use crate::access::ReadAccess;
use crate::provider::ModuleVersionConstraints;
use crate::syntax::Spot;

use super::super::call_target::Target;
use super::super::calls::Call;
use super::super::error::ConfigError;
use super::super::location::{Location, clean};
use super::super::manifest::{Manifest, Mismatch, Record};
use super::super::root::{ChosenModule, FetchError, ModuleRequest, MovedModule, is_missing_module};
use super::super::source::ModuleSource;
use super::super::statics::{Environment, Instance};
use super::{Entered, Node, Stopped, TreeReader};
use crate::redacted_url::RedactedUrl;

/// Where a module is, and its version if it has one.
type Found = (Location, Option<String>);

impl TreeReader<'_> {
    /// Where the module of a call is.
    pub(super) fn locate(
        &mut self,
        target: &Target,
        key: &str,
        name: &str,
        spot: &Spot,
        caller: &Location,
        environment: &Environment<'_>,
    ) -> Result<Location, Stopped> {
        if let ModuleSource::Local(path) = &target.source {
            self.called.insert(clean(&caller.shown.join(path)));
            let confined_to = self.confinement(environment);
            let found = local(path, name, spot, caller, confined_to).or_else(|error| {
                let recorded = self.recorded_outside(&error, target, key, caller, environment);
                recorded.ok_or(error)
            });
            return found.map_err(|error| self.fail_call(target, error));
        }
        let (location, version) = self.remote(target, key, name, spot, environment)?;
        let exact = |versions: &ModuleVersionConstraints| versions.exact().is_some();
        if let Some(version) = version
            && target.hidden.is_none()
            && !target.versions.as_ref().is_some_and(exact)
        {
            let source = target.source.shown();
            let chosen = ChosenModule { source, version };
            self.found.chosen_modules.insert(key.to_owned(), chosen);
        }
        Ok(location)
    }

    /// Where the module of a call is that is not local, and its version if it has one.
    fn remote(
        &mut self,
        target: &Target,
        key: &str,
        name: &str,
        spot: &Spot,
        environment: &Environment<'_>,
    ) -> Result<Found, Stopped> {
        match self.installed(target, key, name, spot, environment) {
            Ok(Some(found)) => Ok(found),
            Ok(None) if self.fetcher.is_some() => self.fetch(target, name, spot, environment),
            Ok(None) => Err(self.fail_call(target, not_installed(target, name, spot))),
            Err(error) if self.fetcher.is_some() && is_missing_module(&error) => {
                let (location, version) = self.fetch(target, name, spot, environment)?;
                if let (ConfigError::VersionChanged { recorded, .. }, Some(to)) = (error, &version)
                    && target.hidden.is_none()
                {
                    self.found.moved_modules.push(MovedModule {
                        call: key.to_owned(),
                        from: recorded,
                        to: to.clone(),
                    });
                }
                Ok((location, version))
            }
            Err(error) => Err(self.fail_call(target, error)),
        }
    }

    /// A call that cannot be followed, told without what is not shown of it.
    fn fail_call(&mut self, target: &Target, error: ConfigError) -> Stopped {
        self.fail(target.conceal(error))
    }

    /// Where a local module is that lies outside of the package of its installed caller. The tools install no such call; but
    /// a record of it, by whomever, they take as it is.
    fn recorded_outside(
        &self,
        error: &ConfigError,
        target: &Target,
        key: &str,
        caller: &Location,
        environment: &Environment<'_>,
    ) -> Option<Location> {
        let is_installed = caller.package.as_deref().is_some_and(|package| {
            let installed = Manifest::packages(&environment.data_directory()).canonicalize();
            installed.is_ok_and(|installed| package.starts_with(installed))
        });
        if !is_installed || !matches!(error, ConfigError::LeavesPackage { .. }) {
            return None;
        }
        let manifest = self.manifest.get()?.as_ref().ok()?;
        let record = manifest.record(key)?;
        let versions = target.versions.as_ref();
        let is_meant = record.check(&target.source, versions, self.options.engine);
        is_meant
            .ok()
            .and_then(|()| directory_of(record, environment))
    }

    /// Where an untrusted configuration may have modules on this machine.
    fn confinement<'e>(&self, environment: &'e Environment<'_>) -> Option<&'e ReadAccess> {
        self.options.is_untrusted.then(|| environment.files.get())
    }

    /// The manifest of installed modules. It is ignored for an untrusted configuration, whose author can have committed it.
    fn manifest(&self, environment: &Environment<'_>) -> &Result<Manifest, Arc<ConfigError>> {
        self.manifest.get_or_init(|| {
            if self.options.is_untrusted {
                return Ok(Manifest::default());
            }
            Manifest::read(&environment.data_directory()).map_err(Arc::new)
        })
    }

    /// What the manifest records for the call, if it does, and if the record is for this call.
    fn installed(
        &mut self,
        target: &Target,
        key: &str,
        name: &str,
        spot: &Spot,
        environment: &Environment<'_>,
    ) -> Result<Option<Found>, ConfigError> {
        let manifest = match self.manifest(environment) {
            Ok(manifest) => manifest,
            Err(error) => {
                let message = error.to_string();
                let (module, place) = (name.to_owned(), Box::new(spot.place()));
                let source_text = target.source.shown();
                return Err(ConfigError::Fetch {
                    module,
                    source_text,
                    place,
                    source: message.into(),
                    hint: None,
                });
            }
        };
        let Some(record) = manifest.record(key) else {
            return Ok(None);
        };
        // A place takes a look through the file.
        let named = || (name.to_owned(), Box::new(spot.place()));
        match record.check(
            &target.source,
            target.versions.as_ref(),
            self.options.engine,
        ) {
            Ok(()) => {
                let version = Some(record.version.clone()).filter(|version| !version.is_empty());
                let location = directory_of(record, environment);
                Ok(location.map(|location| (location, version)))
            }
            Err(Mismatch::Source { recorded }) => {
                let (module, place) = named();
                Err(ConfigError::SourceChanged {
                    module,
                    recorded: RedactedUrl::with_revision(&recorded).to_string(),
                    wanted: target.source.shown(),
                    place,
                })
            }
            Err(Mismatch::Version { recorded }) => {
                let (module, place) = named();
                let wanted = target
                    .versions
                    .as_ref()
                    .map(ModuleVersionConstraints::to_string)
                    .unwrap_or_default();
                Err(ConfigError::VersionChanged {
                    module,
                    recorded,
                    wanted,
                    place,
                })
            }
        }
    }

    /// The module from wherever it comes, and its version if it has one.
    fn fetch(
        &mut self,
        target: &Target,
        name: &str,
        spot: &Spot,
        environment: &Environment<'_>,
    ) -> Result<Found, Stopped> {
        let Some(fetcher) = self.fetcher else {
            return Err(self.fail_call(target, not_installed(target, name, spot)));
        };
        let request = ModuleRequest {
            source: &target.source,
            versions: target.versions.as_ref(),
            root: environment.root,
            place: &spot.place(),
            engine: self.options.engine,
            confined_to: self.confinement(environment),
            is_hidden: target.hidden.is_some(),
        };
        let location = fetcher.fetch(&request).and_then(|fetched| {
            let location = Location::within(&fetched.directory, &fetched.package);
            let location = location.map_err(|error| FetchError {
                source: error.into(),
                hint: None,
            });
            Ok((location?, fetched.version))
        });
        location.map_err(|FetchError { source, hint }| {
            let (module, place) = (name.to_owned(), Box::new(spot.place()));
            let error = ConfigError::Fetch {
                module,
                source_text: target.source.shown(),
                place,
                source,
                hint,
            };
            self.fail_call(target, error)
        })
    }

    /// A call that uses a function which is not supported: what is installed for it is taken to be right.
    pub(super) fn by_record_only(
        &mut self,
        key: &str,
        instance: &Instance<'_>,
        call: &Call,
        node: &Node,
        environment: &Environment<'_>,
        error: ConfigError,
    ) -> Result<bool, Stopped> {
        let manifest = self.manifest(environment).as_ref().ok();
        let record = manifest.and_then(|manifest| manifest.record(key));
        let location = record.and_then(|record| directory_of(record, environment));
        let Some(location) = location else {
            return Err(self.fail(error));
        };
        self.found.warnings.push(format!(
            "{}: the source of module `{}` uses a function that tflock does not have; what is installed in `{}` is taken for it",
            call.spot.place(),
            call.name,
            location.shown.display()
        ));
        let path = environment.path_of(&location);
        self.enter(
            instance,
            call,
            node,
            environment,
            Entered {
                location,
                key: key.to_owned(),
                path,
            },
        )?;
        Ok(false)
    }
}

/// The directory of a record, if it is there. The tools install a package in a directory named after the call; a record that
/// leads elsewhere is not theirs, and nobody knows how far its package goes.
fn directory_of(record: &Record, environment: &Environment<'_>) -> Option<Location> {
    let data_directory = environment.data_directory();
    let found = record.locate(environment.root, &data_directory)?;
    let package = record.package(&data_directory).canonicalize();
    let package = package
        .ok()
        .filter(|package| found.real.starts_with(package));
    Some(Location { package, ..found })
}

/// The directory of a local module. What was fetched is somebody else's, so it names no directory of this machine.
fn local(
    path: &str,
    name: &str,
    spot: &Spot,
    caller: &Location,
    confined_to: Option<&ReadAccess>,
) -> Result<Location, ConfigError> {
    let named = || (name.to_owned(), Box::new(spot.place()));
    let joined = caller.join(Path::new(path));
    let leaves = match (&joined, &caller.package) {
        (_, None) => false,
        (Ok(location), Some(package)) => !location.real.starts_with(package),
        // What is not there is told of only where the package may know.
        (Err(_), Some(package)) => !clean(&caller.real.join(path)).starts_with(package),
    };
    let is_outside = |access: &ReadAccess| access.resolve(&caller.real.join(path)).is_err();
    match joined {
        _ if caller.package.is_none() && confined_to.is_some_and(is_outside) => {
            let (module, place) = named();
            Err(ConfigError::LeavesRepository {
                module,
                path: path.to_owned(),
                place,
            })
        }
        _ if leaves => {
            let (module, place) = named();
            Err(ConfigError::LeavesPackage {
                module,
                path: path.to_owned(),
                place,
            })
        }
        Ok(location) => Ok(location),
        Err(source) => {
            let (module, place) = named();
            Err(ConfigError::NoModuleDirectory {
                module,
                directory: clean(&caller.shown.join(path)),
                place,
                source,
            })
        }
    }
}

fn not_installed(target: &Target, name: &str, spot: &Spot) -> ConfigError {
    ConfigError::NotInstalled {
        module: name.to_owned(),
        source_text: target.source.shown(),
        place: Box::new(spot.place()),
    }
}
