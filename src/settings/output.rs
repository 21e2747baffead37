//! How much is said, and in which colors.

use crate::cli::{ColorChoice, OutputArgs};

use super::Environment;

/// How much is printed and how, as far as arguments and environment decide it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputSettings {
    /// Only failures.
    pub quiet: bool,
    /// 0: the usual; 1 and more: details.
    pub verbosity: u8,
    /// Colors always or never; `None`: where a terminal shows them.
    pub styled: Option<bool>,
    /// Progress bars, where a terminal shows them.
    pub progress: bool,
}

/// `--quiet`, `--verbose`, `--color`, `NO_COLOR`, `TERM`, `CI`.
pub fn output(args: &OutputArgs, environment: &Environment) -> OutputSettings {
    let plain =
        environment.non_empty("NO_COLOR").is_some() || environment.get("TERM") == Some("dumb");
    OutputSettings {
        quiet: args.quiet,
        verbosity: args.verbose,
        styled: match args.color {
            ColorChoice::Always => Some(true),
            ColorChoice::Never => Some(false),
            ColorChoice::Auto => plain.then_some(false),
        },
        progress: !args.quiet && environment.non_empty("CI").is_none(),
    }
}
