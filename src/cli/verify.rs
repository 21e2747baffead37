//! `tflock verify`.

use clap::Args;

use super::groups::{PlatformArgs, ReadingArgs, ReportArgs, SourceArgs, TreeArgs};
use super::values::MissingArg;

pub(super) const EXAMPLES: &str = "\
Examples:
  Every lock file of the repository, for the platforms that people and CI use:
      tflock verify -r --platform linux_amd64,darwin_arm64 ./
  What can be said without a network:
      tflock verify -r --offline ./
  For code scanning:
      tflock verify -r --format sarif ./ > tflock.sarif";

/// Options of `tflock verify`.
#[derive(Args, Clone, Debug)]
pub struct VerifyArgs {
    /// Which directories.
    #[command(flatten)]
    pub tree: TreeArgs,
    /// For which platforms.
    #[command(flatten)]
    pub platforms: PlatformArgs,
    /// Check these providers only (repeatable)
    #[arg(long = "provider", value_name = "ADDR", help_heading = "What to check")]
    pub providers: Vec<String>,
    /// When a locked version has no package for an asked platform [default: error]
    #[arg(
        long = "missing-platform",
        value_name = "WHAT",
        help_heading = "What to check"
    )]
    pub missing_platform: Option<MissingArg>,
    /// How configurations are read.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// Where packages come from.
    #[command(flatten)]
    pub sources: SourceArgs,
    /// How the run is reported.
    #[command(flatten)]
    pub report: ReportArgs,
}
