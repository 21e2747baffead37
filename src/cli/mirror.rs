//! `tflock mirror`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::groups::{PlatformArgs, ReadingArgs, SourceArgs, TreeArgs};
use super::values::MissingArg;

pub(super) const EXAMPLES: &str = "\
Examples:
  All locked packages of the repository for this machine, and a configuration that makes `init` take them from there:
      tflock mirror --cli-config providers.tfrc .providers ./
      TF_CLI_CONFIG_FILE=$PWD/providers.tfrc terraform -chdir=stacks/network init
  For several platforms, without what no lock file needs any more:
      tflock mirror --platform linux_amd64,darwin_arm64 --prune /srv/providers ./
  Bring lock files up to date in the same run:
      tflock mirror --lock /srv/providers ./
  Is everything there, as it should be?
      tflock mirror --check /srv/providers ./";

/// Options of `tflock mirror`.
#[derive(Args, Clone, Debug)]
pub struct MirrorArgs {
    /// Where the packages are kept: a filesystem mirror, and behind a web server a network mirror
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,
    /// Which directories. All below PATH count, with or without `-r`.
    #[command(flatten)]
    pub tree: TreeArgs,

    /// Zips with the index of a network mirror, or directories that `init` links to
    #[arg(
        long,
        value_name = "LAYOUT",
        default_value = "packed",
        help_heading = "What to keep"
    )]
    pub layout: LayoutArg,
    /// For which platforms.
    #[command(flatten)]
    pub platforms: PlatformArgs,
    /// Update the lock files first, in the same pass over the packages
    #[arg(long, help_heading = "What to keep")]
    pub lock: bool,
    /// Remove packages that no lock file below PATH needs
    #[arg(
        long,
        value_name = "REACH",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "hosts",
        conflicts_with_all = ["changed", "failed"],
        help_heading = "What to keep",
        long_help = "Remove packages of versions that no lock file below PATH names. `hosts`: on hosts that lock files name; \
what was put there by hand for other hosts stays. `all`: everywhere [without =REACH: hosts]"
    )]
    pub prune: Option<PruneReachArg>,
    /// When a locked version has no package for an asked platform [default: error]
    #[arg(
        long = "missing-platform",
        value_name = "WHAT",
        help_heading = "What to keep"
    )]
    pub missing_platform: Option<MissingArg>,

    /// How configurations are read.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// Where packages come from.
    #[command(flatten)]
    pub sources: SourceArgs,

    /// Write nothing; exit 3 if something is missing or damaged
    #[arg(long, help_heading = "How to run", conflicts_with_all = ["lock", "prune", "cli_config"])]
    pub check: bool,
    /// Write the CLI configuration that makes Terraform and OpenTofu use DIR; `-` prints it
    #[arg(long, value_name = "FILE", help_heading = "How to run")]
    pub cli_config: Option<PathBuf>,
    /// The report on stdout; messages go to stderr
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        help_heading = "Output options"
    )]
    pub format: MirrorFormatArg,
}

/// Values of `--layout`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LayoutArg {
    /// Zips and index files, as `terraform providers mirror` writes them
    Packed,
    /// Directories, as in a plugin cache
    Unpacked,
}

/// Values of `--prune`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PruneReachArg {
    /// On hosts that lock files name
    Hosts,
    /// Everywhere
    All,
}

/// Values of `--format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MirrorFormatArg {
    /// For people
    Text,
    /// For programs: one document
    Json,
}
