//! What holds for some paths, and who said it: the command line, their config file, the environment, or nobody.

use std::path::PathBuf;

use regex::Regex;

use crate::cli::{
    CreateArg, EngineArg, MismatchArg, MissingArg, PlatformArgs, ReadingArgs, SourceArgs, TreeArgs,
};
use crate::config::IgnoreRule;
use crate::locking::{Mismatch, Missing, Policy, Signers, Upgrade};
use crate::provider::{Engine, Platform};

use super::config_file::{ConfigFile, NAME as CONFIG_FILE_NAME};
use super::governed::Governed;
use super::sourced::{Origin, Sourced};
use super::{Create, Environment, SettingsError, engine_of_base_url};

/// Packages in flight where nobody says (design, section 3).
const DEFAULT_JOBS: u16 = 8;

/// What was typed of the things that a config file may set as well. Commands leave what they have no option for.
#[derive(Clone, Debug)]
pub struct Typed<'a> {
    /// Where.
    pub tree: &'a TreeArgs,
    /// For which platforms.
    pub platforms: &'a PlatformArgs,
    /// How configurations are read.
    pub reading: &'a ReadingArgs,
    /// Where packages come from.
    pub sources: &'a SourceArgs,
    /// `--create`.
    pub create: Option<CreateArg>,
    /// `--prune` and `--no-prune`.
    pub prune: Option<bool>,
    /// `--mismatch`.
    pub mismatch: Option<MismatchArg>,
    /// `--missing-platform`.
    pub missing_platform: Option<MissingArg>,
}

impl<'a> Typed<'a> {
    /// The options that all commands over a tree share, and none of the others.
    pub const fn new(
        tree: &'a TreeArgs,
        platforms: &'a PlatformArgs,
        reading: &'a ReadingArgs,
        sources: &'a SourceArgs,
    ) -> Self {
        Self {
            tree,
            platforms,
            reading,
            sources,
            create: None,
            prune: None,
            mismatch: None,
            missing_platform: None,
        }
    }
}

/// What holds for the paths that one config file governs.
#[derive(Clone, Debug)]
pub struct InForce {
    /// Directories and files as given.
    pub paths: Vec<PathBuf>,
    /// The config file, as messages name it.
    pub file: Option<PathBuf>,
    /// The same, absolute and without links.
    pub governed_by: Option<PathBuf>,
    /// The directories of the paths, absolute and without links.
    pub real_paths: Vec<PathBuf>,
    /// The platforms asked for, each once, at least one.
    pub platforms: Sourced<Vec<Platform>>,
    /// Paths to skip.
    pub ignore_paths: Sourced<Vec<IgnoreRule>>,
    /// Whether a missing lock file is created.
    pub create: Sourced<Create>,
    /// The engine for all directories; `None`: decided for each.
    pub engine: Sourced<Option<Engine>>,
    /// When a selected version has no package for an asked platform.
    pub missing_platform: Sourced<Missing>,
    /// When a module that is called cannot be had.
    pub missing_module: Sourced<Missing>,
    /// When no recorded hash of a kept version is genuine.
    pub mismatch: Sourced<Mismatch>,
    /// Remove entries that are not required.
    pub prune: Sourced<bool>,
    /// Packages in flight.
    pub jobs: Sourced<u16>,
    /// Who may sign for which providers.
    pub signers: Sourced<Signers>,
}

impl InForce {
    /// Sorts the paths by the config files that govern them, in the order of their first path, and joins each file with what
    /// was typed. `current` is the platform to lock for when none is named.
    pub fn resolve(
        typed: &Typed<'_>,
        environment: &Environment,
        current: &Platform,
    ) -> Result<Vec<Self>, SettingsError> {
        let typed_platforms = super::area::platforms(&typed.platforms.platforms)?;
        let typed_patterns = patterns(&typed.tree.ignore_paths)?;
        let groups = Governed::sort(&typed.tree.paths, &environment.working_directory)?;
        let in_force = groups.into_iter().map(|group| {
            let file = group.file.as_deref();
            Self {
                platforms: Sourced::choose(
                    (!typed_platforms.is_empty()).then(|| typed_platforms.clone()),
                    file.and_then(|file| file.platforms.as_ref()),
                    vec![current.clone()],
                ),
                ignore_paths: group.ignore_paths(&typed_patterns),
                engine: engine(typed.reading.engine, file, environment),
                file: file.map(|file| file.shown.clone()),
                governed_by: file.map(|file| file.directory.join(CONFIG_FILE_NAME)),
                real_paths: group.real_paths.clone(),
                paths: group.paths.clone(),
                ..Self::words(typed, file)
            }
        });
        Ok(in_force.collect())
    }

