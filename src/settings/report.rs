//! How a run is reported.

use std::path::PathBuf;

use crate::cli::{FormatArg, ReportArgs};

use super::Environment;
use crate::access::repository_root;

/// How a run is reported.
#[derive(Clone, Debug)]
pub struct ReportSettings {
    /// The format of the report.
    pub format: FormatArg,
    /// The directory that paths in the report are relative to, absolute.
    pub working_directory: PathBuf,
    /// The top of the repository, absolute. Paths in annotations are relative to it.
    pub root: PathBuf,
    /// The file for the job summary of GitHub Actions.
    pub step_summary: Option<PathBuf>,
}

impl ReportSettings {
    /// Merges the command line and the environment. GitHub Actions names the top of the repository in `GITHUB_WORKSPACE`.
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
