//! OpenPGP packets and what signatures say of themselves.
//!
//! Only version 4 is read, with the algorithms that the tools know; other signatures are passed over. Statements count from
//! the hashed area alone, except for the issuer, which is but a hint.

use std::io::{BufReader, Read as _};

use pgp::armor::{BlockType, Dearmor, DearmorOptions};
use pgp::crypto::hash::HashAlgorithm;
use pgp::crypto::public_key::PublicKeyAlgorithm;
use pgp::errors::Error;
use pgp::packet::{Packet, PacketParser, Signature, SignatureVersion, SubpacketData};
use pgp::types::{Fingerprint, KeyId};

use crate::package::signature::MAX_ARMOR_BYTES;

/// The type and the content of the first armor block.
pub(super) fn dearmor(armor: &str) -> Option<(BlockType, Vec<u8>)> {
    let options = DearmorOptions::new().set_limit(MAX_ARMOR_BYTES);
    let mut reader = Dearmor::with_options(BufReader::new(armor.as_bytes()), options);
    reader.read_header().ok()?;
    let block = reader.typ?;
    let mut content = Vec::new();
    reader.read_to_end(&mut content).ok()?;
    Some((block, content))
}

/// A packet that could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// The packets in some bytes, without those that the tools pass over.
pub(super) fn packets(bytes: &[u8]) -> impl Iterator<Item = Result<Packet, Malformed>> {
    PacketParser::new(bytes).filter_map(|packet| match packet {
        Ok(Packet::Signature(signature)) if !is_known(&signature) => None,
        Ok(packet) => Some(Ok(packet)),
        Err(Error::Unsupported { .. }) => None,
        Err(_) => Some(Err(Malformed)),
    })
}

/// Whether a signature is of a make that the tools know.
fn is_known(signature: &Signature) -> bool {
    let Some(config) = signature.config() else {
        return false;
    };
    let is_known_hash = matches!(
        config.hash_alg,
        HashAlgorithm::Sha1
            | HashAlgorithm::Sha224
            | HashAlgorithm::Sha256
            | HashAlgorithm::Sha384
            | HashAlgorithm::Sha512
            | HashAlgorithm::Sha3_256
            | HashAlgorithm::Sha3_512
    );
    let is_known_algorithm = matches!(
        config.pub_alg,
        PublicKeyAlgorithm::RSA
            | PublicKeyAlgorithm::RSASign
            | PublicKeyAlgorithm::DSA
            | PublicKeyAlgorithm::ECDSA
            | PublicKeyAlgorithm::EdDSALegacy
            | PublicKeyAlgorithm::Ed25519
            | PublicKeyAlgorithm::Ed448
    );
    let mut hashed = config.hashed_subpackets();
    let demands_more = hashed.any(|subpacket| {
        let is_unknown = matches!(
            subpacket.data,
            SubpacketData::Other(..) | SubpacketData::Experimental(..)
        );
        subpacket.is_critical && is_unknown
    });
    config.version() == SignatureVersion::V4 && is_known_hash && is_known_algorithm && !demands_more
}

/// The last statement of a kind in the hashed area.
fn stated<'a, T>(
    signature: &'a Signature,
    pick: impl Fn(&'a SubpacketData) -> Option<T>,
) -> Option<T> {
    let hashed = signature.config()?.hashed_subpackets();
    hashed.filter_map(|subpacket| pick(&subpacket.data)).last()
}

/// When a signature was made, in Unix seconds.
pub(super) fn made_at(signature: &Signature) -> Option<u64> {
    stated(signature, |data| match data {
        SubpacketData::SignatureCreationTime(time) => Some(u64::from(time.as_secs())),
        _ => None,
    })
}

/// Whether a signature has expired at a time, or was made after it.
pub(super) fn is_expired(signature: &Signature, now: u64) -> bool {
    let lifetime = stated(signature, |data| match data {
        SubpacketData::SignatureExpirationTime(time) => Some(u64::from(time.as_secs())),
        _ => None,
    });
    let made_at = made_at(signature).unwrap_or_default();
    made_at > now || lifetime.is_some_and(|lifetime| lifetime > 0 && now > made_at + lifetime)
}

/// How many seconds the key that a self-signature is about lives from its creation on; 0 for ever.
pub(super) fn key_lifetime(self_signature: &Signature) -> u64 {
    let lifetime = stated(self_signature, |data| match data {
        SubpacketData::KeyExpirationTime(time) => Some(u64::from(time.as_secs())),
        _ => None,
    });
    lifetime.unwrap_or_default()
}

/// Whether a self-signature says that its key is one to sign data with. Without key flags it is not.
pub(super) fn may_sign(self_signature: &Signature) -> bool {
    let flags = stated(self_signature, |data| match data {
        SubpacketData::KeyFlags(flags) => Some(flags.sign()),
        _ => None,
    });
    flags.unwrap_or_default()
}

/// Whether a notation must be understood; none is.
pub(super) fn has_critical_notation(signature: &Signature) -> bool {
    signature.config().is_some_and(|config| {
        config.hashed_subpackets().any(|subpacket| {
            subpacket.is_critical && matches!(subpacket.data, SubpacketData::Notation(_))
        })
    })
}

/// The ID of the key that a signature says it is by: of several statements the last.
pub(super) fn issuer(signature: &Signature) -> Option<KeyId> {
    let config = signature.config()?;
    let subpackets = config
        .hashed_subpackets()
        .chain(config.unhashed_subpackets());
    let ids = subpackets.filter_map(|subpacket| match &subpacket.data {
        SubpacketData::IssuerKeyId(id) => Some(*id),
        SubpacketData::IssuerFingerprint(fingerprint) => key_id_of(fingerprint),
        _ => None,
    });
    ids.last()
}

/// The key ID is the end of the fingerprint in version 4.
fn key_id_of(fingerprint: &Fingerprint) -> Option<KeyId> {
    let end = fingerprint.as_bytes().last_chunk::<8>()?;
    Some(KeyId::from(*end))
}

/// A key ID or a fingerprint as people know it.
pub(super) fn upper_hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|byte| format!("{byte:02X}"))
        .collect::<Vec<_>>()
        .concat()
}

/// The key IDs that the signatures in a file name, as far as it can be read.
pub(super) fn issuers(signatures: &[u8]) -> Vec<String> {
    let mut issuers = Vec::new();
    for packet in packets(signatures).map_while(Result::ok) {
        let Packet::Signature(signature) = packet else {
            break;
        };
        let id = issuer(&signature).map(|id| upper_hex(id.as_ref()));
        issuers.extend(id.filter(|id| !issuers.contains(id)));
    }
    issuers
}
