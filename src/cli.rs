//! The command line: structures and help text, no behavior. What was typed becomes meaning in `settings`.

use std::path::PathBuf;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const AFTER_HELP: &str = "\
Exit codes:
  0    done, nothing failed, no drift
  1    a directory failed; the others were finished
  2    usage, configuration or environment
  3    --check found a lock file that would change
  130  interrupted

Run `tflock lock --help` for examples.";

const LOCK_EXAMPLES: &str = "\
Examples:
  Every lock file of the repository, for two platforms:
      tflock lock -r --platform linux_amd64 --platform darwin_arm64 ./
  One directory, for the current platform:
      tflock lock stacks/network
  In CI: fail if a lock file is not what it should be, and show why:
      tflock lock -r --platform linux_amd64,darwin_arm64 --check --diff ./
  Move one provider to the newest version that its constraints allow:
      tflock lock -r --platform linux_amd64 --upgrade=hashicorp/aws ./";

/// Keeps .terraform.lock.hcl right for a whole monorepo, for every platform, without Terraform.
#[derive(Debug, Parser)]
#[command(name = "tflock", version, styles = STYLES, after_help = AFTER_HELP, max_term_width = 100)]
#[command(arg_required_else_help = true, infer_long_args = false)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Output options, the same for every command.
    #[command(flatten)]
    pub output: OutputArgs,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Create or update lock files
    #[command(after_help = LOCK_EXAMPLES, visible_alias = "update")]
    Lock(Box<LockArgs>),
}

/// Output options.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output options")]
pub struct OutputArgs {
    /// Print nothing unless something fails
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more: unchanged directories, who signed what, notes
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
    /// Colored output
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

/// When output is colored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Options of `tflock lock`.
#[derive(Args, Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each flag of a command line is one"
)]
pub struct LockArgs {
    /// Directories, or files that stand for their directory
    #[arg(value_name = "PATH", default_value = ".")]
    pub paths: Vec<PathBuf>,

    /// Every module directory and every lock file below PATH
    #[arg(short, long, help_heading = "Which directories")]
    pub recursive: bool,
    /// Skip paths that match this regular expression (repeatable)
    #[arg(
        short,
        long = "ignore-path",
        value_name = "REGEX",
        help_heading = "Which directories"
    )]
    pub ignore_paths: Vec<String>,
    /// Whether a missing lock file is created
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Which directories",
        long_help = "Whether a missing lock file is created. `auto`: for a directory named on the command line, always; for \
one found by -r, or named through one of its files, if it requires a provider and no other directory of the repository \
calls it as a local module"
    )]
    pub create: CreateArg,

    /// Platform to lock for, as `linux_amd64` (repeatable, comma lists accepted; default: this machine's)
    #[arg(
        long = "platform",
        value_name = "OS_ARCH",
        value_delimiter = ',',
        help_heading = "What to lock"
    )]
    pub platforms: Vec<String>,
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
    /// Work on this provider only; other entries stay (repeatable)
    #[arg(long = "provider", value_name = "ADDR", help_heading = "What to lock")]
    pub providers: Vec<String>,
    /// Remove entries that the configuration no longer requires
    #[arg(long, help_heading = "What to lock")]
    pub prune: bool,
    /// When no recorded hash of a kept version is genuine
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "error",
        help_heading = "What to lock",
        long_help = "When no recorded hash of a kept version is genuine (it was re-uploaded or tampered with). `error`: the \
directory fails; `add`: record the right hashes beside the foreign ones, as `terraform providers lock` does; `replace`: \
record only the right ones"
    )]
    pub mismatch: MismatchArg,
    /// When a selected version has no package for an asked platform
    #[arg(
        long = "missing-platform",
        value_name = "WHAT",
        default_value = "error",
        help_heading = "What to lock"
    )]
    pub missing_platform: MissingArg,
    /// When a module that the configuration calls cannot be had
    #[arg(
        long = "missing-module",
        value_name = "WHAT",
        default_value = "error",
        help_heading = "What to lock",
        long_help = "When a module that the configuration calls cannot be had. `error`: the directory fails; `warn`: lock what \
is known, say what is not, and never prune"
    )]
    pub missing_module: MissingArg,
    /// Leave out modules that only test files run
    #[arg(long, help_heading = "What to lock")]
    pub no_tests: bool,
    /// Where test files lie, besides the root module's own directory
    #[arg(
        long,
        value_name = "DIR",
        default_value = "tests",
        conflicts_with = "no_tests",
        help_heading = "What to lock"
    )]
    pub test_directory: PathBuf,
    /// Value of a root variable, for module sources and versions that depend on it (repeatable)
    #[arg(long = "var", value_name = "NAME=VALUE", help_heading = "What to lock")]
    pub variables: Vec<String>,
    /// File with values of root variables (repeatable)
    #[arg(long = "var-file", value_name = "FILE", help_heading = "What to lock")]
    pub variable_files: Vec<PathBuf>,
    /// Whose rules to follow; `auto` decides per directory
    #[arg(
        long,
        value_name = "TOOL",
        default_value = "auto",
        help_heading = "What to lock"
    )]
    pub engine: EngineArg,

    /// Take packages from this directory, a filesystem mirror, instead of registries
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with_all = ["net_mirror", "source"],
        help_heading = "Where packages come from"
    )]
    pub fs_mirror: Option<PathBuf>,
    /// Take packages from this network mirror instead of registries
    #[arg(
        long,
        value_name = "URL",
        conflicts_with = "source",
        help_heading = "Where packages come from"
    )]
    pub net_mirror: Option<String>,
    /// Origin registries, or what `provider_installation` in the CLI configuration says
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "registry",
        help_heading = "Where packages come from"
    )]
    pub source: SourceArg,

    /// Write nothing; exit 3 if a lock file would change
    #[arg(long, help_heading = "How to run")]
    pub check: bool,
    /// Show how lock files change
    #[arg(long, help_heading = "How to run")]
    pub diff: bool,
    /// Packages in flight
    #[arg(
        short,
        long,
        value_name = "N",
        default_value_t = 8,
        value_parser = clap::value_parser!(u16).range(1..=256),
        help_heading = "How to run"
    )]
    pub jobs: u16,
}

/// Values of `--create`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CreateArg {
    /// For root modules
    Auto,
    /// For every module directory
    Always,
    /// For none
    Never,
}

/// Values of `--mismatch`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MismatchArg {
    /// The directory fails
    Error,
    /// Foreign hashes stay beside the right ones
    Add,
    /// Only the right hashes are recorded
    Replace,
}

/// Values of `--missing-platform` and its like.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MissingArg {
    /// The directory fails
    Error,
    /// Record the rest and say so
    Warn,
}

/// Values of `--source`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SourceArg {
    /// The origin registries, as `terraform providers lock` does
    Registry,
    /// Mirrors and registries as for `terraform init`
    Config,
}

/// Values of `--engine`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum EngineArg {
    /// By the lock file, `.tofu` files, version files and the rest of the tree
    Auto,
    /// Terraform
    Terraform,
    /// OpenTofu
    Tofu,
}
