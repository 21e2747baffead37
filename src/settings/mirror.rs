//! The settings of `tflock mirror`.

use std::fmt;
use std::path::PathBuf;

use crate::cli::{LayoutArg, MirrorArgs, MirrorFormatArg, PruneReachArg, ReportArgs};
use crate::display::portable_path;
use crate::mirror::{Layout, MirrorDirectory};
use crate::oci::{UriTemplate, version_tag};
use crate::options::{Create, Sourced};
use crate::provider::PackageId;

use super::tree::{LockTargets, TreeRequest};
use super::{
    Environment, IndexSettings, LockSettings, ReportSettings, SettingsError, SourceSettings,
    TreeSettings,
};

#[derive(Clone, Debug)]
pub struct MirrorSettings {
    pub target: MirrorTarget,
    /// The directories to process, the package sources, and how lock files are updated.
    pub lock: LockSettings,
    /// Whether to update lock files before packages are stored.
    pub update_locks: bool,
    /// Whether to check the mirror only, and write nothing.
    pub check: bool,
    /// Which packages to remove if no lock file needs them. `None`: keep all packages.
    pub prune: Option<PruneReachArg>,
    pub cli_config: Option<CliConfigTarget>,
    pub format: MirrorFormatArg,
}

/// The location of the mirror.
#[derive(Clone, Debug)]
pub enum MirrorTarget {
    Directory(MirrorDirectory),
    /// Repositories in an OCI registry, named by this template.
    Repositories(UriTemplate),
}

impl MirrorTarget {
    fn resolve(args: &MirrorArgs) -> Result<Self, SettingsError> {
        let template = args
            .mirror
            .to_str()
            .and_then(|text| text.strip_prefix("oci://"));
        let Some(template) = template else {
            let layout = match args.layout {
                LayoutArg::Packed => Layout::Packed,
                LayoutArg::Unpacked => Layout::Unpacked,
            };
            return Ok(Self::Directory(MirrorDirectory::new(&args.mirror, layout)));
        };
        for (option, is_set) in [
            ("--prune", args.prune.is_some()),
            ("--layout unpacked", args.layout == LayoutArg::Unpacked),
        ] {
            if is_set {
                return Err(SettingsError::NotForRegistries { option });
            }
        }
        let template = UriTemplate::parse(template);
        let template = template.map_err(|error| SettingsError::Argument {
            argument: args.mirror.display().to_string(),
            source: Box::new(error),
        })?;
        Ok(Self::Repositories(template))
    }

    /// Returns the name of the layout in reports.
    pub const fn layout(&self) -> &'static str {
        match self {
            Self::Directory(directory) => match directory.layout() {
                Layout::Packed => "packed",
                Layout::Unpacked => "unpacked",
            },
            Self::Repositories(_) => "oci",
        }
    }

    /// Returns the location of a package in the mirror: a path, or a repository with a tag.
    pub fn location(&self, id: &PackageId) -> String {
        match self {
            Self::Directory(directory) => portable_path(&directory.package_path(id)),
            Self::Repositories(template) => template.expand(&id.provider).map_or_else(
                |_error| self.to_string(),
                |repository| format!("{repository}:{}", version_tag(&id.version)),
            ),
        }
    }
}

/// Displays the mirror as the user named it.
impl fmt::Display for MirrorTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Directory(directory) => f.write_str(&portable_path(directory.base())),
            Self::Repositories(template) => write!(f, "oci://{template}"),
        }
    }
}

/// The destination to which the CLI configuration is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CliConfigTarget {
    Stdout,
    File(PathBuf),
}

impl MirrorSettings {
    /// Checks the command line, and merges it with config files and the environment.
    pub fn resolve(args: &MirrorArgs, environment: &Environment) -> Result<Self, SettingsError> {
        let target = MirrorTarget::resolve(args)?;
        let mut tree_args = args.tree.clone();
        tree_args.recursive = true;
        let mut command_line = args.layered.layer()?;
        command_line.create = (!args.lock).then_some(Sourced::from_command_line(Create::Never));
        let request = TreeRequest {
            tree: &tree_args,
            with_callers: false,
            reading: &args.reading,
            command_line,
            targets: LockTargets::without_upgrade(&[]),
        };
        let mut tree = TreeSettings::resolve(request, environment)?;
        tree.clean_up = args.lock;
        tree.locks_alone = !args.lock;
        let mut sources = SourceSettings::resolve(&args.sources, environment, tree.jobs());
        sources.index = IndexSettings::resolve(&args.index, environment, &tree)?;
        if let (MirrorTarget::Directory(directory), false) = (&target, args.check) {
            sources.keep = Some(directory.clone());
        }
        Ok(Self {
            target,
            lock: LockSettings {
                sources,
                tree,
                check: false,
                fail_on_change: false,
                diff: false,
                report: ReportSettings::resolve(&ReportArgs::default(), environment),
            },
            update_locks: args.lock,
            check: args.check,
            prune: args.prune,
            cli_config: args.cli_config.as_ref().map(|path| match path.to_str() {
                Some("-") => CliConfigTarget::Stdout,
                _ => CliConfigTarget::File(path.clone()),
            }),
            format: args.format,
        })
    }
}
