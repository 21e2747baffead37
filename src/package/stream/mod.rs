//! Hashes a package in one pass during its download, without a file.
//!
//! Three threads process a package, so that hashing takes no longer than inflating: one computes the SHA-256 of the zip, one walks
//! through the entries and inflates them, and one computes the SHA-256 and CRC-32 of their contents. The size of the queues between
//! them is limited, so memory use does not grow with the package.
//!
//! Walking through a zip from its start relies on local headers, which are not authoritative. Once the central directory has
//! arrived, it is therefore read by the same code as that of a file, and each of its entries must match an entry of the walk in
//! offset, method, sizes and data descriptor. The hashed contents are then identical to those that would be read from a file, and
//! the same code computes the hashes or the error. If an entry does not match, or if the archive cannot be walked through (because
//! of a stored entry with a data descriptor, a gap or a prefix), the result is [`NeedsFile`]: the archive must be read from a file.

mod chunk_reader;
mod content_queue;
mod entry_walker;
mod feed;
mod inflate_permit;
mod reconcile;
#[cfg(test)]
mod tests;

use std::thread;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

use crate::package::stream::chunk_reader::ChunkReader;
use crate::package::stream::content_queue::content_queue;
use crate::package::stream::entry_walker::walk;
use crate::package::stream::feed::Feed;
use crate::package::stream::reconcile::{StreamFailure, reconcile};
use crate::package::{ContentHashes, Limits, PackageError, PackageHashes};
use crate::provider::Digest;

/// Hashes a package while it is downloaded. Dropping this value ends the threads.
#[derive(Debug)]
pub struct StreamHasher {
    feed: Feed,
    zip: oneshot::Receiver<(Digest, u64)>,
    contents: oneshot::Receiver<Result<ContentHashes, StreamFailure>>,
}

/// The result of hashing a download.
#[derive(Debug)]
pub enum Streamed {
    Hashed(PackageHashes),
    NeedsFile {
        zh: Digest,
        size: u64,
        reason: NeedsFile,
    },
    /// The package is invalid. Reading it from a file would not help.
    Refused {
        /// The digest of the zip. Callers must check it before they report `error`, because a mismatch explains more.
        zh: Digest,
        size: u64,
        error: PackageError,
    },
}

/// The reason why a package must be read from a file.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum NeedsFile {
    /// The size of a stored entry is only in the data descriptor after its data.
    #[error("the size of an uncompressed entry is not given before its data")]
    StoredWithDescriptor,
    /// An entry cannot be unpacked by means of its local header.
    #[error("an entry cannot be unpacked during the download")]
    Unreadable,
    /// The sizes in a data descriptor differ from those of its entry.
    #[error("a data descriptor does not agree with its entry")]
    Descriptor,
    /// The entries, their contents, or the data after them exceed the limits for downloads.
    #[error("it exceeds the limits for hashing during the download")]
    TooLarge,
    #[error("its central directory does not agree with its entries")]
    Disagrees,
    #[error("its central directory does not directly follow its entries")]
    DirectoryElsewhere,
}

impl Streamed {
    pub fn zh(&self) -> Digest {
        match self {
            Self::Hashed(hashes) => hashes.zh,
            Self::NeedsFile { zh, .. } | Self::Refused { zh, .. } => *zh,
        }
    }

    pub fn size(&self) -> u64 {
        match self {
            Self::Hashed(hashes) => hashes.size,
            Self::NeedsFile { size, .. } | Self::Refused { size, .. } => *size,
        }
    }
}

/// The capacity, in chunks, of each of the two queues from the network to the threads.
const QUEUED_CHUNKS: usize = 4;

impl StreamHasher {
    /// Starts the threads. `type_name` is the type in the provider's address.
    pub fn new(type_name: &str, limits: Limits) -> Result<Self, PackageError> {
        let (to_zip, from_feed) = mpsc::channel(QUEUED_CHUNKS);
        let (zip_done, zip) = oneshot::channel();
        spawn("zip digest", move || {
            // Sending fails only if the hasher was dropped.
            let _ = zip_done.send(digest(from_feed));
        })?;
        let (to_walk, from_feed) = mpsc::channel(QUEUED_CHUNKS);
        let (contents_done, contents) = oneshot::channel();
        let (sink, hasher) = content_queue();
        let hashing = spawn("content digest", move || hasher.run())?;
        let type_name = type_name.to_owned();
        spawn("inflate", move || {
            let walked = walk(ChunkReader::new(from_feed), sink, &limits);
            // `walk` has dropped the sink, so the hashing thread ends after the last piece.
            let summaries = hashing.join().ok();
            let result = reconcile(walked, summaries, &type_name, &limits);
            let _ = contents_done.send(result);
        })?;
        let feed = Feed::new(to_zip, to_walk);
        Ok(Self {
            feed,
            zip,
            contents,
        })
    }

    /// Hashes the next bytes. Waits while the queues are full.
    pub async fn send(&mut self, chunk: Bytes) -> Result<(), PackageError> {
        self.feed.send(chunk).await
    }

    /// Marks the end of the package and waits for the result.
    pub async fn finish(self) -> Result<Streamed, PackageError> {
        let Self {
            feed,
            zip,
            contents,
        } = self;
        feed.finish().await?;
        let (zh, size) = zip.await.or(Err(PackageError::Interrupted))?;
        match contents.await.or(Err(PackageError::Interrupted))? {
            Ok(ContentHashes { h1, zip_h1 }) => Ok(Streamed::Hashed(PackageHashes {
                zh,
                h1,
                zip_h1,
                size,
            })),
            Err(StreamFailure::NeedsFile(reason)) => Ok(Streamed::NeedsFile { zh, size, reason }),
            Err(StreamFailure::Package(PackageError::Interrupted)) => {
                Err(PackageError::Interrupted)
            }
            Err(StreamFailure::Package(error)) => Ok(Streamed::Refused { zh, size, error }),
        }
    }
}

fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<thread::JoinHandle<T>, PackageError> {
    let builder = thread::Builder::new().name(name.to_owned());
    builder.spawn(work).map_err(PackageError::Thread)
}

fn digest(mut chunks: mpsc::Receiver<Bytes>) -> (Digest, u64) {
    let mut sha = Sha256::new();
    let mut size = 0;
    while let Some(chunk) = chunks.blocking_recv() {
        sha.update(&chunk);
        size += chunk.len() as u64;
    }
    (Digest::new(sha.finalize().into()), size)
}
