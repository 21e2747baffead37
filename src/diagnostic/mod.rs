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
    /// The directories that it applies to, as the user names them.
    pub directories: BTreeSet<PathBuf>,
}

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

    /// An error that occurred while tflock worked on `directory`. If a link leads out of the repository to its file, the
    /// text of the file is not quoted.
    pub fn of(error: &dyn Explain, directory: &Path) -> Self {
        Self::explain(Severity::Error, error, Some(directory))
    }

    /// [`Diagnostic::of`] for each error.
    pub fn all<'a, E: Explain>(
        errors: impl IntoIterator<Item = &'a E>,
        directory: &Path,
    ) -> Vec<Self> {
        let errors = errors.into_iter();
        errors.map(|error| Self::of(error, directory)).collect()
    }

    /// Like [`Diagnostic::of`], but as a warning: tflock continued the work on `directory`.
    pub fn warn(error: &dyn Explain, directory: &Path) -> Self {
        Self::explain(Severity::Warning, error, Some(directory))
    }

    /// An error that belongs to no directory.
    pub fn general(error: &dyn Explain) -> Self {
        Self::explain(Severity::Error, error, None)
    }

    /// A failure that belongs to no directory and does not stop the run.
    pub fn caution(error: &impl Explain) -> Self {
        Self::explain(Severity::Warning, error, None)
    }

    /// An error that has only a message and a chain of causes.
    pub fn chain(error: &(dyn Error + 'static)) -> Self {
        Self {
            causes: causes_of(error),
            ..Self::new(Severity::Error, Code::Failure, error.to_string())
        }
    }

    /// A warning about `directory`, or about the whole run if that is `None`.
    pub fn warning(code: Code, message: impl Into<String>, directory: Option<&Path>) -> Self {
        Self {
            directories: directory.map(Path::to_path_buf).into_iter().collect(),
            ..Self::new(Severity::Warning, code, message.into())
        }
    }

    /// A finding of `verify`, at a place in a lock file, a configuration or a `.gitignore`.
    pub fn finding(code: Code, place: Place, message: String, fix: Fix) -> Self {
        Self {
            place: Some(place),
            fix: Some(fix),
            ..Self::new(Severity::Error, code, message)
        }
    }

    /// A report that a lock file changed, or with `--check` would change.
    pub fn drift(severity: Severity, place: Place, message: String, directory: &Path) -> Self {
        Self {
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

    /// Removes the source line, and all other text of the file if the message may quote it.
    fn without_quotes(self, place: &Place, quotes_file: bool) -> Self {
        let diagnostic = self.at(Some(place.clone()));
        if !quotes_file {
            return diagnostic;
        }
        let file = place.path.file_name().unwrap_or_default();
        Self {
            message: format!("`{}` is invalid", file.to_string_lossy()),
            causes: vec![
                "a link leads out of the repository to it, so it is not quoted".to_owned(),
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

    /// Moves the diagnostic to `place`. The source line is removed if a link leads out of the repository to the file.
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

/// Whether a place is in a file outside of the repository that is reached through a symbolic link.
fn is_foreign(place: &Place) -> bool {
    thread_local! {
        /// The result for the last file, because one file can have tens of thousands of places.
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

/// Unites diagnostics that differ only in place and directories, and sorts them by the first directory. So an error in a file
/// that several directories use is reported once.
pub fn merge(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut merged = unite(diagnostics);
    merged.sort_by(|a, b| {
        (a.severity, &a.directories, &a.place).cmp(&(b.severity, &b.directories, &b.place))
    });
    merged
}

/// Unites diagnostics that differ only in place and directories. The result keeps the place and the position of the first.
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
    fn equal_causes_are_one_message_that_counts_directories() {
        let merged = merge(["c", "a", "b"].map(|path| diagnostic(None, path)).into());
        assert_eq!(merged.len(), 1);
        let text = merged[0].render(false);
        assert!(text.contains(" --> a, and 2 more directories\n"), "{text}");
    }
}
