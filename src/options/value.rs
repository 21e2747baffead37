//! The types of option values: how they are parsed from the command line and TOML, and how they are shown.

use std::ops::Range;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser as _};
use clap::{Arg, ArgAction, ArgMatches};
use regex::Regex;
use toml::Spanned;
use toml::de::DeValue;

use crate::display::visible_name;
use crate::provider::{Platform, PlatformError};

use super::arguments::RejectedArgument;
use super::suggest::{nearest, platform_hint, quoted_list};

/// A value in a config file and its position.
pub type TomlValue<'a> = Spanned<DeValue<'a>>;

/// A value on the command line. `None` if the user did not set the option.
pub(super) type Given<T> = Result<Option<T>, RejectedArgument>;

type Parsed<T> = Result<T, RejectedValue>;

/// The type of an option's value.
pub(super) trait OptionValue: Clone {
    /// Completes the argument for the option, and adds further arguments that belong to the option.
    fn arguments(argument: Arg, value_name: &'static str) -> Vec<Arg>;

    fn from_matches(matches: &ArgMatches, option: &'static str) -> Given<Self>;

    /// Parses the value in a config file. Messages list only values for which `is_allowed` is true.
    fn from_toml(value: &TomlValue<'_>, is_allowed: fn(&Self) -> bool) -> Parsed<Self>;

    /// Formats the value for people. The text is safe to print.
    fn display(&self) -> String;

    /// Returns the default to show in the help. `None` if the help text already states it.
    fn default_in_help(&self) -> Option<String> {
        Some(self.display())
    }
}

/// A value that is one word of a fixed set.
pub(super) trait WordValue: Copy + PartialEq + Send + Sync + 'static {
    /// Each word with its value and its help text.
    const WORDS: &'static [(&'static str, Self, &'static str)];
}

/// A number from 1 to `MAX`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NumberUpTo<const MAX: u16>(pub u16);

/// A value in a config file that its option does not accept.
#[derive(Debug)]
pub struct RejectedValue {
    /// The byte range of the value in the file.
    pub span: Range<usize>,
    pub rejection: Rejection,
}

/// Why a value in a config file is not accepted.
#[derive(Debug)]
pub enum Rejection {
    Type {
        expected: &'static str,
        found: &'static str,
    },
    /// The value has the correct type, but is invalid.
    Invalid(ValueError),
    /// Only the command line may set this value.
    LoosensTrust,
}

/// An invalid value of the correct type.
#[derive(Debug, thiserror::Error)]
pub enum ValueError {
    #[error("the valid values are {}", quoted_list(.0))]
    Word(Vec<&'static str>),
    #[error(transparent)]
    Platform(#[from] PlatformError),
    #[error(transparent)]
    Pattern(Box<regex::Error>),
    #[error("it must be from 1 to {0}")]
    Range(u16),
    #[error("it must contain at least one platform")]
    Empty,
}

impl ValueError {
    pub fn hint(&self, text: &str) -> Option<String> {
        match self {
            Self::Word(words) => {
                let word = nearest(text, words.iter().copied())?;
                Some(format!("did you mean `{word}`?"))
            }
            Self::Platform(_) => platform_hint(text),
            Self::Empty => Some("omit the key to use the platform of this machine".to_owned()),
            Self::Pattern(_) | Self::Range(_) => None,
        }
    }
}

impl RejectedValue {
    pub(super) fn new(value: &TomlValue<'_>, rejection: Rejection) -> Self {
        let span = value.span();
        Self { span, rejection }
    }

    /// Rejects a value that does not have the `expected` type.
    pub fn wrong_type(value: &TomlValue<'_>, expected: &'static str) -> Self {
        let found = match value.get_ref() {
            DeValue::String(_) => "a string",
            DeValue::Integer(_) => "a number",
            DeValue::Float(_) => "a fractional number",
            DeValue::Boolean(_) => "a boolean",
            DeValue::Datetime(_) => "a date",
            DeValue::Array(_) => "a list",
            DeValue::Table(_) => "a table",
        };
        Self::new(value, Rejection::Type { expected, found })
    }

    fn invalid(value: &TomlValue<'_>, error: ValueError) -> Self {
        Self::new(value, Rejection::Invalid(error))
    }
}

/// Returns the strings of an array, each with its TOML value for messages.
pub fn strings<'v>(
    value: &'v TomlValue<'v>,
) -> Result<Vec<(&'v str, &'v TomlValue<'v>)>, RejectedValue> {
    let wrong_type =
        |value| RejectedValue::wrong_type(value, "a list of strings, such as `[\"...\"]`");
    let items = value
        .get_ref()
        .as_array()
        .ok_or_else(|| wrong_type(value))?;
    let string = |item: &'v TomlValue<'v>| {
        let text = item.get_ref().as_str().ok_or_else(|| wrong_type(item))?;
        Ok((text, item))
    };
    items.iter().map(string).collect()
}

/// Returns the values of an option as the user typed them. Empty if the option is not set.
fn texts<'m>(matches: &'m ArgMatches, option: &str) -> Vec<&'m str> {
    let texts = matches.get_many::<String>(option).unwrap_or_default();
    texts.map(String::as_str).collect()
}

impl<T: WordValue> OptionValue for T {
    fn arguments(argument: Arg, value_name: &'static str) -> Vec<Arg> {
        let words = T::WORDS.iter();
        let words = words.map(|(word, _, help)| PossibleValue::new(*word).help(*help));
        let parser = PossibleValuesParser::new(words).map(|word| word_value::<T>(&word));
        vec![argument.value_name(value_name).value_parser(parser)]
    }

