//! Many directories at the same time, but not all of ten thousand: each that waits costs some kilobytes.

use anyhow::Context as _;
use tokio::task::JoinSet;

/// As many directories are under way at the same time. They wait for packages, of which far fewer are in flight.
const MOST: usize = 1024;

/// Does `work` on all of them, in whatever order they become done.
pub(super) async fn each<D, T, F>(
    directories: impl IntoIterator<Item = D>,
    work: impl Fn(D) -> F,
) -> anyhow::Result<Vec<T>>
where
    T: Send + 'static,
    F: Future<Output = T> + Send + 'static,
{
    let mut waiting = directories.into_iter();
    let mut done = Vec::new();
    // Dropping the set cancels what is under way.
    let mut tasks = JoinSet::new();
    loop {
        while tasks.len() < MOST
            && let Some(directory) = waiting.next()
        {
            tasks.spawn(work(directory));
        }
        match tasks.join_next().await {
            Some(result) => done.push(result.context("the work on a directory broke off")?),
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
    async fn all_are_worked_on_and_never_too_many_at_once() {
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
        let mut done = each(0..5 * MOST, work).await.unwrap();
        done.sort_unstable();
        assert!(done.into_iter().eq(0..5 * MOST));
        assert_eq!(most.load(Ordering::SeqCst), MOST);
    }
}
