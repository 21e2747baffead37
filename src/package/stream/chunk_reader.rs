//! Reads the chunks of a zip as one continuous stream.

use std::io::{self, BufRead, Read};

use bytes::{Buf as _, Bytes};
use tokio::sync::mpsc::Receiver;

use super::inflate_permit::InflatePermit;

#[derive(Debug)]
pub(super) struct ChunkReader {
    chunks: Receiver<Bytes>,
    current: Bytes,
    /// Bytes that were put back, which precede `current`.
    returned: Bytes,
    offset: u64,
    /// The permit to inflate. It is held while chunks are available, and released while waiting for more.
    permit: Option<InflatePermit>,
}

impl ChunkReader {
    pub(super) fn new(chunks: Receiver<Bytes>) -> Self {
        Self {
            chunks,
            current: Bytes::new(),
            returned: Bytes::new(),
            offset: 0,
            permit: None,
        }
    }

    /// Receives the next chunk. Releases the permit while it waits.
    fn receive(&mut self) -> Option<Bytes> {
        let chunk = self.chunks.try_recv().ok().or_else(|| {
            self.permit = None;
            self.chunks.blocking_recv()
        })?;
        self.permit.get_or_insert_with(InflatePermit::acquire);
        Some(chunk)
    }

    /// Returns the number of bytes that have been read.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Reads `count` bytes, or fewer at the end of the stream.
    pub(super) fn read_up_to(&mut self, count: usize) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.take(count as u64).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Puts back the bytes that were read last.
    pub(super) fn unread(&mut self, mut bytes: Vec<u8>) {
        self.offset -= bytes.len() as u64;
        bytes.extend_from_slice(&self.returned);
        self.returned = Bytes::from(bytes);
    }
}

impl BufRead for ChunkReader {
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

impl Read for ChunkReader {
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
        let mut source = ChunkReader::new(chunks);
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
