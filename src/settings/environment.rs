//! The environment of the tflock process.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

/// The environment variables and the working directory. `main` captures them once, and all other code uses this value.
#[derive(Clone, Debug, Default)]
pub struct Environment {
    variables: BTreeMap<String, String>,
    /// The working directory, absolute.
    pub working_directory: PathBuf,
}

impl Environment {
    /// Captures the variables, except those that are not valid Unicode.
    pub fn new(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
        working_directory: PathBuf,
    ) -> Self {
        let variables = variables
            .into_iter()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Self {
            variables,
            working_directory,
        }
    }

    /// Returns the value of a variable, which may be empty.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// Returns the value of a variable, or `None` if it is unset or empty.
    pub fn non_empty(&self, name: &str) -> Option<&str> {
        self.get(name).filter(|value| !value.is_empty())
    }

    /// Returns `HOME`, or the account's home directory if `HOME` is unset or empty.
    pub fn home(&self) -> Option<PathBuf> {
        let home = self.non_empty("HOME").map(PathBuf::from);
        home.or_else(std::env::home_dir)
    }

    /// Iterates over all variables, sorted by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.variables
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }
}
