//! The arguments of `tflock init`.

use std::path::PathBuf;

use clap::Args;

pub(super) const EXAMPLES: &str = "\
Examples:
  Write a .tflock.toml to the root of the repository, and then all lock files:
      tflock init
      tflock lock -r
  Show what the file would contain:
      tflock init --print";

#[derive(Args, Clone, Debug)]
pub struct InitArgs {
    /// Write the file to DIR [default: the root of the repository]
    #[arg(value_name = "DIR")]
    pub directory: Option<PathBuf>,
    /// Print the content on stdout, and write nothing
    #[arg(long, help_heading = "How to run")]
    pub print: bool,
}