    /// The values that need nothing but the two sides.
    fn words(typed: &Typed<'_>, file: Option<&ConfigFile>) -> Self {
        let nothing = ConfigFile::default();
        let file = file.unwrap_or(&nothing);
        let missing_platform = typed.missing_platform.map(missing);
        let missing_module = typed.reading.missing_module.map(missing);
        Self {
            paths: Vec::new(),
            file: None,
            governed_by: None,
            real_paths: Vec::new(),
            platforms: Sourced::choose(None, None, Vec::new()),
            ignore_paths: Sourced::choose(None, None, Vec::new()),
            engine: Sourced::choose(None, None, None),
            create: Sourced::choose(typed.create.map(create), file.create.as_ref(), Create::Auto),
            missing_platform: Sourced::choose(
                missing_platform,
                file.missing_platform.as_ref(),
                Missing::Error,
            ),
            missing_module: Sourced::choose(
                missing_module,
                file.missing_module.as_ref(),
                Missing::Error,
            ),
            mismatch: Sourced::choose(
                typed.mismatch.map(mismatch),
                file.mismatch.as_ref(),
                Mismatch::Error,
            ),
            prune: Sourced::choose(typed.prune, file.prune.as_ref(), false),
            jobs: Sourced::choose(typed.sources.jobs, file.jobs.as_ref(), DEFAULT_JOBS),
            signers: Sourced::choose(None, file.signers.as_ref(), Signers::default()),
        }
    }

    /// What a lock shall contain, where nothing is upgraded and no provider is singled out.
    pub fn policy(&self) -> Policy {
        Policy {
            platforms_defaulted: self.platforms.origin == Origin::Default,
            platforms: self.platforms.value.clone(),
            upgrade: Upgrade::None,
            providers: Vec::new(),
            prune: self.prune.value,
            mismatch: self.mismatch.value,
            missing_platform: self.missing_platform.value,
            min_age: None,
            signers: self.signers.value.clone(),
        }
    }
}

fn patterns(texts: &[String]) -> Result<Vec<Regex>, SettingsError> {
    let pattern = |text: &String| {
        Regex::new(text).map_err(|source| SettingsError::Pattern {
            pattern: text.clone(),
            source: Box::new(source),
        })
    };
    texts.iter().map(pattern).collect()
}

/// What was typed, else the file, else the registry that `TFREGISTRY_BASE_URL` names. A typed `auto` is no answer of the
/// file's either.
fn engine(
    typed: Option<EngineArg>,
    file: Option<&ConfigFile>,
    environment: &Environment,
) -> Sourced<Option<Engine>> {
    let typed = typed.map(|arg| match arg {
        EngineArg::Auto => None,
        EngineArg::Terraform => Some(Engine::Terraform),
        EngineArg::Tofu => Some(Engine::Tofu),
    });
    let chosen = Sourced::choose(typed, file.and_then(|file| file.engine.as_ref()), None);
    match engine_of_base_url(environment) {
        Some(engine) if chosen.value.is_none() => Sourced {
            value: Some(engine),
            origin: Origin::Environment("TFREGISTRY_BASE_URL"),
        },
        _ => chosen,
    }
}

const fn create(arg: CreateArg) -> Create {
    match arg {
        CreateArg::Auto => Create::Auto,
        CreateArg::Always => Create::Always,
        CreateArg::Never => Create::Never,
    }
}

const fn mismatch(arg: MismatchArg) -> Mismatch {
    match arg {
        MismatchArg::Error => Mismatch::Error,
        MismatchArg::Add => Mismatch::Add,
        MismatchArg::Replace => Mismatch::Replace,
    }
}

const fn missing(arg: MissingArg) -> Missing {
    match arg {
        MissingArg::Error => Missing::Error,
        MissingArg::Warn => Missing::Warn,
    }
}
