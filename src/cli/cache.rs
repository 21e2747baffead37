//! The arguments of `tflock cache`.

use clap::{Args, Subcommand};

pub(super) const EXAMPLES: &str = "\
Examples:
  Show the size of the cache, and whether it can be used:
      tflock cache info
  Print the cache directory, for the cache settings of a CI system:
      tflock cache dir";

#[derive(Args, Clone, Debug)]
pub struct CacheCommandArgs {
    #[command(subcommand)]
    pub command: CacheCommand,
}

#[derive(Clone, Debug, Subcommand)]
pub enum CacheCommand {
    /// Print the directory of the disk cache
    Dir,
    /// Show the size of the disk cache, and whether it can be used
    Info,
    /// Remove the contents of the disk cache
    Clean {
        /// Remove only entries that were written more than DAYS days ago
        #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=36_500))]
        older_than: Option<u32>,
    },
}
