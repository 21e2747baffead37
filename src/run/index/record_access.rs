//! Reads and writes records, and stops if the index fails again and again.

use std::sync::Mutex;

use tokio::sync::Semaphore;

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
    health: Mutex<AccessHealth>,
}

#[derive(Default)]
struct AccessHealth {
    failures_in_a_row: u32,
    /// The failure after which the index was not used again.
    last: Option<IndexError>,
}

impl RecordAccess {
    pub(super) fn new(store: IndexStore) -> Self {
        Self {
            store,
            in_flight: Semaphore::new(MAX_IN_FLIGHT),
            health: Mutex::default(),
        }
    }

    /// Runs an access to the index. The error is `None` if the index is not used any more.
    pub(super) async fn run<T>(
        &self,
        access: impl Future<Output = Result<T, IndexError>>,
    ) -> Result<T, Option<RecordProblem>> {
        let _permit = self.in_flight.acquire().await;
        if lock(&self.health).last.is_some() {
            return Err(None);
        }
        let result = access.await;
        let mut health = lock(&self.health);
        match result {
            Ok(value) => {
                health.failures_in_a_row = 0;
                Ok(value)
            }
            Err(error) => {
                health.failures_in_a_row += 1;
                if health.failures_in_a_row >= MAX_FAILURES_IN_A_ROW {
                    health.last.get_or_insert_with(|| error.clone());
                }
                Err(Some(RecordProblem::Access(Box::new(self.describe(error)))))
            }
        }
    }

    /// Returns the failure after which the index was not used again.
    pub(super) fn failure(&self) -> Option<Diagnostic> {
        let last = lock(&self.health).last.clone()?;
        Some(Diagnostic::general(&self.describe(last)))
    }

    fn describe(&self, source: IndexError) -> IndexAccessError {
        let address = self.store.address().clone();
        IndexAccessError { address, source }
    }
}
