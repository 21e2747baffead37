//! The arguments of `tflock mirror`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use crate::options::{LayeredArgs, MIRROR};

use super::groups::{ReadingArgs, SourceArgs, TreeArgs};
use super::index::IndexArgs;

pub(super) const EXAMPLES: &str = "\
Examples:
  Mirror the locked packages of the repository for this machine, and let `init` use the mirror:
      tflock mirror --cli-config providers.tfrc .providers ./
      TF_CLI_CONFIG_FILE=$PWD/providers.tfrc terraform -chdir=stacks/network init
  Mirror for several platforms, and remove packages that no lock file needs:
      tflock mirror --platform linux_amd64,darwin_arm64 --prune /srv/providers ./
  Update the lock files in the same run:
      tflock mirror --lock /srv/providers ./
  Check that the mirror is complete and undamaged:
      tflock mirror --check /srv/providers ./
  Push the packages to an OCI registry, from which OpenTofu can install them:
      tflock mirror 'oci://ghcr.io/acme/{namespace}-{type}' ./";

#[derive(Args, Clone, Debug)]
pub struct MirrorArgs {
    /// The directory of the mirror, or the repositories of an OCI registry
    #[arg(
        value_name = "MIRROR",
        long_help = "Store the packages in this directory, a filesystem mirror that a web server can serve as a network mirror; or push \
them to an OCI registry for OpenTofu: `oci://REGISTRY/NAME`, a URI template with `{hostname}`, `{namespace}` and `{type}`"
    )]
    pub mirror: PathBuf,
    /// The directories to process. `tflock mirror` always processes all directories below PATH.
    #[command(flatten)]
    pub tree: TreeArgs,
    /// Store zips with an index, or unpacked packages
    #[arg(
        long,
        value_name = "LAYOUT",
        default_value = "packed",
        help_heading = "What to keep",
        long_help = "Store zips with the index of a network mirror, or directories that `init` can symlink to"
    )]
    pub layout: LayoutArg,
    /// Update the lock files first
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
        long_help = "Remove packages of versions that no lock file below PATH names. `hosts`: only on hosts that lock files name, \
which keeps packages that you added for other hosts; `all`: on all hosts [without =REACH: hosts]"
    )]
    pub prune: Option<PruneReachArg>,
    /// Write nothing, and exit with code 3 if a package is missing or damaged
    #[arg(long, help_heading = "How to run", conflicts_with_all = ["lock", "prune", "cli_config"])]
    pub check: bool,
    /// Write to FILE a CLI configuration that uses the mirror
    #[arg(
        long,
        value_name = "FILE",
        help_heading = "How to run",
        long_help = "Write to FILE a CLI configuration that makes Terraform and OpenTofu use MIRROR; `-` prints it instead"
    )]
    pub cli_config: Option<PathBuf>,
    /// Print the report in this format
    #[arg(
        long,
        value_name = "FORMAT",
        default_value = "text",
        help_heading = "Output options"
    )]
    pub format: MirrorFormatArg,
    #[command(flatten)]
    pub layered: LayeredArgs<MIRROR>,
    #[command(flatten)]
    pub reading: ReadingArgs,
    #[command(flatten)]
    pub sources: SourceArgs,
    #[command(flatten)]
    pub index: IndexArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LayoutArg {
    /// Zips and index files, as `terraform providers mirror` writes them
    Packed,
    /// Directories, as in a plugin cache
    Unpacked,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PruneReachArg {
    /// Only packages from hosts that lock files name
    Hosts,
    /// Packages from all hosts
    All,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MirrorFormatArg {
    /// Human-readable text
    Text,
    /// A JSON document for programs
    Json,
}
