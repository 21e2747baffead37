//! An OpenPGP certificate: a primary key with its user IDs, subkeys and revocations.
//!
//! All self-signatures are verified. A single incorrect one makes the whole certificate invalid. Signatures made by other keys are
//! ignored.

use std::cmp::Reverse;

use pgp::packet::{
    Packet, PublicKey, PublicSubkey, RevocationCode, Signature, SignatureType, UserId,
};
use pgp::types::KeyDetails;

use crate::package::signature::packets::{MalformedPacket, created_at, lapsed_period, may_sign};
use crate::package::signature::verify::{
    binds, certifies, is_bound_back, revokes_key, unsupported_curve,
};

/// A primary key with its subkeys and its preferred user ID.
#[derive(Debug)]
pub(super) struct OpenPgpCertificate {
    pub(super) primary: PublicKey,
    pub(super) revocations: Vec<Signature>,
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

/// A subkey with the signatures that bind it.
#[derive(Debug)]
pub(super) struct Subkey {
    pub(super) key: PublicSubkey,
    /// The newest binding.
    pub(super) binding: Signature,
    pub(super) revocations: Vec<Signature>,
}

impl OpenPgpCertificate {
    /// Reads a certificate from its primary key and the packets up to the next primary key.
    pub(super) fn read(primary: PublicKey, packets: Vec<Packet>) -> Result<Self, MalformedPacket> {
        let mut identities: Vec<Identity> = Vec::new();
        let mut subkeys = Vec::new();
        let mut revocations = Vec::new();
        let mut packets = packets.into_iter().peekable();
        // Signatures apply to the packet before them; those at the beginning apply to the primary key.
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
        let identity = identities
            .into_iter()
            .reduce(preferred)
            .ok_or(MalformedPacket)?;
        Ok(Self {
            primary,
            revocations,
            identity,
            subkeys,
        })
    }
}

/// Takes all signatures up to the next packet of a different kind.
fn signatures(packets: &mut std::iter::Peekable<std::vec::IntoIter<Packet>>) -> Vec<Signature> {
    let mut signatures = Vec::new();
    while let Some(packet) = packets.next_if(|next| matches!(next, Packet::Signature(_))) {
        if let Packet::Signature(signature) = packet {
            signatures.push(signature);
        }
    }
    signatures
}

/// Verifies and returns the key's revocations. Other signatures are ignored.
fn key_revocations(
    primary: &PublicKey,
    signatures: Vec<Signature>,
) -> Result<Vec<Signature>, MalformedPacket> {
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
    /// Reads a user ID. `None` if it has no self-signature.
    fn read(
        primary: &PublicKey,
        id: UserId,
        signatures: Vec<Signature>,
    ) -> Result<Option<Self>, MalformedPacket> {
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

/// Returns the preferred one of two user IDs. Fewer revocations come first, then the mark as primary user ID, then a newer
/// certification.
fn preferred(one: Identity, other: Identity) -> Identity {
    let rank = |identity: &Identity| {
        let certification = &identity.certification;
        (
            Reverse(identity.revocations.len()),
            certification.is_primary(),
            created_at(certification),
        )
    };
    if rank(&other) > rank(&one) {
        other
    } else {
        one
    }
}

impl Subkey {
    /// Reads a subkey. A binding that permits signing must contain a signature made by the subkey.
    fn read(
        primary: &PublicKey,
        key: PublicSubkey,
        signatures: Vec<Signature>,
    ) -> Result<Self, MalformedPacket> {
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
        let binding = binding.ok_or(MalformedPacket)?;
        Ok(Self {
            key,
            binding,
            revocations,
        })
    }
}

fn require(holds: bool) -> Result<(), MalformedPacket> {
    holds.then_some(()).ok_or(MalformedPacket)
}

fn is_newer(signature: &Signature, than: Option<&Signature>) -> bool {
    than.is_none_or(|than| created_at(signature) > created_at(than))
}

/// Whether a signature names this key as its issuer.
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

/// Whether the key's curve is unsupported, which means that its signatures cannot be verified. Such keys are retained, so that an
/// error can name the curve.
fn is_unsupported(key: &impl KeyDetails) -> bool {
    unsupported_curve(key).is_some()
}

/// Whether a revocation is in effect at `now`, in Unix seconds. A revocation because of a compromised key is always in effect.
pub(super) fn is_revoked(revocations: &[Signature], now: u64) -> bool {
    revocations.iter().any(|revocation| {
        revocation.revocation_reason_code() == Some(&RevocationCode::KeyCompromised)
            || lapsed_period(revocation, now).is_none()
    })
}
