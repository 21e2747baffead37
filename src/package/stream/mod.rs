//! A package as it arrives: hashed in one pass, without a file.
//!
//! Three threads work on a package, so that it costs what inflating it costs: one takes the SHA-256 of the zip, one walks
//! through the entries and inflates them, one takes SHA-256 and CRC-32 of their contents. Between them are queues bounded
//! in bytes; memory does not grow with the package.
//!
//! Walking from the front of a zip trusts local headers, which say nothing binding. So when the central directory has
//! arrived, the last part of the archive is read just as that of a whole file, and every entry in it must lie where one
//! was walked through, with the same method, sizes and data descriptor. Then what was hashed is what a whole file would
//! have given, and the same code turns it into hashes or an error. Anything else, and anything that cannot be walked
//! (a stored entry with descriptor, a gap, a prefix), is [`NeedsFile`]: the archive is to be read from a file.

mod feed;
mod pieces;
mod reconcile;
mod source;
#[cfg(test)]
mod tests;
mod turn;
mod walk;

use std::thread;

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use tokio::sync::{mpsc, oneshot};

use crate::package::stream::feed::Feed;
use crate::package::stream::pieces::pieces;
use crate::package::stream::reconcile::{Stop, reconcile};
use crate::package::stream::source::Source;
use crate::package::stream::walk::walk;
use crate::package::{ContentHashes, Limits, PackageError, PackageHashes};
use crate::provider::Digest;

/// Hashes a package while it arrives. Dropping it ends its threads.
#[derive(Debug)]
pub struct StreamHasher {
    feed: Feed,
    zip: oneshot::Receiver<(Digest, u64)>,
    contents: oneshot::Receiver<Result<ContentHashes, Stop>>,
}

/// What came of a package.
#[derive(Debug)]
pub enum Streamed {
    /// All hashes.
    Hashed(PackageHashes),
    /// The zip must be read from a file; its digest is known.
    NeedsFile {
        /// Digest of the zip.
        zh: Digest,
        /// Size of the zip in bytes.
        size: u64,
        /// Why.
        reason: NeedsFile,
    },
    /// The package has no hash, however it is read.
    Refused {
        /// Digest of the zip: whether it is the right one is to be looked at before anything else.
        zh: Digest,
        /// Size of the zip in bytes.
        size: u64,
        /// Why.
        error: PackageError,
    },
}

/// Why a package must be read from a file.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum NeedsFile {
    /// An entry is stored and its size follows after it.
    #[error("an entry is stored without its size before it")]
    StoredWithDescriptor,
    /// An entry cannot be unpacked where it stands.
    #[error("an entry cannot be unpacked as it comes")]
    Unreadable,
    /// A data descriptor does not have the sizes of its entry.
    #[error("a data descriptor does not agree with its entry")]
    Descriptor,
    /// There are more entries, more content or a longer end than a stream takes.
    #[error("it is larger than what is read as it comes")]
    TooLarge,
    /// The central directory does not list what was seen.
    #[error("its central directory does not agree with its entries")]
    Disagrees,
    /// The central directory is not where the entries end.
    #[error("its central directory is not behind its entries")]
    DirectoryElsewhere,
}

impl Streamed {
    /// Digest of the zip.
    pub fn zh(&self) -> Digest {
        match self {
            Self::Hashed(hashes) => hashes.zh,
            Self::NeedsFile { zh, .. } | Self::Refused { zh, .. } => *zh,
        }
    }

    /// Size of the zip in bytes.
    pub fn size(&self) -> u64 {
        match self {
            Self::Hashed(hashes) => hashes.size,
            Self::NeedsFile { size, .. } | Self::Refused { size, .. } => *size,
        }
    }
}

/// How many chunks wait between the network and each of the two threads that read them.
const QUEUED_CHUNKS: usize = 4;

impl StreamHasher {
    /// Starts the threads. `type_name` is the type of the address that the package is to be installed under.
    pub fn new(type_name: &str, limits: Limits) -> Result<Self, PackageError> {
        let (to_zip, from_feed) = mpsc::channel(QUEUED_CHUNKS);
        let (zip_done, zip) = oneshot::channel();
        spawn("zip digest", move || {
            // Nobody listens any more if the hasher was dropped.
            let _ = zip_done.send(digest(from_feed));
        })?;
        let (to_walk, from_feed) = mpsc::channel(QUEUED_CHUNKS);
        let (contents_done, contents) = oneshot::channel();
        let (sink, hashing) = pieces();
        let hashing = spawn("content digest", move || hashing.run())?;
        let type_name = type_name.to_owned();
        spawn("inflate", move || {
            let walked = walk(Source::new(from_feed), sink, &limits);
            // The sink is gone, so the last piece is hashed and the thread ends.
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

    /// Takes the next bytes; waits while the threads are behind.
    pub async fn send(&mut self, chunk: Bytes) -> Result<(), PackageError> {
        self.feed.send(chunk).await
    }

    /// Says that the package is complete, and waits for the result.
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
            Err(Stop::NeedsFile(reason)) => Ok(Streamed::NeedsFile { zh, size, reason }),
            Err(Stop::Package(PackageError::Interrupted)) => Err(PackageError::Interrupted),
            Err(Stop::Package(error)) => Ok(Streamed::Refused { zh, size, error }),
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
