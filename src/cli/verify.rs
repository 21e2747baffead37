//! The arguments of `tflock verify`.

use clap::Args;

use crate::options::{LayeredArgs, VERIFY};

use super::groups::{CallersArgs, ReadingArgs, ReportArgs, SourceArgs, TreeArgs};
use super::index::IndexArgs;

pub(super) const EXAMPLES: &str = "\
Examples:
  Check every lock file of the repository for the platforms of your colleagues and of CI:
      tflock verify -r --platform linux_amd64,darwin_arm64 ./
  Check what can be checked without a network:
      tflock verify -r --offline ./
  Write a report for code scanning:
      tflock verify -r --format sarif ./ > tflock.sarif";

#[derive(Args, Clone, Debug)]
pub struct VerifyArgs {
    #[command(flatten)]
    pub tree: TreeArgs,
    #[command(flatten)]
    pub callers: CallersArgs,
    /// Check this provider only (repeatable)
    #[arg(long = "provider", value_name = "ADDR", help_heading = "What to check")]
    pub providers: Vec<String>,
    #[command(flatten)]
    pub report: ReportArgs,
    #[command(flatten)]
    pub layered: LayeredArgs<VERIFY>,
    #[command(flatten)]
    pub reading: ReadingArgs,
    #[command(flatten)]
    pub sources: SourceArgs,
    #[command(flatten)]
    pub index: IndexArgs,
}
