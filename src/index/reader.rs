//! Looks up the hashes of packages in the indexes of a run.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::Semaphore;

use super::error::{IndexError, IndexWarning};
use super::guard::{GuardedIndex, LostTime};
use super::key::VerifierKey;
use super::record::{HashRecord, RecordKey, TrustedRecord};
use super::store::IndexStore;

/// The maximum number of records requested at the same time.
const MAX_IN_FLIGHT: usize = 64;

/// The indexes of a run, and the keys that the user trusts.
pub struct IndexReader {
    indexes: Vec<GuardedIndex>,
    trusted: Vec<VerifierKey>,
    in_flight: Semaphore,
}

/// A record from an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexAnswer {
    pub record: TrustedRecord,
    /// The record as it is stored, with its signatures.
    pub stored: Bytes,
}

impl IndexReader {
    /// Creates a reader of these indexes, which are searched in this order.
    pub fn new(
        stores: impl IntoIterator<Item = IndexStore>,
        trusted: Vec<VerifierKey>,
        lost: &Arc<LostTime>,
    ) -> Self {
        let guard = |store| GuardedIndex::new(store, Arc::clone(lost));
        Self {
            indexes: stores.into_iter().map(guard).collect(),
            trusted,
            in_flight: Semaphore::new(MAX_IN_FLIGHT),
        }
    }

    /// Searches the indexes for a record of the package, and returns the first that is valid and trusted. Failures have no other
    /// effect than [`Self::warnings`].
    pub async fn find(&self, key: &RecordKey) -> Option<IndexAnswer> {
        let _permit = self.in_flight.acquire().await;
        let path = key.path();
        for index in &self.indexes {
            let read = async {
                let Some(stored) = index.store.read(key).await? else {
                    return Ok(None);
                };
                let record = self.open(&stored, key);
                let record = record.map_err(|source| IndexError::Record {
                    path: path.clone(),
                    source,
                })?;
                Ok(Some(IndexAnswer { record, stored }))
            };
            if let Some(Some(answer)) = index.access(&path, read).await {
                return Some(answer);
            }
        }
        None
    }

    /// Returns the hashes in a stored record of the package `key`, if a trusted key signed it.
    pub fn open(
        &self,
        stored: &[u8],
        key: &RecordKey,
    ) -> Result<TrustedRecord, super::RecordError> {
        HashRecord::open(stored, key, &self.trusted)
    }

    /// Returns one warning for each index that failed.
    pub fn warnings(&self) -> Vec<IndexWarning> {
        let warning = |index: &GuardedIndex| {
            Some(IndexWarning::Read {
                address: index.store.address().clone(),
                source: index.failure()?,
            })
        };
        self.indexes.iter().filter_map(warning).collect()
    }
}
