//! Unpacked content on its way from the thread that inflates to the thread that hashes.
//!
//! A fixed number of buffers goes round: filled, sent, hashed, and sent back. Whoever inflates waits when none is free.

use std::sync::mpsc::{Receiver, Sender, channel};

use crate::package::archive::content::{EntryFault, Hasher, PIECE_BYTES, Sink, Summary};

/// One buffer is being filled, one hashed, four wait.
const BUFFERS: usize = 6;

/// Some content of an entry.
struct Piece {
    buffer: Vec<u8>,
    filled: usize,
    ends_entry: bool,
}

/// The end that takes content.
pub(super) struct PieceSink {
    filled: Sender<Piece>,
    free: Receiver<Vec<u8>>,
    buffer: Vec<u8>,
    used: usize,
    /// Bytes taken so far, of all entries.
    taken: u64,
    /// More than this is refused.
    pub(super) most: u64,
}

/// The end that hashes.
pub(super) struct Hashing {
    filled: Receiver<Piece>,
    free: Sender<Vec<u8>>,
}

/// A pair of ends.
pub(super) fn pieces() -> (PieceSink, Hashing) {
    let (filled, to_hash) = channel();
    let (used_up, free) = channel();
    for _ in 1..BUFFERS {
        // The receiver is there: it has not been given away yet.
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
        Hashing {
            filled: to_hash,
            free: used_up,
        },
    )
}

impl PieceSink {
    /// How much content has been taken, of all entries.
    pub(super) fn taken(&self) -> u64 {
        self.taken
    }

    /// Says that the entry is complete.
    pub(super) fn end_entry(&mut self) {
        self.pass(true);
    }

    fn pass(&mut self, ends_entry: bool) {
        // If the thread that hashes is gone, that shows when it is joined; nothing must stop here.
        let next = self.free.recv().unwrap_or_else(|_| vec![0; PIECE_BYTES]);
        let buffer = std::mem::replace(&mut self.buffer, next);
        let filled = std::mem::take(&mut self.used);
        let _ = self.filled.send(Piece {
            buffer,
            filled,
            ends_entry,
        });
    }
}

impl Sink for PieceSink {
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

impl Hashing {
    /// Hashes until the sink is gone; one summary for each entry that was ended.
    pub(super) fn run(self) -> Vec<Summary> {
        let mut hasher = Hasher::default();
        let mut summaries = Vec::new();
        for piece in self.filled {
            hasher.update(&piece.buffer[..piece.filled]);
            if piece.ends_entry {
                summaries.push(hasher.finish());
            }
            // The sink may be gone already; then nobody needs the buffer.
            let _ = self.free.send(piece.buffer);
        }
        summaries
    }
}
