//! The diagnostics of a report by file and position. GitHub shows them as annotations, and SARIF lists them as results.

use std::path::{Path, PathBuf};

use super::change::describe;
use super::{DirectoryReport, Fate, ProviderReport, RunReport};
use crate::diagnostic::{Diagnostic, Severity};
use crate::display::portable_path;
use crate::lockfile::FILE_NAME;
use crate::span::Place;

/// Returns all diagnostics and findings of a run, and one for each changed lock file, sorted by severity, then by position. Those
/// without a position refer to the lock file of their directory. Duplicates at the same position are merged.
pub(super) fn annotations(report: &RunReport) -> Vec<Diagnostic> {
    let mut annotations = Vec::new();
    for directory in &report.directories {
        annotations.extend(directory.diagnostics.iter().map(with_place));
        annotations.extend(directory.findings.iter().cloned());
        if matches!(directory.fate, Fate::Created | Fate::Updated) {
            annotations.push(drift(directory, report.check));
        }
    }
    annotations.sort_by(|a, b| sort_key(a).cmp(&sort_key(b)));
    annotations.dedup_by(|later, first| {
        let same = sort_key(later).0 == sort_key(first).0;
        if same {
            first.directories.append(&mut later.directories);
        }
        same
    });
    annotations
}

/// Returns the sort key of an annotation. Annotations with the same first part are merged; the second part orders them.
fn sort_key(annotation: &Diagnostic) -> (impl Ord, impl Ord) {
    let one = annotation;
    let text = (&one.message, &one.causes, &one.hint, &one.fix);
    ((one.severity, &one.place, one.code, text), &one.directories)
}

fn with_place(diagnostic: &Diagnostic) -> Diagnostic {
    let mut diagnostic = diagnostic.clone();
    if diagnostic.place.is_none() {
        let directory = diagnostic.directories.first();
        let directory = directory.map_or(Path::new(""), PathBuf::as_path);
        diagnostic.place = Some(Place::file(&directory.join(FILE_NAME)));
    }
    diagnostic
}

/// Describes how a lock file changed, at the first entry that changed. With `--check`, the change is an error.
fn drift(report: &DirectoryReport, check: bool) -> Diagnostic {
    let changed = |provider: &&ProviderReport| provider.change.is_some();
    let mut changed = report.providers.iter().filter(changed);
    let entry = changed.find_map(|provider| provider.place.clone());
    let (severity, what) = match (report.fate, check) {
        (Fate::Created, true) => (Severity::Error, "lock file would be created"),
        (Fate::Created, false) => (Severity::Notice, "lock file created"),
        (_, true) => (Severity::Error, "lock file would change"),
        (_, false) => (Severity::Notice, "lock file changed"),
    };
    let lines = [vec![what.to_owned()], describe(report)].concat();
    let place =
        entry.unwrap_or_else(|| Place::file(&report.directory.join(report.lock_file_name())));
    Diagnostic::drift(severity, place, lines.join("\n"), &report.directory)
}

/// Returns the text of an annotation: the message, each cause, the hint and the fix, one line each.
pub(super) fn lines(annotation: &Diagnostic) -> Vec<String> {
    let mut lines = vec![annotation.message.clone()];
    let causes = annotation.causes.iter();
    lines.extend(causes.map(|cause| format!("caused by: {cause}")));
    lines.extend(annotation.hint.iter().map(|hint| format!("hint: {hint}")));
    if let Some(fix) = &annotation.fix {
        let directories = annotation.directories.iter();
        let names: Vec<String> = directories.map(|path| portable_path(path)).collect();
        let fix = fix.text(names.iter().map(String::as_str));
        lines.push(format!("fix: {fix}"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::samples::{added, directory, report};
    use super::*;
    use crate::diagnostic::{Code, unite};
    use crate::span::Span;

    fn failed(path: &str, place: Option<Place>) -> DirectoryReport {
        let mut failed = directory(path, Fate::Failed, Vec::new());
        let warning = Diagnostic::warning(Code::Registry, "mind this", Some(path.as_ref()));
        failed.diagnostics.push(warning.at(place));
        failed
    }

    #[test]
    fn identical_diagnostics_at_a_place_are_merged() {
        let shared = Place::in_text("m/main.tf".as_ref(), b"x", Span::new(0, 1));
        let report = report(vec![
            directory("a", Fate::Created, vec![added("acme/anvil", "1.0.0")]),
            failed("b", Some(shared.clone())),
            failed("c", Some(shared)),
            failed("d", None),
        ]);
        let annotations = annotations(&report);
        let places: Vec<String> = annotations
            .iter()
            .map(|one| one.place.as_ref().unwrap().to_string())
            .collect();
        let expected = [
            "d/.terraform.lock.hcl",
            "m/main.tf:1:1",
            "a/.terraform.lock.hcl",
        ];
        assert_eq!(places, expected);
        assert_eq!(annotations[1].directories.len(), 2);
        let united = unite(annotations);
        assert_eq!(united.len(), 2);
        assert_eq!(united[0].directories.len(), 3);
        assert!(united[1].message.ends_with("\nacme/anvil 1.0.0"));
    }
}
