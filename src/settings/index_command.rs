//! The settings of the subcommands of `tflock index` that process packages.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::buckets::CloudEnvironment;
use crate::cli::{CacheArgs, IndexFormatArg, IndexPackagesArgs, ReadingArgs, SourceArgs, TreeArgs};
use crate::index::{IndexAddress, SignerKey, VerifierKey};
use crate::options::{Create, Sourced};
use crate::provider::{
    AddressError, ConstraintError, Engine, Platform, ProviderAddr, VersionConstraints,
};

use super::index::IndexUseFault;
use super::tree::{LockTargets, TreeRequest};
use super::{Environment, IndexSettings, SettingsError, SourceSettings, TreeSettings};

/// What a command does with the records of the packages that it selects.
#[derive(Clone, Debug)]
pub enum IndexTask {
    /// Adds missing records.
    Fill(Arc<SignerKey>),
    /// Downloads `sample` percent of the packages, and compares them with their records.
    Check { sample: u8 },
    /// Adds a signature to existing records.
    Sign(Arc<SignerKey>),
    /// Counts records.
    Info,
}

impl IndexTask {
    /// Returns the name of the command.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Fill(_) => "fill",
            Self::Check { .. } => "check",
            Self::Sign(_) => "sign",
            Self::Info => "info",
        }
    }
}

/// A subcommand of `tflock index`, before its signing key is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IndexTaskKind {
    Fill,
    Check { sample: u8 },
    Sign,
    Info,
}

/// A provider on the command line, and the versions to process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderSelection {
    pub engine: Engine,
    pub provider: ProviderAddr,
    /// Selects all versions that these constraints allow. `None` selects only the newest version.
    pub constraints: Option<VersionConstraints>,
}

#[derive(Clone, Debug)]
pub struct IndexCommandSettings {
    pub task: IndexTask,
    /// The index that the command reads and writes.
    pub index: IndexAddress,
    pub keys: Vec<VerifierKey>,
    pub clouds: CloudEnvironment,
    /// The lock files to read if `selection` is empty.
    pub tree: TreeSettings,
    pub sources: SourceSettings,
    pub selection: Vec<ProviderSelection>,
    /// The platforms to process; `None` for all published platforms.
    pub platforms: Option<BTreeSet<Platform>>,
    pub format: IndexFormatArg,
}

#[derive(Debug, thiserror::Error)]
enum ProviderArgumentError {
    #[error(transparent)]
    Address(#[from] AddressError),
    #[error(transparent)]
    Constraint(#[from] ConstraintError),
}

impl IndexCommandSettings {
    /// Checks the command line, and merges it with config files and the environment. Packages come from the origin registries,
    /// because only packages in their signed checksum lists can have records. The disk cache is not used, so that a run signs only
    /// hashes that it has computed itself.
    pub fn resolve(
        kind: IndexTaskKind,
        args: &IndexPackagesArgs,
        environment: &Environment,
    ) -> Result<Self, SettingsError> {
        let tree = resolve_tree(args, environment)?;
        let index = resolve_index(kind, args, environment, &tree)?;
        let signer = index.signer.clone();
        let task = match (kind, signer) {
            (IndexTaskKind::Fill, Some(key)) => IndexTask::Fill(key),
            (IndexTaskKind::Sign, Some(key)) => IndexTask::Sign(key),
            (IndexTaskKind::Check { sample }, _) => IndexTask::Check { sample },
            _ => IndexTask::Info,
        };
        let engines = tree.engines();
        let engine = *engines.first().unwrap_or(&Engine::Terraform);
        let selection = args.providers.iter().map(|text| select(text, engine));
        let sources = SourceArgs {
            cache: CacheArgs {
                no_cache: true,
                ..CacheArgs::default()
            },
            ..SourceArgs::default()
        };
        Ok(Self {
            task,
            index: index.first_address(kind.command())?.clone(),
            keys: index.keys,
            clouds: index.clouds,
            sources: SourceSettings::resolve(&sources, environment, tree.jobs()),
            tree,
            selection: selection.collect::<Result<_, _>>()?,
            platforms: platforms(&args.platforms)?,
            format: args.format,
        })
    }
}

impl IndexTaskKind {
    const fn command(self) -> &'static str {
        match self {
            Self::Fill => "tflock index fill",
            Self::Check { .. } => "tflock index check",
            Self::Sign => "tflock index sign",
            Self::Info => "tflock index info",
        }
    }
}

fn resolve_tree(
    args: &IndexPackagesArgs,
    environment: &Environment,
) -> Result<TreeSettings, SettingsError> {
    let tree = TreeArgs {
        paths: args.paths.clone(),
        recursive: true,
        ..TreeArgs::default()
    };
    let reading = ReadingArgs {
        confinement: args.confinement.clone(),
        ..ReadingArgs::default()
    };
    let mut command_line = args.layered.layer()?;
    command_line.create = Some(Sourced::from_command_line(Create::Never));
    let request = TreeRequest {
        tree: &tree,
        with_callers: false,
        reading: &reading,
        command_line,
        targets: LockTargets::without_upgrade(&[]),
    };
    let mut tree = TreeSettings::resolve(request, environment)?;
    tree.locks_alone = true;
    Ok(tree)
}

/// Resolves the index and the keys. Fails if the command requires an index or a key that is missing.
fn resolve_index(
    kind: IndexTaskKind,
    args: &IndexPackagesArgs,
    environment: &Environment,
    tree: &TreeSettings,
) -> Result<IndexSettings, SettingsError> {
    let command = kind.command();
    let writer = matches!(kind, IndexTaskKind::Fill | IndexTaskKind::Sign).then_some(command);
    let index = IndexSettings::resolve_access(&args.access, writer, environment, tree)?;
    index.first_address(command)?;
    let needs_keys = matches!(kind, IndexTaskKind::Check { .. } | IndexTaskKind::Sign);
    if needs_keys && index.keys.is_empty() {
        return Err(IndexUseFault::NoTrustedKey.of(command).into());
    }
    Ok(index)
}

/// Parses `ADDR` or `ADDR@CONSTRAINT`.
fn select(text: &str, engine: Engine) -> Result<ProviderSelection, SettingsError> {
    let (source, constraints) = match text.split_once('@') {
        Some((source, constraints)) => (source, Some(constraints)),
        None => (text, None),
    };
    let parse = || {
        let constraints = constraints.map(VersionConstraints::parse).transpose()?;
        Ok(ProviderSelection {
            engine,
            provider: ProviderAddr::parse(source, engine)?,
            constraints,
        })
    };
    parse().map_err(|error: ProviderArgumentError| SettingsError::argument(text.to_owned(), error))
}

fn platforms(texts: &[String]) -> Result<Option<BTreeSet<Platform>>, SettingsError> {
    let parse = |text: &String| {
        Platform::parse(text)
            .map_err(|error| SettingsError::argument(format!("--platform {text}"), error))
    };
    let platforms: BTreeSet<_> = texts.iter().map(parse).collect::<Result<_, _>>()?;
    Ok((!platforms.is_empty()).then_some(platforms))
}
