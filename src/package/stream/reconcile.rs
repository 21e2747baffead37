//! The central directory against what was walked through.

use std::collections::BTreeMap;

use crate::package::archive::access::Access as _;
use crate::package::archive::content::{EntryFault, Summary};
use crate::package::archive::directory::{DirectoryError, read_directory};
use crate::package::archive::entries::{Contents, hash_entries};
use crate::package::archive::record::Entry;
use crate::package::stream::NeedsFile;
use crate::package::stream::walk::{Walked, WalkedEntry};
use crate::package::{ContentHashes, Limits, PackageError};
use crate::provider::Digest;

/// Why there are no hashes.
#[derive(Debug)]
pub(super) enum Stop {
    /// However it is read, the package has none.
    Package(PackageError),
    /// The package must be read from a file.
    NeedsFile(NeedsFile),
}

impl From<PackageError> for Stop {
    fn from(error: PackageError) -> Self {
        Self::Package(error)
    }
}

impl From<NeedsFile> for Stop {
    fn from(reason: NeedsFile) -> Self {
        Self::NeedsFile(reason)
    }
}

/// Hashes the entries that the central directory lists, if they are those that were walked through. `summaries` is `None`
/// if the thread that hashes is gone.
pub(super) fn reconcile(
    walked: Result<Walked, NeedsFile>,
    summaries: Option<Vec<Summary>>,
    type_name: &str,
    limits: &Limits,
) -> Result<ContentHashes, Stop> {
    let Walked { entries, mut tail } = walked?;
    let summaries = summaries.ok_or(PackageError::Interrupted)?;
    let by_offset = entries.into_iter().zip(summaries);
    let mut contents = WalkedContents {
        by_offset: by_offset
            .map(|(entry, summary)| (entry.offset, (entry, summary)))
            .collect(),
    };
    let listed = read_directory(&mut tail, limits).map_err(|error| match error {
        DirectoryError::Package(error) => Stop::Package(error),
        DirectoryError::NotKept => Stop::NeedsFile(NeedsFile::DirectoryElsewhere),
    })?;
    hash_entries(&listed, &mut contents, tail.size(), type_name, limits)
}

/// Contents that have passed, by the offsets of their local headers.
struct WalkedContents {
    by_offset: BTreeMap<u64, (WalkedEntry, Summary)>,
}

impl WalkedContents {
    fn find(&self, entry: &Entry) -> Result<&(WalkedEntry, Summary), NeedsFile> {
        let offset = u64::try_from(entry.offset).ok();
        let found = offset.and_then(|offset| self.by_offset.get(&offset));
        found.ok_or(NeedsFile::Disagrees)
    }
}

impl Contents for WalkedContents {
    type Error = Stop;

    fn digest(&mut self, entry: &Entry) -> Result<Result<Digest, EntryFault>, Stop> {
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
        Ok(content.check(entry).and(descriptor))
    }

    fn has_local_header(&mut self, entry: &Entry) -> Result<bool, Stop> {
        self.find(entry)?;
        Ok(true)
    }
}
