//! The command line: structures and help text, no behavior. What was typed becomes meaning in `settings`.

mod cache;
mod documents;
mod groups;
mod list;
mod lock;
mod mirror;
mod values;
mod verify;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{ArgAction, Args, Parser, Subcommand};

pub use cache::{CacheCommand, CacheCommandArgs};
pub use documents::{CompletionsArgs, ManArgs};
pub use groups::{
    CacheArgs, ConfinementArgs, MAX_JOBS, PlatformArgs, ReadingArgs, ReportArgs, SourceArgs,
    TreeArgs,
};
pub use list::{ListArgs, ListFormatArg};
pub use lock::{ChangeArgs, LockArgs, PruneArgs};
pub use mirror::{LayoutArg, MirrorArgs, MirrorFormatArg, PruneReachArg};
pub use values::{
    ColorChoice, CreateArg, EngineArg, FormatArg, MismatchArg, MissingArg, SourceArg,
};
pub use verify::VerifyArgs;

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
  3    --check found a lock file that would change or a mirror that is not complete, --fail-on-change changed one,
       or verify found something
  130  interrupted

Run `tflock lock --help` for examples.";

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
    #[command(after_help = lock::EXAMPLES, visible_alias = "update")]
    Lock(Box<LockArgs>),
    /// Check existing lock files against configurations, registries and packages; write nothing
    #[command(after_help = verify::EXAMPLES)]
    Verify(Box<VerifyArgs>),
    /// Show which directory requires which provider, at which version
    #[command(after_help = list::EXAMPLES, visible_alias = "ls")]
    List(Box<ListArgs>),
    /// Keep the locked packages on disk, as a filesystem and network mirror
    #[command(after_help = mirror::EXAMPLES)]
    Mirror(Box<MirrorArgs>),
    /// Show what is in force for PATH, and who said it: the command line, a config file, the environment, or nobody
    ///
    /// Takes the options of `tflock lock`: put `config` in the place of `lock` to see what a command line means. Nothing is
    /// read but config files, and nothing is written.
    #[command(after_help = lock::CONFIG_EXAMPLES)]
    Config(Box<LockArgs>),
    /// Look at the disk cache, or empty it
    #[command(after_help = cache::EXAMPLES)]
    Cache(CacheCommandArgs),
    /// Print a script that completes command lines
    #[command(after_help = documents::COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Print a manual page
    #[command(after_help = documents::MAN_EXAMPLES)]
    Man(ManArgs),
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
