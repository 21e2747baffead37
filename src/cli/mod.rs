//! The command line: arguments and help texts, without behavior. `settings` checks the values.

mod cache;
mod documents;
mod groups;
mod habits;
mod index;
mod init;
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
    CacheArgs, CallersArgs, ConfinementArgs, FormatArg, ReadingArgs, ReportArgs, SourceArg,
    SourceArgs, TreeArgs,
};
pub use habits::parse;
pub use index::{
    IndexAccessArgs, IndexArgs, IndexCommand, IndexCommandArgs, IndexFormatArg, IndexPackagesArgs,
};
pub use init::InitArgs;
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

const EXAMPLES: &str = "\
Examples:
  In a repository, write a .tflock.toml and then all lock files:
      tflock init
      tflock lock -r
  In CI, fail and show the difference if a lock file is not up to date:
      tflock lock -r --check --diff
  Move one provider to the newest version that its constraints allow:
      tflock lock -r --upgrade=hashicorp/aws";

const EXIT_CODES: &str = "\
Exit codes:
  0    done, nothing failed, no drift
  1    a directory failed; all others were processed
  2    error in usage, configuration or environment
  3    a lock file would change (--check) or changed (--fail-on-change), a mirror is incomplete
       (mirror --check), or verify or index check reported findings
  130  interrupted";

/// Long help shows the examples before the options.
const HELP_TEMPLATE: &str =
    "{about-with-newline}\n{usage-heading} {usage}\n\n{before-help}{all-args}{after-help}";

/// The options in the short help, which fits on one screen. `--help` describes all options.
const SHORT_HELP_OPTIONS: [&str; 15] = [
    "check",
    "changed",
    "cli-config",
    "diff",
    "format",
    "ignore-path",
    "layout",
    "lock",
    "older-than",
    "platform",
    "print",
    "provider",
    "prune",
    "recursive",
    "upgrade",
];

/// Keeps .terraform.lock.hcl up to date in a whole monorepo, for every platform, without Terraform.
#[derive(Debug, Parser)]
#[command(name = "tflock", version, styles = STYLES, max_term_width = 100)]
#[command(before_long_help = EXAMPLES, after_long_help = EXIT_CODES)]
#[command(
    arg_required_else_help = true,
    infer_long_args = false,
    disable_help_flag = true
)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    #[command(flatten)]
    pub output: OutputArgs,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write a .tflock.toml for the repository
    ///
    /// Searches the repository for platforms, the engine and directories to ignore: in lock files, version files, and the
    /// configuration of CI systems, scripts and hooks. Comments in the file show where each value was found. Never overwrites a
    /// file, asks no questions, and sends no requests.
    #[command(before_long_help = init::EXAMPLES)]
    Init(InitArgs),
    /// Create or update lock files
    #[command(before_long_help = lock::EXAMPLES, visible_alias = "update")]
    Lock(Box<LockArgs>),
    /// Audit lock files, and write nothing
    ///
    /// Compares each lock file with the configuration, the registries and the packages.
    #[command(before_long_help = verify::EXAMPLES)]
    Verify(Box<VerifyArgs>),
    /// List the required, locked and newest versions
    #[command(before_long_help = list::EXAMPLES, visible_alias = "ls")]
    List(Box<ListArgs>),
    /// Store the locked packages in a filesystem and network mirror
    #[command(before_long_help = mirror::EXAMPLES)]
    Mirror(Box<MirrorArgs>),
    /// Show the effective settings and where each comes from
    ///
    /// A setting comes from the command line, a config file, the environment or a default.
    ///
    /// Takes the options of `tflock lock`: replace `lock` with `config` to see the effect of a command line. Reads only config
    /// files, and writes nothing.
    #[command(before_long_help = lock::CONFIG_EXAMPLES)]
    Config(Box<LockArgs>),
    /// Inspect or clean the disk cache
    #[command(before_long_help = cache::EXAMPLES)]
    Cache(CacheCommandArgs),
    /// Create, fill and check a hash index
    ///
    /// A hash index contains the hashes of packages. Machines that trust its key need not download these packages.
    #[command(before_long_help = index::EXAMPLES)]
    Index(IndexCommandArgs),
    /// Print a shell completion script
    #[command(before_long_help = documents::COMPLETIONS_EXAMPLES)]
    Completions(CompletionsArgs),
    /// Print a manual page
    #[command(before_long_help = documents::MAN_EXAMPLES)]
    Man(ManArgs),
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Output options")]
pub struct OutputArgs {
    /// Print nothing unless something fails
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print more: unchanged directories, signers, notes
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
    /// When to color the output
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        hide_short_help = true
    )]
    pub color: ColorChoice,
    /// Print help; --help adds examples and all options
    #[arg(short, long, global = true, action = ArgAction::Help)]
    help: Option<bool>,
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

/// Returns the command line with its help texts.
fn program() -> clap::Command {
    let in_short_help =
        |long: Option<&str>| long.is_none_or(|long| SHORT_HELP_OPTIONS.contains(&long));
    let adapt = move |command: clap::Command| {
        let command = command.help_template(HELP_TEMPLATE);
        command.mut_args(|argument| {
            let is_shown = in_short_help(argument.get_long());
            argument.hide_short_help(!is_shown)
        })
    };
    Cli::command()
        .help_template(HELP_TEMPLATE)
        .mut_subcommands(adapt)
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
