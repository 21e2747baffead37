//! The directories that a run processes, and the settings of each one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::access::{FileList, ReadRules, find_repository};
use crate::cli::{ConfinementArgs, ReadingArgs, TreeArgs};
use crate::config::ReadOptions;
use crate::git::{GitSettings, TrackedFiles};
use crate::locking::{Policy, Upgrade};
use crate::mercurial::HgSettings;
use crate::options::{EffectiveOptions, OptionLayer, ValueOrigin};
use crate::provider::{Engine, Platform};
use crate::registry::AllowedHosts;
use crate::terragrunt::UnitOptions;
use crate::walk::IgnoreRule;

use super::config_file::{ConfigFiles, RevisionTexts, read_named, signer_rules};
use super::path_group::PathGroup;
use super::reading::{allowed_directories, read_options};
use super::{ConfigFileError, Environment, SettingsError, UnitSettings, Untrusted, WorkingSet};

/// The directories that a run processes, and how they are read.
#[derive(Clone, Debug)]
pub struct TreeSettings {
    /// The absolute path of the directory to which relative paths refer.
    pub working_directory: PathBuf,
    /// The groups of paths with the same settings, in the order in which their first paths were given.
    pub areas: Vec<Arc<Area>>,
    /// The directories to which `--changed` and `--failed` limit the run.
    pub working_set: WorkingSet,
    pub git: GitSettings,
    pub mercurial: HgSettings,
    /// The hosts and environment variables that an untrusted repository may use. `None` if the repository is trusted.
    pub untrusted: Option<Untrusted>,
    /// Whether to remove temporary files that killed runs have left next to lock files. False if the run writes nothing.
    pub clean_up: bool,
    /// Whether to read only lock files and not the configuration. Locked providers count as required.
    pub locks_alone: bool,
    /// The environment of Terragrunt units.
    pub units: UnitSettings,
    config_files: Arc<ConfigFiles>,
    groups: Vec<PathGroup>,
    command_line: OptionLayer,
    targets: LockTargets,
    is_recursive: bool,
    reading: ReadOptions,
}

/// A group of paths with the same settings.
#[derive(Clone, Debug)]
pub struct Area {
    /// Directories and files as given on the command line.
    pub paths: Vec<PathBuf>,
    /// The directories of `paths`, absolute and without symlinks.
    pub real_paths: Vec<PathBuf>,
    /// Whether to process the directories below the paths, too.
    pub recursive: bool,
    pub ignore_paths: Vec<IgnoreRule>,
    pub options: EffectiveOptions,
    pub policy: Policy,
    /// The error in a config file below the paths of the area. It fails all directories to which the file applies.
    pub refused: Option<Arc<ConfigFileError>>,
    /// The options for reading root modules, except the engine.
    reading: ReadOptions,
}

/// The command-line options that select and configure directories.
pub(super) struct TreeRequest<'a> {
    pub(super) tree: &'a TreeArgs,
    /// Whether `--callers` is given.
    pub(super) with_callers: bool,
    pub(super) reading: &'a ReadingArgs,
    /// The options that config files can also set.
    pub(super) command_line: OptionLayer,
    pub(super) targets: LockTargets,
}

/// The providers that a run processes, and those that it upgrades.
#[derive(Clone, Debug)]
pub(super) struct LockTargets {
    pub(super) upgrade: Upgrade,
    /// The addresses of the providers to process. An empty list means all providers.
    pub(super) providers: Vec<String>,
    pub(super) min_age: Option<Duration>,
}

impl LockTargets {
    /// Creates targets for `providers` (all providers if the list is empty) without upgrades.
    pub(super) fn without_upgrade(providers: &[String]) -> Self {
        Self {
            upgrade: Upgrade::None,
            providers: providers.to_vec(),
            min_age: None,
        }
    }
}

