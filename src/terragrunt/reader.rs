//! Reads units.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::access::ReadRules;
use crate::config::EnvironmentValue;
use crate::syntax::RunBudget;

use super::{UnitError, UnitOutcome};

/// What the evaluation of units depends on besides files.
#[derive(Clone, Debug, Default)]
pub struct UnitOptions {
    /// The environment variables by name. A variable whose value is withheld counts as unknown.
    pub environment: BTreeMap<String, EnvironmentValue>,
    /// The working directory: messages show paths below it relative to it.
    pub working_directory: PathBuf,
    /// The rules for which files the configuration can read.
    pub files: Arc<ReadRules>,
    /// Whether the author of the configuration is untrusted.
    pub is_untrusted: bool,
}

/// Reads the units of a run. Files that several units share are parsed once.
#[derive(Debug, Default)]
pub struct UnitReader {
    options: UnitOptions,
    budget: Arc<RunBudget>,
}

impl UnitReader {
    pub fn new(options: UnitOptions, budget: Arc<RunBudget>) -> Self {
        Self { options, budget }
    }

    /// Evaluates the unit in `directory`, a path as the user would write it.
    ///
    /// # Errors
    /// Fails where Terragrunt would fail, and if the configuration may not read a file.
    pub fn read(&self, directory: &Path) -> Result<UnitOutcome, Vec<UnitError>> {
        let _ = (directory, &self.options, &self.budget);
        Err(Vec::new())
    }
}
