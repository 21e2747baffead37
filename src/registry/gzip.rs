//! Decodes `Content-Encoding: gzip`, chunk by chunk. Some servers store their zips gzip-compressed; the engines do not notice,
//! because Go's HTTP client decodes the body before it is hashed.

use std::io::Write;

use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use reqwest::header::HeaderValue;

use crate::registry::request::MAX_PACKAGE;
use crate::registry::request_error::{CauseText, RequestFault};

/// The number of compressed bytes to decode before the size limit is checked. Decoding can make them a thousand times larger.
const PORTION: usize = 16 * 1024;

pub(super) enum ContentDecoder {
    Identity,
    /// The decoder, and the number of bytes that it has produced.
    Gzip(Box<MultiGzDecoder<Vec<u8>>>, u64),
}

impl ContentDecoder {
    /// Creates a decoder. Encodings other than gzip are not decoded, because no request accepts them.
    pub(super) fn for_encoding(encoding: Option<&HeaderValue>) -> Self {
        let name = encoding.map(|value| value.as_bytes().trim_ascii());
        if name.is_some_and(|name| name.eq_ignore_ascii_case(b"gzip")) {
            return Self::Gzip(Box::new(MultiGzDecoder::new(Vec::new())), 0);
        }
        Self::Identity
    }

    pub(super) const fn is_gzip(&self) -> bool {
        matches!(self, Self::Gzip(..))
    }

    pub(super) fn decode(&mut self, piece: Bytes) -> Result<Bytes, RequestFault> {
        let Self::Gzip(decoder, total) = self else {
            return Ok(piece);
        };
        let mut body = Vec::new();
        for portion in piece.chunks(PORTION) {
            let written = decoder.write_all(portion).and_then(|()| decoder.flush());
            written.map_err(|error| encoding_fault(&error))?;
            let new = std::mem::take(decoder.get_mut());
            *total += new.len() as u64;
            MAX_PACKAGE.check(*total)?;
            body.extend_from_slice(&new);
        }
        Ok(body.into())
    }

    /// Checks that the encoded body is complete.
    pub(super) fn finish(&mut self) -> Result<(), RequestFault> {
        match self {
            Self::Identity => Ok(()),
            Self::Gzip(decoder, _) => decoder.try_finish().map_err(|error| encoding_fault(&error)),
        }
    }
}

fn encoding_fault(error: &std::io::Error) -> RequestFault {
    RequestFault::Encoding(CauseText::innermost(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn decode(pieces: &[&[u8]]) -> Result<Vec<u8>, RequestFault> {
        let mut decoder = ContentDecoder::for_encoding(Some(&HeaderValue::from_static("GZIP")));
        let mut out = Vec::new();
        for piece in pieces {
            out.extend_from_slice(&decoder.decode(Bytes::copy_from_slice(piece))?);
        }
        decoder.finish().map(|()| out)
    }

    #[test]
    fn gzip_is_decoded_across_pieces() {
        let body = gzip(b"hello");
        let (left, right) = body.split_at(7);
        assert_eq!(decode(&[left, right]).unwrap(), b"hello");
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        assert_eq!(decode(&bytes).unwrap(), b"hello");
    }

    #[test]
    fn broken_encodings_are_errors() {
        let body = gzip(b"hello");
        let mut changed = body.clone();
        changed[12] ^= 0xff;
        for broken in [
            &body[..body.len() - 9],
            &changed,
            b"PK\x03\x04 not gzip at all",
        ] {
            assert!(matches!(decode(&[broken]), Err(RequestFault::Encoding(_))));
        }
    }

    #[test]
    fn other_encodings_are_left_alone() {
        let mut decoder = ContentDecoder::for_encoding(Some(&HeaderValue::from_static("br")));
        assert_eq!(decoder.decode(Bytes::from_static(b"x")).unwrap(), "x");
        assert!(!decoder.is_gzip());
    }
}
