//! A new lock becomes bytes, and the bytes a file: or, with `--check`, a finding.

use crate::diagnostic::Diagnostic;
use crate::lockfile;
use crate::locking::{Job, Note, Outcome};
use crate::owner::Owner;

use crate::span::Place;

use super::lock::Work;
use super::read::Directory;
use super::report::{Detail, DirectoryReport, Fate, ProviderReport};

/// Writes the new lock of `directory` unless the file has these bytes already. `old` are the bytes that it has.
pub(super) fn settle(
    directory: &Directory,
    old: Option<&[u8]>,
    job: &Job,
    outcome: Outcome,
    work: &Work,
) -> DirectoryReport {
    let settings = &work.settings;
    let mut report = directory.report(Fate::Unchanged);
    let notes = outcome.notes.iter();
    let notes = notes.map(|note| diagnostic(note, directory, job));
    report.diagnostics.extend(notes);
    let bytes = work.renderings.of(&outcome.locks, job.engine);
    let path = directory.lock_file();
    if old != Some(&*bytes) {
        report.fate = match old {
            None => Fate::Created,
            Some(_) => Fate::Updated,
        };
        let saved = if settings.check {
            Ok(())
        } else {
            lockfile::save(&path, &bytes, &directory.repository, &Owner::current()).map(drop)
        };
        if let Err(error) = saved {
            let error = Diagnostic::of(&error, &directory.path);
            report.diagnostics.push(error);
            report.fate = Fate::Failed;
            return report;
        }
        report.diff = settings
            .diff
            .then(|| lockfile::unified_diff(&path, old, &bytes));
    }
    if report.fate == Fate::Unchanged && work.detail == Detail::Changes {
        return report;
    }
    report.providers =
        ProviderReport::between(&job.old, &outcome.locks, outcome.verified, work.detail);
    for provider in &mut report.providers {
        let entry = job.places.get(&provider.address);
        provider.place = entry.map(Place::without_source);
    }
    report
}

/// A note points at the entry of the lock file that it is about.
fn diagnostic(note: &Note, directory: &Directory, job: &Job) -> Diagnostic {
    let entry = note.address().and_then(|address| job.places.get(address));
    let place = entry.map(Place::without_source);
    Diagnostic::warning(note.code(), note.to_string(), Some(&directory.path)).at(place)
}
