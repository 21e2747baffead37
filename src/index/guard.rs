//! Limits what a failing or slow index can cost a run: 10 seconds for all indexes together, and one warning for each.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::{Instant, timeout};

use super::error::IndexError;
use super::store::IndexStore;
use crate::parallel::lock;

/// The time that a run may lose to all of its indexes.
const MAX_LOST: Duration = Duration::from_secs(10);

/// The time limit for one access to an index.
const ACCESS_TIMEOUT: Duration = Duration::from_secs(4);

/// The part of a successful access that does not count as lost time. A failed access counts completely.
const FREE: Duration = Duration::from_secs(1);

/// After this many failures in a row, an index is not used again.
const MAX_FAILURES_IN_A_ROW: u32 = 3;

/// The time that a run has lost to failing and slow accesses. Time in which several accesses overlap counts once.
#[derive(Debug, Default)]
pub struct LostTime(Mutex<Lost>);

#[derive(Debug, Default)]
struct Lost {
    total: Duration,
    /// The end of the last interval that has been added to `total`.
    counted: Option<Instant>,
}

impl LostTime {
    fn remaining(&self) -> Duration {
        MAX_LOST.saturating_sub(lock(&self.0).total)
    }

    fn add(&self, from: Instant, to: Instant) {
        let mut lost = lock(&self.0);
        let from = lost.counted.map_or(from, |counted| counted.max(from));
        if to > from {
            lost.total += to - from;
            lost.counted = Some(to);
        }
    }
}

/// An index, and how it has behaved in this run.
pub(super) struct GuardedIndex {
    pub(super) store: IndexStore,
    lost: Arc<LostTime>,
    health: Mutex<Health>,
}

#[derive(Default)]
struct Health {
    failures_in_a_row: u32,
    is_given_up: bool,
    /// The failure to report, and the path of its record. Of several failures, the one with the smallest path is kept, because
    /// their order in time differs between runs.
    failure: Option<(String, IndexError)>,
}

impl GuardedIndex {
    pub(super) fn new(store: IndexStore, lost: Arc<LostTime>) -> Self {
        Self {
            store,
            lost,
            health: Mutex::default(),
        }
    }

    /// Runs an access to the record at `path`. Returns `None` if it fails or takes too long, or if the index is not used any more.
    pub(super) async fn access<T>(
        &self,
        path: &str,
        work: impl Future<Output = Result<T, IndexError>>,
    ) -> Option<T> {
        if lock(&self.health).is_given_up {
            return None;
        }
        let (limit, started) = (self.lost.remaining().min(ACCESS_TIMEOUT), Instant::now());
        let result = if limit.is_zero() {
            Err(IndexError::Slow)
        } else {
            timeout(limit, work).await.unwrap_or(Err(IndexError::Slow))
        };
        let free = if result.is_ok() { FREE } else { Duration::ZERO };
        self.lost.add(started + free, Instant::now());
        match result {
            Ok(value) => {
                lock(&self.health).failures_in_a_row = 0;
                Some(value)
            }
            Err(error) => {
                lock(&self.health).note_failure(path, error);
                None
            }
        }
    }

    /// Returns the failure to report, if there was one.
    pub(super) fn failure(&self) -> Option<IndexError> {
        let health = lock(&self.health);
        health.failure.as_ref().map(|(_, error)| error.clone())
    }
}

impl Health {
    fn note_failure(&mut self, path: &str, error: IndexError) {
        self.failures_in_a_row += 1;
        self.is_given_up |= self.failures_in_a_row >= MAX_FAILURES_IN_A_ROW;
        let is_first = self
            .failure
            .as_ref()
            .is_none_or(|(first, _)| path < first.as_str());
        if is_first {
            self.failure = Some((path.to_owned(), error));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buckets::tests::settings;
    use crate::index::IndexAddress;

    fn index() -> GuardedIndex {
        let address = IndexAddress::parse("http://127.0.0.1:1/").unwrap();
        let store = IndexStore::open(address, &settings(&[])).unwrap();
        GuardedIndex::new(store, Arc::default())
    }

    async fn wait(seconds: u64, result: Result<(), IndexError>) -> Result<(), IndexError> {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        result
    }

    #[tokio::test]
    async fn an_index_is_given_up_after_three_failures_in_a_row() {
        let index = index();
        for results in ["xx.", "xx.", "xxx", "---"] {
            for (number, result) in results.chars().enumerate() {
                let path = format!("{number}");
                let work = async {
                    assert_ne!(result, '-', "the index is not used again");
                    wait(
                        0,
                        if result == '.' {
                            Ok(())
                        } else {
                            Err(IndexError::ReadOnly)
                        },
                    )
                    .await
                };
                let done = index.access(&path, work).await;
                assert_eq!(done.is_some(), result == '.', "{results}");
            }
        }
    }

    #[tokio::test]
    async fn the_failure_with_the_smallest_path_is_reported() {
        let index = index();
        assert!(index.failure().is_none());
        for (path, error) in [
            ("b", IndexError::Slow),
            ("a", IndexError::ReadOnly),
            ("c", IndexError::Slow),
        ] {
            index.access(path, wait(0, Err(error))).await;
        }
        assert!(matches!(index.failure(), Some(IndexError::ReadOnly)));
    }

    /// Ten accesses at the same time and 20 one after the other: none of them answers.
    #[tokio::test(start_paused = true)]
    async fn an_index_that_does_not_answer_costs_a_few_seconds() {
        let (index, started) = (index(), Instant::now());
        let hang = || index.access("a", wait(1_000_000, Ok(())));
        futures_util::future::join_all((0..10).map(|_| hang())).await;
        for _ in 0..20 {
            hang().await;
        }
        assert_eq!(started.elapsed(), ACCESS_TIMEOUT);
    }

    #[tokio::test(start_paused = true)]
    async fn slow_answers_cost_ten_seconds_at_most() {
        let (index, started) = (index(), Instant::now());
        let mut answers = 0;
        for _ in 0..100 {
            answers += index.access("a", wait(3, Ok(()))).await.map_or(0, |()| 1);
        }
        // Each answer loses two of its three seconds.
        assert!((4..=5).contains(&answers), "{answers}");
        assert!(started.elapsed() < Duration::from_secs(16));
        assert!(matches!(index.failure(), Some(IndexError::Slow)));
    }

    #[tokio::test(start_paused = true)]
    async fn fast_answers_are_free() {
        let index = index();
        for _ in 0..10_000 {
            assert!(index.access("a", async { Ok(()) }).await.is_some());
        }
        assert_eq!(index.lost.remaining(), MAX_LOST);
    }
}
