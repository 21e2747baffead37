//! The arguments of `tflock lock` and `tflock config`.

use clap::Args;

use crate::options::{LOCK, LayeredArgs};

use super::groups::{CallersArgs, ReadingArgs, ReportArgs, SourceArgs, TreeArgs};
use super::index::IndexArgs;

pub(super) const EXAMPLES: &str = "\
Examples:
  Lock the whole repository for two platforms:
      tflock lock -r --platform linux_amd64 --platform darwin_arm64 ./
  Lock one directory for the current platform:
      tflock lock stacks/network
  In CI, fail and show the difference if a lock file is not up to date:
      tflock lock -r --platform linux_amd64,darwin_arm64 --check --diff ./
  Move one provider to the newest version that its constraints allow:
      tflock lock -r --platform linux_amd64 --upgrade=hashicorp/aws ./";

pub(super) const CONFIG_EXAMPLES: &str = "\
Examples:
  Show the settings of this directory, and which line of which .tflock.toml sets them:
      tflock config
  Show the effect of a command line:
      tflock config -r --platform linux_amd64 --no-prune stacks/network";

#[derive(Args, Clone, Debug)]
pub struct LockArgs {
    #[command(flatten)]
    pub tree: TreeArgs,
    #[command(flatten)]
    pub callers: CallersArgs,
    /// Move all providers, or only this one, to the newest allowed version
    #[arg(
        long,
        value_name = "ADDR",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        help_heading = "What to lock",
        long_help = "Move all providers, or only this one, to the newest version that the constraints allow (repeatable). ADDR@VERSION \
moves it to that version"
    )]
    pub upgrade: Vec<String>,
    /// With --upgrade: skip versions that were signed less than DAYS days ago
    #[arg(
        long,
        value_name = "DAYS",
        requires = "upgrade",
        help_heading = "What to lock",
        long_help = "With --upgrade: skip versions whose checksum list was signed less than DAYS days ago or at an unknown time. \
A version that --upgrade names is chosen regardless of its age, and locked versions are never downgraded"
    )]
    pub min_age: Option<u16>,
    /// Lock only this provider, and keep all other entries (repeatable)
    #[arg(long = "provider", value_name = "ADDR", help_heading = "What to lock")]
    pub providers: Vec<String>,

    #[command(flatten)]
    pub change: ChangeArgs,
    /// Show how lock files change
    #[arg(long, help_heading = "How to run")]
    pub diff: bool,
    #[command(flatten)]
    pub report: ReportArgs,
    #[command(flatten)]
    pub layered: LayeredArgs<LOCK>,
    #[command(flatten)]
    pub reading: ReadingArgs,
    #[command(flatten)]
    pub sources: SourceArgs,
    #[command(flatten)]
    pub index: IndexArgs,
    /// Record the hashes that an OpenTofu registry reports for all platforms, without downloading packages
    #[arg(
        long,
        conflicts_with_all = ["fs_mirror", "net_mirror", "oci_mirror"],
        help_heading = "Where packages come from",
        long_help = "Record the hashes that a registry reports for all platforms (in `packages`, which OpenTofu's registry sends), \
without downloading packages. tflock still verifies the checksum list and its signature, but only the registry vouches for the \
`h1` hashes. Applies to engine `tofu`; if a registry reports no hashes, tflock downloads the packages"
    )]
    pub trust_registry_hashes: bool,
}

/// The options that determine what happens if a lock file changes.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "How to run")]
pub struct ChangeArgs {
    /// Write nothing, and exit with code 3 if a lock file would change
    #[arg(long)]
    pub check: bool,
    /// Write lock files, but exit with code 3 if any was created or changed, for example to stop a commit in a hook
    #[arg(long, conflicts_with = "check")]
    pub fail_on_change: bool,
}
