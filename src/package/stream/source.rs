//! The chunks of a zip as one reader.

use std::io::{self, BufRead, Read};

use bytes::{Buf as _, Bytes};
use tokio::sync::mpsc::Receiver;

use super::turn::Turn;

/// Reads chunks from a queue; at the end of the queue it is at its end.
#[derive(Debug)]
pub(super) struct Source {
    chunks: Receiver<Bytes>,
    current: Bytes,
    /// What was put back, before `current`.
    returned: Bytes,
    offset: u64,
    /// Held while there are bytes.
    turn: Option<Turn>,
}

impl Source {
    pub(super) fn new(chunks: Receiver<Bytes>) -> Self {
        Self {
            chunks,
            current: Bytes::new(),
            returned: Bytes::new(),
            offset: 0,
            turn: None,
        }
    }

    /// The next chunk. Whoever has to wait for it does not keep others from their work.
    fn receive(&mut self) -> Option<Bytes> {
        let chunk = self.chunks.try_recv().ok().or_else(|| {
            self.turn = None;
            self.chunks.blocking_recv()
        })?;
        self.turn.get_or_insert_with(Turn::wait);
        Some(chunk)
    }

    /// How many bytes have been read.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads up to so many bytes; less only at the end.
    pub(super) fn read_up_to(&mut self, count: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.take(count as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Puts bytes back that were the last to be read.
    pub(super) fn unread(&mut self, mut bytes: Vec<u8>) {
        self.offset -= bytes.len() as u64;
        bytes.extend_from_slice(&self.returned);
        self.returned = Bytes::from(bytes);
    }
}

impl BufRead for Source {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if !self.returned.is_empty() {
            return Ok(&self.returned);
        }
        while self.current.is_empty() {
            match self.receive() {
                Some(chunk) => self.current = chunk,
                None => break,
            }
        }
        Ok(&self.current)
    }

    fn consume(&mut self, count: usize) {
        self.offset += count as u64;
        if self.returned.is_empty() {
            self.current.advance(count);
        } else {
            self.returned.advance(count);
        }
    }
}

impl Read for Source {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let available = self.fill_buf()?;
        let count = available.len().min(buffer.len());
        buffer[..count].copy_from_slice(&available[..count]);
        self.consume(count);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_read_as_one_and_bytes_can_be_put_back() {
        let (sender, chunks) = tokio::sync::mpsc::channel(10);
        for chunk in ["ab", "", "cdefg", "h"] {
            sender
                .try_send(Bytes::from_static(chunk.as_bytes()))
                .unwrap();
        }
        drop(sender);
        let mut source = Source::new(chunks);
        assert_eq!(source.read_up_to(3).unwrap(), b"abc");
        assert_eq!(source.offset(), 3);
        source.unread(b"bc".to_vec());
        assert_eq!(source.offset(), 1);
        assert_eq!(source.read_up_to(1).unwrap(), b"b");
        source.unread(b"b".to_vec());
        assert_eq!(source.read_up_to(1).unwrap(), b"b");
        assert_eq!(source.read_up_to(4).unwrap(), b"cdef");
        assert_eq!(source.offset(), 6);
        assert_eq!(source.read_up_to(9).unwrap(), b"gh");
        assert_eq!(source.read_up_to(9).unwrap(), b"");
        assert_eq!(source.offset(), 8);
    }
}
