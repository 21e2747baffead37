//! The settings of `tflock verify`.

use crate::cli::VerifyArgs;

use super::lock::check_providers;
use super::tree::{LockTargets, TreeRequest};
use super::{
    CacheUsage, Environment, IndexSettings, ReportSettings, SettingsError, SourceSettings,
    TreeSettings,
};

#[derive(Clone, Debug)]
pub struct VerifySettings {
    pub tree: TreeSettings,
    pub sources: SourceSettings,
    pub report: ReportSettings,
}

impl VerifySettings {
    /// Checks the command line, and merges it with config files and the environment. Cached registry responses may be outdated, so
    /// they are used only with `--offline`. With `--no-cache`, the run reads no index, because it uses only hashes that it computes
    /// itself.
    pub fn resolve(args: &VerifyArgs, environment: &Environment) -> Result<Self, SettingsError> {
        check_providers(&args.providers)?;
        let request = TreeRequest {
            tree: &args.tree,
            with_callers: args.callers.callers,
            reading: &args.reading,
            command_line: args.layered.layer()?,
            targets: LockTargets::without_upgrade(&args.providers),
        };
        let tree = TreeSettings::resolve(request, environment)?;
        let mut sources = SourceSettings::resolve(&args.sources, environment, tree.jobs());
        sources.index = IndexSettings::resolve(&args.index, environment, &tree)?;
        sources.index.is_read = sources.cache.usage != CacheUsage::None;
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
