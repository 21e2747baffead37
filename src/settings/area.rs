//! Which directories are worked on, and what holds there.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::access::{FileList, ReadRules, find_repository};
use crate::cli::{ReadingArgs, TreeArgs};
use crate::config::{DEFAULT_TEST_DIRECTORY, EnvironmentValue, ReadOptions, Tests, VariableOption};
use crate::git::{GitSettings, TrackedFiles};
use crate::locking::{Missing, Policy};
use crate::provider::{Engine, Platform};
use crate::registry::AllowedHosts;
use crate::walk::IgnoreRule;

use super::config_file::{ConfigFiles, RevisionTexts, read_named};
use super::in_force::{rules, signers};
use super::{ConfigFileError, Environment, InForce, SettingsError, Typed, Untrusted, WorkingSet};

/// The variable that chooses the workspace.
const WORKSPACE: &str = "TF_WORKSPACE";

/// The most bytes of a pipe with values of variables.
const MAX_PIPED_BYTES: u64 = 16 << 20;

/// All directories of a run, and how they are read.
#[derive(Clone, Debug)]
pub struct TreeSettings {
    /// What relative paths are relative to, absolute.
    pub working_directory: PathBuf,
    /// The areas, in the order of their first path.
    pub areas: Vec<Arc<Area>>,
    /// The config files of the tree.
    config_files: Arc<ConfigFiles>,
    /// Which of the directories found there are worked on.
    pub working_set: WorkingSet,
    /// How modules are fetched from repositories.
    pub git: GitSettings,
    /// What the content may do, if it is a stranger's.
    pub untrusted: Option<Untrusted>,
    /// Remove what killed runs have left beside lock files; not when nothing is to be written.
    pub clean_up: bool,
    /// Read lock files and no configurations: what is locked is all that is required.
    pub locks_alone: bool,
}

/// Paths for which the same holds.
#[derive(Clone, Debug)]
pub struct Area {
    /// Directories and files as given.
    pub paths: Vec<PathBuf>,
    /// Their directories, absolute and without links.
    pub real_paths: Vec<PathBuf>,
    /// Look below them too.
    pub recursive: bool,
    /// Paths to skip.
    pub ignore_paths: Vec<IgnoreRule>,
    /// Whether a missing lock file is created.
    pub create: Create,
    /// What a lock contains.
    pub policy: Policy,
    /// A config file further down that cannot be followed: the directories below it fail.
    pub refused: Option<Arc<ConfigFileError>>,
    /// The engine for all directories; `None`: decided for each.
    pub engine: Option<Engine>,
    /// When a module that is called cannot be had.
    pub missing_module: Missing,
    /// Packages in flight.
    jobs: u16,
    /// How root modules are read, but for the engine.
    reading: ReadOptions,
}

/// Whether a missing lock file is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Create {
    /// For directories named on the command line, and for those found that are root modules with providers.
    Auto,
    /// For every module directory.
    Always,
    /// For none.
    Never,
}

impl TreeSettings {
    /// Checks the paths and what is said about them, by the command line and by config files. `current` is the platform to
    /// lock for when none is named.
    pub fn resolve(
        typed: &Typed<'_>,
        environment: &Environment,
        current: &Platform,
    ) -> Result<Self, SettingsError> {
        let untrusted = Untrusted::resolve(&typed.reading.confinement, environment)?;
        let mut reading = reading(typed.reading, environment, untrusted.as_ref())?;
        let config_files = config_files(typed, environment)?;
        let in_force = InForce::resolve(typed, environment, current, &config_files);
        let in_force = in_force.map_err(|error| match typed.tree.changed.as_deref() {
            Some("") => error.after("--changed"),
            _ => error,
        })?;
        let named = in_force.iter().flat_map(|area| area.real_paths.clone());
        let named: Vec<PathBuf> = named.collect();
        let git = git(environment, &named);
        let tracked = untrusted.is_some().then(|| TrackedFiles::new(git.clone()));
        let listed = tracked.map(|tracked| FileList::new(move |path| tracked.has(path)));
        reading.files = Arc::new(ReadRules {
            named: [named, vec![environment.working_directory.clone()]].concat(),
            allowed: allowed(typed.reading, environment)?,
            listed,
        });
        let areas = in_force.into_iter().map(|in_force| Area {
            recursive: typed.tree.recursive || is_everywhere(typed.tree),
            policy: in_force.policy(),
            ignore_paths: in_force.ignore_paths.value,
            create: in_force.create.value,
            engine: in_force.engine.value,
            missing_module: in_force.missing_module.value,
            jobs: in_force.jobs.value,
            paths: in_force.paths,
            real_paths: in_force.real_paths,
            refused: None,
            reading: reading.clone(),
        });
        let areas: Vec<Area> = areas.collect();
        Ok(Self {
            working_directory: environment.working_directory.clone(),
            working_set: WorkingSet::resolve(typed.tree, &areas, &git, environment)?,
            areas: areas.into_iter().map(Arc::new).collect(),
            config_files: Arc::new(config_files),
            git,
            untrusted,
            clean_up: false,
            locks_alone: false,
        })
    }

