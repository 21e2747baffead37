//! Verifies signatures with the `pgp` crate, but without two of its restrictions, which Terraform and OpenTofu do not have:
//!
//! - On secp256k1, every signature (r, s) has an equivalent signature (r, n - s). The crate accepts only the one with the lower s,
//!   which is a rule of Bitcoin but not of OpenPGP. About half of the signatures that `gpg` creates have the higher s.
//! - The crate rejects signatures on elliptic curves if the digest is shorter than the curve (Ed25519 with SHA-1).

use std::io;

use pgp::crypto::hash::HashAlgorithm;
use pgp::crypto::public_key::PublicKeyAlgorithm;
use pgp::errors::Result;
use pgp::packet::{PublicKey, PublicSubkey, Signature, UserId};
use pgp::ser::Serialize;
use pgp::types::{
    EcdsaPublicParams, EddsaLegacyPublicParams, Fingerprint, KeyDetails, KeyId, KeyVersion, Mpi,
    PublicParams, SignatureBytes, Tag, Timestamp, VerifyingKey,
};

/// Whether `key` issued a signature over `data`.
pub(super) fn signs_data(signature: &Signature, key: &impl VerifyingKey, data: &[u8]) -> bool {
    signature.verify(&LenientKey(key), data).is_ok()
}

/// Whether a primary key issued its own revocation.
pub(super) fn revokes_key(signature: &Signature, primary: &PublicKey) -> bool {
    signature.verify_key(&LenientKey(primary)).is_ok()
}

/// Whether the primary key issued the certification of a user ID, or the revocation of that certification.
pub(super) fn certifies(signature: &Signature, primary: &PublicKey, id: &UserId) -> bool {
    signature
        .verify_certification(&LenientKey(primary), Tag::UserId, id)
        .is_ok()
}

/// Whether the primary key issued the binding of a subkey, or the revocation of that binding.
pub(super) fn binds(signature: &Signature, primary: &PublicKey, subkey: &PublicSubkey) -> bool {
    signature
        .verify_subkey_binding(&LenientKey(primary), subkey)
        .is_ok()
}

/// Whether a binding contains a signature by the subkey, which proves that the subkey's owner agreed to the binding.
pub(super) fn is_bound_back(
    binding: &Signature,
    primary: &PublicKey,
    subkey: &PublicSubkey,
) -> bool {
    binding.embedded_signature().is_some_and(|back| {
        back.verify_primary_key_binding(&LenientKey(subkey), primary)
            .is_ok()
    })
}

/// Returns the name of a key's curve if the `pgp` crate does not support it.
pub(super) fn unsupported_curve(key: &impl KeyDetails) -> Option<String> {
    match key.public_params() {
        PublicParams::ECDSA(EcdsaPublicParams::Unsupported { curve, .. })
        | PublicParams::EdDSALegacy(EddsaLegacyPublicParams::Unsupported { curve, .. }) => {
            Some(curve.name().to_owned())
        }
        _ => None,
    }
}

/// The algorithm to pass to the crate for elliptic curves, where the crate uses it only to check the strength of the digest.
const STRONG: HashAlgorithm = HashAlgorithm::Sha512;

/// Wraps a key. Verifies all signatures that Terraform and OpenTofu accept.
#[derive(Debug)]
struct LenientKey<'a, K>(&'a K);

impl<K: VerifyingKey> VerifyingKey for LenientKey<'_, K> {
    fn verify(&self, hash: HashAlgorithm, digest: &[u8], signature: &SignatureBytes) -> Result<()> {
        match self.0.public_params() {
            PublicParams::ECDSA(params) => {
                let twin = match params {
                    EcdsaPublicParams::Secp256k1 { .. } => low_s_twin(signature),
                    _ => None,
                };
                let signature = twin.as_ref().unwrap_or(signature);
                self.0.verify(STRONG, digest, signature)
            }
            PublicParams::EdDSALegacy(_) | PublicParams::Ed25519(_) | PublicParams::Ed448(_) => {
                self.0.verify(STRONG, digest, signature)
            }
            _ => self.0.verify(hash, digest, signature),
        }
    }
}

/// The order of the secp256k1 group (SEC 2, section 2.4.1).
const ORDER: [u8; 32] = [
    0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,
    0xba, 0xae, 0xdc, 0xe6, 0xaf, 0x48, 0xa0, 0x3b, 0xbf, 0xd2, 0x5e, 0x8c, 0xd0, 0x36, 0x41, 0x41,
];

/// Converts a signature with a high s to the equivalent one with a low s.
fn low_s_twin(signature: &SignatureBytes) -> Option<SignatureBytes> {
    let SignatureBytes::Mpis(numbers) = signature else {
        return None;
    };
    let [r, s] = numbers.as_slice() else {
        return None;
    };
    let low = negated(s.as_ref())?;
    Some(SignatureBytes::Mpis(vec![r.clone(), Mpi::from_slice(&low)]))
}

/// Computes n - s. `None` if the result is not less than s.
fn negated(s: &[u8]) -> Option<[u8; 32]> {
    let mut padded = [0; 32];
    padded[32_usize.checked_sub(s.len())?..].copy_from_slice(s);
    let mut difference = [0; 32];
    let mut borrow = false;
    for at in (0..32).rev() {
        let (partial, one) = ORDER[at].overflowing_sub(padded[at]);
        let (digit, two) = partial.overflowing_sub(u8::from(borrow));
        difference[at] = digit;
        borrow = one || two;
    }
    (!borrow && difference < padded).then_some(difference)
}

impl<K: KeyDetails> KeyDetails for LenientKey<'_, K> {
    fn version(&self) -> KeyVersion {
        self.0.version()
    }

    fn legacy_key_id(&self) -> KeyId {
        self.0.legacy_key_id()
    }

    fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint()
    }

    fn algorithm(&self) -> PublicKeyAlgorithm {
        self.0.algorithm()
    }

    fn created_at(&self) -> Timestamp {
        self.0.created_at()
    }

    fn legacy_v3_expiration_days(&self) -> Option<u16> {
        self.0.legacy_v3_expiration_days()
    }

    fn public_params(&self) -> &PublicParams {
        self.0.public_params()
    }
}

impl<K: Serialize> Serialize for LenientKey<'_, K> {
    fn to_writer<W: io::Write>(&self, writer: &mut W) -> Result<()> {
        self.0.to_writer(writer)
    }

    fn write_len(&self) -> usize {
        self.0.write_len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_the_upper_half_are_negated() {
        let mut one = [0; 32];
        one[31] = 1;
        let mut last = ORDER;
        last[31] -= 1;
        assert_eq!(negated(&last), Some(one));
        assert_eq!(negated(&one), None, "already low");
        assert_eq!(negated(&[1]), None, "a short number");
        assert_eq!(negated(&[0xff; 32]), None, "no number below the order");
        assert_eq!(negated(&[1; 33]), None);
        // The negation of (n + 1) / 2 is (n - 1) / 2.
        let mut half = ORDER;
        half[31] -= 1;
        let mut carry = 0;
        for byte in &mut half {
            (*byte, carry) = (*byte >> 1 | carry << 7, *byte & 1);
        }
        let mut above = half;
        above[31] += 1;
        assert_eq!(negated(&above), Some(half));
        assert_eq!(negated(&half), None);
    }
}
