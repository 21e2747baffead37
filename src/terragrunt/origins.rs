//! The origins of unknown and of hidden values.
//!
//! A value is unknown if tflock cannot compute it, and hidden if messages must not show it. An expression depends on everything
//! that it refers to, even in branches that are not taken.

use std::collections::BTreeSet;
use std::fmt;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// The outputs of another unit.
    Dependency(String),
    /// An environment variable.
    Variable(String),
    /// A function that executes something, reads a file, or whose result tflock does not compute.
    Function(String),
    /// A missing file: the path as written in the configuration.
    MissingFile(String),
    /// The origins of an unknown value in another file, as text.
    Described(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Origins {
    pub(super) unknown: BTreeSet<Origin>,
    pub(super) hidden: BTreeSet<Origin>,
}

impl Origins {
    pub(super) fn join(&mut self, other: &Self) {
        if !other.unknown.is_empty() {
            self.unknown.extend(other.unknown.iter().cloned());
        }
        if !other.hidden.is_empty() {
            self.hidden.extend(other.hidden.iter().cloned());
        }
    }

    /// Returns the names of the hidden values, if any.
    pub(super) fn hidden_names(&self) -> Option<String> {
        (!self.hidden.is_empty()).then(|| names(&self.hidden))
    }
}

/// The maximum number of origins that a message names.
const MAX_NAMES: usize = 5;

/// Lists origins for a message.
pub(super) fn names(origins: &BTreeSet<Origin>) -> String {
    let mut text = String::new();
    for (index, origin) in origins.iter().take(MAX_NAMES).enumerate() {
        let separator = match index {
            0 => "",
            _ if index + 1 == origins.len() => " and ",
            _ => ", ",
        };
        text.push_str(separator);
        text.push_str(&origin.to_string());
    }
    match origins.len().saturating_sub(MAX_NAMES) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

/// The maximum length of a name in a message, in characters.
const MAX_NAME: usize = 100;

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |name: &str| -> String {
            let visible = name.chars().filter(|letter| !letter.is_control());
            visible.take(MAX_NAME).collect()
        };
        match self {
            Self::Dependency(name) => write!(f, "`dependency.{}.outputs`", short(name)),
            Self::Variable(name) => write!(f, "the environment variable `{}`", short(name)),
            Self::Function(name) => write!(f, "`{}()`", short(name)),
            Self::Described(origins) => f.write_str(origins),
            Self::MissingFile(path) => write!(f, "the missing file `{}`", short(path)),
        }
    }
}
