//! Diagnostics: the common type of errors, warnings, notices and findings in all reports.
//!
//! An error becomes a diagnostic through [`Explain`]. `verify` creates its findings directly. [`Code`] lists the kinds of
//! diagnostics. Each report format renders this type; [`Diagnostic::render`] produces the text on stderr.

mod fix;
mod render;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::error::Error;
use std::path::{Path, PathBuf};

pub use fix::Fix;

use crate::access::leaves_repository;
pub use crate::code::{Code, Severity};
use crate::provider::ProviderAddr;
use crate::span::{Explain, Place};

/// One finding, error or warning, with every directory that it applies to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub severity: Severity,
    pub code: Code,
    /// What could not be done, or what is wrong.
    pub message: String,
    /// The chain of causes, from the nearest to the root cause.
    pub causes: Vec<String>,
    pub hint: Option<String>,
    pub fix: Option<Fix>,
    /// The file, and usually the position in it.
    pub place: Option<Place>,
    /// The provider that a finding is about.
    pub provider: Option<ProviderAddr>,
    /// The directories that the diagnostic applies to, as the user names them.
    pub directories: BTreeSet<PathBuf>,
}

/// The next step after a run with `--check` that found changes.
pub const DRIFT_HINT: &str = "run the same command without `--check`, and commit the lock files";

impl Diagnostic {
    fn new(severity: Severity, code: Code, message: String) -> Self {
        debug_assert!(
            code.severities().contains(&severity),
            "{code:?}: {severity:?}"
        );
        Self {
            severity,
            code,
            message,
            causes: Vec::new(),
            hint: None,
            fix: None,
            place: None,
            provider: None,
            directories: BTreeSet::new(),
        }
    }

    /// Creates an error that occurred while tflock processed `directory`. If the file of the error is outside the repository and
    /// was reached through a symlink, its text is not quoted.
    pub fn of(error: &dyn Explain, directory: &Path) -> Self {
        Self::explain(Severity::Error, error, Some(directory))
    }

