//! Many futures of one task, a bounded number of them at the same time.

use futures_util::{StreamExt as _, stream};

/// The runtime lets a task go on for some hundred steps, and then asks everything that the task waits for again. With tens of
/// thousands at once, the time for that would be quadratic.
const AT_ONCE: usize = 256;

/// The results of all futures, in their order.
pub(super) async fn join_bounded<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    stream::iter(futures).buffered(AT_ONCE).collect().await
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test]
    async fn results_keep_their_order_and_never_too_many_are_asked() {
        let (now, most) = (&Cell::new(0), &Cell::new(0));
        let wait = |number: usize| async move {
            now.set(now.get() + 1);
            most.set(most.get().max(now.get()));
            tokio::task::yield_now().await;
            now.set(now.get() - 1);
            number
        };
        let done = join_bounded((0..5 * AT_ONCE).map(wait).collect()).await;
        assert!(done.into_iter().eq(0..5 * AT_ONCE));
        assert_eq!(most.get(), AT_ONCE);
    }
}
