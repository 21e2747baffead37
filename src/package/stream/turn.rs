//! Who may inflate: with many packages in flight, no more of them at the same time than the cores can work on.
//!
//! A package that has bytes keeps its turn until it has none; one that waits for the network gives it up. So downloads go on
//! ahead within the bounds of their queues, and the pieces under work stay in the caches of the cores (measured: 8 packages in
//! flight on two cores took 5 % longer without turns).

use std::sync::{Condvar, LazyLock, Mutex, PoisonError};
use std::thread;

/// The turns of this process.
static TURNS: LazyLock<Turns> =
    LazyLock::new(|| Turns::new(thread::available_parallelism().map_or(1, Into::into) + 1));

/// A number of turns, of which some are free.
#[derive(Debug)]
struct Turns {
    free: Mutex<usize>,
    given_back: Condvar,
}

impl Turns {
    fn new(count: usize) -> Self {
        Self {
            free: Mutex::new(count),
            given_back: Condvar::new(),
        }
    }
}

/// The right to inflate; given back when dropped.
#[derive(Debug)]
pub(super) struct Turn(&'static Turns);

impl Turn {
    /// Waits until there is one.
    pub(super) fn wait() -> Self {
        Self::of(&TURNS)
    }

    fn of(turns: &'static Turns) -> Self {
        let free = turns.free.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = turns.given_back.wait_while(free, |free| *free == 0);
        *waited.unwrap_or_else(PoisonError::into_inner) -= 1;
        Self(turns)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut free = self.0.free.lock().unwrap_or_else(PoisonError::into_inner);
        *free += 1;
        self.0.given_back.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn no_more_than_there_are_turns_go_on_at_the_same_time() {
        static TWO: LazyLock<Turns> = LazyLock::new(|| Turns::new(2));
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let work = || {
            for _ in 0..100 {
                let turn = Turn::of(&TWO);
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                thread::yield_now();
                now.fetch_sub(1, Ordering::SeqCst);
                drop(turn);
            }
        };
        thread::scope(|scope| {
            for _ in 0..5 {
                scope.spawn(work);
            }
        });
        assert!((1..=2).contains(&most.into_inner()));
        assert_eq!(*TWO.free.lock().unwrap(), 2);
    }
}
