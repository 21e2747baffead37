//! The declaration of an option in the option table, and option values with their sources.

use std::cmp::Ordering;
use std::fmt;

use clap::{Arg, ArgMatches};

use crate::span::Place;

use super::arguments::RejectedArgument;
use super::value::{OptionValue, RejectedValue, Rejection, TomlValue};

/// The commands as bits. `tflock config` counts as `tflock lock`.
pub const LOCK: u8 = 1;
pub const VERIFY: u8 = 2;
pub const MIRROR: u8 = 4;
pub const LIST: u8 = 8;
/// The commands below `tflock index` that select packages.
pub const INDEX: u8 = 16;

/// Where a value comes from. Earlier sources take precedence over later ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueOrigin {
    CommandLine,
    /// A line in a config file.
    File(Place),
    /// The environment variable of this name.
    Environment(&'static str),
    Default,
}

impl fmt::Display for ValueOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommandLine => f.write_str("command line"),
            Self::File(place) => place.fmt(f),
            Self::Environment(name) => write!(f, "environment: {name}"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A value and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced<T> {
    pub value: T,
    pub origin: ValueOrigin,
}

impl<T> Sourced<T> {
    pub const fn from_command_line(value: T) -> Self {
        Self {
            value,
            origin: ValueOrigin::CommandLine,
        }
    }
}

/// One entry of the option table.
pub(super) struct OptionSpec<T> {
    /// The key in `.tflock.toml`.
    pub(super) key: &'static str,
    /// The long name on the command line.
    pub(super) option: &'static str,
    pub(super) short: Option<char>,
    /// The commands with this option: a bit set of [`LOCK`], [`VERIFY`], [`MIRROR`], [`LIST`] and [`INDEX`].
    pub(super) commands: u8,
    pub(super) heading: &'static str,
    /// The name of the value in the help. Empty for switches.
    pub(super) value_name: &'static str,
    /// The summary in the help, without the default.
    pub(super) help: &'static str,
    /// The text that `--help` adds to the summary.
    pub(super) details: &'static str,
    pub(super) default: fn() -> T,
    /// The order of values, the strictest first. If several config files set the option, the strictest value applies. If this is
    /// `None`, the value in the nearest file applies.
    pub(super) strictest: Option<fn(&T, &T) -> Ordering>,
    /// Whether a config file may set this value at all.
    pub(super) is_allowed_in_file: fn(&T) -> bool,
    /// Whether a config file with untrusted content may set this value.
    pub(super) counts_if_untrusted: fn(&T) -> bool,
}

/// One row of `tflock config`.
pub struct OptionRow {
    /// The key in the config file.
    pub key: &'static str,
    /// The effective value, safe to print.
    pub value: String,
    pub origin: ValueOrigin,
}

impl<T> OptionSpec<T> {
    /// Creates an option with the values that most options have in common.
    pub(super) const fn new(default: fn() -> T) -> Self {
        Self {
            key: "",
            option: "",
            short: None,
            commands: 0,
            heading: "",
            value_name: "",
            help: "",
            details: "",
            default,
            strictest: None,
            is_allowed_in_file: |_| true,
            counts_if_untrusted: |_| false,
        }
    }
}

impl<T: OptionValue> OptionSpec<T> {
    /// Returns the arguments that set the option in `command`.
    pub(super) fn arguments(&self, command: u8) -> Vec<Arg> {
        if self.commands & command == 0 {
            return Vec::new();
        }
        let default = (self.default)().default_in_help();
        let default = default.map_or_else(String::new, |text| format!(" [default: {text}]"));
        let details = match self.details {
            "" => String::new(),
            details => format!(". {details}"),
        };
        let argument = Arg::new(self.option)
            .long(self.option)
            .short(self.short)
            .help_heading(self.heading)
            .help(format!("{}{default}", self.help))
            .long_help(format!("{}{details}{default}", self.help));
        T::arguments(argument, self.value_name)
    }

    pub(super) fn given(
        &self,
        command: u8,
        matches: &ArgMatches,
    ) -> Result<Option<Sourced<T>>, RejectedArgument> {
        if self.commands & command == 0 {
            return Ok(None);
        }
        let value = T::from_matches(matches, self.option)?;
        Ok(value.map(Sourced::from_command_line))
    }

    pub(super) fn parse_toml(&self, value: &TomlValue<'_>) -> Result<T, RejectedValue> {
        let parsed = T::from_toml(value, self.is_allowed_in_file)?;
        if (self.is_allowed_in_file)(&parsed) {
            Ok(parsed)
        } else {
            Err(RejectedValue::new(value, Rejection::LoosensTrust))
        }
    }

    /// Returns the effective value. `files` are the values in config files, starting with the nearest file.
    pub(super) fn choose<'a>(
        &self,
        command_line: Option<&Sourced<T>>,
        mut files: impl Iterator<Item = &'a Sourced<T>>,
    ) -> Sourced<T>
    where
        T: 'a,
    {
        let of_files = || match self.strictest {
            Some(order) => files.min_by(|a, b| order(&a.value, &b.value)),
            None => files.next(),
        };
        let chosen = command_line.or_else(of_files).cloned();
        chosen.unwrap_or_else(|| Sourced {
            value: (self.default)(),
            origin: ValueOrigin::Default,
        })
    }

    pub(super) fn row(&self, effective: &Sourced<T>) -> OptionRow {
        OptionRow {
            key: self.key,
            value: effective.value.display(),
            origin: effective.origin.clone(),
        }
    }
}
