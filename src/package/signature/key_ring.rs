//! The keys of one armor block.

use pgp::armor::BlockType;
use pgp::packet::{Packet, PublicKey};
use pgp::types::{KeyDetails, KeyId};

use crate::package::signature::certificate::{OpenPgpCertificate, Subkey};
use crate::package::signature::packets::{MalformedPacket, dearmor, may_sign, packets};
use crate::package::signature::{KeyFault, MAX_ARMOR_BYTES};

#[derive(Debug)]
pub(super) struct KeyRing {
    certificates: Vec<OpenPgpCertificate>,
}

/// A key that can sign data.
#[derive(Clone, Copy, Debug)]
pub(super) enum DataSigningKey<'a> {
    Primary(&'a OpenPgpCertificate),
    Subkey(&'a OpenPgpCertificate, &'a Subkey),
}

impl KeyRing {
    /// Reads the first armor block. Keys that are incomplete or have an incorrect self-signature are ignored.
    pub(super) fn read(armor: &str) -> Result<Self, KeyFault> {
        if armor.len() > MAX_ARMOR_BYTES {
            return Err(KeyFault::TooLarge { size: armor.len() });
        }
        let (block, content) = dearmor(armor).ok_or(KeyFault::Armor)?;
        if !matches!(block, BlockType::PublicKey | BlockType::PrivateKey) {
            return Err(KeyFault::OtherBlock);
        }
        let blocks = split(packets(&content)).into_iter();
        let certificates: Vec<_> = blocks
            .filter_map(|block| OpenPgpCertificate::read(block.primary, block.packets.ok()?).ok())
            .collect();
        if certificates.is_empty() {
            return Err(KeyFault::NoKey);
        }
        Ok(Self { certificates })
    }

    #[cfg(test)]
    pub(super) fn fingerprints(&self) -> Vec<String> {
        use crate::package::signature::packets::upper_hex;

        self.certificates
            .iter()
            .map(|certificate| upper_hex(certificate.primary.fingerprint().as_bytes()))
            .collect()
    }

    /// Returns the IDs of all keys that may sign data.
    #[cfg(test)]
    pub(super) fn signing_key_ids(&self) -> Vec<String> {
        use crate::package::signature::packets::upper_hex;

        let certificates = self.certificates.iter();
        let ids = certificates.flat_map(|certificate| {
            let primary = certificate.primary.legacy_key_id();
            let subkeys = certificate.subkeys.iter();
            std::iter::once(primary).chain(subkeys.map(|subkey| subkey.key.legacy_key_id()))
        });
        ids.filter(|id| !self.signing_keys(*id).is_empty())
            .map(|id| upper_hex(id.as_ref()))
            .collect()
    }

    /// Returns the keys with this ID that may sign data, in the order of the armor block.
    pub(super) fn signing_keys(&self, id: KeyId) -> Vec<DataSigningKey<'_>> {
        let mut keys = Vec::new();
        for certificate in &self.certificates {
            if certificate.primary.legacy_key_id() == id
                && may_sign(&certificate.identity.certification)
            {
                keys.push(DataSigningKey::Primary(certificate));
            }
            for subkey in &certificate.subkeys {
                if subkey.key.legacy_key_id() == id && may_sign(&subkey.binding) {
                    keys.push(DataSigningKey::Subkey(certificate, subkey));
                }
            }
        }
        keys
    }
}

/// A primary key and the packets up to the next primary key. `packets` is an error if one of them cannot be parsed.
struct RawCertificate {
    primary: PublicKey,
    packets: Result<Vec<Packet>, MalformedPacket>,
}

fn split(packets: impl Iterator<Item = Result<Packet, MalformedPacket>>) -> Vec<RawCertificate> {
    let mut blocks: Vec<RawCertificate> = Vec::new();
    for packet in packets {
        let primary = match &packet {
            Ok(Packet::PublicKey(key)) => Some(key.clone()),
            Ok(Packet::SecretKey(key)) => Some(key.public_key().clone()),
            _ => None,
        };
        if let Some(primary) = primary {
            let packets = Ok(Vec::new());
            blocks.push(RawCertificate { primary, packets });
        } else if let Some(block) = blocks.last_mut() {
            match (packet, &mut block.packets) {
                (Ok(packet), Ok(packets)) => packets.push(packet),
                (Err(MalformedPacket), packets) => *packets = Err(MalformedPacket),
                (Ok(_), Err(MalformedPacket)) => {}
            }
        }
    }
    blocks
}
