//! Renders a new lock and writes it or, with `--check`, only compares it.

use std::path::Path;
use std::time::{Duration, Instant};

use crate::diagnostic::{Code, Diagnostic};
use crate::lockfile::{self, SaveError, Saved};
use crate::locking::{LockJob, LockedDirectory, Note};
use crate::span::Place;
use crate::temporary_file::Owner;

use super::lock::Locker;
use super::read::ReadDirectory;
use super::report::{Detail, DirectoryReport, Fate, ProviderReport};

/// The maximum time to wait for another process that is writing in the same directory. A write takes less than a millisecond.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// The time between two attempts to write.
const PAUSE: Duration = Duration::from_millis(5);

const MODULES_LOST: &str =
    "the lock file loses its `module` blocks, which neither Terraform nor OpenTofu supports yet";

/// Writes the new lock of `directory`, unless the file already contains exactly that. `old` is the content from which the lock
/// was computed. Returns `None` if another process has changed the file since it was read.
pub(super) async fn write_lock_file(
    directory: &ReadDirectory,
    old: Option<&[u8]>,
    job: &LockJob,
    mut new_lock: LockedDirectory,
    locker: &Locker,
) -> Option<DirectoryReport> {
    let settings = &locker.settings;
    let mut report = directory.report(Fate::Unchanged);
    new_lock.leave_out_idle_twins(old, job.modules.as_ref(), job.engine);
    let notes = new_lock.notes.iter();
    report
        .diagnostics
        .extend(notes.map(|note| warning(note, directory, job)));
    let bytes = locker.renderings.render(&new_lock.locks, job.engine);
    let path = directory.lock_file();
    // Like Terraform and OpenTofu, tflock drops `module` blocks when it writes a file, but it does not write a file only to drop
    // them.
    let rest = job.modules.as_ref().map(|modules| &*modules.rest);
    if old != Some(&*bytes) && rest != Some(&*bytes) {
        if let Some(modules) = &job.modules {
            report
                .diagnostics
                .push(lost_modules(&modules.first, directory));
        }
        report.fate = match old {
            None => Fate::Created,
            Some(_) => Fate::Updated,
        };
        if !settings.check {
            match save(&path, old, &bytes).await {
                Ok(Saved::Outdated) => return None,
                Ok(_) => {}
                Err(error) => {
                    report
                        .diagnostics
                        .push(Diagnostic::of(&error, &directory.path));
                    report.fate = Fate::Failed;
                    return Some(report);
                }
            }
        }
        report.diff = settings
            .diff
            .then(|| lockfile::unified_diff(&path, old, &bytes));
    }
    if report.fate == Fate::Unchanged && locker.detail == Detail::Changes {
        return Some(report);
    }
    report.providers =
        ProviderReport::between(&job.old, &new_lock.locks, new_lock.verified, locker.detail);
    for provider in &mut report.providers {
        let entry = job.places.get(&provider.address);
        provider.place = entry.map(Place::without_source);
    }
    Some(report)
}

/// Saves the file as soon as no other process is writing in its directory.
async fn save(path: &Path, old: Option<&[u8]>, bytes: &[u8]) -> Result<Saved, SaveError> {
    let until = Instant::now() + MAX_WAIT;
    loop {
        match lockfile::save(path, old, bytes, &Owner::current())? {
            Saved::Busy if Instant::now() < until => tokio::time::sleep(PAUSE).await,
            Saved::Busy => return Err(SaveError::Locked(Place::file(path))),
            saved => return Ok(saved),
        }
    }
}

/// Warns that the new lock file has no `module` blocks. `first` is the position of the first block in the old file.
fn lost_modules(first: &Place, directory: &ReadDirectory) -> Diagnostic {
    let message = MODULES_LOST.to_owned();
    Diagnostic::warning(Code::ModuleLocks, message, Some(&directory.path))
        .at(Some(first.without_source()))
}

/// Converts a note to a warning at the lock file entry that it is about.
fn warning(note: &Note, directory: &ReadDirectory, job: &LockJob) -> Diagnostic {
    let entry = note.address().and_then(|address| job.places.get(address));
    let place = entry.map(Place::without_source);
    Diagnostic::warn(note, &directory.path).at(place)
}
