//! Reading on all cores.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The stack of a worker: nested calls and values are bounded, and this holds the deepest of both at once in any build.
const STACK_SIZE: usize = 16 << 20;

/// The results of `work` for each item, in the order of the items, whichever thread was first.
pub fn map<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let workers = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(items.len());
    let next = AtomicUsize::new(0);
    let done: Mutex<Vec<(usize, R)>> = Mutex::new(Vec::with_capacity(items.len()));
    let run = || {
        let mut own = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(at) else {
                break;
            };
            own.push((at, work(item)));
        }
        done.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .append(&mut own);
    };
    thread::scope(|scope| {
        let spawn = || {
            thread::Builder::new()
                .stack_size(STACK_SIZE)
                .spawn_scoped(scope, run)
                .is_ok()
        };
        let spawned = (0..workers).filter(|_| spawn()).count();
        if spawned == 0 {
            run();
        }
    });
    let mut done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    done.sort_unstable_by_key(|&(at, _)| at);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<usize> = (0..1000).collect();
        let squares = super::map(&items, |item| item * item);
        assert!(
            squares
                .iter()
                .enumerate()
                .all(|(at, square)| *square == at * at)
        );
        assert!(super::map(&[0_u8; 0], |_| ()).is_empty());
    }
}
