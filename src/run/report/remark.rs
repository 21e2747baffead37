//! What a report points at in files: the common ground of annotations and SARIF.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use super::change::describe;
use super::{DirectoryReport, Fate, RunReport, shown};
use crate::diagnostic::{Diagnostic, Severity};
use crate::lockfile::FILE_NAME;
use crate::locking::{Finding, Fix};
use crate::span::Place;

/// How much a remark weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    /// It makes the run fail.
    Error,
    /// It should be known.
    Warning,
    /// It is said for the record.
    Notice,
}

/// One thing to be said about a place in a file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Remark {
    pub(super) level: Level,
    /// Where; the directory's lock file where nothing better is known.
    pub(super) place: Place,
    /// What kind it is.
    pub(super) code: &'static str,
    /// What is said, first of all.
    pub(super) message: String,
    /// Why, and what to do next: one paragraph each.
    pub(super) details: Vec<String>,
    /// What mends it.
    pub(super) fix: Option<Fix>,
    /// The directories that it was met in.
    pub(super) directories: BTreeSet<PathBuf>,
}

/// The code of a lock file that would change, or did.
pub(super) const DRIFT: &str = "lock-file-drift";

impl Remark {
    fn of_diagnostic(diagnostic: &Diagnostic) -> Self {
        let causes = diagnostic.causes.iter();
        let causes = causes.map(|cause| format!("caused by: {cause}"));
        let hint = diagnostic.hint.iter().map(|hint| format!("hint: {hint}"));
        let first = diagnostic.directories.first();
        let directory = first.map_or(Path::new(""), PathBuf::as_path);
        let place = diagnostic.place.clone();
        Self {
            level: match diagnostic.severity {
                Severity::Error => Level::Error,
                Severity::Warning => Level::Warning,
            },
            place: place.unwrap_or_else(|| Place::file(&directory.join(FILE_NAME))),
            code: diagnostic.code,
            message: diagnostic.message.clone(),
            details: causes.chain(hint).collect(),
            fix: None,
            directories: diagnostic.directories.clone(),
        }
    }

    /// Says how a lock file changed, at the first entry that did.
    fn of_drift(report: &DirectoryReport, check: bool) -> Self {
        let mut changed = report.providers.iter();
        let entry = changed.find_map(|provider| {
            let place = provider.place.as_ref();
            place.filter(|_| provider.change.is_some())
        });
        let file = || Place::file(&report.directory.join(FILE_NAME));
        let what = match (report.fate, check) {
            (Fate::Created, true) => "lock file would be created",
            (Fate::Created, false) => "lock file created",
            (_, true) => "lock file would change",
            (_, false) => "lock file changed",
        };
        Self {
            level: if check { Level::Error } else { Level::Notice },
            place: entry.cloned().unwrap_or_else(file),
            code: DRIFT,
            message: what.to_owned(),
            details: describe(report),
            fix: None,
            directories: BTreeSet::from([report.directory.clone()]),
        }
    }

    fn of_finding(finding: &Finding, directory: &Path) -> Self {
        Self {
            level: Level::Error,
            place: finding.place.clone(),
            code: finding.rule.code(),
            message: finding.message.clone(),
            details: Vec::new(),
            fix: Some(finding.fix.clone()),
            directories: BTreeSet::from([directory.to_path_buf()]),
        }
    }

    /// What is said after the message: causes, hints, what mends it.
    pub(super) fn all_details(&self) -> Vec<String> {
        let fix = self.fix.as_ref().map(|fix| {
            let directories: Vec<String> =
                self.directories.iter().map(|path| shown(path)).collect();
            format!("fix: {}", fix.text(directories.iter().map(String::as_str)))
        });
        self.details.iter().cloned().chain(fix).collect()
    }

    fn says_the_same_as(&self, other: &Self) -> bool {
        (self.level, self.code, &self.message) == (other.level, other.code, &other.message)
            && (&self.details, &self.fix) == (&other.details, &other.fix)
    }
}

