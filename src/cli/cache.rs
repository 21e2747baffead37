//! `tflock cache`.

use clap::{Args, Subcommand};

pub(super) const EXAMPLES: &str = "\
Examples:
  How much there is, and whether it is used:
      tflock cache info
  The directory, for a cache of continuous integration:
      tflock cache dir";

/// Options of `tflock cache`.
#[derive(Args, Clone, Debug)]
pub struct CacheCommandArgs {
    /// What to do with it.
    #[command(subcommand)]
    pub command: CacheCommand,
}

/// What can be done with the disk cache.
#[derive(Clone, Debug, Subcommand)]
pub enum CacheCommand {
    /// Print where it is
    Dir,
    /// Say how much it holds, and whether it is used
    Info,
    /// Remove what is in it
    Clean {
        /// Only what was written more than this many days ago
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=36_500))]
        older_than: Option<u32>,
    },
}
