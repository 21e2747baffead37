//! How a run is reported.

use crate::cli::{FormatArg, ReportArgs};

/// How a run is reported.
#[derive(Clone, Debug)]
pub struct ReportSettings {
    /// Which renderer.
    pub format: FormatArg,
}

impl ReportSettings {
    /// What was typed, with defaults where nothing was.
    pub fn resolve(args: &ReportArgs) -> Self {
        Self {
            format: args.format.unwrap_or(FormatArg::Text),
        }
    }
}
