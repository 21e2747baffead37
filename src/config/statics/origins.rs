//! Values that are never shown: what files and the environment say, and everything made of it.
//!
//! A pull request can have any of them made part of an address. So messages name where a value comes from instead.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use crate::access::leaves_repository;
use crate::syntax::Expression;

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::config) enum Origin {
    /// A function that reads files.
    Function(String),
    /// A variable of the root module that the environment, the command line or a variable file gives a value to.
    Variable(String),
    /// The workspace, chosen by the environment or by a file.
    Workspace,
    /// A configuration file that a link reaches outside of the repository.
    Link(PathBuf),
}

/// All that a value depends on and that is not shown. An expression depends on everything that it refers to, also in branches
/// that are not taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::config) struct Origins(BTreeSet<Origin>);

impl Origins {
    pub(in crate::config) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(in crate::config) fn add(&mut self, origin: Origin) {
        self.0.insert(origin);
    }

    /// Adds the file of an expression if a link reaches it outside of the repository.
    pub(in crate::config) fn add_file_of(&mut self, expression: &Expression) {
        let path = expression.path();
        if path.is_symlink() && leaves_repository(path) {
            self.add(Origin::Link(path.to_path_buf()));
        }
    }

    pub(in crate::config) fn join(&mut self, other: &Self) {
        self.0.extend(other.0.iter().cloned());
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Function(name) => write!(f, "`{name}()`"),
            Self::Variable(name) => write!(f, "`var.{name}`"),
            Self::Workspace => f.write_str("`terraform.workspace`"),
            Self::Link(path) => write!(f, "the linked file `{}`", path.display()),
        }
    }
}

impl fmt::Display for Origins {
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