/// All remarks of a run: the heavy ones first, then in the order of their places. The same words about the same place are
/// one remark.
pub(super) fn remarks(report: &RunReport) -> Vec<Remark> {
    let mut all = Vec::new();
    for directory in &report.directories {
        all.extend(directory.diagnostics.iter().map(Remark::of_diagnostic));
        let findings = directory.findings.iter();
        all.extend(findings.map(|finding| Remark::of_finding(finding, &directory.directory)));
        if matches!(directory.fate, Fate::Created | Fate::Updated) {
            all.push(Remark::of_drift(directory, report.check));
        }
    }
    all.sort();
    all.dedup_by(|later, first| {
        let same = later.place == first.place && later.says_the_same_as(first);
        if same {
            first.directories.append(&mut later.directories);
        }
        same
    });
    all
}

/// Makes one remark of all that say the same, at the place of the first.
pub(super) fn merged(remarks: Vec<Remark>) -> Vec<Remark> {
    let mut merged: Vec<Remark> = Vec::new();
    for remark in remarks {
        let mut known = merged.iter_mut();
        match known.find(|known| known.says_the_same_as(&remark)) {
            Some(known) => known.directories.extend(remark.directories),
            None => merged.push(remark),
        }
    }
    merged
}

/// Names files from the top of a repository, as hosts of repositories want them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// What paths of a report are relative to, absolute.
    pub working_directory: PathBuf,
    /// The top, absolute.
    pub root: PathBuf,
}

impl Base {
    /// The path from the top, or `None` if the file is not below it.
    pub(super) fn relative(&self, path: &Path) -> Option<PathBuf> {
        let absolute = normal(&self.working_directory.join(path));
        let relative = absolute.strip_prefix(normal(&self.root)).ok()?;
        Some(relative.to_path_buf())
    }
}

/// The path without `.` and `..`, by its letters.
fn normal(path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            part => normal.push(part),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::super::samples::{added, directory, report};
    use super::*;
    use crate::span::Span;

    fn failed(path: &str, place: Option<Place>) -> DirectoryReport {
        let mut failed = directory(path, Fate::Failed, Vec::new());
        let warning = Diagnostic::warning("registry", "mind this", Some(path.as_ref()));
        failed.diagnostics.push(warning.at(place));
        failed
    }

    #[test]
    fn the_same_words_about_a_place_are_one_remark() {
        let shared = Place::in_text("m/main.tf".as_ref(), b"x", Span::new(0, 1));
        let report = report(vec![
            directory("a", Fate::Created, vec![added("acme/anvil", "1.0.0")]),
            failed("b", Some(shared.clone())),
            failed("c", Some(shared)),
            failed("d", None),
        ]);
        let remarks = remarks(&report);
        let places: Vec<String> = remarks.iter().map(|r| r.place.to_string()).collect();
        let expected = [
            "d/.terraform.lock.hcl",
            "m/main.tf:1:1",
            "a/.terraform.lock.hcl",
        ];
        assert_eq!(places, expected);
        assert_eq!(remarks[1].directories.len(), 2);
        let merged = merged(remarks);
        assert_eq!(merged.len(), 2);
        assert_eq!(merged[0].directories.len(), 3);
        assert_eq!(merged[1].details, ["acme/anvil 1.0.0"]);
    }

    #[test]
    fn files_are_named_from_the_top_of_the_repository() {
        let base = Base {
            working_directory: "/repo/stacks".into(),
            root: "/repo".into(),
        };
        let rows = [
            ("a/main.tf", Some("stacks/a/main.tf")),
            ("../modules/./m/main.tf", Some("modules/m/main.tf")),
            ("/repo/x", Some("x")),
            ("../../elsewhere", None),
        ];
        for (path, expected) in rows {
            let relative = base.relative(path.as_ref());
            assert_eq!(relative.as_deref(), expected.map(Path::new), "{path}");
        }
    }
}
