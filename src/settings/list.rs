//! The settings of `tflock list`.

use crate::cli::{ListArgs, ListFormatArg};

use super::tree::{LockTargets, TreeRequest};
use super::{Environment, SettingsError, SourceSettings, TreeSettings};

#[derive(Clone, Debug)]
pub struct ListSettings {
    pub tree: TreeSettings,
    pub sources: SourceSettings,
    pub format: ListFormatArg,
}

impl ListSettings {
    /// Checks the command line, and merges it with config files and the environment. The same config files apply as for
    /// `tflock lock`, so the list shows the directories that `tflock lock` would process.
    pub fn resolve(args: &ListArgs, environment: &Environment) -> Result<Self, SettingsError> {
        let request = TreeRequest {
            tree: &args.tree,
            with_callers: args.callers.callers,
            reading: &args.reading,
            command_line: args.layered.layer()?,
            targets: LockTargets::without_upgrade(&[]),
        };
        let tree = TreeSettings::resolve(request, environment)?;
        Ok(Self {
            sources: SourceSettings::resolve(&args.sources, environment, tree.jobs()),
            tree,
            format: args.format,
        })
    }
}