    /// Applies [`Diagnostic::of`] to each error.
    pub fn all<'a, E: Explain>(
        errors: impl IntoIterator<Item = &'a E>,
        directory: &Path,
    ) -> Vec<Self> {
        let errors = errors.into_iter();
        errors.map(|error| Self::of(error, directory)).collect()
    }

    /// Like [`Diagnostic::of`], but creates a warning: tflock continues to process `directory`.
    pub fn warn(error: &dyn Explain, directory: &Path) -> Self {
        Self::explain(Severity::Warning, error, Some(directory))
    }

    /// Creates an error that belongs to no directory.
    pub fn general(error: &dyn Explain) -> Self {
        Self::explain(Severity::Error, error, None)
    }

    /// Creates a warning about a failure that belongs to no directory and does not stop the run.
    pub fn caution(error: &impl Explain) -> Self {
        Self::explain(Severity::Warning, error, None)
    }

    /// Creates an error that has only a message and a chain of causes.
    pub fn chain(error: &(dyn Error + 'static)) -> Self {
        Self {
            causes: causes_of(error),
            ..Self::new(Severity::Error, Code::Failure, error.to_string())
        }
    }

    /// Creates a warning about `directory`, or about the whole run if `directory` is `None`.
    pub fn warning(code: Code, message: impl Into<String>, directory: Option<&Path>) -> Self {
        Self {
            directories: directory.map(Path::to_path_buf).into_iter().collect(),
            ..Self::new(Severity::Warning, code, message.into())
        }
    }

    /// Creates a finding of `verify`, at a position in a lock file, a configuration or a `.gitignore`.
    pub fn finding(code: Code, place: Place, message: String, fix: Fix) -> Self {
        Self {
            place: Some(place),
            fix: Some(fix),
            ..Self::new(Severity::Error, code, message)
        }
    }

    /// Reports that a lock file changed. An error means that it would change without `--check`.
    pub fn drift(severity: Severity, place: Place, message: String, directory: &Path) -> Self {
        let is_error = severity == Severity::Error;
        Self {
            hint: is_error.then(|| DRIFT_HINT.to_owned()),
            place: Some(place),
            directories: BTreeSet::from([directory.to_path_buf()]),
            ..Self::new(severity, Code::LockFileDrift, message)
        }
    }

    fn explain(severity: Severity, error: &dyn Explain, directory: Option<&Path>) -> Self {
        let diagnostic = Self {
            causes: causes_of(error),
            hint: error.hint(),
            place: error.place().cloned(),
            directories: directory.map(Path::to_path_buf).into_iter().collect(),
            ..Self::new(severity, error.code(), error.to_string())
        };
        match error.place().filter(|place| is_foreign(place)) {
            Some(place) => diagnostic.without_quotes(place, error.quotes_file()),
            None => diagnostic,
        }
    }

    /// Removes the source line. If the message may quote other text of the file, replaces the message, too.
    fn without_quotes(self, place: &Place, quotes_file: bool) -> Self {
        let diagnostic = self.at(Some(place.clone()));
        if !quotes_file {
            return diagnostic;
        }
        let file = place.path.file_name().unwrap_or_default();
        Self {
            message: format!("`{}` is invalid", file.to_string_lossy()),
            causes: vec![
                "its text is not shown, because it is outside the repository and was reached through a symlink"
                    .to_owned(),
            ],
            hint: None,
            ..diagnostic
        }
    }

    pub fn into_warning(self) -> Self {
        debug_assert!(
            self.code.severities().contains(&Severity::Warning),
            "{:?}",
            self.code
        );
        Self {
            severity: Severity::Warning,
            ..self
        }
    }

    /// Sets the position of the diagnostic to `place`. Removes the source line if the file is outside the repository and was
    /// reached through a symlink.
    pub fn at(self, place: Option<Place>) -> Self {
        let place = place.map(|place| {
            if is_foreign(&place) {
                place.without_source()
            } else {
                place
            }
        });
        Self { place, ..self }
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Returns whether a position is in a file that is outside the repository and was reached through a symlink.
fn is_foreign(place: &Place) -> bool {
    thread_local! {
        /// The last file and its result, cached because there can be tens of thousands of positions in one file.
        static LAST: RefCell<Option<(PathBuf, bool)>> = const { RefCell::new(None) };
    }
    if place.line == 0 {
        return false;
    }
    LAST.with_borrow_mut(|last| match last {
        Some((path, is_foreign)) if *path == place.path => *is_foreign,
        _ => {
            let is_foreign = leaves_repository(&place.path);
            *last = Some((place.path.clone(), is_foreign));
            is_foreign
        }
    })
}

fn causes_of(error: &dyn Error) -> Vec<String> {
    std::iter::successors(error.source(), |cause| (*cause).source())
        .map(ToString::to_string)
        .collect()
}

/// Merges diagnostics that differ only in position and directories, and sorts them by severity, then by directory. An error in a
/// file that several directories use is thus reported once.
pub fn merge(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut merged = unite(diagnostics);
    merged.sort_by(|a, b| {
        (a.severity, &a.directories, &a.place).cmp(&(b.severity, &b.directories, &b.place))
    });
    merged
}

/// Merges diagnostics that differ only in position and directories. Each result keeps the position of the first diagnostic, and
/// its index in the list.
pub fn unite(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut united: Vec<Diagnostic> = Vec::new();
    let mut known = BTreeMap::new();
    for diagnostic in diagnostics {
        let key = (
            (
                diagnostic.severity,
                diagnostic.code,
                diagnostic.message.clone(),
            ),
            (
                diagnostic.causes.clone(),
                diagnostic.hint.clone(),
                diagnostic.fix.clone(),
            ),
        );
        match known.entry(key) {
            Entry::Occupied(index) => {
                let same: &mut Diagnostic = &mut united[*index.get()];
                same.directories.extend(diagnostic.directories);
            }
            Entry::Vacant(entry) => {
                entry.insert(united.len());
                united.push(diagnostic);
            }
        }
    }
    united
}

#[cfg(test)]
mod samples;

#[cfg(test)]
mod tests {
    use super::samples::diagnostic;
    use super::*;

    #[test]
    fn identical_errors_are_one_message_that_counts_directories() {
        let merged = merge(["c", "a", "b"].map(|path| diagnostic(None, path)).into());
        assert_eq!(merged.len(), 1);
        let text = merged[0].render(false);
        assert!(text.contains(" --> a, and 2 more directories\n"), "{text}");
    }
}
