//! The settings of `tflock mirror`.

use std::path::PathBuf;

use crate::cli::{LayoutArg, MirrorArgs, MirrorFormatArg, PruneReachArg, ReportArgs};
use crate::mirror::{Layout, MirrorDirectory};
use crate::options::{Create, Sourced};

use super::tree::{LockTargets, TreeRequest};
use super::{
    Environment, IndexSettings, LockSettings, ReportSettings, SettingsError, SourceSettings,
    TreeSettings,
};

#[derive(Clone, Debug)]
pub struct MirrorSettings {
    pub directory: MirrorDirectory,
    /// The directories to process, the package sources, and how lock files are updated.
    pub lock: LockSettings,
    /// Update lock files before packages are stored.
    pub update_locks: bool,
    /// Only check the mirror, and write nothing.
    pub check: bool,
    /// Which packages to remove if no lock file needs them. `None`: keep all packages.
    pub prune: Option<PruneReachArg>,
    pub cli_config: Option<CliConfigTarget>,
    pub format: MirrorFormatArg,
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
        let layout = match args.layout {
            LayoutArg::Packed => Layout::Packed,
            LayoutArg::Unpacked => Layout::Unpacked,
        };
        let directory = MirrorDirectory::new(&args.directory, layout);
        let mut sources = SourceSettings::resolve(&args.sources, environment, tree.jobs());
        sources.index = IndexSettings::resolve(&args.index, environment, &tree)?;
        sources.keep = (!args.check).then(|| directory.clone());
        Ok(Self {
            directory,
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
