//! What `tflock verify` is to check.

use crate::cli::VerifyArgs;
use crate::provider::Platform;

use super::lock::check_providers;
use super::{
    CacheUsage, Environment, ReportSettings, SettingsError, SourceSettings, TreeSettings, Typed,
};

/// What `tflock verify` is to check.
#[derive(Clone, Debug)]
pub struct VerifySettings {
    /// Where.
    pub tree: TreeSettings,
    /// Where packages come from.
    pub sources: SourceSettings,
    /// How the run is reported.
    pub report: ReportSettings,
}

impl VerifySettings {
    /// Checks what was typed. `current` is the platform to check for when none is named. Registries are asked again, like
    /// with `--refresh`: what they said before is not what they say now. Only without a network, it has to do.
    pub fn resolve(
        args: &VerifyArgs,
        environment: &Environment,
        current: &Platform,
    ) -> Result<Self, SettingsError> {
        check_providers(&args.providers)?;
        let typed = Typed {
            missing_platform: args.missing_platform,
            ..Typed::new(&args.tree, &args.platforms, &args.reading, &args.sources)
        };
        let tree = TreeSettings::resolve(&typed, environment, current)?;
        let tree = tree.with_policy(|policy| policy.providers.clone_from(&args.providers));
        let mut sources = SourceSettings::resolve(&args.sources, environment, tree.jobs());
        if !sources.cache.offline && sources.cache.usage == CacheUsage::All {
            sources.cache.usage = CacheUsage::Refresh;
        }
        Ok(Self {
            sources,
            tree,
            report: ReportSettings::resolve(&args.report, environment),
        })
    }
}
