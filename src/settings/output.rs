//! The settings for the amount and color of the output.

use crate::cli::{ColorChoice, OutputArgs};

use super::Environment;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputSettings {
    /// Whether to print only failures.
    pub quiet: bool,
    /// The amount of output: a summary if 0, and more details if greater.
    pub verbosity: u8,
    /// Whether output is colored. `None`: only if it goes to a terminal.
    pub styled: Option<bool>,
    /// Whether to show progress bars if stderr is a terminal.
    pub progress: bool,
}

impl OutputSettings {
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
