//! Reads and writes the records of an index.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use url::Url;

use super::address::IndexAddress;
use super::directory;
use super::error::IndexError;
use super::note::{MAX_NOTE_BYTES, SignedNote};
use super::record::RecordKey;
use crate::buckets::{Bucket, StoreSettings};
use crate::registry::{ByteLimit, HttpExchange};

const MAX_RECORD: ByteLimit = ByteLimit {
    name: "limit for records of the hash index",
    bytes: MAX_NOTE_BYTES,
};

/// An index at an address. Clones share connections.
#[derive(Clone)]
pub struct IndexStore {
    address: IndexAddress,
    backend: Backend,
}

#[derive(Clone)]
enum Backend {
    Directory(Arc<Path>),
    Web(HttpExchange, Url),
    Bucket(Bucket),
}

impl IndexStore {
    /// Prepares access to an index without sending a request.
    pub fn open(address: IndexAddress, settings: &StoreSettings) -> Result<Self, IndexError> {
        let backend = match &address {
            IndexAddress::Directory(path) => Backend::Directory(path.as_path().into()),
            IndexAddress::Web(base) => Backend::Web(settings.exchange.clone(), base.clone()),
            IndexAddress::Bucket { cloud, bucket, .. } => {
                Backend::Bucket(Bucket::open(*cloud, bucket, settings)?)
            }
        };
        Ok(Self { address, backend })
    }

    pub const fn address(&self) -> &IndexAddress {
        &self.address
    }

    /// Reads the record of a package without verifying it. `None` if the index has no such record.
    pub async fn read(&self, key: &RecordKey) -> Result<Option<Bytes>, IndexError> {
        let path = key.path();
        let record = match &self.backend {
            Backend::Directory(base) => directory::read(base, path).await?,
            Backend::Web(exchange, base) => {
                let mut url = base.clone();
                url.set_path(&format!("{}{path}", base.path()));
                exchange.document(&url, MAX_RECORD).await?
            }
            Backend::Bucket(bucket) => bucket.read(&self.address.object(&path)).await?,
        };
        match record {
            Some(record) if record.len() as u64 > MAX_NOTE_BYTES => Err(IndexError::TooLarge {
                limit: MAX_NOTE_BYTES,
            }),
            record => Ok(record),
        }
    }

    /// Stores the record of a package. Returns false, and changes nothing, if the index already has a record of the package.
    pub async fn create(&self, key: &RecordKey, record: &SignedNote) -> Result<bool, IndexError> {
        let (path, content) = (key.path(), record.to_string());
        match &self.backend {
            Backend::Directory(base) => directory::create(base, path, content).await,
            Backend::Web(..) => Err(IndexError::ReadOnly),
            Backend::Bucket(bucket) => {
                Ok(bucket.create(&self.address.object(&path), content).await?)
            }
        }
    }

    /// Replaces the record of a package, to add a signature to it.
    pub async fn replace(&self, key: &RecordKey, record: &SignedNote) -> Result<(), IndexError> {
        let (path, content) = (key.path(), record.to_string());
        match &self.backend {
            Backend::Directory(base) => directory::replace(base, path, content).await,
            Backend::Web(..) => Err(IndexError::ReadOnly),
            Backend::Bucket(bucket) => {
                Ok(bucket.replace(&self.address.object(&path), content).await?)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buckets::BucketError;
    use crate::buckets::tests::settings;
    use crate::index::{HashRecord, SignerKey};
    use crate::package::PackageHashes;
    use crate::provider::{Digest, Hash};

    fn record() -> HashRecord {
        HashRecord {
            type_name: "random".to_owned(),
            hashes: PackageHashes {
                zh: Digest::new([1; 32]),
                h1: Hash::h1(Digest::new([2; 32])),
                zip_h1: None,
                size: 7,
            },
        }
    }

    fn store(address: &str) -> IndexStore {
        let address = IndexAddress::parse(address).unwrap();
        IndexStore::open(address, &settings(&[])).unwrap()
    }

    #[tokio::test]
    async fn a_record_in_a_directory_is_written_once() {
        let base = tempfile::tempdir().unwrap();
        let directory = base.path().join("shared");
        let store = store(&format!("file://{}", directory.display()));
        let (key, signer) = (record().key(), SignerKey::generate("a").unwrap());
        assert!(matches!(
            store.read(&key).await,
            Err(IndexError::ReadFile(_))
        ));
        std::fs::create_dir(&directory).unwrap();
        assert_eq!(store.read(&key).await.unwrap(), None);
        let note = record().sign(&signer);
        assert!(store.create(&key, &note).await.unwrap());
        let other = record().sign(&SignerKey::generate("b").unwrap());
        assert!(!store.create(&key, &other).await.unwrap());
        let stored = store.read(&key).await.unwrap().unwrap();
        assert_eq!(stored, note.to_string());
        let path = directory.join(key.path());
        let files = std::fs::read_dir(path.parent().unwrap()).unwrap();
        assert_eq!(files.count(), 1, "no temporary file is left");
        std::fs::write(&path, vec![b'x'; 10 << 20]).unwrap();
        let error = store.read(&key).await.unwrap_err();
        assert!(matches!(
            error,
            IndexError::TooLarge {
                limit: MAX_NOTE_BYTES
            }
        ));
    }

    #[cfg(unix)]
    #[tokio::test]
    async fn other_users_can_read_records() {
        use std::os::unix::fs::PermissionsExt as _;
        let base = tempfile::tempdir().unwrap();
        let store = store(&format!("file://{}", base.path().display()));
        let note = record().sign(&SignerKey::generate("a").unwrap());
        store.create(&record().key(), &note).await.unwrap();
        let file = std::fs::metadata(base.path().join(record().key().path())).unwrap();
        assert_eq!(file.permissions().mode() & 0o444, 0o444);
    }

    #[tokio::test]
    async fn a_web_server_is_only_read() {
        let store = store("http://127.0.0.1:1/index");
        let note = record().sign(&SignerKey::generate("a").unwrap());
        let created = store.create(&record().key(), &note).await;
        assert!(matches!(created, Err(IndexError::ReadOnly)));
        let read = store.read(&record().key()).await;
        assert!(matches!(read, Err(IndexError::Request(_))), "{read:?}");
    }

    /// The messages of the object store can contain the value that it could not parse.
    #[test]
    fn a_broken_key_is_not_shown() {
        for variable in ["GOOGLE_SERVICE_ACCOUNT_KEY", "GOOGLE_SERVICE_ACCOUNT"] {
            let address = IndexAddress::parse("gs://bucket").unwrap();
            let settings = settings(&[(variable, "\"top secret\"")]);
            let error = IndexStore::open(address, &settings)
                .map(|_| ())
                .unwrap_err();
            let IndexError::Bucket(BucketError::Environment(cause)) = &error else {
                panic!("{error:?}");
            };
            assert!(!cause.to_string().is_empty());
            assert!(
                !format!("{error:?} {cause}").contains("secret"),
                "{error:?}"
            );
        }
    }

    #[test]
    fn an_incomplete_environment_is_an_error() {
        let address = IndexAddress::parse("az://container").unwrap();
        let opened = IndexStore::open(address, &settings(&[])).map(|_| ());
        assert!(
            matches!(opened, Err(IndexError::Bucket(BucketError::Environment(_)))),
            "{opened:?}"
        );
    }
}