    fn from_matches(matches: &ArgMatches, option: &'static str) -> Given<Self> {
        Ok(matches.get_one::<Option<T>>(option).copied().flatten())
    }

    fn from_toml(value: &TomlValue<'_>, is_allowed: fn(&Self) -> bool) -> Parsed<Self> {
        let text = value.get_ref().as_str();
        let text = text.ok_or_else(|| RejectedValue::wrong_type(value, "a string"))?;
        word_value(text).ok_or_else(|| {
            let allowed = T::WORDS
                .iter()
                .filter(|(_, meaning, _)| is_allowed(meaning));
            let words = allowed.map(|(word, ..)| *word).collect();
            RejectedValue::invalid(value, ValueError::Word(words))
        })
    }

    fn display(&self) -> String {
        let word = T::WORDS.iter().find(|(_, meaning, _)| meaning == self);
        word.map_or_else(String::new, |(word, ..)| (*word).to_owned())
    }
}

fn word_value<T: WordValue>(text: &str) -> Option<T> {
    let known = T::WORDS.iter().find(|(word, ..)| *word == text);
    known.map(|(_, meaning, _)| *meaning)
}

impl OptionValue for bool {
    /// Returns the switch, and a second one with the prefix `--no-`, which overrides a config file.
    fn arguments(argument: Arg, _: &'static str) -> Vec<Arg> {
        let argument = argument.action(ArgAction::SetTrue);
        let name = argument.get_id().to_string();
        let help = format!("Override `{name} = true` in a config file");
        let off = argument
            .clone()
            .id(format!("no-{name}"))
            .long(format!("no-{name}"));
        let off = off.short(None).help(help.clone()).long_help(help);
        vec![argument, off.overrides_with(name)]
    }

    fn from_matches(matches: &ArgMatches, option: &'static str) -> Given<Self> {
        let is_off = matches.get_flag(&format!("no-{option}"));
        let is_on = matches.get_flag(option);
        Ok((is_on || is_off).then_some(is_on))
    }

    fn from_toml(value: &TomlValue<'_>, _: fn(&Self) -> bool) -> Parsed<Self> {
        let truth = value.get_ref().as_bool();
        truth.ok_or_else(|| RejectedValue::wrong_type(value, "true or false"))
    }

    fn display(&self) -> String {
        self.to_string()
    }

