//! The file format of cache entries.
//!
//! ```text
//! 8 bytes    "tflock\0" and the number of the format, 1
//! 32 bytes   SHA-256 of everything that follows
//! 32 bytes   the digest of the key, which is also the name of the file
//! then, for each part: its length (four bytes, little-endian) and its bytes
//! ```
//!
//! The digests detect files that were damaged by a crash or a bad disk, and files that were copied to a different name. They do not
//! protect against attackers, who could compute them; that is why the directory must be private.

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::provider::Digest;

/// The first bytes of every file: the name and number of the format.
const MAGIC: &[u8; 8] = b"tflock\0\x01";

/// The offset of the first part, after the magic bytes and two digests.
const HEADER_BYTES: usize = MAGIC.len() + 2 * DIGEST_BYTES;

const DIGEST_BYTES: usize = 32;

const MAX_PARTS: usize = 16;

pub(super) fn encode(key: &Digest, parts: &[&[u8]]) -> Vec<u8> {
    let size = parts.iter().map(|part| part.len() + 4).sum::<usize>();
    let mut file = Vec::with_capacity(HEADER_BYTES + size);
    file.extend(MAGIC);
    file.extend([0; DIGEST_BYTES]);
    file.extend(key.as_bytes());
    for part in parts {
        let length = u32::try_from(part.len()).unwrap_or(u32::MAX);
        file.extend(length.to_le_bytes());
        file.extend(*part);
    }
    let check = Sha256::digest(&file[MAGIC.len() + DIGEST_BYTES..]);
    file[MAGIC.len()..MAGIC.len() + DIGEST_BYTES].copy_from_slice(&check);
    file
}

pub(super) fn json(part: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(part).expect("strings and numbers can always be serialized")
}

/// Decodes the parts of an entry. `None` if the file is damaged or belongs to a different key.
pub(super) fn decode(key: &Digest, file: &[u8]) -> Option<Vec<Vec<u8>>> {
    let rest = file.strip_prefix(MAGIC)?;
    let (check, rest) = rest.split_at_checked(DIGEST_BYTES)?;
    if Sha256::digest(rest).as_slice() != check {
        return None;
    }
    let mut rest = rest.strip_prefix(key.as_bytes())?;
    let mut parts = Vec::new();
    while !rest.is_empty() && parts.len() < MAX_PARTS {
        let (length, after) = rest.split_first_chunk::<4>()?;
        let length = usize::try_from(u32::from_le_bytes(*length)).ok()?;
        let (part, after) = after.split_at_checked(length)?;
        parts.push(part.to_vec());
        rest = after;
    }
    rest.is_empty().then_some(parts)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: Digest = Digest::new([7; 32]);

    #[test]
    fn parts_come_back() {
        let rows: [&[&[u8]]; 4] = [&[], &[b""], &[b"a", b"", b"\0"], &[&[1; 10_000]]];
        for parts in rows {
            let file = encode(&KEY, parts);
            let read = decode(&KEY, &file).unwrap();
            assert_eq!(read, parts);
        }
    }

    #[test]
    fn an_entry_of_another_key_is_rejected() {
        let file = encode(&KEY, &[b"a"]);
        assert_eq!(decode(&Digest::new([8; 32]), &file), None);
    }

    /// The checksum is correct, but the content is invalid.
    #[test]
    fn lengths_beyond_the_end_and_too_many_parts_are_rejected() {
        let with = |tail: &[u8]| {
            let mut file = encode(&KEY, &[]);
            file.extend(tail);
            let check = Sha256::digest(&file[40..]);
            file[8..40].copy_from_slice(&check);
            decode(&KEY, &file)
        };
        assert_eq!(with(&[1, 0, 0, 0, b'a']), Some(vec![b"a".to_vec()]));
        assert_eq!(with(&[2, 0, 0, 0, b'a']), None);
        assert_eq!(with(&[0xff; 4]), None);
        assert_eq!(with(&[0; 3]), None);
        assert_eq!(
            with(&[0; 4 * MAX_PARTS]).map(|parts| parts.len()),
            Some(MAX_PARTS)
        );
        assert_eq!(with(&[0; 4 * (MAX_PARTS + 1)]), None);
    }

    proptest! {
        #[test]
        fn a_file_that_was_cut_or_changed_is_rejected(
            part in proptest::collection::vec(any::<u8>(), 0..200),
            at in any::<prop::sample::Index>(),
            flip in 1_u8..,
            cut in any::<bool>(),
        ) {
            let mut file = encode(&KEY, &[&part]);
            let at = at.index(file.len());
            if cut {
                file.truncate(at);
            } else {
                file[at] ^= flip;
            }
            prop_assert_eq!(decode(&KEY, &file), None);
        }

        #[test]
        fn any_bytes_can_be_read(file in proptest::collection::vec(any::<u8>(), 0..300)) {
            prop_assert_eq!(decode(&KEY, &file), None);
        }
    }
}