    /// Packages in flight, for the whole run: what the most careful area asks for.
    pub fn jobs(&self) -> usize {
        let jobs = self.areas.iter().map(|area| area.jobs);
        usize::from(jobs.min().unwrap_or(1))
    }

    /// The same with another policy in all areas, made of the one they have.
    pub fn with_policy(mut self, change: impl Fn(&mut Policy)) -> Self {
        for area in &mut self.areas {
            change(&mut Arc::make_mut(area).policy);
        }
        self
    }

    /// The hosts that registries and modules may be named on.
    pub fn allowed_hosts(&self) -> AllowedHosts {
        let untrusted = self.untrusted.as_ref();
        untrusted.map_or_else(AllowedHosts::all, |untrusted| untrusted.hosts.clone())
    }

    /// What holds for the directories of `area` below a config file in `directory` (absolute, without links), which lies further
    /// down than the paths of the area. Only its `[signers]` count.
    pub fn area_below(&self, area: &Area, directory: &Path) -> Area {
        let mut below = area.clone();
        match self.config_files.levels(directory) {
            Ok(files) => below.policy.signers = rules(signers(&files)),
            Err(error) => below.refused = Some(Arc::new(error)),
        }
        below
    }

    /// The directories below `directory` (both absolute, without links) in which a trusted revision has a config file.
    pub fn other_config_directories(&self, directory: &Path) -> Vec<PathBuf> {
        // What cannot be read of them fails where the levels of a directory are read.
        let directories = self.config_files.other_directories(directory);
        directories.unwrap_or_default()
    }

    /// The engines that directories may have.
    pub fn engines(&self) -> Vec<Engine> {
        let all = [Engine::Terraform, Engine::Tofu];
        let possible = |engine: &Engine| {
            let mut areas = self.areas.iter();
            areas.any(|area| area.engine.is_none_or(|only| only == *engine))
        };
        all.into_iter().filter(possible).collect()
    }

    /// The platforms that are asked for anywhere, each once, in the order of the areas.
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
    /// How root modules are read by the rules of `engine`.
    pub fn read_options(&self, engine: Engine) -> ReadOptions {
        ReadOptions {
            engine,
            ..self.reading.clone()
        }
    }
}

/// The config files of the work tree, and those that come before them.
pub fn config_files(
    typed: &Typed<'_>,
    environment: &Environment,
) -> Result<ConfigFiles, SettingsError> {
    let working_directory = std::fs::canonicalize(&environment.working_directory);
    let working_directory = working_directory.map_err(|_gone| SettingsError::NoWorkingDirectory)?;
    let args = &typed.reading.confinement;
    let named = args.config.as_deref();
    let named = named.map(|path| read_named(path, &working_directory));
    let named = named.transpose().map_err(Box::new)?;
    let files = ConfigFiles::of_work_tree(working_directory.clone()).with_named(named);
    if Untrusted::resolve(args, environment)?.is_none() {
        return Ok(files);
    }
    let revision = typed.tree.changed.as_ref().map(|revision| {
        let paths = typed.tree.paths.iter();
        let paths = paths.filter_map(|path| working_directory.join(path).canonicalize().ok());
        let git = git(environment, &paths.collect::<Vec<_>>());
        RevisionTexts::new(git, Some(revision.clone()).filter(|name| !name.is_empty()))
    });
    Ok(files.untrusted(revision))
}

