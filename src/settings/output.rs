//! The settings for the amount and color of the output.

use crate::cli::{ColorChoice, OutputArgs};

use super::Environment;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputSettings {
    /// Print only failures.
    pub quiet: bool,
    /// Print a summary if 0, and details if greater.
    pub verbosity: u8,
    /// Whether output is colored. `None`: only if it goes to a terminal.
    pub styled: Option<bool>,
    /// Show progress bars if stderr is a terminal.
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
