//! Decompresses tar archives.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::ArchiveKind;

/// The maximum size of the dictionary or window that an archive may require, in bytes. `xz -9` requires 64 MiB, and `zstd -19` 8 MiB.
pub(super) const MAX_WINDOW_BYTES: u64 = 128 << 20;

/// The memory that `XzReader` needs in addition to the dictionary.
const XZ_OVERHEAD_KIB: u64 = 1 << 10;

/// Returns the uncompressed tar archive in `file`. If the archive needs more memory than [`MAX_WINDOW_BYTES`], reading fails with
/// [`io::ErrorKind::OutOfMemory`].
pub(super) fn decompress(kind: ArchiveKind, file: File) -> Box<dyn Read> {
    let file = BufReader::new(file);
    match kind {
        // A zip is not a tar archive, and is read without this function.
        ArchiveKind::Tar | ArchiveKind::Zip => Box::new(file),
        ArchiveKind::TarGz => Box::new(MultiGzDecoder::new(file)),
        ArchiveKind::TarBz2 => Box::new(MultiBzDecoder::new(file)),
        ArchiveKind::TarXz => {
            let limit_kib = (MAX_WINDOW_BYTES >> 10) + XZ_OVERHEAD_KIB;
            let limit_kib = u32::try_from(limit_kib).unwrap_or(u32::MAX);
            Box::new(XzReader::new_mem_limit(file, true, limit_kib))
        }
        ArchiveKind::TarZst => Box::new(ZstdReader::new(file)),
    }
}

/// Decompresses all Zstandard frames of a file.
struct ZstdReader<R> {
    source: R,
    decoder: FrameDecoder,
}

impl<R: BufRead> ZstdReader<R> {
    fn new(source: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_WINDOW_BYTES);
        Self { source, decoder }
    }

    /// Reads the next part of the source. Returns false at its end.
    fn advance(&mut self) -> io::Result<bool> {
        if !self.decoder.is_finished() {
            let one_block = BlockDecodingStrategy::UptoBlocks(1);
            let decoded = self.decoder.decode_blocks(&mut self.source, one_block);
            return decoded.map(|_finished| true).map_err(invalid);
        }
        if self.source.fill_buf()?.is_empty() {
            return Ok(false);
        }
        match self.decoder.reset(&mut self.source) {
            Ok(()) => Ok(true),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let length = u64::from(length);
                let skipped = io::copy(&mut self.source.by_ref().take(length), &mut io::sink())?;
                if skipped < length {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                Ok(true)
            }
            Err(error) => Err(invalid(error)),
        }
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.decoder.can_collect() == 0 {
            if !self.advance()? {
                return Ok(0);
            }
        }
        self.decoder.read(buffer)
    }
}

fn invalid(error: FrameDecoderError) -> io::Error {
    let kind = match &error {
        FrameDecoderError::WindowSizeTooBig { .. } => io::ErrorKind::OutOfMemory,
        _ => io::ErrorKind::InvalidData,
    };
    io::Error::new(kind, error)
}

#[cfg(test)]
mod tests {
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    #[test]
    fn all_frames_are_read() {
        let text = "abc".repeat(100_000);
        let frame = compress_to_vec(text.as_bytes(), CompressionLevel::Fastest);
        let skippable = [0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3];
        let whole = [&frame[..], &skippable, &frame].concat();
        let mut found = String::new();
        let mut reader = ZstdReader::new(&whole[..]);
        reader.read_to_string(&mut found).unwrap();
        assert_eq!(found, text.repeat(2));
        for (bytes, kind) in [
            (&whole[..whole.len() - 1], io::ErrorKind::InvalidData),
            (&skippable[..9], io::ErrorKind::UnexpectedEof),
            (b"nonsense", io::ErrorKind::InvalidData),
            // A frame header with a window of 1 GiB.
            (
                &[0x28, 0xb5, 0x2f, 0xfd, 0, 20 << 3, 1, 0, 0],
                io::ErrorKind::OutOfMemory,
            ),
        ] {
            let error = ZstdReader::new(bytes).read_to_end(&mut Vec::new());
            assert_eq!(error.unwrap_err().kind(), kind, "{bytes:?}");
        }
    }
}
