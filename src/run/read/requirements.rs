//! Reads the requirements of a directory: those of its configuration, its unit, or its lock file.

use std::path::PathBuf;
use std::sync::Arc;

use crate::code::Code;
use crate::config::{self, RootModule};
use crate::diagnostic::Diagnostic;
use crate::locking::{Missing, requirements_from_lock};
use crate::provider::Engine;
use crate::run::callers::SkipReason;
use crate::run::units::source_directory;
use crate::span::{Explain, Place};
use crate::terragrunt::{Assembly, Unit, UnitModule, UnitOutcome, UnknownUnit};
use crate::walk::WalkedDirectory;

use super::ReadDirectory;
use super::directory_reader::{DirectoryReader, OldLockFile, is_configured};

/// The requirements of a directory, and how its lock file is used.
#[derive(Default)]
pub(super) struct DirectoryRequirements {
    pub(super) root: RootModule,
    /// Whether the requirements come only from the entries of the lock file.
    pub(super) lock_only: bool,
    pub(super) is_configured: bool,
    pub(super) is_stack: bool,
    /// Why a missing lock file is not created, whatever the directory requires.
    pub(super) no_creation: Option<SkipReason>,
    pub(super) lock_file: UsedLockFile,
}

/// The lock file whose entries are used for a directory.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum UsedLockFile {
    /// The lock file in the directory, if it exists.
    #[default]
    Own,
    /// The lock file that Terragrunt copies from the source of the unit.
    OfSource(PathBuf),
    /// No lock file, because Terragrunt does not copy the one in the directory.
    Nothing,
}

impl DirectoryRequirements {
    /// Returns the entries of the lock file as requirements.
    fn of_lock_file(locked: &OldLockFile, is_unit: bool, no_creation: Option<SkipReason>) -> Self {
        let requirements = requirements_from_lock(&locked.locks, &locked.rest.places, is_unit);
        Self {
            root: RootModule {
                requirements: Arc::new(requirements),
                ..RootModule::default()
            },
            lock_only: true,
            no_creation,
            ..Self::default()
        }
    }
}

/// A hook that runs before `init`. It may write configuration files that tflock does not read.
#[derive(Debug, thiserror::Error)]
#[error(
    "ignoring a hook that runs before `init`: if it writes configuration files, their requirements are missing"
)]
struct IgnoredHook {
    place: Place,
}

impl Explain for IgnoredHook {
    fn code(&self) -> Code {
        Code::TerragruntUnit
    }

    fn place(&self) -> Option<&Place> {
        Some(&self.place)
    }
}

