//! Parses OpenPGP packets and signature subpackets.
//!
//! Only signatures of version 4 with algorithms that Terraform and OpenTofu support are read; others are skipped. Subpackets must be in
//! the hashed area, which the signature protects. The issuer is an exception, because it is only a hint.

use std::io::{BufReader, Read as _};

use pgp::armor::{BlockType, Dearmor, DearmorOptions};
use pgp::crypto::hash::HashAlgorithm;
use pgp::crypto::public_key::PublicKeyAlgorithm;
use pgp::errors::Error;
use pgp::packet::{Packet, PacketParser, Signature, SignatureVersion, SubpacketData};
use pgp::types::{Fingerprint, KeyId};

use crate::package::signature::MAX_ARMOR_BYTES;
use crate::package::signature::lapse::ValidityPeriod;

/// Decodes the first armor block into its type and content.
pub(super) fn dearmor(armor: &str) -> Option<(BlockType, Vec<u8>)> {
    let options = DearmorOptions::new().set_limit(MAX_ARMOR_BYTES);
    let mut reader = Dearmor::with_options(BufReader::new(armor.as_bytes()), options);
    reader.read_header().ok()?;
    let block = reader.typ?;
    let mut content = Vec::new();
    reader.read_to_end(&mut content).ok()?;
    Some((block, content))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct MalformedPacket;

/// Parses packets, except those that Terraform and OpenTofu skip.
pub(super) fn packets(bytes: &[u8]) -> impl Iterator<Item = Result<Packet, MalformedPacket>> {
    PacketParser::new(bytes).filter_map(|packet| match packet {
        Ok(Packet::Signature(signature)) if !is_known(&signature) => None,
        Ok(packet) => Some(Ok(packet)),
        Err(Error::Unsupported { .. }) => None,
        Err(_) => Some(Err(MalformedPacket)),
    })
}

/// Whether Terraform and OpenTofu support the version, the algorithms and the critical subpackets of a signature.
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

/// Returns the last value that `pick` extracts from a subpacket in the hashed area.
fn last_subpacket<'a, T>(
    signature: &'a Signature,
    pick: impl Fn(&'a SubpacketData) -> Option<T>,
) -> Option<T> {
    signature
        .config()?
        .hashed_subpackets()
        .filter_map(|subpacket| pick(&subpacket.data))
        .last()
}

/// Returns the creation time of a signature in Unix seconds.
pub(super) fn created_at(signature: &Signature) -> Option<u64> {
    last_subpacket(signature, |data| match data {
        SubpacketData::SignatureCreationTime(time) => Some(u64::from(time.as_secs())),
        _ => None,
    })
}

/// Returns the limit of a signature's validity period that is violated at `now`, or `None` if the signature is valid.
pub(super) fn lapsed_period(signature: &Signature, now: u64) -> Option<ValidityPeriod> {
    let lifetime = last_subpacket(signature, |data| match data {
        SubpacketData::SignatureExpirationTime(time) => Some(u64::from(time.as_secs())),
        _ => None,
    });
    let created_at = created_at(signature).unwrap_or_default();
    ValidityPeriod::without(now, created_at, lifetime.unwrap_or_default())
}

/// Returns the lifetime in a key's self-signature, in seconds after the creation of the key. 0 means unlimited.
pub(super) fn key_lifetime(self_signature: &Signature) -> u64 {
    let lifetime = last_subpacket(self_signature, |data| match data {
        SubpacketData::KeyExpirationTime(time) => Some(u64::from(time.as_secs())),
        _ => None,
    });
    lifetime.unwrap_or_default()
}

/// Whether the key flags in a self-signature permit the key to sign data. `false` if there are no key flags.
pub(super) fn may_sign(self_signature: &Signature) -> bool {
    let flags = last_subpacket(self_signature, |data| match data {
        SubpacketData::KeyFlags(flags) => Some(flags.sign()),
        _ => None,
    });
    flags.unwrap_or_default()
}

/// Whether a signature has a critical notation. Verifiers must reject those that they do not support, and tflock supports none.
pub(super) fn has_critical_notation(signature: &Signature) -> bool {
    signature.config().is_some_and(|config| {
        config.hashed_subpackets().any(|subpacket| {
            subpacket.is_critical && matches!(subpacket.data, SubpacketData::Notation(_))
        })
    })
}

/// Returns the ID of the key that a signature names as its issuer. The last subpacket takes precedence.
pub(super) fn issuer(signature: &Signature) -> Option<KeyId> {
    let config = signature.config()?;
    config
        .hashed_subpackets()
        .chain(config.unhashed_subpackets())
        .filter_map(|subpacket| match &subpacket.data {
            SubpacketData::IssuerKeyId(id) => Some(*id),
            SubpacketData::IssuerFingerprint(fingerprint) => key_id_of(fingerprint),
            _ => None,
        })
        .last()
}

/// Returns the key ID in a fingerprint: its last 8 bytes in version 4.
fn key_id_of(fingerprint: &Fingerprint) -> Option<KeyId> {
    let end = fingerprint.as_bytes().last_chunk::<8>()?;
    Some(KeyId::from(*end))
}

pub(super) fn upper_hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .map(|byte| format!("{byte:02X}"))
        .collect::<Vec<_>>()
        .concat()
}

/// Returns the issuers' key IDs in the signatures of a file, up to the first malformed packet.
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
