//! One job per key for the length of a run.
//!
//! Whoever asks first does the work, everybody else waits for the result. Failures are results like any other and are kept:
//! 200 directories that need one missing provider ask for it once.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::OnceCell;

/// A map whose values are made once.
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
    /// The value for `key`, made by `job` unless somebody has made it or is making it. If the maker is cancelled, one of
    /// those who wait takes over with its own job.
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
    async fn each_key_is_worked_on_once_and_failures_are_kept() {
        let map = OnceMap::<&str, Result<u8, String>>::default();
        let jobs = AtomicUsize::new(0);
        let ask = |key| {
            map.get_or_init(key, || async {
                jobs.fetch_add(1, Ordering::Relaxed);
                tokio::task::yield_now().await;
                Err("no".to_owned())
            })
        };
        let (first, second, other) = tokio::join!(ask("a"), ask("a"), ask("b"));
        let again = ask("a").await;
        for result in [first, second, other, again] {
            assert_eq!(result, Err("no".to_owned()));
        }
        assert_eq!(jobs.load(Ordering::Relaxed), 2);
    }

    #[tokio::test]
    async fn a_cancelled_job_is_taken_over() {
        let map = OnceMap::<u8, u8>::default();
        let abandoned = map.get_or_init(1, std::future::pending);
        drop(Box::pin(abandoned));
        assert_eq!(map.get_or_init(1, || async { 7 }).await, 7);
    }
}
