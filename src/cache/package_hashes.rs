//! Cached content hashes of zips, by the digest of the zip.
//!
//! The digest determines the hashes, so an entry never becomes outdated, and the source of the zip does not matter. The key also
//! contains the provider type, because the executable must be named after it; otherwise the package has no hash
//! ([`hash_archive`](crate::package::hash_archive)).

use serde::{Deserialize, Serialize};

use super::disk_cache::{CacheArea, CacheKey, DiskCache};
use super::entry_format;
use crate::package::PackageHashes;
use crate::provider::{Digest, Hash, HashScheme};

/// The only part of an entry, as JSON.
#[derive(Deserialize, Serialize)]
struct HashesJson {
    h1: String,
    zip_h1: Option<String>,
    size: u64,
}

fn key(zh: Digest, type_name: &str) -> CacheKey {
    CacheKey::new(CacheArea::Hashes, &[&zh.to_string(), type_name])
}

impl DiskCache {
    /// Reads the hashes of the zip with this digest, as the package of a provider with this type.
    pub fn hashes(&self, zh: Digest, type_name: &str) -> Option<PackageHashes> {
        let [json] = <[Vec<u8>; 1]>::try_from(self.read(&key(zh, type_name))?).ok()?;
        let kept: HashesJson = serde_json::from_slice(&json).ok()?;
        let h1 = |text: &String| {
            let hash = Hash::parse(text).ok();
            hash.filter(|hash| hash.scheme() == HashScheme::H1)
        };
        Some(PackageHashes {
            zh,
            h1: h1(&kept.h1)?,
            zip_h1: kept.zip_h1.as_ref().and_then(h1),
            size: kept.size,
        })
    }

    pub fn write_hashes(&self, type_name: &str, package: &PackageHashes) {
        let kept = HashesJson {
            h1: package.h1.to_string(),
            zip_h1: package.zip_h1.as_ref().map(Hash::to_string),
            size: package.size,
        };
        let json = entry_format::json(&kept);
        self.write(&key(package.zh, type_name), &[&json]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_found_for_the_same_zip_and_type() {
        let base = tempfile::tempdir().unwrap();
        let store = DiskCache::open(base.path()).unwrap();
        let zh = Digest::new([1; 32]);
        let package = |zip_h1: Option<&str>| PackageHashes {
            zh,
            h1: Hash::parse("h1:files").unwrap(),
            zip_h1: zip_h1.map(|text| Hash::parse(text).unwrap()),
            size: 7,
        };
        for zip_h1 in [None, Some("h1:entries")] {
            store.write_hashes("anvil", &package(zip_h1));
            assert_eq!(store.hashes(zh, "anvil"), Some(package(zip_h1)));
        }
        assert_eq!(store.hashes(zh, "bolt"), None);
        assert_eq!(store.hashes(Digest::new([2; 32]), "anvil"), None);
    }

    /// Entries that are valid but contain invalid hashes, such as another program might write, are ignored.
    #[test]
    fn invalid_hashes_are_ignored() {
        let base = tempfile::tempdir().unwrap();
        let store = DiskCache::open(base.path()).unwrap();
        let zh = Digest::new([1; 32]);
        for json in [
            "",
            "{}",
            r#"{"h1":"zh:aa","size":1}"#,
            r#"{"h1":"x","size":1}"#,
            r#"{"h1":"h1:a","size":-1}"#,
        ] {
            store.write(&key(zh, "anvil"), &[json.as_bytes()]);
            assert_eq!(store.hashes(zh, "anvil"), None, "{json}");
        }
        let good = br#"{"h1":"h1:a","size":1,"later":true}"#;
        store.write(&key(zh, "anvil"), &[good]);
        assert!(store.hashes(zh, "anvil").is_some());
        store.write(&key(zh, "anvil"), &[good, b"more"]);
        assert_eq!(store.hashes(zh, "anvil"), None);
    }
}
