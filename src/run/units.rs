//! Terragrunt units as root modules. See section 10 of docs/rules/terragrunt.md.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::config::{ModuleCache, ModuleFetcher, ReadOptions, local_modules_of_assembled};
use crate::provider::Engine;
use crate::settings::{TreeSettings, engine_of_program};
use crate::terragrunt::{
    AssembledUnit, Assembly, AssemblyContext, AssemblyError, Unit, UnitError, UnitOutcome,
    UnitReader, assemble,
};

/// Reads the units of a run and assembles their root modules.
pub(super) struct Units<'a> {
    settings: &'a TreeSettings,
    reader: UnitReader,
}

/// The files and local modules on which the lock file of a unit depends.
#[derive(Debug, Default)]
pub(super) struct UnitInputs {
    /// The absolute paths of files, including those that were searched for and do not exist.
    pub(super) files: BTreeSet<PathBuf>,
    /// The directories of the source and of the local modules that the unit calls.
    pub(super) modules: BTreeSet<PathBuf>,
}

impl<'a> Units<'a> {
    pub(super) fn new(settings: &'a TreeSettings, cache: &ModuleCache) -> Self {
        Self {
            settings,
            reader: UnitReader::new(settings.unit_options(), Arc::clone(cache.budget())),
        }
    }

    pub(super) fn read(&self, directory: &Path) -> Result<UnitOutcome, Vec<UnitError>> {
        self.reader.read(directory)
    }

    /// Returns the absolute paths of the files that the units read so far include.
    pub(super) fn parents(&self) -> BTreeSet<PathBuf> {
        self.reader.parents()
    }

    pub(super) fn assemble(
        &self,
        unit: &Unit,
        options: &ReadOptions,
        fetcher: Option<&dyn ModuleFetcher>,
    ) -> Result<Assembly, AssemblyError> {
        let context = AssemblyContext {
            options,
            environment: &self.settings.units.environment,
            fetcher,
        };
        assemble(unit, context)
    }

    /// Returns what the lock file of a unit depends on. Nothing is fetched, so the calls of remote modules are not followed.
    pub(super) fn inputs(
        &self,
        outcome: &UnitOutcome,
        options: &ReadOptions,
        cache: &ModuleCache,
    ) -> UnitInputs {
        let mut inputs = UnitInputs {
            files: files_read(outcome).clone(),
            modules: BTreeSet::new(),
        };
        if let UnitOutcome::Known(unit) = outcome
            && let Ok(Assembly::Known(assembled)) = self.assemble(unit, options, None)
        {
            let options = &assembled.options;
            let called = local_modules_of_assembled(&assembled.module, options, cache);
            inputs.modules = called.directories;
            inputs.modules.extend(source_directory(&assembled));
        }
        inputs
    }
}

/// Returns the files that determine the result, and the missing files that were searched for.
pub(super) fn files_read(outcome: &UnitOutcome) -> &BTreeSet<PathBuf> {
    match outcome {
        UnitOutcome::Known(unit) => &unit.files_read,
        UnitOutcome::Unknown(unknown) => &unknown.files_read,
        UnitOutcome::Template { files_read } => files_read,
    }
}

/// Returns the engine of the program that a unit names.
pub(super) fn engine_of_unit(outcome: &UnitOutcome) -> Option<Engine> {
    match outcome {
        UnitOutcome::Known(unit) => engine_of_program(unit.terraform_binary.as_deref()?),
        UnitOutcome::Unknown(_) | UnitOutcome::Template { .. } => None,
    }
}

/// Returns the directory of the unit's local source, with symlinks resolved. `None` if the source is remote, or if it is the
/// directory of the unit.
pub(super) fn source_directory(assembled: &AssembledUnit) -> Option<PathBuf> {
    let own = assembled.module.directory.canonicalize().ok();
    let source = assembled.source_directory.clone();
    source.filter(|source| Some(source) != own.as_ref())
}
