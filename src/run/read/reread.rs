//! A lock file that another process has changed since it was read.

use std::sync::Arc;

use crate::diagnostic::Diagnostic;
use crate::lockfile::{self, SaveError};
use crate::locking::{LockJob, requirements_from_lock};
use crate::run::engine::{self, EngineReason};
use crate::span::Place;

use super::ReadDirectory;

/// The bytes of a lock file, and what is to be locked now.
pub(in crate::run) type RereadLockFile = (Option<Arc<[u8]>>, LockJob);

/// Reads the lock file of `directory` again. What the configuration requires stays as it was read.
///
/// # Errors
/// [`SaveError::Changed`] if the file now belongs to the other engine, or if it is gone and there is no configuration.
pub(in crate::run) fn reread(
    directory: &ReadDirectory,
    job: &LockJob,
) -> Result<RereadLockFile, Vec<Diagnostic>> {
    let path = directory.lock_file();
    let failed = |error: &SaveError| vec![Diagnostic::of(error, &directory.path)];
    let bytes = lockfile::read(&path).map_err(|error| failed(&error))?;
    if !is_followed(directory, job, bytes.as_deref()) {
        return Err(failed(&SaveError::Changed(Place::file(&path))));
    }
    let text = bytes.as_deref().unwrap_or_default();
    let file = lockfile::parse(&path, text, job.engine).map_err(|errors| {
        let told = errors.iter();
        told.map(|error| Diagnostic::of(error, &directory.path))
            .collect::<Vec<_>>()
    })?;
    let requirements = if job.lock_only {
        Arc::new(requirements_from_lock(&file.locks, &file.places))
    } else {
        Arc::clone(&job.requirements)
    };
    let job = LockJob {
        requirements,
        old: Arc::new(file.locks),
        places: file.places,
        engine: job.engine,
        complete: job.complete,
        lock_only: job.lock_only,
    };
    Ok((bytes.map(Arc::from), job))
}

/// Whether the directory would still be locked as it was planned.
fn is_followed(directory: &ReadDirectory, job: &LockJob, bytes: Option<&[u8]>) -> bool {
    let Some(bytes) = bytes else {
        return !job.lock_only;
    };
    let is_asked = matches!(directory.engine, Some((_, EngineReason::Asked)));
    let engine = engine::detect_from_lock(&String::from_utf8_lossy(bytes));
    is_asked || engine.is_none_or(|engine| engine == job.engine)
}
