//! `Content-Encoding: gzip` of packages, undone piece by piece. Some stores keep their zips that way; the engines never
//! notice, because Go's client undoes it before anyone hashes the bytes.

use std::io::Write;

use bytes::Bytes;
use flate2::write::MultiGzDecoder;
use reqwest::header::HeaderValue;

use crate::registry::download::MAX_PACKAGE;
use crate::registry::fault::{Cause, Fault};

/// The decoder of one body.
pub(super) enum Decoder {
    Identity,
    /// The decoder, and how much has come out of it.
    Gzip(Box<MultiGzDecoder<Vec<u8>>>, u64),
}

/// What a decoder decodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Identity,
    Gzip,
}

impl Decoder {
    /// Other encodings than gzip are left as they are: nobody asked for them.
    pub(super) fn for_encoding(encoding: Option<&HeaderValue>) -> Self {
        let is_gzip = encoding
            .is_some_and(|value| value.as_bytes().trim_ascii().eq_ignore_ascii_case(b"gzip"));
        if is_gzip {
            return Self::Gzip(Box::new(MultiGzDecoder::new(Vec::new())), 0);
        }
        Self::Identity
    }

    pub(super) const fn kind(&self) -> Kind {
        match self {
            Self::Identity => Kind::Identity,
            Self::Gzip(..) => Kind::Gzip,
        }
    }

    /// What the piece adds to the decoded body.
    pub(super) fn decode(&mut self, piece: Bytes) -> Result<Bytes, Fault> {
        let Self::Gzip(decoder, total) = self else {
            return Ok(piece);
        };
        let mut body = Vec::new();
        // In small portions: a piece of zeros may hold a thousand times its size.
        for portion in piece.chunks(PORTION) {
            decoder
                .write_all(portion)
                .map_err(|error| corrupt(&error))?;
            decoder.flush().map_err(|error| corrupt(&error))?;
            let new = std::mem::take(decoder.get_mut());
            *total += new.len() as u64;
            if *total > MAX_PACKAGE.bytes {
                return Err(Fault::TooLarge {
                    name: MAX_PACKAGE.name,
                    limit: MAX_PACKAGE.bytes,
                });
            }
            body.extend_from_slice(&new);
        }
        Ok(body.into())
    }

    /// Checks that the body ended where its encoding says.
    pub(super) fn finish(&mut self) -> Result<(), Fault> {
        match self {
            Self::Identity => Ok(()),
            Self::Gzip(decoder, _) => decoder.try_finish().map_err(|error| corrupt(&error)),
        }
    }
}

/// How much is decoded at once.
const PORTION: usize = 16 * 1024;

fn corrupt(error: &std::io::Error) -> Fault {
    Fault::Encoding(Cause::innermost(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gzip(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(text).expect("in memory");
        encoder.finish().expect("in memory")
    }

    fn decode(pieces: &[&[u8]]) -> Result<Vec<u8>, Fault> {
        let mut decoder = Decoder::for_encoding(Some(&HeaderValue::from_static("GZIP")));
        let mut out = Vec::new();
        for piece in pieces {
            out.extend_from_slice(&decoder.decode(Bytes::copy_from_slice(piece))?);
        }
        decoder.finish().map(|()| out)
    }

    #[test]
    fn gzip_is_undone_across_pieces() {
        let body = gzip(b"hello");
        let (left, right) = body.split_at(7);
        assert_eq!(decode(&[left, right]).expect("sound"), b"hello");
        let bytes: Vec<&[u8]> = body.chunks(1).collect();
        assert_eq!(decode(&bytes).expect("sound"), b"hello");
    }

    #[test]
    fn broken_encodings_are_errors() {
        let mut body = gzip(b"hello");
        assert!(matches!(
            decode(&[&body[..body.len() - 9]]),
            Err(Fault::Encoding(_))
        ));
        body[12] ^= 0xff;
        assert!(matches!(decode(&[&body]), Err(Fault::Encoding(_))));
        assert!(matches!(
            decode(&[b"PK\x03\x04 not gzip at all"]),
            Err(Fault::Encoding(_))
        ));
    }

    #[test]
    fn other_encodings_are_left_alone() {
        let mut decoder = Decoder::for_encoding(Some(&HeaderValue::from_static("br")));
        assert_eq!(
            decoder
                .decode(Bytes::from_static(b"x"))
                .expect("nothing to do"),
            "x"
        );
        assert_eq!(decoder.kind(), Kind::Identity);
    }
}
