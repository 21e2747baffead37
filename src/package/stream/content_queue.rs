//! The queue that passes unpacked content from the inflating thread to the hashing thread.
//!
//! A fixed number of buffers circulates: filled, sent, hashed and sent back. The inflating thread waits while no buffer is free.

use std::sync::mpsc::{Receiver, Sender, channel};

use crate::package::archive::content::{
    ContentHasher, ContentSink, ContentSummary, EntryFault, PIECE_BYTES,
};

/// The number of buffers: one is being filled, one is being hashed, and four wait in the queue.
const BUFFERS: usize = 6;

struct ContentPiece {
    buffer: Vec<u8>,
    filled: usize,
    ends_entry: bool,
}

/// The sending end of the queue.
pub(super) struct PieceSink {
    filled: Sender<ContentPiece>,
    free: Receiver<Vec<u8>>,
    buffer: Vec<u8>,
    used: usize,
    /// The total size of the content of all entries so far, in bytes.
    pub(super) taken: u64,
    /// The maximum of `taken`.
    pub(super) most: u64,
}

/// The receiving end of the queue, which hashes the content.
pub(super) struct PieceHasher {
    filled: Receiver<ContentPiece>,
    free: Sender<Vec<u8>>,
}

pub(super) fn content_queue() -> (PieceSink, PieceHasher) {
    let (filled, to_hash) = channel();
    let (used_up, free) = channel();
    for _ in 1..BUFFERS {
        // This cannot fail: the receiver exists.
        let _ = used_up.send(vec![0; PIECE_BYTES]);
    }
    let sink = PieceSink {
        filled,
        free,
        buffer: vec![0; PIECE_BYTES],
        used: 0,
        taken: 0,
        most: u64::MAX,
    };
    (
        sink,
        PieceHasher {
            filled: to_hash,
            free: used_up,
        },
    )
}

impl PieceSink {
    pub(super) fn end_entry(&mut self) {
        self.pass(true);
    }

    fn pass(&mut self, ends_entry: bool) {
        // If the hashing thread has ended, joining it reports the error.
        let next = self.free.recv().unwrap_or_else(|_| vec![0; PIECE_BYTES]);
        let buffer = std::mem::replace(&mut self.buffer, next);
        let filled = std::mem::take(&mut self.used);
        let _ = self.filled.send(ContentPiece {
            buffer,
            filled,
            ends_entry,
        });
    }
}

impl ContentSink for PieceSink {
    fn room(&mut self) -> &mut [u8] {
        &mut self.buffer[self.used..]
    }

    fn take(&mut self, count: usize) -> Result<(), EntryFault> {
        self.used += count;
        self.taken += count as u64;
        if self.taken > self.most {
            return Err(EntryFault::Size);
        }
        if self.used == self.buffer.len() {
            self.pass(false);
        }
        Ok(())
    }
}

impl PieceHasher {
    /// Hashes until the sending end is dropped, and returns a summary of each complete entry.
    pub(super) fn run(self) -> Vec<ContentSummary> {
        let mut hasher = ContentHasher::default();
        let mut summaries = Vec::new();
        for piece in self.filled {
            hasher.update(&piece.buffer[..piece.filled]);
            if piece.ends_entry {
                summaries.push(hasher.finish());
            }
            // If the sending end was dropped, the buffer is no longer required.
            let _ = self.free.send(piece.buffer);
        }
        summaries
    }
}
