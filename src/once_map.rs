//! Runs one job per key and shares its result with all callers.
//!
//! The first caller runs the job, and callers that arrive in the meantime wait for it. Failures are kept like other results: if
//! 200 directories require the same missing provider, it is requested only once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

/// A map that computes each value only once.
#[derive(Debug)]
pub struct OnceMap<K, V> {
    cells: Mutex<BTreeMap<K, Arc<OnceCell<V>>>>,
}

impl<K, V> Default for OnceMap<K, V> {
    fn default() -> Self {
        Self {
            cells: Mutex::default(),
        }
    }
}

impl<K: Ord, V: Clone> OnceMap<K, V> {
    /// Returns the value for `key`. Runs `job` unless the value exists or another caller is computing it. If that caller is
    /// cancelled, one of the waiting callers runs its own job.
    pub async fn get_or_init<F>(&self, key: K, job: impl FnOnce() -> F) -> V
    where
        F: Future<Output = V>,
    {
        let cell = {
            let mut cells = self.cells.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(cells.entry(key).or_default())
        };
        cell.get_or_init(job).await.clone()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn each_job_runs_once_and_failures_are_kept() {
        let map = OnceMap::<&str, Result<u8, String>>::default();
        let jobs = AtomicUsize::new(0);
        let get = |key| {
            map.get_or_init(key, || async {
                jobs.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                Err("no".to_owned())
            })
        };
        let (first, second, other) = tokio::join!(get("a"), get("a"), get("b"));
        for result in [first, second, other, get("a").await] {
            assert_eq!(result, Err("no".to_owned()));
        }
        assert_eq!(jobs.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn a_waiting_caller_replaces_one_that_was_cancelled() {
        let map = OnceMap::<u8, u8>::default();
        let abandoned = map.get_or_init(1, std::future::pending);
        drop(Box::pin(abandoned));
        assert_eq!(map.get_or_init(1, || async { 7 }).await, 7);
    }
}
