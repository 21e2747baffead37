//! How much is printed, and in which colors.

use crate::cli::{ColorChoice, OutputArgs};

use super::Environment;

/// How much is printed and how, according to the command line and the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputSettings {
    /// Print failures only.
    pub quiet: bool,
    /// 0: a summary; 1 and more: details.
    pub verbosity: u8,
    /// Whether output is colored; `None`: if it goes to a terminal.
    pub styled: Option<bool>,
    /// Show progress bars if output goes to a terminal.
    pub progress: bool,
}

impl OutputSettings {
    /// Merges the command line with `NO_COLOR`, `TERM` and `CI`.
    pub fn resolve(args: &OutputArgs, environment: &Environment) -> Self {
        let is_plain =
            environment.non_empty("NO_COLOR").is_some() || environment.get("TERM") == Some("dumb");
        Self {
            quiet: args.quiet,
            verbosity: args.verbose,
            styled: match args.color {
                ColorChoice::Always => Some(true),
                ColorChoice::Never => Some(false),
                ColorChoice::Auto => is_plain.then_some(false),
            },
            progress: !args.quiet && environment.non_empty("CI").is_none(),
        }
    }
}
