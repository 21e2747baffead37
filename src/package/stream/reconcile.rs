//! Compares the central directory with the entries found by the walk.

use std::collections::BTreeMap;

use thiserror::Error;

use crate::package::archive::archive_bytes::{ArchiveBytes as _, ArchiveReadError};
use crate::package::archive::content::{ContentSummary, EntryFault, check_content};
use crate::package::archive::directory::read_directory;
use crate::package::archive::entries::{ContentReader, hash_entries};
use crate::package::archive::record::CentralEntry;
use crate::package::stream::NeedsFile;
use crate::package::stream::entry_walker::{WalkedArchive, WalkedEntry};
use crate::package::{ContentHashes, Limits, PackageError};
use crate::provider::Digest;

/// The reason why a download could not be hashed.
#[derive(Debug, Error)]
pub(super) enum StreamFailure {
    #[error(transparent)]
    Package(#[from] PackageError),
    #[error(transparent)]
    NeedsFile(#[from] NeedsFile),
}

/// Computes the hashes of the entries in the central directory, which must match the entries found by the walk. `summaries` is
/// `None` if the hashing thread ended unexpectedly.
pub(super) fn reconcile(
    walked: Result<WalkedArchive, NeedsFile>,
    summaries: Option<Vec<ContentSummary>>,
    type_name: &str,
    limits: &Limits,
) -> Result<ContentHashes, StreamFailure> {
    let WalkedArchive { entries, mut tail } = walked?;
    let summaries = summaries.ok_or(PackageError::Interrupted)?;
    let mut contents = WalkedContents {
        by_offset: entries
            .into_iter()
            .zip(summaries)
            .map(|(entry, summary)| (entry.offset, (entry, summary)))
            .collect(),
    };
    let listed = read_directory(&mut tail, limits).map_err(|error| match error {
        ArchiveReadError::Package(error) => StreamFailure::Package(error),
        ArchiveReadError::NotKept => StreamFailure::NeedsFile(NeedsFile::DirectoryElsewhere),
    })?;
    hash_entries(&listed, &mut contents, tail.size(), type_name, limits)
}

/// The entries found by the walk and their contents, by the offsets of their local headers.
struct WalkedContents {
    by_offset: BTreeMap<u64, (WalkedEntry, ContentSummary)>,
}

impl WalkedContents {
    fn find(&self, entry: &CentralEntry) -> Result<&(WalkedEntry, ContentSummary), NeedsFile> {
        let offset = u64::try_from(entry.offset).ok();
        let found = offset.and_then(|offset| self.by_offset.get(&offset));
        found.ok_or(NeedsFile::Disagrees)
    }
}

impl ContentReader for WalkedContents {
    type Error = StreamFailure;

    fn digest(
        &mut self,
        entry: &CentralEntry,
    ) -> Result<Result<Digest, EntryFault>, StreamFailure> {
        let (walked, content) = self.find(entry)?;
        let is_same = walked.method == entry.method
            && walked.compressed == entry.compressed
            && walked.descriptor.is_some() == entry.has_descriptor;
        if !is_same {
            return Err(NeedsFile::Disagrees.into());
        }
        let descriptor = match walked.descriptor {
            Some(crc) if crc != entry.crc => Err(EntryFault::Descriptor),
            _ => Ok(content.digest),
        };
        Ok(check_content(entry, content.size, content.crc).and(descriptor))
    }

    fn has_local_header(&mut self, entry: &CentralEntry) -> Result<bool, StreamFailure> {
        self.find(entry)?;
        Ok(true)
    }
}
