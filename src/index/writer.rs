//! Adds records to an index while a run does its work.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::error::IndexWarning;
use super::guard::{GuardedIndex, LostTime};
use super::key::SignerKey;
use super::record::HashRecord;
use super::store::IndexStore;
use crate::parallel::lock;

/// The maximum number of records written at the same time.
const MAX_IN_FLIGHT: usize = 16;

/// Signs records and writes them to one index, without making the run wait.
pub struct IndexWriter {
    target: Arc<Target>,
    tasks: Mutex<JoinSet<()>>,
}

struct Target {
    index: GuardedIndex,
    key: Arc<SignerKey>,
    in_flight: Semaphore,
    created: AtomicU64,
}

impl IndexWriter {
    pub fn new(store: IndexStore, key: Arc<SignerKey>, lost: Arc<LostTime>) -> Self {
        Self {
            target: Arc::new(Target {
                index: GuardedIndex::new(store, lost),
                key,
                in_flight: Semaphore::new(MAX_IN_FLIGHT),
                created: AtomicU64::new(0),
            }),
            tasks: Mutex::default(),
        }
    }

    /// Starts writing a record. It must contain only what this run has computed from the bytes of the package.
    pub fn push(&self, record: HashRecord) {
        let target = Arc::clone(&self.target);
        lock(&self.tasks).spawn(async move { target.write(&record).await });
    }

    /// Waits until all records have been written or given up. Returns the number of records that are new in the index.
    pub async fn finish(&self) -> u64 {
        let mut tasks = std::mem::take(&mut *lock(&self.tasks));
        while tasks.join_next().await.is_some() {}
        self.target.created.load(Ordering::Relaxed)
    }

    pub fn warning(&self) -> Option<IndexWarning> {
        let index = &self.target.index;
        Some(IndexWarning::Write {
            address: index.store.address().clone(),
            source: index.failure()?,
        })
    }
}

impl Target {
    async fn write(&self, record: &HashRecord) {
        let _permit = self.in_flight.acquire().await;
        let (key, note) = (record.key(), record.sign(&self.key));
        let path = key.path();
        let create = self.index.store.create(&key, &note);
        let created = self.index.access(&path, create);
        if created.await == Some(true) {
            self.created.fetch_add(1, Ordering::Relaxed);
        }
    }
}
