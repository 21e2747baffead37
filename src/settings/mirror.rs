//! What `tflock mirror` is to do.

use std::path::PathBuf;

use crate::cli::{CreateArg, LayoutArg, MirrorArgs, MirrorFormatArg, PruneReachArg, ReportArgs};
use crate::mirror::{Layout, MirrorDirectory};
use crate::provider::Platform;

use super::{
    Environment, LockSettings, ReportSettings, SettingsError, SourceSettings, TreeSettings, Typed,
};

/// What `tflock mirror` is to do.
#[derive(Clone, Debug)]
pub struct MirrorSettings {
    /// Where packages are kept.
    pub directory: MirrorDirectory,
    /// Directories and sources, and how lock files are updated.
    pub lock: LockSettings,
    /// Update lock files first.
    pub update_locks: bool,
    /// Write nothing.
    pub check: bool,
    /// Remove what is not needed.
    pub prune: Option<PruneReachArg>,
    /// Where the CLI configuration goes.
    pub cli_config: Option<CliConfigTarget>,
    /// The form of the report.
    pub format: MirrorFormatArg,
}

/// Where the CLI configuration goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CliConfigTarget {
    /// To standard output.
    Stdout,
    /// To this file.
    File(PathBuf),
}

impl MirrorSettings {
    /// Checks what was typed. `current` is the platform to keep packages for when none is named.
    pub fn resolve(
        args: &MirrorArgs,
        environment: &Environment,
        current: &Platform,
    ) -> Result<Self, SettingsError> {
        let mut in_tree = args.tree.clone();
        in_tree.recursive = true;
        let typed = Typed {
            create: (!args.lock).then_some(CreateArg::Never),
            missing_platform: args.missing_platform,
            ..Typed::new(&in_tree, &args.platforms, &args.reading, &args.sources)
        };
        let mut tree = TreeSettings::resolve(&typed, environment, current)?;
        tree.clean_up = args.lock;
        tree.locks_alone = !args.lock;
        let layout = match args.layout {
            LayoutArg::Packed => Layout::Packed,
            LayoutArg::Unpacked => Layout::Unpacked,
        };
        let directory = MirrorDirectory::new(&args.directory, layout);
        let mut sources = SourceSettings::resolve(&args.sources, environment, tree.jobs());
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
