//! The hash index of a run: hashes that another machine computed, in records that are signed by a key that the user trusts.
//!
//! A record only saves the download of a zip and the computation of its hashes. It is used only if a signed checksum list of the
//! registry contains the digest of the zip, and this run has verified that list. All checks against the list are the same as without
//! an index. The disk cache stores whole records, and the signatures of a stored record are verified again at each use.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Mutex;

use crate::index::{
    HashRecord, IndexReader, IndexWarning, IndexWriter, KeyName, RecordKey, TrustedRecord,
};
use crate::package::{AuthenticityError, PackageHashes};
use crate::parallel::lock;
use crate::provider::{Digest, Hash, PackageId};

use super::disk_cache::CacheAccess;
use super::record::PackageRecord;

/// The indexes of a run, and the options for their use.
#[derive(Default)]
pub struct PackageIndex {
    /// A warning for each requested index that is not used.
    unused: Vec<IndexWarning>,
    reader: Option<IndexReader>,
    writer: Option<IndexWriter>,
    audit: Option<AuditSample>,
    /// `--no-download`: a package that is neither cached nor in an index is an error.
    pub(super) no_download: bool,
    /// The packages whose `h1` hash came from an index, by the key that signed it.
    used: Mutex<BTreeMap<KeyName, BTreeSet<PackageId>>>,
    /// The records that contradict the registry, each under its path in the index.
    contradictions: Mutex<BTreeMap<String, IndexWarning>>,
}

/// What a run took from indexes and added to one.
#[derive(Clone, Debug, Default)]
pub struct IndexUsage {
    /// The number of packages whose `h1` hash came from an index, by the key that signed the record.
    pub read: BTreeMap<KeyName, usize>,
    /// The number of records that this run added.
    pub written: u64,
    pub warnings: Vec<IndexWarning>,
}

/// The packages that are downloaded although an index has them, to check the records (`--index-audit`).
#[derive(Debug)]
pub struct AuditSample {
    percent: u8,
    /// A random seed, so that each run chooses different packages.
    random: RandomState,
}

impl AuditSample {
    /// Creates a sample of `percent` percent of the packages.
    pub fn new(percent: u8) -> Self {
        Self {
            percent,
            random: RandomState::new(),
        }
    }

    fn includes(&self, zh: Digest) -> bool {
        self.random.hash_one(zh) % 100 < u64::from(self.percent)
    }
}

/// The hashes of a zip whose digest is in a checksum list.
#[derive(Clone, Debug)]
pub(super) struct SourcedHashes {
    pub(super) hashes: PackageHashes,
    /// The key that signed these hashes in an index. `None` if this machine computed them.
    pub(super) index_key: Option<KeyName>,
}

impl From<TrustedRecord> for SourcedHashes {
    fn from(record: TrustedRecord) -> Self {
        Self {
            hashes: record.hashes,
            index_key: Some(record.key),
        }
    }
}

/// The error for a false record that is signed by a trusted key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the hash index has a false record, signed by the trusted key `{key}`: the package has the hash {computed}, but the record says {claimed}"
)]
pub struct FalseRecord {
    pub key: KeyName,
    /// The path of the record in the index.
    pub path: String,
    pub claimed: Hash,
    pub computed: Hash,
}

impl FalseRecord {
    /// Compares a record with the hashes that this machine computed. If only a value other than the `h1` hash is false, `claimed` and
    /// `computed` are equal in the error.
    pub fn check(
        record: &TrustedRecord,
        package: &RecordKey,
        computed: &PackageHashes,
    ) -> Result<(), Self> {
        if record.hashes == *computed {
            return Ok(());
        }
        Err(Self {
            key: record.key.clone(),
            path: package.path(),
            claimed: record.hashes.h1.clone(),
            computed: computed.h1.clone(),
        })
    }
}

impl PackageIndex {
    pub fn new(audit: Option<AuditSample>, no_download: bool) -> Self {
        Self {
            audit,
            no_download,
            ..Self::default()
        }
    }

