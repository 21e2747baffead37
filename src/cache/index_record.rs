//! Cached records of a hash index, by the digest of the zip and the type of the provider.
//!
//! An entry is the record as the index stores it, with its signatures. Each use verifies the signatures with the keys that the run
//! trusts. The cache therefore never treats a hash from an index as one that this machine has computed.

use super::disk_cache::{CacheArea, CacheKey, DiskCache};
use crate::provider::Digest;

fn key(zh: Digest, type_name: &str) -> CacheKey {
    CacheKey::new(CacheArea::IndexRecords, &[&zh.to_string(), type_name])
}

impl DiskCache {
    /// Reads the stored record about the zip with this digest, as the package of a provider with this type.
    pub fn index_record(&self, zh: Digest, type_name: &str) -> Option<Vec<u8>> {
        let [record] = <[Vec<u8>; 1]>::try_from(self.read(&key(zh, type_name))?).ok()?;
        Some(record)
    }

    pub fn write_index_record(&self, zh: Digest, type_name: &str, record: &[u8]) {
        self.write(&key(zh, type_name), &[record]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_found_for_the_same_zip_and_type() {
        let base = tempfile::tempdir().unwrap();
        let store = DiskCache::open(base.path()).unwrap();
        let zh = Digest::new([1; 32]);
        store.write_index_record(zh, "anvil", b"record");
        assert_eq!(
            store.index_record(zh, "anvil").as_deref(),
            Some(&b"record"[..])
        );
        assert_eq!(store.index_record(zh, "bolt"), None);
        assert_eq!(store.index_record(Digest::new([2; 32]), "anvil"), None);
        assert_eq!(store.hashes(zh, "anvil"), None);
    }
}
