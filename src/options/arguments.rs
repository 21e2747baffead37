//! The command-line arguments for the options in the option table.

use std::fmt;

use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::value::ValueError;
use super::{OptionLayer, command_arguments};

/// The values on the command line of `COMMAND` for the options in the option table.
#[derive(Clone)]
pub struct LayeredArgs<const COMMAND: u8>(ArgMatches);

/// An invalid value on the command line.
#[derive(Debug, thiserror::Error)]
#[error("invalid value in `--{option} {text}`")]
pub struct RejectedArgument {
    option: &'static str,
    text: String,
    source: ValueError,
}

impl RejectedArgument {
    pub(super) fn new(option: &'static str, text: &str, source: ValueError) -> Self {
        Self {
            option,
            text: text.to_owned(),
            source,
        }
    }

    pub fn hint(&self) -> Option<String> {
        self.source.hint(&self.text)
    }
}

impl<const COMMAND: u8> LayeredArgs<COMMAND> {
    /// Parses the values, some of which clap does not check.
    pub fn layer(&self) -> Result<OptionLayer, RejectedArgument> {
        OptionLayer::from_matches(COMMAND, &self.0)
    }
}

impl<const COMMAND: u8> fmt::Debug for LayeredArgs<COMMAND> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.layer().fmt(f)
    }
}

impl<const COMMAND: u8> Args for LayeredArgs<COMMAND> {
    fn augment_args(command: Command) -> Command {
        command.args(command_arguments(COMMAND))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<const COMMAND: u8> FromArgMatches for LayeredArgs<COMMAND> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(matches.clone()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0 = matches.clone();
        Ok(())
    }
}
