//! A new lock becomes bytes, and the bytes a file: or, with `--check`, a finding.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::diagnostic::Diagnostic;
use crate::lockfile::{self, SaveError, Saved};
use crate::locking::{LockJob, LockedDirectory, Note};
use crate::owner::Owner;
use crate::span::Place;

use super::lock::Work;
use super::read::Directory;
use super::report::{Detail, DirectoryReport, Fate, ProviderReport};

/// How long a run waits for another process that writes in the same directory, and how often it asks. A turn takes less than
/// a millisecond.
const PATIENCE: Duration = Duration::from_secs(10);
const PAUSE: Duration = Duration::from_millis(5);

/// What became of a new lock.
pub(super) enum Settled {
    /// The directory is done with.
    Done(DirectoryReport),
    /// Another process has changed the lock file since it was read.
    Outdated,
}

/// Writes the new lock of `directory` unless the file has these bytes already. `old` are the bytes that it was made from.
pub(super) async fn settle(
    directory: &Directory,
    old: Option<&[u8]>,
    job: &LockJob,
    outcome: LockedDirectory,
    work: &Work,
) -> Settled {
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
        if !settings.check {
            match save(&path, old, &bytes).await {
                Ok(Saved::Outdated) => return Settled::Outdated,
                Ok(_) => {}
                Err(error) => {
                    let error = Diagnostic::of(&error, &directory.path);
                    report.diagnostics.push(error);
                    report.fate = Fate::Failed;
                    return Settled::Done(report);
                }
            }
        }
        report.diff = settings
            .diff
            .then(|| lockfile::unified_diff(&path, old, &bytes));
    }
    if report.fate == Fate::Unchanged && work.detail == Detail::Changes {
        return Settled::Done(report);
    }
    report.providers =
        ProviderReport::between(&job.old, &outcome.locks, outcome.verified, work.detail);
    for provider in &mut report.providers {
        let entry = job.places.get(&provider.address);
        provider.place = entry.map(Place::without_source);
    }
    Settled::Done(report)
}

/// Saves the file once no other process writes in its directory.
async fn save(path: &Path, old: Option<&[u8]>, bytes: &[u8]) -> Result<Saved, SaveError> {
    let until = Instant::now() + PATIENCE;
    loop {
        match lockfile::save(path, old, bytes, &Owner::current())? {
            Saved::Busy if Instant::now() < until => tokio::time::sleep(PAUSE).await,
            Saved::Busy => return Err(SaveError::Locked(Place::file(path))),
            saved => return Ok(saved),
        }
    }
}

/// A note points at the entry of the lock file that it is about.
fn diagnostic(note: &Note, directory: &Directory, job: &LockJob) -> Diagnostic {
    let entry = note.address().and_then(|address| job.places.get(address));
    let place = entry.map(Place::without_source);
    Diagnostic::warn(note, &directory.path).at(place)
}
