//! Runs many futures in one task, with a bounded number of them in flight.

use futures_util::future::join_all;
use futures_util::{StreamExt as _, stream};

/// The maximum number of futures in flight. Tokio lets a task run for about a hundred steps and then polls all of its futures
/// again, which would take quadratic time with tens of thousands of futures in flight.
const MAX_IN_FLIGHT: usize = 256;

/// Awaits all futures and returns their results in the same order.
pub(super) async fn join_bounded<F: Future>(futures: Vec<F>) -> Vec<F::Output> {
    if futures.len() <= MAX_IN_FLIGHT {
        // `buffered` allocates one kilobyte per future. `join_all` avoids that for up to 30 futures, which is the usual case.
        return join_all(futures).await;
    }
    stream::iter(futures)
        .buffered(MAX_IN_FLIGHT)
        .collect()
        .await
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test]
    async fn results_keep_their_order_and_the_number_in_flight_is_bounded() {
        let (in_flight, most) = (&Cell::new(0), &Cell::new(0));
        let wait = |number: usize| async move {
            in_flight.set(in_flight.get() + 1);
            most.set(most.get().max(in_flight.get()));
            tokio::task::yield_now().await;
            in_flight.set(in_flight.get() - 1);
            number
        };
        let results = join_bounded((0..5 * MAX_IN_FLIGHT).map(wait).collect()).await;
        assert!(results.into_iter().eq(0..5 * MAX_IN_FLIGHT));
        assert_eq!(most.get(), MAX_IN_FLIGHT);
    }
}