impl TreeSettings {
    /// Checks the paths, and merges the command line and the config files that apply to them.
    pub(super) fn resolve(
        request: TreeRequest<'_>,
        environment: &Environment,
    ) -> Result<Self, SettingsError> {
        let (tree, command_line) = (request.tree, request.command_line);
        let confinement = &request.reading.confinement;
        let untrusted = Untrusted::resolve(confinement, environment)?;
        let mut reading = read_options(request.reading, environment, untrusted.as_ref())?;
        let config_files = config_files(tree, confinement, environment)?;
        let groups = path_groups(tree, &command_line, environment, &config_files)?;
        let (git, mercurial) = repository_settings(environment, real_paths(&groups));
        let tracked = untrusted.is_some().then(|| TrackedFiles::new(git.clone()));
        reading.files = Arc::new(ReadRules {
            named: Vec::new(),
            allowed: allowed_directories(confinement, environment)?,
            listed: tracked.map(|tracked| FileList::new(move |path| tracked.contains(path))),
        });
        let units = UnitSettings::new(environment, untrusted.as_ref());
        let mut settings = Self {
            working_directory: environment.working_directory.clone(),
            areas: Vec::new(),
            working_set: WorkingSet::default(),
            config_files: Arc::new(config_files),
            git,
            mercurial,
            untrusted,
            clean_up: false,
            locks_alone: false,
            units,
            groups,
            command_line,
            targets: request.targets,
            is_recursive: tree.recursive || !request.with_callers && is_everywhere(tree),
            reading,
        };
        settings.make_areas();
        settings.working_set =
            WorkingSet::resolve(tree, &settings.areas, &settings.git, environment)?;
        Ok(settings)
    }

    /// Adds paths, such as the directories that `--callers` finds.
    pub fn add_paths(
        &mut self,
        paths: &[PathBuf],
        environment: &Environment,
    ) -> Result<(), SettingsError> {
        let (command_line, files) = (&self.command_line, &self.config_files);
        PathGroup::add(&mut self.groups, paths, command_line, environment, files)?;
        self.make_areas();
        self.working_set.limit_to(&self.areas);
        Ok(())
    }

    fn make_areas(&mut self) {
        let named = real_paths(&self.groups).chain([&self.working_directory]);
        self.reading.files = Arc::new(ReadRules {
            named: named.cloned().collect(),
            ..ReadRules::clone(&self.reading.files)
        });
        let areas = self.groups.iter().map(|group| Arc::new(self.area(group)));
        self.areas = areas.collect();
    }

    fn area(&self, group: &PathGroup) -> Area {
        let options = &group.options;
        let targets = self.targets.clone();
        Area {
            paths: group.paths.clone(),
            real_paths: group.real_paths.clone(),
            recursive: self.is_recursive,
            ignore_paths: group.ignore_rules(),
            policy: Policy {
                platforms_defaulted: options.platforms.origin == ValueOrigin::Default,
                platforms: options.platforms.value.clone(),
                upgrade: targets.upgrade,
                providers: targets.providers,
                prune: options.prune.value,
                mismatch: options.mismatch.value,
                missing_platform: options.missing_platform.value,
                min_age: targets.min_age,
                signers: signer_rules(&group.files),
            },
            options: options.clone(),
            refused: None,
            reading: self.reading.clone(),
        }
    }

    /// Returns the number of packages to process at the same time in the whole run: the minimum of the `jobs` values of all areas.
    pub fn jobs(&self) -> usize {
        let jobs = self.areas.iter().map(|area| area.options.jobs.value.0);
        usize::from(jobs.min().unwrap_or(1))
    }

    /// Returns the environment, the working directory and the file access rules for the evaluation of Terragrunt units.
    pub fn unit_options(&self) -> UnitOptions {
        UnitOptions {
            environment: self.units.environment.clone(),
            working_directory: self.working_directory.clone(),
            files: Arc::clone(&self.reading.files),
        }
    }

    /// Returns the hosts to which requests for registries and modules may be sent.
    pub fn allowed_hosts(&self) -> AllowedHosts {
        let untrusted = self.untrusted.as_ref();
        untrusted.map_or_else(AllowedHosts::all, |untrusted| untrusted.hosts.clone())
    }

    /// Returns the settings for the part of `area` below `directory` (absolute, without symlinks). `directory` is below the paths of
    /// the area and has a config file, but only the `[signers]` table in that file takes effect.
    pub fn area_below(&self, area: &Area, directory: &Path) -> Area {
        let mut below = area.clone();
        match self.config_files.levels(directory) {
            Ok(files) => below.policy.signers = signer_rules(&files),
            Err(error) => below.refused = Some(Arc::new(error)),
        }
        below
    }

    /// Returns the directories in the repository of `directory` (absolute, without symlinks) that have a config file in the revision.
    pub fn other_config_directories(&self, directory: &Path) -> Vec<PathBuf> {
        let directories = self.config_files.other_directories(directory);
        // Errors are reported later, when the config files of a directory are read.
        directories.unwrap_or_default()
    }

