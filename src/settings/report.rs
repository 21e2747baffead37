//! How a run is reported.

use std::path::PathBuf;

use crate::cli::{FormatArg, ReportArgs};

use super::Environment;
use crate::access::repository_root;

/// How a run is reported.
#[derive(Clone, Debug)]
pub struct ReportSettings {
    /// Which renderer.
    pub format: FormatArg,
    /// What paths of the report are relative to, absolute.
    pub working_directory: PathBuf,
    /// The top of the repository, from which annotations name files, absolute.
    pub root: PathBuf,
    /// Where GitHub Actions wants the job summary.
    pub step_summary: Option<PathBuf>,
}

impl ReportSettings {
    /// What was typed, with defaults where nothing was. Where GitHub Actions has checked the repository out, it says itself
    /// (`GITHUB_WORKSPACE`).
    pub fn resolve(args: &ReportArgs, environment: &Environment) -> Self {
        let working_directory = environment.working_directory.clone();
        let workspace = environment.non_empty("GITHUB_WORKSPACE").map(PathBuf::from);
        let workspace = workspace.filter(|root| working_directory.starts_with(root));
        Self {
            format: args.format.unwrap_or(FormatArg::Text),
            root: workspace.unwrap_or_else(|| repository_root(&working_directory)),
            working_directory,
            step_summary: environment
                .non_empty("GITHUB_STEP_SUMMARY")
                .map(PathBuf::from),
        }
    }
}