    fn default_in_help(&self) -> Option<String> {
        None
    }
}

impl<const MAX: u16> OptionValue for NumberUpTo<MAX> {
    fn arguments(argument: Arg, value_name: &'static str) -> Vec<Arg> {
        let parser = clap::value_parser!(u16).range(1..=i64::from(MAX));
        vec![argument.value_name(value_name).value_parser(parser)]
    }

    fn from_matches(matches: &ArgMatches, option: &'static str) -> Given<Self> {
        Ok(matches.get_one(option).copied().map(Self))
    }

    fn from_toml(value: &TomlValue<'_>, _: fn(&Self) -> bool) -> Parsed<Self> {
        let number = value.get_ref().as_integer();
        let number = number.ok_or_else(|| RejectedValue::wrong_type(value, "a whole number"))?;
        u16::from_str_radix(number.as_str(), number.radix())
            .ok()
            .filter(|number| (1..=MAX).contains(number))
            .map(Self)
            .ok_or_else(|| RejectedValue::invalid(value, ValueError::Range(MAX)))
    }

    fn display(&self) -> String {
        self.0.to_string()
    }
}

/// Contains each platform once, in the order given.
impl OptionValue for Vec<Platform> {
    fn arguments(argument: Arg, value_name: &'static str) -> Vec<Arg> {
        let argument = argument.value_name(value_name).value_delimiter(',');
        vec![argument.action(ArgAction::Append)]
    }

    fn from_matches(matches: &ArgMatches, option: &'static str) -> Given<Self> {
        let mut platforms = Self::new();
        for text in texts(matches, option) {
            let platform = Platform::parse(text)
                .map_err(|error| RejectedArgument::new(option, text, error.into()))?;
            if !platforms.contains(&platform) {
                platforms.push(platform);
            }
        }
        Ok((!platforms.is_empty()).then_some(platforms))
    }

    fn from_toml(value: &TomlValue<'_>, _: fn(&Self) -> bool) -> Parsed<Self> {
        let mut platforms = Self::new();
        for (text, item) in strings(value)? {
            let platform = Platform::parse(text)
                .map_err(|error| RejectedValue::invalid(item, error.into()))?;
            if !platforms.contains(&platform) {
                platforms.push(platform);
            }
        }
        if platforms.is_empty() {
            return Err(RejectedValue::invalid(value, ValueError::Empty));
        }
        Ok(platforms)
    }

    fn display(&self) -> String {
        self.iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>()
            .join(", ")
    }

    fn default_in_help(&self) -> Option<String> {
        None
    }
}

impl OptionValue for Vec<Regex> {
    fn arguments(argument: Arg, value_name: &'static str) -> Vec<Arg> {
        vec![argument.value_name(value_name).action(ArgAction::Append)]
    }

    fn from_matches(matches: &ArgMatches, option: &'static str) -> Given<Self> {
        let pattern =
            |text| parse_pattern(text).map_err(|error| RejectedArgument::new(option, text, error));
        let patterns: Self = texts(matches, option)
            .into_iter()
            .map(pattern)
            .collect::<Result<_, _>>()?;
        Ok((!patterns.is_empty()).then_some(patterns))
    }

    fn from_toml(value: &TomlValue<'_>, _: fn(&Self) -> bool) -> Parsed<Self> {
        let pattern =
            |(text, item)| parse_pattern(text).map_err(|error| RejectedValue::invalid(item, error));
        strings(value)?.into_iter().map(pattern).collect()
    }

    fn display(&self) -> String {
        if self.is_empty() {
            return "none".to_owned();
        }
        let quoted = |pattern: &Regex| format!("`{}`", visible_name(pattern.as_str()));
        self.iter().map(quoted).collect::<Vec<_>>().join(", ")
    }

    fn default_in_help(&self) -> Option<String> {
        None
    }
}

fn parse_pattern(text: &str) -> Result<Regex, ValueError> {
    Regex::new(text).map_err(|error| ValueError::Pattern(Box::new(error)))
}
