//! A value together with who said it.

use std::fmt;

use crate::span::Place;

/// Who said it. The earlier wins over the later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Typed.
    CommandLine,
    /// In a config file.
    File(Place),
    /// In this variable.
    Environment(&'static str),
    /// Nobody: tflock's own choice.
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CommandLine => f.write_str("command line"),
            Self::File(place) => place.fmt(f),
            Self::Environment(name) => write!(f, "environment: {name}"),
            Self::Default => f.write_str("default"),
        }
    }
}

/// A value and who said it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sourced<T> {
    /// What was said.
    pub value: T,
    /// By whom.
    pub origin: Origin,
}

impl<T> Sourced<T> {
    /// What the command line says, else the file, else nobody: then it is `default`.
    pub fn choose(typed: Option<T>, file: Option<&Self>, default: T) -> Self
    where
        T: Clone,
    {
        let typed = typed.map(|value| Self {
            value,
            origin: Origin::CommandLine,
        });
        typed.or_else(|| file.cloned()).unwrap_or(Self {
            value: default,
            origin: Origin::Default,
        })
    }
}
