//! The keys of one armor block.

use pgp::armor::BlockType;
use pgp::packet::{Packet, PublicKey};
use pgp::types::{KeyDetails, KeyId};

use crate::package::signature::holder::{Holder, Subkey};
use crate::package::signature::packets::{Malformed, dearmor, may_sign, packets};
use crate::package::signature::{KeyFault, MAX_ARMOR_BYTES};

/// The keys that a registry sends as one.
#[derive(Debug)]
pub(super) struct Ring {
    holders: Vec<Holder>,
}

/// A key that can sign data.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part<'a> {
    Primary(&'a Holder),
    Subkey(&'a Holder, &'a Subkey),
}

impl Ring {
    /// Reads the first armor block. Keys that are incomplete or have a wrong self-signature are left out.
    pub(super) fn read(armor: &str) -> Result<Self, KeyFault> {
        if armor.len() > MAX_ARMOR_BYTES {
            return Err(KeyFault::TooLarge { size: armor.len() });
        }
        let (block, content) = dearmor(armor).ok_or(KeyFault::Armor)?;
        if !matches!(block, BlockType::PublicKey | BlockType::PrivateKey) {
            return Err(KeyFault::OtherBlock);
        }
        let blocks = split(packets(&content)).into_iter();
        let holders: Vec<_> = blocks
            .filter_map(|block| Holder::read(block.primary, block.packets.ok()?).ok())
            .collect();
        if holders.is_empty() {
            return Err(KeyFault::NoKey);
        }
        Ok(Self { holders })
    }

    /// The fingerprints of the primary keys.
    #[cfg(test)]
    pub(super) fn fingerprints(&self) -> Vec<String> {
        let keys = self
            .holders
            .iter()
            .map(|holder| holder.primary.fingerprint());
        keys.map(|fingerprint| {
            crate::package::signature::packets::upper_hex(fingerprint.as_bytes())
        })
        .collect()
    }

    /// The keys with an ID that may sign data, in the order of the armor.
    pub(super) fn signing_parts(&self, id: KeyId) -> Vec<Part<'_>> {
        let mut parts = Vec::new();
        for holder in &self.holders {
            if holder.primary.legacy_key_id() == id && may_sign(&holder.identity.certification) {
                parts.push(Part::Primary(holder));
            }
            for subkey in &holder.subkeys {
                if subkey.key.legacy_key_id() == id && may_sign(&subkey.binding) {
                    parts.push(Part::Subkey(holder, subkey));
                }
            }
        }
        parts
    }
}

/// One primary key and the packets up to the next, if all of them can be read.
struct Block {
    primary: PublicKey,
    packets: Result<Vec<Packet>, Malformed>,
}

fn split(packets: impl Iterator<Item = Result<Packet, Malformed>>) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for packet in packets {
        let primary = match &packet {
            Ok(Packet::PublicKey(key)) => Some(key.clone()),
            Ok(Packet::SecretKey(key)) => Some(key.public_key().clone()),
            _ => None,
        };
        if let Some(primary) = primary {
            let packets = Ok(Vec::new());
            blocks.push(Block { primary, packets });
        } else if let Some(block) = blocks.last_mut() {
            match (packet, &mut block.packets) {
                (Ok(packet), Ok(packets)) => packets.push(packet),
                (Err(Malformed), packets) => *packets = Err(Malformed),
                (Ok(_), Err(Malformed)) => {}
            }
        }
    }
    blocks
}