    #[must_use]
    pub fn with_reader(self, reader: IndexReader) -> Self {
        let reader = Some(reader);
        Self { reader, ..self }
    }

    #[must_use]
    pub fn with_writer(self, writer: IndexWriter) -> Self {
        let writer = Some(writer);
        Self { writer, ..self }
    }

    #[must_use]
    pub fn with_unused(self, unused: Vec<IndexWarning>) -> Self {
        Self { unused, ..self }
    }

    /// Whether the run reads an index.
    pub(super) const fn is_read(&self) -> bool {
        self.reader.is_some()
    }

    /// Whether the package with the digest `zh` is in the audit sample, so that it is downloaded even if an index has its hashes.
    pub(super) fn audits(&self, zh: Digest) -> bool {
        self.audit
            .as_ref()
            .is_some_and(|sample| sample.includes(zh))
    }

    /// Returns the record of a package from the disk cache or from an index.
    pub(super) async fn find(&self, cache: &CacheAccess, key: &RecordKey) -> Option<TrustedRecord> {
        let reader = self.reader.as_ref()?;
        if let Some(record) = cache
            .index_record(key)
            .await
            .and_then(|stored| self.open(&stored, key))
        {
            return Some(record);
        }
        let answer = reader.find(key).await?;
        cache.keep_index_record(key, answer.stored).await;
        Some(answer.record)
    }

    /// Parses a record from the disk cache. Returns `None` unless a key that this run trusts signed the record.
    pub(super) fn open(&self, stored: &[u8], key: &RecordKey) -> Option<TrustedRecord> {
        self.reader.as_ref()?.open(stored, key).ok()
    }

    /// Adds hashes that this run computed from the bytes of a package to the index.
    pub(super) fn push(&self, type_name: &str, hashes: &PackageHashes) {
        if let Some(writer) = &self.writer {
            writer.push(HashRecord {
                type_name: type_name.to_owned(),
                hashes: hashes.clone(),
            });
        }
    }

    /// Remembers a package whose hashes came from an index, for the report.
    pub(super) fn note_use(&self, package: &PackageId, record: &PackageRecord) {
        if let Some(key) = &record.index_key {
            let mut used = lock(&self.used);
            used.entry(key.clone()).or_default().insert(package.clone());
        }
    }

    /// Remembers a record of `package` that contradicts the registry.
    pub(super) fn note_contradiction(
        &self,
        package: &RecordKey,
        key: KeyName,
        source: AuthenticityError,
    ) {
        let path = package.path();
        let warning = IndexWarning::Contradiction {
            key,
            path: path.clone(),
            source,
        };
        lock(&self.contradictions).insert(path, warning);
    }

    /// Waits for the records that are being written, and returns what the run has used and added.
    pub(super) async fn finish(&self) -> IndexUsage {
        let written = match &self.writer {
            Some(writer) => writer.finish().await,
            None => 0,
        };
        let used = lock(&self.used);
        let read = used
            .iter()
            .map(|(key, packages)| (key.clone(), packages.len()));
        IndexUsage {
            read: read.collect(),
            written,
            warnings: self.warnings(),
        }
    }

    /// Returns one warning for each index that failed, and one for the first record that contradicts the registry. An index that can
    /// be neither read nor written is reported only once.
    pub(super) fn warnings(&self) -> Vec<IndexWarning> {
        let reader = self.reader.as_ref();
        let mut warnings = self.unused.clone();
        warnings.extend(reader.map(IndexReader::warnings).unwrap_or_default());
        let written = self.writer.as_ref().and_then(IndexWriter::warning);
        let is_known = |warning: &IndexWarning| {
            warnings
                .iter()
                .any(|known| known.address() == warning.address())
        };
        let written = written.filter(|warning| !is_known(warning));
        warnings.extend(written);
        warnings.extend(lock(&self.contradictions).values().next().cloned());
        warnings
    }
}
