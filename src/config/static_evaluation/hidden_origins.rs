//! Hidden values: values from files and from the environment, and all values computed from them.
//!
//! A pull request could make any of these values part of an address, so messages name their origin but never show the values.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use crate::access::leaves_repository;
use crate::syntax::ArgumentValue;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::config) enum HiddenOrigin {
    /// The result of a function that reads files.
    Function(String),
    /// A variable of the root module with a value from the environment, the command line or a variable file.
    Variable(String),
    /// The name of the workspace, from the environment or from a file.
    Workspace,
    /// A configuration file that is a symlink to a file outside the repository.
    Link(PathBuf),
    /// The origins of the hidden values in the text of a generated file.
    Text(String),
}

/// The origins of the hidden values on which a value depends. An expression depends on everything that it refers to, even in
/// branches that are not taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::config) struct HiddenOrigins(BTreeSet<HiddenOrigin>);

impl HiddenOrigins {
    pub(in crate::config) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::config) fn add(&mut self, origin: HiddenOrigin) {
        self.0.insert(origin);
    }

    /// Adds the file of an expression if it is a symlink to a file outside the repository, or if its text depends on hidden values.
    pub(in crate::config) fn add_file_of(&mut self, expression: &ArgumentValue) {
        self.add_text_of(expression);
        let path = expression.path();
        if path.is_symlink() && leaves_repository(path) {
            self.add(HiddenOrigin::Link(path.to_path_buf()));
        }
    }

    pub(super) fn add_text_of(&mut self, expression: &ArgumentValue) {
        if let Some(origins) = expression.hidden() {
            self.add(HiddenOrigin::Text(origins.to_owned()));
        }
    }

    pub(in crate::config) fn join(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
    }
}

impl fmt::Display for HiddenOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Function(name) => write!(f, "`{name}()`"),
            Self::Variable(name) => write!(f, "`var.{name}`"),
            Self::Workspace => f.write_str("`terraform.workspace`"),
            Self::Text(origins) => f.write_str(origins),
            Self::Link(path) => write!(f, "the symlinked file `{}`", path.display()),
        }
    }
}

impl fmt::Display for HiddenOrigins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, origin) in self.0.iter().enumerate() {
            let separator = match index {
                0 => "",
                _ if index + 1 == self.0.len() => " and ",
                _ => ", ",
            };
            write!(f, "{separator}{origin}")?;
        }
        Ok(())
    }
}
