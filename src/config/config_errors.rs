//! Collects the errors of one module.

use crate::syntax::SourceRange;

use super::{BlockProblem, ConfigError};

/// The maximum number of errors to report for one module. For each error, its file is searched for the line and column.
const MAX_ERRORS: usize = 100;

/// The errors of a module, collected so that the user sees all of them at once.
#[derive(Debug, Default)]
pub(super) struct ConfigErrors(pub(super) Vec<ConfigError>);

impl ConfigErrors {
    pub(super) fn add(&mut self, error: ConfigError) {
        if self.has_room() {
            self.0.push(error);
        }
    }

    pub(super) fn has_room(&self) -> bool {
        self.0.len() < MAX_ERRORS
    }

    pub(super) fn invalid(&mut self, range: &SourceRange, problem: BlockProblem) {
        self.0.push(ConfigError::invalid(range.place(), problem));
    }

    /// Returns the value of `result`, or adds its error and returns `None`.
    pub(super) fn keep<T>(&mut self, result: Result<T, impl Into<ConfigError>>) -> Option<T> {
        result.map_err(|error| self.add(error.into())).ok()
    }

    /// Returns the values in `results`, and adds the errors.
    pub(super) fn keep_all<T>(
        &mut self,
        results: impl IntoIterator<Item = Result<T, ConfigError>>,
    ) -> Vec<T> {
        results
            .into_iter()
            .filter_map(|result| self.keep(result))
            .collect()
    }
}
