//! What `tflock list` is to show.

use crate::cli::{ListArgs, ListFormatArg, PlatformArgs};
use crate::provider::Platform;

use super::{Environment, SettingsError, SourceSettings, TreeSettings, Typed};

/// What `tflock list` is to show.
#[derive(Clone, Debug)]
pub struct ListSettings {
    /// Where.
    pub tree: TreeSettings,
    /// Where versions come from.
    pub sources: SourceSettings,
    /// In which form.
    pub format: ListFormatArg,
}

impl ListSettings {
    /// Checks what was typed. A list says what `tflock lock` would work on, so config files count as they do there.
    pub fn resolve(
        args: &ListArgs,
        environment: &Environment,
        current: &Platform,
    ) -> Result<Self, SettingsError> {
        let platforms = PlatformArgs::default();
        let typed = Typed::new(&args.tree, &platforms, &args.reading, &args.sources);
        let tree = TreeSettings::resolve(&typed, environment, current)?;
        Ok(Self {
            sources: SourceSettings::resolve(&args.sources, environment, tree.jobs()),
            tree,
            format: args.format,
        })
    }
}
