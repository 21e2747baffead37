//! Runs work on all cores, and locks data that several threads share.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// The stack size of a worker thread, in bytes. The depth of module calls and of values is limited, and this is enough for the
/// deepest nesting of both in any build profile.
const STACK_SIZE: usize = 16 << 20;

/// Locks a mutex, even if another thread panicked while holding it.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Applies `function` to each item, using all cores. The results are in the order of the items.
pub fn map<T: Sync, R: Send>(items: &[T], function: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let workers = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(items.len());
    let next = AtomicUsize::new(0);
    let all: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
    let run_worker = || {
        let mut results = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else {
                break;
            };
            results.push((index, function(item)));
        }
        lock(&all).append(&mut results);
    };
    thread::scope(|scope| {
        let spawn = || {
            thread::Builder::new()
                .stack_size(STACK_SIZE)
                .spawn_scoped(scope, run_worker)
                .is_ok()
        };
        let spawned = (0..workers).filter(|_| spawn()).count();
        if spawned == 0 {
            run_worker();
        }
    });
    let mut results = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_unstable_by_key(|&(index, _)| index);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        let squares: Vec<usize> = items.iter().map(|item| item * item).collect();
        assert_eq!(super::map(&items, |item| item * item), squares);
        assert!(super::map(&[0_u8; 0], |_| ()).is_empty());
    }
}
