//! Concurrent work on directories with an upper limit, because each waiting task costs a few kilobytes.

use anyhow::Context as _;
use tokio::task::JoinSet;

/// The maximum number of concurrent tasks. Most of them wait for packages. Far fewer packages are downloaded at the same time.
const MAX_TASKS: usize = 1024;

/// Runs `work` for every item. The results are in the order in which the tasks finish.
pub(super) async fn map_bounded<I, T, F>(
    items: impl IntoIterator<Item = I>,
    work: impl Fn(I) -> F,
) -> anyhow::Result<Vec<T>>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut waiting = items.into_iter();
    let mut done = Vec::new();
    // Dropping the set cancels the tasks.
    let mut tasks = JoinSet::new();
    loop {
        while tasks.len() < MAX_TASKS
            && let Some(item) = waiting.next()
        {
            tasks.spawn(work(item));
        }
        match tasks.join_next().await {
            Some(result) => done.push(result.context("cannot process a directory")?),
            None => return Ok(done),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn every_item_is_processed_and_the_limit_holds() {
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let work = |number: usize| {
            let (now, most) = (Arc::clone(&now), Arc::clone(&most));
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tokio::task::yield_now().await;
                now.fetch_sub(1, Ordering::SeqCst);
                number
            }
        };
        let mut done = map_bounded(0..5 * MAX_TASKS, work).await.unwrap();
        done.sort_unstable();
        assert!(done.into_iter().eq(0..5 * MAX_TASKS));
        assert_eq!(most.load(Ordering::SeqCst), MAX_TASKS);
    }

    #[tokio::test]
    async fn a_panic_in_a_task_is_reported() {
        let panic = |text: &'static str| async move { panic!("{text}") };
        let work = map_bounded::<_, (), _>(["oh"], panic).await;
        let error = format!("{:#}", work.unwrap_err());
        assert!(
            error.starts_with("cannot process a directory: task "),
            "{error}"
        );
        assert!(error.ends_with("panicked with message \"oh\""), "{error}");
    }
}