    /// Returns the engines that the directories of the run may use.
    pub fn engines(&self) -> Vec<Engine> {
        let all = [Engine::Terraform, Engine::Tofu];
        let possible = |engine: &Engine| {
            let mut areas = self.areas.iter();
            areas.any(|area| area.options.engine.value.is_none_or(|only| only == *engine))
        };
        all.into_iter().filter(possible).collect()
    }

    /// Returns the requested platforms of all areas without duplicates, in the order of the areas.
    pub fn platforms(&self) -> Vec<Platform> {
        let mut platforms = Vec::new();
        for platform in self.areas.iter().flat_map(|area| &area.policy.platforms) {
            if !platforms.contains(platform) {
                platforms.push(platform.clone());
            }
        }
        platforms
    }
}

impl Area {
    /// Returns the options for reading root modules by the rules of `engine`.
    pub fn read_options(&self, engine: Engine) -> ReadOptions {
        ReadOptions {
            engine,
            ..self.reading.clone()
        }
    }
}

/// Merges the command line and the config files that apply to each path.
pub(super) fn path_groups(
    tree: &TreeArgs,
    command_line: &OptionLayer,
    environment: &Environment,
    config_files: &ConfigFiles,
) -> Result<Vec<PathGroup>, SettingsError> {
    let here = [PathBuf::from(".")];
    let paths = if tree.paths.is_empty() {
        &here
    } else {
        &*tree.paths
    };
    let mut groups = Vec::new();
    match PathGroup::add(&mut groups, paths, command_line, environment, config_files) {
        Ok(()) => Ok(groups),
        Err(error) if tree.changed.as_deref() == Some("") => Err(error.after("--changed")),
        Err(error) => Err(error),
    }
}

/// Returns the config files of the work tree, and the ones that take precedence over them.
pub(super) fn config_files(
    tree: &TreeArgs,
    confinement: &ConfinementArgs,
    environment: &Environment,
) -> Result<ConfigFiles, SettingsError> {
    let working_directory = std::fs::canonicalize(&environment.working_directory);
    let working_directory = working_directory.map_err(|_gone| SettingsError::NoWorkingDirectory)?;
    let named = confinement.config.as_deref();
    let named = named.map(|path| read_named(path, &working_directory));
    let named = named.transpose().map_err(Box::new)?;
    let files = ConfigFiles::of_work_tree(working_directory.clone()).with_named(named);
    if Untrusted::resolve(confinement, environment)?.is_none() {
        return Ok(files);
    }
    let revision = tree.changed.as_ref().map(|revision| {
        let paths = tree.paths.iter();
        let real_paths = paths.filter_map(|path| working_directory.join(path).canonicalize().ok());
        let (git, _) = repository_settings(environment, &real_paths.collect::<Vec<_>>());
        RevisionTexts::new(git, Some(revision.clone()).filter(|name| !name.is_empty()))
    });
    Ok(files.untrusted(revision))
}

fn real_paths(groups: &[PathGroup]) -> impl Iterator<Item = &PathBuf> {
    groups.iter().flat_map(|group| &group.real_paths)
}

/// Returns settings for git and Mercurial based on the process environment. Configuration files inside a repository that contains one
/// of `paths` or the working directory are ignored.
fn repository_settings<'a>(
    environment: &'a Environment,
    paths: impl IntoIterator<Item = &'a PathBuf>,
) -> (GitSettings, HgSettings) {
    let directory = &environment.working_directory;
    let paths = paths.into_iter().chain([directory]);
    let trees: BTreeSet<&Path> = paths.filter_map(|path| find_repository(path)).collect();
    let trees: Vec<&Path> = trees.into_iter().collect();
    let variables = environment.iter();
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let variables: BTreeMap<String, String> = variables.collect();
    let git = GitSettings::new("git", variables.clone()).outside_of(&trees, directory);
    let mercurial = HgSettings::new("hg", variables).outside_of(&trees, directory);
    (git, mercurial)
}

/// Whether the run applies to everything below the working directory: `--changed` or `--failed` is given, but no PATH.
fn is_everywhere(tree: &TreeArgs) -> bool {
    let is_narrowed = tree.changed.is_some() || tree.failed.is_some();
    is_narrowed && tree.paths.is_empty()
}
