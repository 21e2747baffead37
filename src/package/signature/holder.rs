//! A primary key with its user IDs, sub-keys and revocations, all self-signatures verified.
//!
//! Signatures of others are passed over. A single wrong self-signature spoils the whole key.

use std::cmp::Reverse;

use pgp::packet::{
    Packet, PublicKey, PublicSubkey, RevocationCode, Signature, SignatureType, UserId,
};
use pgp::types::KeyDetails;

use crate::package::signature::packets::{Malformed, is_expired, made_at, may_sign};
use crate::package::signature::verify::{
    binds, certifies, is_bound_back, revokes_key, unsupported_curve,
};

/// A primary key and what belongs to it.
#[derive(Debug)]
pub(super) struct Holder {
    pub(super) primary: PublicKey,
    pub(super) revocations: Vec<Signature>,
    /// The user ID that speaks for the key.
    pub(super) identity: Identity,
    pub(super) subkeys: Vec<Subkey>,
}

/// A user ID with its self-signatures.
#[derive(Debug)]
pub(super) struct Identity {
    id: UserId,
    /// The newest certification.
    pub(super) certification: Signature,
    pub(super) revocations: Vec<Signature>,
}

/// A sub-key with the signatures that bind it.
#[derive(Debug)]
pub(super) struct Subkey {
    pub(super) key: PublicSubkey,
    /// The newest binding.
    pub(super) binding: Signature,
    pub(super) revocations: Vec<Signature>,
}

impl Holder {
    /// Reads the packets that follow a primary key, up to the next one.
    pub(super) fn read(primary: PublicKey, packets: Vec<Packet>) -> Result<Self, Malformed> {
        let mut identities: Vec<Identity> = Vec::new();
        let mut subkeys = Vec::new();
        let mut revocations = Vec::new();
        let mut packets = packets.into_iter().peekable();
        // Signatures belong to the packet before them; those at the start to the primary key itself.
        revocations.extend(key_revocations(&primary, signatures(&mut packets))?);
        while let Some(packet) = packets.next() {
            let signatures = signatures(&mut packets);
            match packet {
                Packet::UserId(id) => {
                    let identity = Identity::read(&primary, id, signatures)?;
                    identities
                        .retain(|other| Some(&other.id) != identity.as_ref().map(|new| &new.id));
                    identities.extend(identity);
                }
                Packet::PublicSubkey(key) => subkeys.push(Subkey::read(&primary, key, signatures)?),
                Packet::SecretSubkey(key) => {
                    let key = key.public_key().clone();
                    subkeys.push(Subkey::read(&primary, key, signatures)?);
                }
                _ => revocations.extend(key_revocations(&primary, signatures)?),
            }
        }
        let identity = identities.into_iter().reduce(preferred).ok_or(Malformed)?;
        Ok(Self {
            primary,
            revocations,
            identity,
            subkeys,
        })
    }
}

/// The signatures that come next.
fn signatures(packets: &mut std::iter::Peekable<std::vec::IntoIter<Packet>>) -> Vec<Signature> {
    let mut signatures = Vec::new();
    while let Some(packet) = packets.next_if(|next| matches!(next, Packet::Signature(_))) {
        if let Packet::Signature(signature) = packet {
            signatures.push(signature);
        }
    }
    signatures
}

/// The revocations among signatures directly on the key. Others do not matter here.
fn key_revocations(
    primary: &PublicKey,
    signatures: Vec<Signature>,
) -> Result<Vec<Signature>, Malformed> {
    let mut revocations = Vec::new();
    for signature in signatures {
        if signature.typ() == Some(SignatureType::KeyRevocation) {
            require(is_unsupported(primary) || revokes_key(&signature, primary))?;
            revocations.push(signature);
        }
    }
    Ok(revocations)
}

impl Identity {
    /// Nothing if there is no self-signature.
    fn read(
        primary: &PublicKey,
        id: UserId,
        signatures: Vec<Signature>,
    ) -> Result<Option<Self>, Malformed> {
        let mut certification: Option<Signature> = None;
        let mut revocations = Vec::new();
        for signature in signatures {
            if !is_by(&signature, primary) {
                continue;
            }
            require(is_unsupported(primary) || certifies(&signature, primary, &id))?;
            if signature.typ() == Some(SignatureType::CertRevocation) {
                revocations.push(signature);
            } else if is_newer(&signature, certification.as_ref()) {
                certification = Some(signature);
            }
        }
        Ok(certification.map(|certification| Self {
            id,
            certification,
            revocations,
        }))
    }
}

/// Of two user IDs the one that speaks for the key: less revoked, marked as primary, newer.
fn preferred(one: Identity, other: Identity) -> Identity {
    let rank = |identity: &Identity| {
        let certification = &identity.certification;
        (
            Reverse(identity.revocations.len()),
            certification.is_primary(),
            made_at(certification),
        )
    };
    if rank(&other) > rank(&one) {
        other
    } else {
        one
    }
}

impl Subkey {
    /// A sub-key that may sign must agree to its binding.
    fn read(
        primary: &PublicKey,
        key: PublicSubkey,
        signatures: Vec<Signature>,
    ) -> Result<Self, Malformed> {
        let mut binding: Option<Signature> = None;
        let mut revocations = Vec::new();
        for signature in signatures {
            require(is_unsupported(primary) || binds(&signature, primary, &key))?;
            if signature.typ() == Some(SignatureType::SubkeyRevocation) {
                revocations.push(signature);
                continue;
            }
            let agrees = !may_sign(&signature) || is_bound_back(&signature, primary, &key);
            require(agrees || is_unsupported(&key))?;
            if is_newer(&signature, binding.as_ref()) {
                binding = Some(signature);
            }
        }
        let binding = binding.ok_or(Malformed)?;
        Ok(Self {
            key,
            binding,
            revocations,
        })
    }
}

fn require(holds: bool) -> Result<(), Malformed> {
    holds.then_some(()).ok_or(Malformed)
}

fn is_newer(signature: &Signature, than: Option<&Signature>) -> bool {
    than.is_none_or(|than| made_at(signature) > made_at(than))
}

/// Whether a signature says it is by this key.
fn is_by(signature: &Signature, key: &PublicKey) -> bool {
    if let Some(fingerprint) = signature.issuer_fingerprint().last() {
        return **fingerprint == key.fingerprint();
    }
    let id = key.legacy_key_id();
    signature
        .issuer_key_id()
        .last()
        .is_some_and(|issuer| **issuer == id)
}

/// Nothing can be verified for such a key. It is kept, so that the error can name its curve when it is needed.
fn is_unsupported(key: &impl KeyDetails) -> bool {
    unsupported_curve(key).is_some()
}

/// Whether any of the revocations counts at a time: those for a compromised key always do.
pub(super) fn is_revoked(revocations: &[Signature], now: u64) -> bool {
    revocations.iter().any(|revocation| {
        revocation.revocation_reason_code() == Some(&RevocationCode::KeyCompromised)
            || !is_expired(revocation, now)
    })
}
