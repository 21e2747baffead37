//! A value and where it comes from.

use std::fmt;

use crate::span::Place;

/// Where a value comes from. Earlier sources take precedence over later ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueOrigin {
    /// An option on the command line.
    CommandLine,
    /// A line of a config file.
    File(Place),
    /// The environment variable of this name.
    Environment(&'static str),
    /// tflock's default.
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
    /// Where it comes from.
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
