//! The command line: arguments and help texts, without behavior. `settings` checks the values.

mod cache;
mod documents;
mod groups;
mod habits;
mod list;
mod lock;
mod mirror;
mod variables;
mod verify;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{ArgAction, Args, CommandFactory as _, Parser, Subcommand, ValueEnum};

pub use cache::{CacheCommand, CacheCommandArgs};
pub use documents::{CompletionsArgs, ManArgs};
pub use groups::{
    CacheArgs, ConfinementArgs, FormatArg, ReadingArgs, ReportArgs, SourceArg, SourceArgs, TreeArgs,
};
pub use habits::parse;
pub use list::{ListArgs, ListFormatArg};
pub use lock::{ChangeArgs, LockArgs};
pub use mirror::{LayoutArg, MirrorArgs, MirrorFormatArg, PruneReachArg};
pub use variables::{VariableArg, VariableArgs};
pub use verify::VerifyArgs;

const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

const AFTER_HELP: &str = "\
Exit codes:
  0    done, nothing failed, no drift
  1    a directory failed; all others were processed
  2    error in usage, configuration or environment
  3    --check found a lock file that would change or an incomplete mirror, a lock file changed with --fail-on-change,
       or verify reported findings
  130  interrupted

Run `tflock lock --help` for examples.";

/// Keeps .terraform.lock.hcl up to date in a whole monorepo, for every platform, without Terraform.
#[derive(Debug, Parser)]
#[command(name = "tflock", version, styles = STYLES, after_help = AFTER_HELP, max_term_width = 100)]
#[command(arg_required_else_help = true, infer_long_args = false)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub output: OutputArgs,
}

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
    /// Mirror the locked packages on disk, as a filesystem and network mirror
    #[command(after_help = mirror::EXAMPLES)]
    Mirror(Box<MirrorArgs>),
    /// Show the effective settings for PATH and their sources: command line, config file, environment or default
    ///
    /// Takes the options of `tflock lock`: replace `lock` with `config` to see the effect of a command line. Reads only config
    /// files, and writes nothing.
    #[command(after_help = lock::CONFIG_EXAMPLES)]
    Config(Box<LockArgs>),
    /// Inspect or clean the disk cache
    #[command(after_help = cache::EXAMPLES)]
    Cache(CacheCommandArgs),
    /// Print a shell completion script
    #[command(after_help = documents::COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Print a manual page
    #[command(after_help = documents::MAN_EXAMPLES)]
    Man(ManArgs),
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output options")]
pub struct OutputArgs {
    /// Print nothing unless something fails
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print more: unchanged directories, signers of packages, notes
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
    /// When to color the output
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// Returns whether any command has the option `--name`.
pub fn has_option(name: &str) -> bool {
    let program = Cli::command();
    let mut commands = program.get_subcommands();
    commands.any(|command| command_has_option(command, name))
}

fn command_has_option(command: &clap::Command, name: &str) -> bool {
    let mut arguments = command.get_arguments();
    arguments.any(|argument| argument.get_long() == Some(name))
}
