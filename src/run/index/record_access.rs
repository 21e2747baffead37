//! Reads and writes records, and stops if the index fails again and again.

use std::sync::Mutex;

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::diagnostic::Diagnostic;
use crate::index::{IndexError, IndexStore};
use crate::parallel::lock;

use super::error::{IndexAccessError, RecordProblem};

/// The maximum number of concurrent accesses.
const MAX_IN_FLIGHT: usize = 32;

/// After this many failures in a row, the index is not used again: thousands of packages would otherwise fail one by one.
const MAX_FAILURES_IN_A_ROW: u32 = 5;

pub(super) struct RecordAccess {
    pub(super) store: IndexStore,
    in_flight: Semaphore,
    additions: Semaphore,
    health: Mutex<AccessHealth>,
}

#[derive(Clone, Copy)]
pub(super) enum AccessKind {
    Read,
    Write,
}

#[derive(Default)]
struct AccessHealth {
    failed_reads_in_a_row: u32,
    /// Reads do not reset it: a role that can only read would otherwise download every package.
    failed_writes_in_a_row: u32,
    /// The failure after which the index was not used again.
    last: Option<(AccessKind, IndexError)>,
}

impl RecordAccess {
    /// `jobs` is the maximum number of packages in flight.
    pub(super) fn new(store: IndexStore, jobs: usize) -> Self {
        Self {
            store,
            in_flight: Semaphore::new(MAX_IN_FLIGHT),
            // Some packages are downloaded while the records of others are written.
            additions: Semaphore::new(2 * jobs),
            health: Mutex::default(),
        }
    }

    /// Waits until a package may be downloaded for a new record. `None` if the index is not used any more.
    pub(super) async fn start_addition(&self) -> Option<SemaphorePermit<'_>> {
        let permit = self.additions.acquire().await.ok()?;
        lock(&self.health).last.is_none().then_some(permit)
    }

    /// Runs an access to the index. The error is `None` if the index is not used any more.
    pub(super) async fn run<T>(
        &self,
        kind: AccessKind,
        access: impl Future<Output = Result<T, IndexError>>,
    ) -> Result<T, Option<RecordProblem>> {
        let _permit = self.in_flight.acquire().await;
        if lock(&self.health).last.is_some() {
            return Err(None);
        }
        let result = access.await;
        let mut health = lock(&self.health);
        let failures_in_a_row = match kind {
            AccessKind::Read => &mut health.failed_reads_in_a_row,
            AccessKind::Write => &mut health.failed_writes_in_a_row,
        };
        match result {
            Ok(value) => {
                *failures_in_a_row = 0;
                Ok(value)
            }
            Err(error) => {
                *failures_in_a_row += 1;
                if *failures_in_a_row >= MAX_FAILURES_IN_A_ROW {
                    health.last.get_or_insert_with(|| (kind, error.clone()));
                }
                Err(Some(RecordProblem::Access(Box::new(
                    self.describe(kind, error),
                ))))
            }
        }
    }

    /// Returns the failure after which the index was not used again.
    pub(super) fn failure(&self) -> Option<Diagnostic> {
        let (kind, last) = lock(&self.health).last.clone()?;
        Some(Diagnostic::general(&self.describe(kind, last)))
    }

    fn describe(&self, kind: AccessKind, source: IndexError) -> IndexAccessError {
        let address = self.store.address().clone();
        match kind {
            AccessKind::Read => IndexAccessError::Use { address, source },
            AccessKind::Write => IndexAccessError::Write { address, source },
        }
    }
}
