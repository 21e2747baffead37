//! How many documents one host is asked for at the same time.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Requests in flight to one host. More do not make a run faster, and small registries answer them with 429.
const MAX_PER_HOST: usize = 16;

/// The slots of all hosts.
#[derive(Debug, Default)]
pub(super) struct Slots {
    hosts: Mutex<BTreeMap<String, Arc<Semaphore>>>,
}

impl Slots {
    /// Waits for a slot, which is free again when the result is dropped.
    pub(super) async fn acquire(&self, host: &str) -> Option<OwnedSemaphorePermit> {
        let semaphore = {
            let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
            let new = || Arc::new(Semaphore::new(MAX_PER_HOST));
            Arc::clone(hosts.entry(host.to_owned()).or_insert_with(new))
        };
        // Fails only for a closed semaphore, and nobody closes it.
        semaphore.acquire_owned().await.ok()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn hosts_have_slots_of_their_own() {
        let slots = Slots::default();
        let mut held = Vec::new();
        for _ in 0..MAX_PER_HOST {
            held.push(slots.acquire("a").await);
        }
        assert!(slots.acquire("a").now_or_never().is_none());
        assert!(slots.acquire("b").now_or_never().is_some());
        held.pop();
        assert!(slots.acquire("a").now_or_never().is_some());
    }
}
