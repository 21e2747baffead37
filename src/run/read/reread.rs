//! Rereads a lock file that another process has changed during the run.

use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::lockfile::{self, SaveError};
use crate::locking::{LockJob, requirements_from_lock};
use crate::run::engine::{self, EngineReason};
use crate::span::Place;

use super::ReadDirectory;

/// The new content of a lock file (`None` if the file was removed), and the lock job for it.
pub(in crate::run) type RereadLockFile = (Option<Arc<[u8]>>, LockJob);

/// Rereads the lock file of `directory`. The requirements of the configuration are not read again.
///
/// # Errors
/// [`SaveError::Changed`] if the file now belongs to a different engine, or if it was removed and there is no configuration.
pub(in crate::run) fn reread(
    directory: &ReadDirectory,
    job: &LockJob,
) -> Result<RereadLockFile, Vec<Diagnostic>> {
    let path = directory.lock_file();
    let failed = |error: &SaveError| vec![Diagnostic::of(error, &directory.path)];
    let bytes = lockfile::read(&path).map_err(|error| failed(&error))?;
    if !is_still_valid(directory, job, bytes.as_deref()) {
        return Err(failed(&SaveError::Changed(Place::file(&path))));
    }
    let text = bytes.as_deref().unwrap_or_default();
    let file = lockfile::parse(&path, text, job.engine)
        .map_err(|errors| Diagnostic::all(&errors, &directory.path))?;
    let requirements = if job.lock_only {
        Arc::new(requirements_from_lock(
            &file.locks,
            &file.places,
            job.is_unit,
        ))
    } else {
        Arc::clone(&job.requirements)
    };
    let job = LockJob {
        requirements,
        old: Arc::new(file.locks),
        modules: file.modules,
        places: file.places,
        engine: job.engine,
        complete: job.complete,
        lock_only: job.lock_only,
        is_unit: job.is_unit,
    };
    Ok((bytes.map(Arc::from), job))
}

/// Returns whether the job still applies to a lock file with this content: its engine is the same, or the file was removed but
/// there is a configuration to lock.
fn is_still_valid(directory: &ReadDirectory, job: &LockJob, bytes: Option<&[u8]>) -> bool {
    let Some(bytes) = bytes else {
        return !job.lock_only;
    };
    let detected = directory.engine;
    let is_requested = detected.is_some_and(|found| found.reason == EngineReason::Requested);
    let engine = engine::detect_from_lock(&String::from_utf8_lossy(bytes));
    is_requested || engine.is_none_or(|engine| engine == job.engine)
}
