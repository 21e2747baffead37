//! Passes chunks from the network to the threads, combined into larger pieces.
//!
//! Waking a thread costs more than copying a small chunk, and HTTP/2 delivers chunks of 8 to 16 KiB. Small chunks are therefore
//! combined; otherwise, one package took 1.28 s instead of 0.89 s. Large chunks are sliced without copying, so that the number of
//! queued chunks limits the number of queued bytes.

use bytes::{Bytes, BytesMut};
use tokio::sync::mpsc::Sender;

use crate::package::PackageError;
use crate::package::archive::content::PIECE_BYTES;

/// The maximum size of a chunk in the queues, in bytes.
const CHUNK_BYTES: usize = PIECE_BYTES;

/// Chunks of at least this size are not copied.
const LARGE_BYTES: usize = CHUNK_BYTES / 4;

/// Passes chunks to the two threads that read the zip.
#[derive(Debug)]
pub(super) struct Feed {
    gathered: BytesMut,
    to_zip: Sender<Bytes>,
    /// `None` once the thread that walks through the entries has ended early.
    to_walk: Option<Sender<Bytes>>,
}

impl Feed {
    pub(super) fn new(to_zip: Sender<Bytes>, to_walk: Sender<Bytes>) -> Self {
        Self {
            gathered: BytesMut::new(),
            to_zip,
            to_walk: Some(to_walk),
        }
    }

    pub(super) async fn send(&mut self, mut chunk: Bytes) -> Result<(), PackageError> {
        while !chunk.is_empty() {
            if self.gathered.is_empty() && chunk.len() >= LARGE_BYTES {
                let slice = chunk.split_to(chunk.len().min(CHUNK_BYTES));
                self.pass(slice).await?;
                continue;
            }
            if self.gathered.capacity() == 0 {
                self.gathered.reserve(CHUNK_BYTES);
            }
            let room = CHUNK_BYTES - self.gathered.len();
            self.gathered
                .extend_from_slice(&chunk.split_to(chunk.len().min(room)));
            if self.gathered.len() == CHUNK_BYTES {
                self.flush().await?;
            }
        }
        Ok(())
    }

    /// Sends the remaining bytes and closes the queues.
    pub(super) async fn finish(mut self) -> Result<(), PackageError> {
        if !self.gathered.is_empty() {
            self.flush().await?;
        }
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), PackageError> {
        let gathered = std::mem::take(&mut self.gathered);
        self.pass(gathered.freeze()).await
    }

    async fn pass(&mut self, chunk: Bytes) -> Result<(), PackageError> {
        if let Some(to_walk) = &self.to_walk
            && to_walk.send(chunk.clone()).await.is_err()
        {
            self.to_walk = None;
        }
        let sent = self.to_zip.send(chunk).await;
        sent.or(Err(PackageError::Interrupted))
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;

    /// Returns the sizes of the chunks in the queues, and whether their bytes are complete and in order.
    fn passed(sizes: &[usize]) -> (Vec<usize>, bool) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let total = sizes.iter().sum();
        let bytes: Vec<u8> = (0..total)
            .map(|at: usize| at.to_le_bytes()[0] ^ at.to_le_bytes()[1])
            .collect();
        let (to_zip, mut zip) = mpsc::channel(1_000);
        let (to_walk, mut walk) = mpsc::channel(1_000);
        runtime.block_on(async {
            let mut feed = Feed::new(to_zip, to_walk);
            let mut rest = Bytes::from(bytes.clone());
            for size in sizes {
                feed.send(rest.split_to(*size)).await.unwrap();
            }
            feed.finish().await.unwrap();
        });
        let drain = |queue: &mut mpsc::Receiver<Bytes>| {
            let mut chunks = Vec::new();
            while let Some(chunk) = runtime.block_on(queue.recv()) {
                chunks.push(chunk);
            }
            chunks
        };
        let (zip, walk) = (drain(&mut zip), drain(&mut walk));
        let is_whole = zip == walk && zip.concat() == bytes;
        (zip.iter().map(Bytes::len).collect(), is_whole)
    }

    #[test]
    fn small_chunks_are_gathered_and_large_ones_sliced() {
        let cases: [(&[usize], &[usize]); 8] = [
            (&[], &[]),
            (&[0, 0], &[]),
            (&[1, 2, 3], &[6]),
            (&[CHUNK_BYTES], &[CHUNK_BYTES]),
            (&[CHUNK_BYTES + 1], &[CHUNK_BYTES, 1]),
            (
                &[2 * CHUNK_BYTES + LARGE_BYTES],
                &[CHUNK_BYTES, CHUNK_BYTES, LARGE_BYTES],
            ),
            (&[LARGE_BYTES, LARGE_BYTES], &[LARGE_BYTES, LARGE_BYTES]),
            (&[1, CHUNK_BYTES, 1], &[CHUNK_BYTES, 2]),
        ];
        for (sizes, expected) in cases {
            assert_eq!(passed(sizes), (expected.to_vec(), true), "{sizes:?}");
        }
        let (sizes, is_whole) = passed(&[16 << 10; 40]);
        assert!(is_whole);
        assert_eq!(sizes, [CHUNK_BYTES, CHUNK_BYTES, 8 * (16 << 10)]);
    }

    #[test]
    fn the_digest_continues_after_the_walk_has_ended() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let (to_zip, mut zip) = mpsc::channel(10);
        let (to_walk, walk) = mpsc::channel(10);
        drop(walk);
        let mut feed = Feed::new(to_zip, to_walk);
        runtime.block_on(async {
            feed.send(Bytes::from(vec![1; LARGE_BYTES])).await.unwrap();
            feed.send(Bytes::from(vec![2; LARGE_BYTES])).await.unwrap();
            assert!(feed.to_walk.is_none());
            feed.finish().await.unwrap();
        });
        for expected in [Some(LARGE_BYTES), Some(LARGE_BYTES), None] {
            assert_eq!(zip.blocking_recv().map(|chunk| chunk.len()), expected);
        }
    }

    #[test]
    fn an_ended_digest_thread_is_an_error() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let (to_zip, zip) = mpsc::channel(10);
        let (to_walk, _walk) = mpsc::channel(10);
        drop(zip);
        let mut feed = Feed::new(to_zip, to_walk);
        let sent = runtime.block_on(feed.send(Bytes::from(vec![1; LARGE_BYTES])));
        assert_eq!(sent, Err(PackageError::Interrupted));
    }
}
