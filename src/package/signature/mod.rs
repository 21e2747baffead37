//! Verifies detached OpenPGP signatures of checksum lists by the rules of Terraform and OpenTofu.
//!
//! The registry sends armored keys with the list. A signature therefore protects against attackers between the registry and the
//! user, but not against the registry. The `pgp` crate provides the cryptography. The rules for valid signatures are those of
//! ProtonMail's go-crypto, which both engines use:
//!
//! - Keys are tried in order, and only the first armor block of each is read. An invalid key is an error. A key that did not issue
//!   the signature is skipped. If a key issued the signature but cannot verify it, this is an error.
//! - The signature file is binary. If it contains several signatures, the first one issued by one of the key's signing keys is
//!   verified. Signatures with unsupported algorithms (MD5, RIPEMD-160) are skipped.
//! - A revoked key is an error. Terraform accepts a key that has expired or was created in the future, but rejects a signature that
//!   has expired or was created in the future. In both cases, OpenTofu tries later keys instead. If none of them verifies the
//!   signature, OpenTofu accepts it with a warning, or rejects it if `OPENTOFU_ENFORCE_GPG_EXPIRATION=true` is set.

mod certificate;
mod check;
mod error;
mod key_ring;
mod lapse;
mod packets;
#[cfg(test)]
pub(crate) mod tests;
mod tier;
mod verify;

use std::time::SystemTime;

pub use error::{KeyFault, SignatureError, SignatureFault};
pub use lapse::{Lapse, LapsedPart, ValidityPeriod};
pub use tier::Tier;

use crate::package::signature::check::{CheckError, CheckedSignature, check};
use crate::package::signature::key_ring::KeyRing;
use crate::provider::Engine;

/// A signing key in a registry's response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SigningKey {
    pub ascii_armor: String,
    /// The trust signature: HashiCorp's armored signature of the key if the signer is a partner, otherwise empty.
    pub trust_signature: String,
}

/// The requirements on a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignaturePolicy {
    pub engine: Engine,
    /// The time at which keys and signatures must be valid.
    pub now: SystemTime,
    /// Whether the registry may omit keys. True only if OpenTofu uses its default registry.
    pub keys_optional: bool,
    /// `OPENTOFU_ENFORCE_GPG_VALIDATION=true`: missing keys are an error even if `keys_optional` is set.
    pub enforce_validation: bool,
    /// `OPENTOFU_ENFORCE_GPG_EXPIRATION=true`: expired keys and signatures are errors.
    pub enforce_expiration: bool,
}

impl SignaturePolicy {
    /// Whether verification is skipped, because there are no keys and they are optional.
    pub fn skips(&self, keys: &[SigningKey]) -> bool {
        keys.is_empty() && self.keys_optional && !self.enforce_validation
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signer {
    /// The key ID of the primary key: 16 upper-case hexadecimal digits, as Terraform displays it.
    pub key_id: String,
    /// The fingerprint of the primary key in upper-case hexadecimal digits.
    pub fingerprint: String,
    pub tier: Tier,
    /// The creation time stated in the signature.
    pub signed_at: SystemTime,
    /// Why the signature is not currently valid, although the engine accepts it.
    pub lapse: Option<Lapse>,
}

/// The maximum number of keys that a registry may send. Registries send one or two.
pub const MAX_KEYS: usize = 32;

/// The maximum size of an armored key or trust signature in bytes. Keys with many certifications have tens of thousands.
pub const MAX_ARMOR_BYTES: usize = 256 << 10;

/// The maximum size of a signature file in bytes. A signature has a few hundred.
pub const MAX_SIGNATURE_BYTES: usize = 64 << 10;

/// Verifies `signature` over `list` with the first of `keys` that issued it.
pub fn verify_signature(
    list: &[u8],
    signature: &[u8],
    keys: &[SigningKey],
    policy: &SignaturePolicy,
) -> Result<Signer, SignatureError> {
    check_limits(signature, keys)?;
    let mut lapsed = None;
    for (index, key) in keys.iter().enumerate() {
        let ring = KeyRing::read(&key.ascii_armor).map_err(|fault| SignatureError::Key {
            number: index + 1,
            count: keys.len(),
            fault,
        })?;
        let checked = match check(&ring, list, signature, policy.now) {
            Ok(checked) => checked,
            Err(CheckError::UnknownIssuer) => continue,
            Err(CheckError::Fault(fault)) => return Err(SignatureError::Invalid(fault)),
        };
        let Some(lapse) = checked.lapse else {
            return signer(&checked, key, list, signature, policy);
        };
        match policy.engine {
            Engine::Terraform if lapse.part == LapsedPart::Key => {
                return signer(&checked, key, list, signature, policy);
            }
            Engine::Terraform => {
                return Err(SignatureError::NotValid {
                    key_id: checked.key_id(),
                    lapse,
                    now: policy.now,
                });
            }
            Engine::Tofu if lapsed.is_none() => {
                let signer = signer(&checked, key, list, signature, policy)?;
                lapsed = Some((signer, lapse));
            }
            Engine::Tofu => {}
        }
    }
    match lapsed {
        Some((signer, lapse)) if policy.enforce_expiration => Err(SignatureError::Enforced {
            key_id: signer.key_id,
            lapse,
            now: policy.now,
        }),
        Some((signer, _)) => Ok(signer),
        None => Err(SignatureError::UnknownIssuer {
            issuers: packets::issuers(signature),
            keys: keys.len(),
        }),
    }
}

fn check_limits(signature: &[u8], keys: &[SigningKey]) -> Result<(), SignatureError> {
    if keys.len() > MAX_KEYS {
        return Err(SignatureError::TooManyKeys { count: keys.len() });
    }
    if signature.len() > MAX_SIGNATURE_BYTES {
        return Err(SignatureError::SignatureTooLarge {
            size: signature.len(),
        });
    }
    Ok(())
}

fn signer(
    checked: &CheckedSignature<'_>,
    key: &SigningKey,
    list: &[u8],
    signature: &[u8],
    policy: &SignaturePolicy,
) -> Result<Signer, SignatureError> {
    let tier = match tier::tier(key, list, signature, policy.now) {
        Ok(tier) => tier,
        // OpenTofu has no tiers and ignores the trust signature.
        Err(_) if policy.engine == Engine::Tofu => Tier::SelfSigned,
        Err(fault) => {
            return Err(SignatureError::Trust {
                key_id: checked.key_id(),
                fault,
            });
        }
    };
    Ok(Signer {
        key_id: checked.key_id(),
        fingerprint: checked.fingerprint(),
        tier,
        signed_at: checked.signed_at(),
        lapse: checked.lapse,
    })
}
