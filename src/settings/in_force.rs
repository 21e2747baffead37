//! What holds for some paths, and who said it: the command line, their config files, the environment, or nobody.

use std::path::PathBuf;
use std::sync::Arc;

use regex::Regex;

use crate::cli::{
    CreateArg, EngineArg, MismatchArg, MissingArg, PlatformArgs, ReadingArgs, SourceArgs, TreeArgs,
};
use crate::locking::{Mismatch, Missing, Policy, SignerRules, Signers, Upgrade};
use crate::provider::{Engine, Platform};
use crate::walk::IgnoreRule;

use super::config_file::{ConfigFile, ConfigFiles};
use super::governed::Governed;
use super::sourced::{Origin, Sourced};
use super::{Create, Environment, SettingsError, engine_of_base_url};

/// Packages in flight where nobody says (docs/reference/options.md).
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

/// What holds for the paths to which the same config files apply.
#[derive(Clone, Debug)]
pub struct InForce {
    /// Directories and files as given.
    pub paths: Vec<PathBuf>,
    /// The config files as messages name them, the nearest first.
    pub files: Vec<PathBuf>,
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
    /// Who may sign for which providers, by each config file that has `[signers]`. All of them count.
    pub signers: Vec<Sourced<Signers>>,
}

impl InForce {
    /// Sorts the paths by the config files that apply to them, in the order of their first path, and joins the files with what
    /// was typed. `current` is the platform to lock for when none is named.
    pub fn resolve(
        typed: &Typed<'_>,
        environment: &Environment,
        current: &Platform,
        config_files: &ConfigFiles,
    ) -> Result<Vec<Self>, SettingsError> {
        let typed_platforms = super::area::platforms(&typed.platforms.platforms)?;
        let typed_patterns = patterns(&typed.tree.ignore_paths)?;
        let groups = Governed::sort(
            &typed.tree.paths,
            &environment.working_directory,
            config_files,
        )?;
        let in_force = groups.into_iter().map(|group| Self {
            platforms: Sourced::choose(
                (!typed_platforms.is_empty()).then(|| typed_platforms.clone()),
                group.nearest_of(|file| file.platforms.as_ref()),
                vec![current.clone()],
            ),
            ignore_paths: group.ignore_paths(&typed_patterns),
            engine: engine(typed.reading.engine, &group, environment),
            ..Self::words(typed, group)
        });
        Ok(in_force.collect())
    }

    /// The values that need nothing but the two sides.
    fn words(typed: &Typed<'_>, group: Governed) -> Self {
        let missing_platform = typed.missing_platform.map(missing);
        let missing_module = typed.reading.missing_module.map(missing);
        Self {
            platforms: Sourced::choose(None, None, Vec::new()),
            ignore_paths: Sourced::choose(None, None, Vec::new()),
            engine: Sourced::choose(None, None, None),
            create: Sourced::choose(
                typed.create.map(create),
                group.nearest_of(|file| file.create.as_ref()),
                Create::Auto,
            ),
            missing_platform: Sourced::choose(
                missing_platform,
                group.smallest_of(|file| file.missing_platform.as_ref()),
                Missing::Error,
            ),
            missing_module: Sourced::choose(
                missing_module,
                group.smallest_of(|file| file.missing_module.as_ref()),
                Missing::Error,
            ),
            mismatch: Sourced::choose(
                typed.mismatch.map(mismatch),
                group.nearest_of(|file| file.mismatch.as_ref()),
                Mismatch::Error,
            ),
            prune: Sourced::choose(
                typed.prune,
                group.nearest_of(|file| file.prune.as_ref()),
                false,
            ),
            jobs: Sourced::choose(
                typed.sources.jobs,
                group.smallest_of(|file| file.jobs.as_ref()),
                DEFAULT_JOBS,
            ),
            signers: signers(&group.files).cloned().collect(),
            files: group.files.iter().map(|file| file.shown.clone()).collect(),
            paths: group.paths,
            real_paths: group.real_paths,
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
            signers: rules(self.signers.iter()),
        }
    }
}

/// The `[signers]` of config files.
pub(super) fn signers(
    files: &[Arc<ConfigFile>],
) -> impl DoubleEndedIterator<Item = &Sourced<Signers>> {
    files.iter().filter_map(|file| file.signers.as_ref())
}

/// The rules of several `[signers]`, given the nearest first. The file at the top is the first to refuse.
pub(super) fn rules<'a>(
    signers: impl DoubleEndedIterator<Item = &'a Sourced<Signers>>,
) -> SignerRules {
    let signers = signers.rev();
    signers.map(|signers| signers.value.clone()).collect()
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

/// What was typed, else the nearest file, else the registry that `TFREGISTRY_BASE_URL` names. A typed `auto` is no answer of the
/// file's either.
fn engine(
    typed: Option<EngineArg>,
    group: &Governed,
    environment: &Environment,
) -> Sourced<Option<Engine>> {
    let typed = typed.map(|arg| match arg {
        EngineArg::Auto => None,
        EngineArg::Terraform => Some(Engine::Terraform),
        EngineArg::Tofu => Some(Engine::Tofu),
    });
    let chosen = Sourced::choose(typed, group.nearest_of(|file| file.engine.as_ref()), None);
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