impl DirectoryReader<'_> {
    /// Reads the requirements of a directory without a unit.
    pub(super) fn own_requirements(
        &self,
        found: &WalkedDirectory,
        engine: Engine,
        locked: &OldLockFile,
        directory: &mut ReadDirectory,
    ) -> Result<DirectoryRequirements, Vec<Diagnostic>> {
        let has_modules = self.settings.locks_alone
            || is_configured(found, engine)
                .map_err(|error| vec![Diagnostic::of(&error, &found.path)])?;
        let is_stack = !has_modules && found.has_stack_files && engine == Engine::Terraform;
        let is_configured = has_modules || is_stack;
        if self.settings.locks_alone || locked.bytes.is_some() && !is_configured {
            return Ok(DirectoryRequirements {
                is_configured,
                is_stack,
                ..DirectoryRequirements::of_lock_file(locked, found.has_unit_file, None)
            });
        }
        let path = &directory.path;
        let root = if is_stack {
            config::read_stack(path)
        } else {
            let options = directory.area.read_options(engine);
            config::read_root(path, &options, &self.cache, Some(self.fetcher))
        };
        let root =
            root.map_err(|errors| Diagnostic::all(errors.iter().map(|error| &**error), path))?;
        Ok(DirectoryRequirements {
            root: self.accept(root, engine, directory)?,
            is_configured,
            is_stack,
            ..DirectoryRequirements::default()
        })
    }

    /// Reads the requirements of a unit.
    pub(super) fn unit_requirements(
        &self,
        outcome: &UnitOutcome,
        engine: Engine,
        locked: &OldLockFile,
        directory: &mut ReadDirectory,
    ) -> Result<DirectoryRequirements, Vec<Diagnostic>> {
        match outcome {
            UnitOutcome::Known(unit) => {
                self.known_unit_requirements(unit, engine, locked, directory)
            }
            UnitOutcome::Unknown(unknown) => unknown_requirements(unknown, locked, directory),
            UnitOutcome::Template { .. } => {
                let why = Some(SkipReason::Template);
                Ok(DirectoryRequirements::of_lock_file(locked, true, why))
            }
        }
    }

    fn known_unit_requirements(
        &self,
        unit: &Unit,
        engine: Engine,
        locked: &OldLockFile,
        directory: &mut ReadDirectory,
    ) -> Result<DirectoryRequirements, Vec<Diagnostic>> {
        let is_kept = unit.copies_lock_file && !unit.never_runs;
        let no_creation = (!is_kept).then_some(SkipReason::NotKept);
        if unit.never_runs && locked.bytes.is_none() {
            return Ok(DirectoryRequirements::of_lock_file(
                locked,
                true,
                no_creation,
            ));
        }
        let options = directory.area.read_options(engine);
        let assembled = match self.units.assemble(unit, &options, Some(self.fetcher)) {
            Ok(Assembly::Known(assembled)) => assembled,
            Ok(Assembly::Unknown(unknown)) => {
                return unknown_requirements(&unknown, locked, directory);
            }
            Err(error) => return Err(vec![Diagnostic::of(&error, &directory.path)]),
        };
        let root = match assembled.read(&self.cache, Some(self.fetcher)) {
            Ok(UnitModule::Known(root)) => *root,
            Ok(UnitModule::Unknown(unknown)) => {
                return unknown_requirements(&unknown, locked, directory);
            }
            Err(errors) => {
                let errors = errors.iter().map(|error| &**error);
                return Err(Diagnostic::all(errors, &directory.path));
            }
        };
        let mut root = self.accept(root, engine, directory)?;
        root.local_modules.extend(source_directory(&assembled));
        for place in &unit.hooks_before_init {
            let hook = IgnoredHook {
                place: place.clone(),
            };
            let warning = Diagnostic::warn(&hook, &directory.path);
            directory.diagnostics.push(warning);
        }
        let lock_file = match assembled.lock_file {
            Some(path) if path != directory.lock_file() => UsedLockFile::OfSource(path),
            None if locked.bytes.is_some() => UsedLockFile::Nothing,
            _ => UsedLockFile::Own,
        };
        Ok(DirectoryRequirements {
            root,
            is_configured: assembled.is_configured,
            no_creation,
            lock_file,
            ..DirectoryRequirements::default()
        })
    }

    /// Stores the warnings and module versions of a root module in `directory`. Fails if a called module is missing, unless
    /// `--missing-module warn` is set.
    fn accept(
        &self,
        root: RootModule,
        engine: Engine,
        directory: &mut ReadDirectory,
    ) -> Result<RootModule, Vec<Diagnostic>> {
        let (area, path) = (&directory.area, &directory.path);
        directory.moved_modules = self.moved_modules(path, engine, &root);
        directory.chosen_modules.clone_from(&root.chosen_modules);
        for text in &root.warnings {
            let warning = Diagnostic::warning(Code::Configuration, text.clone(), Some(path));
            directory.diagnostics.push(warning);
        }
        let missing = Diagnostic::all(root.missing.iter().map(|error| &**error), path);
        if !missing.is_empty() && area.options.missing_module.value == Missing::Error {
            return Err(missing);
        }
        let warnings = missing.into_iter().map(Diagnostic::into_warning);
        directory.diagnostics.extend(warnings);
        Ok(root)
    }
}

/// Returns the entries of the lock file as the requirements of an unknown unit, unless `--unknown-unit error` forbids that.
fn unknown_requirements(
    unknown: &UnknownUnit,
    locked: &OldLockFile,
    directory: &mut ReadDirectory,
) -> Result<DirectoryRequirements, Vec<Diagnostic>> {
    if directory.area.options.unknown_unit.value == Missing::Error {
        return Err(vec![Diagnostic::of(unknown, &directory.path)]);
    }
    let warning = Diagnostic::warn(unknown, &directory.path);
    directory.diagnostics.push(warning);
    let why = Some(SkipReason::UnknownUnit);
    Ok(DirectoryRequirements::of_lock_file(locked, true, why))
}
