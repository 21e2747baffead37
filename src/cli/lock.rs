//! `tflock lock`.

use clap::Args;

use super::groups::{PlatformArgs, ReadingArgs, ReportArgs, SourceArgs, TreeArgs};
use super::values::{CreateArg, MismatchArg, MissingArg};

pub(super) const EXAMPLES: &str = "\
Examples:
  Every lock file of the repository, for two platforms:
      tflock lock -r --platform linux_amd64 --platform darwin_arm64 ./
  One directory, for the current platform:
      tflock lock stacks/network
  In CI: fail if a lock file is not what it should be, and show why:
      tflock lock -r --platform linux_amd64,darwin_arm64 --check --diff ./
  Move one provider to the newest version that its constraints allow:
      tflock lock -r --platform linux_amd64 --upgrade=hashicorp/aws ./";

pub(super) const CONFIG_EXAMPLES: &str = "\
Examples:
  What holds for this directory, and from which line of which .tflock.toml:
      tflock config
  What a command line makes of it:
      tflock config -r --platform linux_amd64 --no-prune stacks/network";

/// Options of `tflock lock`.
#[derive(Args, Clone, Debug)]
pub struct LockArgs {
    /// Which directories.
    #[command(flatten)]
    pub tree: TreeArgs,
    /// Whether a missing lock file is created [default: auto]
    #[arg(
        long,
        value_name = "WHEN",
        help_heading = "Which directories",
        long_help = "Whether a missing lock file is created. `auto`: for a directory named on the command line, always; for \
one found by -r, or named through one of its files, if it requires a provider and no other directory of the repository \
calls it as a local module [default: auto]"
    )]
    pub create: Option<CreateArg>,

    /// For which platforms.
    #[command(flatten)]
    pub platforms: PlatformArgs,
    /// Move to the newest version that the constraints allow: all providers, or this one (repeatable)
    #[arg(
        long,
        value_name = "ADDR[@VERSION]",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "",
        help_heading = "What to lock"
    )]
    pub upgrade: Vec<String>,
    /// With --upgrade: pass over versions that were signed less than DAYS days ago
    #[arg(
        long,
        value_name = "DAYS",
        requires = "upgrade",
        help_heading = "What to lock",
        long_help = "With --upgrade: pass over versions whose checksum list was signed less than DAYS days ago, or of which nobody \
can say when. A version that --upgrade names is taken whatever its age, and no locked version is moved back"
    )]
    pub min_age: Option<u16>,
    /// Work on this provider only; other entries stay (repeatable)
    #[arg(long = "provider", value_name = "ADDR", help_heading = "What to lock")]
    pub providers: Vec<String>,
    /// Whether entries are removed.
    #[command(flatten)]
    pub prune: PruneArgs,
    /// When no recorded hash of a kept version is genuine [default: error]
    #[arg(
        long,
        value_name = "WHAT",
        help_heading = "What to lock",
        long_help = "When no recorded hash of a kept version is genuine (it was re-uploaded or tampered with). `error`: the \
directory fails; `add`: record the right hashes beside the foreign ones, as `terraform providers lock` does; `replace`: \
record only the right ones [default: error]"
    )]
    pub mismatch: Option<MismatchArg>,
    /// When a selected version has no package for an asked platform [default: error]
    #[arg(
        long = "missing-platform",
        value_name = "WHAT",
        help_heading = "What to lock"
    )]
    pub missing_platform: Option<MissingArg>,

    /// How configurations are read.
    #[command(flatten)]
    pub reading: ReadingArgs,
    /// Where packages come from.
    #[command(flatten)]
    pub sources: SourceArgs,
    /// Record what an OpenTofu registry reports for all platforms, without downloading packages
    #[arg(
        long,
        conflicts_with_all = ["fs_mirror", "net_mirror"],
        help_heading = "Where packages come from",
        long_help = "Record the hashes that a registry reports for all platforms (`packages`, which OpenTofu's registry gives) \
without downloading packages. The checksum list and its signature are checked all the same; `h1` hashes are then the \
registry's own word. Counts for engine `tofu`; where a registry reports nothing, packages are downloaded as usual"
    )]
    pub trust_registry_hashes: bool,

    /// What a change means.
    #[command(flatten)]
    pub change: ChangeArgs,
    /// Show how lock files change
    #[arg(long, help_heading = "How to run")]
    pub diff: bool,
    /// How the run is reported.
    #[command(flatten)]
    pub report: ReportArgs,
}

/// What a lock file that is not right means.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "How to run")]
pub struct ChangeArgs {
    /// Write nothing; exit 3 if a lock file would change
    #[arg(long)]
    pub check: bool,
    /// Write, and exit 3 if a lock file was created or changed: for hooks that must stop a commit
    #[arg(long, conflicts_with = "check")]
    pub fail_on_change: bool,
}

/// Whether entries that nothing requires are removed.
#[derive(Args, Clone, Copy, Debug, Default)]
#[command(next_help_heading = "What to lock")]
pub struct PruneArgs {
    /// Remove entries that the configuration no longer requires
    #[arg(long)]
    pub prune: bool,
    /// Keep them, although `.tflock.toml` says otherwise
    #[arg(long, overrides_with = "prune")]
    pub no_prune: bool,
}
