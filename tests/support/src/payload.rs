//! Generated content that compresses about as well as a provider's executable (4.5 : 1).
//!
//! The content alternates between short runs of random bytes and copies of earlier bytes from at most 32 KiB back.
//! Machine code has a similar structure. Deflate needs about three bytes per copy.

use std::io::{self, Read};

use sha2::{Digest as _, Sha256};

/// The maximum distance of a copy in bytes: the window of deflate.
const WINDOW: usize = 32 * 1024;

/// The maximum length of a random run in bytes. Together with [`COPY`], it determines the compression ratio.
const FRESH: u64 = 6;

/// The minimum length of a copy in bytes, and the number of different lengths from there on.
const COPY: (u64, u64) = (8, 33);

/// A reader of `size` bytes that depend only on `seed` and `size`.
#[derive(Debug, Clone)]
pub struct Payload {
    state: u64,
    left: u64,
    window: Vec<u8>,
    /// The number of bytes in `window` that have already been read.
    sent: usize,
}

impl Payload {
    /// Creates a reader of `size` bytes for `seed`.
    pub fn new(seed: &str, size: u64) -> Self {
        let digest = Sha256::digest(seed);
        let head = digest.first_chunk().expect("a SHA-256 digest has 32 bytes");
        Self {
            state: u64::from_le_bytes(*head) | 1,
            left: size,
            window: Vec::with_capacity(4 * WINDOW),
            sent: 0,
        }
    }

    /// Returns the next number of a xorshift generator.
    fn next(&mut self) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state
    }

    /// Removes the bytes that no copy can reach, and then appends a random run and a copy to the window.
    fn grow(&mut self) {
        if self.window.len() >= 4 * WINDOW - 64 {
            let keep_from = self.window.len() - WINDOW;
            self.window.drain(..keep_from);
            self.sent -= keep_from;
        }
        let bytes = self.next();
        let fresh = 1 + usize::try_from(bytes % FRESH).expect("a remainder of FRESH is small");
        self.window.extend_from_slice(&bytes.to_be_bytes()[..fresh]);
        let choice = self.next();
        let reach = self.window.len().min(WINDOW);
        let distance = 1 + usize::try_from(choice >> 32).expect("32 bits fit in a `usize`") % reach;
        let length = usize::try_from(COPY.0 + choice % COPY.1).expect("a copy is short");
        let start = self.window.len() - distance;
        let length = length.min(distance);
        self.window.extend_from_within(start..start + length);
    }
}

impl Read for Payload {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut written = 0;
        while written < buffer.len() && self.left > 0 {
            if self.sent == self.window.len() {
                self.grow();
            }
            let available = &self.window[self.sent..];
            let limit = usize::try_from(self.left).unwrap_or(usize::MAX);
            let count = available.len().min(buffer.len() - written).min(limit);
            buffer[written..written + count].copy_from_slice(&available[..count]);
            written += count;
            self.sent += count;
            self.left -= count as u64;
        }
        Ok(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn compresses_like_an_executable_and_repeats() {
        let mut content = Vec::new();
        Payload::new("seed", 4 << 20)
            .read_to_end(&mut content)
            .expect("memory access cannot fail");
        let mut encoder =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::best());
        encoder
            .write_all(&content)
            .expect("memory access cannot fail");
        let packed = encoder.finish().expect("memory access cannot fail").len();
        let tenths = content.len() * 10 / packed;
        assert!((38..=52).contains(&tenths), "ratio {tenths}/10");
        let mut again = Vec::new();
        Payload::new("seed", 4 << 20)
            .read_to_end(&mut again)
            .expect("memory access cannot fail");
        assert!(content == again);
    }
}