/// Git with the caller's environment, but for configuration in the repositories that are worked on.
fn git(environment: &Environment, paths: &[PathBuf]) -> GitSettings {
    let directory = &environment.working_directory;
    let paths = paths.iter().chain(std::iter::once(directory));
    let trees: BTreeSet<&Path> = paths.filter_map(|path| find_repository(path)).collect();
    let trees: Vec<&Path> = trees.into_iter().collect();
    let variables = environment.iter();
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    GitSettings::new("git", variables.collect()).outside_of(&trees, directory)
}

/// Whoever narrows the working set and names no path means all that is below.
fn is_everywhere(tree: &TreeArgs) -> bool {
    let is_narrowed = tree.changed.is_some() || tree.failed.is_some();
    is_narrowed && tree.paths.is_empty() && !tree.callers
}

/// What is given from outside when configurations are read: `--var`, `--no-tests`, `TF_VAR_*` and their kin.
fn reading(
    args: &ReadingArgs,
    environment: &Environment,
    untrusted: Option<&Untrusted>,
) -> Result<ReadOptions, SettingsError> {
    let mut variables = Vec::new();
    for text in &args.variables {
        let (name, value) = text.split_once('=').ok_or(SettingsError::Variable)?;
        variables.push(VariableOption::Value {
            name: name.to_owned(),
            text: value.to_owned(),
        });
    }
    for path in &args.variable_files {
        variables.push(variable_file(path)?);
    }
    let given = |name: &str, value: &str| match untrusted {
        Some(untrusted) if !untrusted.environment.contains(name) => EnvironmentValue::Withheld,
        _ => EnvironmentValue::Known(value.to_owned()),
    };
    let named = |(variable, value): (&str, &str)| {
        let name = variable.strip_prefix("TF_VAR_")?;
        Some((name.to_owned(), given(variable, value)))
    };
    let workspace = environment.non_empty(WORKSPACE);
    Ok(ReadOptions {
        data_directory: environment.non_empty("TF_DATA_DIR").map(PathBuf::from),
        workspace: workspace.map(|name| given(WORKSPACE, name)),
        environment: environment.iter().filter_map(named).collect(),
        variables,
        tests: if args.no_tests {
            Tests::Skip
        } else {
            Tests::Read {
                directory: args
                    .test_directory
                    .clone()
                    .unwrap_or_else(|| DEFAULT_TEST_DIRECTORY.into()),
            }
        },
        is_untrusted: untrusted.is_some(),
        ..ReadOptions::new(Engine::Terraform)
    })
}

/// What has an absolute path and is no regular file, such as a pipe, is read here: root modules cannot each read it.
fn variable_file(path: &Path) -> Result<VariableOption, SettingsError> {
    let path = path.to_path_buf();
    let is_read_once = |found: std::fs::Metadata| !found.is_file() && !found.is_dir();
    if !path.is_absolute() || !path.metadata().is_ok_and(is_read_once) {
        return Ok(VariableOption::File(path));
    }
    let mut text = Vec::new();
    let read = File::open(&path).and_then(|file| {
        let size = file.take(MAX_PIPED_BYTES + 1).read_to_end(&mut text)?;
        if size as u64 > MAX_PIPED_BYTES {
            let message = format!("it gives more than {MAX_PIPED_BYTES} bytes");
            return Err(io::Error::other(message));
        }
        Ok(())
    });
    match read {
        Ok(()) => Ok(VariableOption::Content {
            path,
            text: text.into(),
        }),
        Err(source) => Err(SettingsError::VariableFile { path, source }),
    }
}

/// The directories of `--allow-read`, absolute and without links.
fn allowed(args: &ReadingArgs, environment: &Environment) -> Result<Vec<PathBuf>, SettingsError> {
    let real = |path: &PathBuf| {
        let absolute = environment.working_directory.join(path);
        let listed = absolute.canonicalize().and_then(|real| {
            std::fs::read_dir(&real)?;
            Ok(real)
        });
        listed.map_err(|source| SettingsError::AllowRead {
            path: path.clone(),
            source,
        })
    };
    args.confinement.allow_read.iter().map(real).collect()
}

/// Each platform once, in the order given.
pub(super) fn platforms(texts: &[String]) -> Result<Vec<Platform>, SettingsError> {
    let mut platforms = Vec::new();
    for text in texts {
        let platform = Platform::parse(text).map_err(|source| SettingsError::Platform {
            text: text.clone(),
            source,
        })?;
        if !platforms.contains(&platform) {
            platforms.push(platform);
        }
    }
    Ok(platforms)
}
