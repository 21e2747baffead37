//! Detached OpenPGP signatures over checksum lists, judged as Terraform and OpenTofu judge them.
//!
//! The registry sends armored keys along with the list, so a signature guards against whoever stands between registry and
//! user, not against the registry. The cryptography is that of the `pgp` crate; what counts as a valid signature is decided
//! here, after ProtonMail's go-crypto, which both tools use:
//!
//! - The keys are tried in their order, and only the first armor block of each is read. A key that is no key is an error;
//!   one that did not issue the signature is passed over; one that did and does not verify it is an error.
//! - The signature file is binary. Of several signatures the first that one of the key's signing parts issued counts.
//!   Signatures of unknown make (MD5, RIPEMD-160) are passed over.
//! - A revoked key is an error. An expired key is accepted, and so is one from the future; an expired signature, or one
//!   from the future, is an error. OpenTofu instead tries later keys in all these cases, and if none of them verifies it
//!   accepts what it has with a warning, or with `OPENTOFU_ENFORCE_GPG_EXPIRATION=true` refuses it.

mod check;
mod error;
mod holder;
mod packets;
mod ring;
#[cfg(test)]
pub(crate) mod tests;
mod tier;
mod verify;

use std::time::SystemTime;

pub use error::{KeyFault, SignatureError, SignatureFault};
pub use tier::Tier;

use crate::package::signature::check::{CheckError, Checked, Validity, check};
use crate::package::signature::ring::Ring;
use crate::provider::Engine;

/// A key as the registry sends it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SigningKey {
    /// The armored public key.
    pub ascii_armor: String,
    /// An armored signature of HashiCorp's over the key, for partners; else empty.
    pub trust_signature: String,
}

/// What is asked of a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignaturePolicy {
    /// The tool whose rules are followed.
    pub engine: Engine,
    /// The time at which keys and signatures must be valid.
    pub now: SystemTime,
    /// The registry is one that may send no keys at all: OpenTofu's own, under engine `tofu`.
    pub keys_optional: bool,
    /// `OPENTOFU_ENFORCE_GPG_VALIDATION=true`: no keys are an error all the same.
    pub enforce_validation: bool,
    /// `OPENTOFU_ENFORCE_GPG_EXPIRATION=true`: what has expired is an error.
    pub enforce_expiration: bool,
}

impl SignaturePolicy {
    /// Whether the signature is not looked at, because there are no keys and none are needed.
    pub fn skips(&self, keys: &[SigningKey]) -> bool {
        keys.is_empty() && self.keys_optional && !self.enforce_validation
    }
}

/// Who signed a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signer {
    /// Key ID of the primary key, as Terraform shows it: 16 upper-case hex digits.
    pub key_id: String,
    /// Fingerprint of the primary key in upper-case hex digits.
    pub fingerprint: String,
    /// How HashiCorp ranks the signer.
    pub tier: Tier,
    /// When the signature says it was made.
    pub signed_at: SystemTime,
    /// What is not as it should be, although the engine accepts it.
    pub lapse: Option<Lapse>,
}

/// Something about time that an accepted signature lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lapse {
    /// The key has expired, or was created in the future.
    Key,
    /// The signature has expired, or was made in the future.
    Signature,
}

/// The most keys that are tried. Registries send one or two.
pub const MAX_KEYS: usize = 32;

/// The largest armored key or trust signature in bytes. Keys with many certifications have some ten thousand.
pub const MAX_ARMOR_BYTES: usize = 256 << 10;

/// The largest signature file in bytes. A signature has some hundred.
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
        let ring = Ring::read(&key.ascii_armor).map_err(|fault| SignatureError::Key {
            number: index + 1,
            count: keys.len(),
            fault,
        })?;
        let checked = match check(&ring, list, signature, policy.now) {
            Ok(checked) => checked,
            Err(CheckError::UnknownIssuer) => continue,
            Err(CheckError::Fault(fault)) => return Err(SignatureError::Invalid(fault)),
        };
        match (checked.validity, policy.engine) {
            (Validity::Valid, _) | (Validity::KeyExpired, Engine::Terraform) => {
                return signer(&checked, key, list, signature, policy);
            }
            (Validity::SignatureExpired, Engine::Terraform) => {
                return Err(SignatureError::Expired {
                    key_id: checked.key_id(),
                });
            }
            (_, Engine::Tofu) if lapsed.is_none() => {
                lapsed = Some(signer(&checked, key, list, signature, policy)?);
            }
            (_, Engine::Tofu) => {}
        }
    }
    match lapsed {
        Some(signer) if policy.enforce_expiration => Err(SignatureError::Enforced {
            key_id: signer.key_id,
        }),
        Some(signer) => Ok(signer),
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
    checked: &Checked<'_>,
    key: &SigningKey,
    list: &[u8],
    signature: &[u8],
    policy: &SignaturePolicy,
) -> Result<Signer, SignatureError> {
    let tier = match tier::tier(key, list, signature, policy.now) {
        Ok(tier) => tier,
        // OpenTofu knows no tiers and never looks at the trust signature.
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
        lapse: match checked.validity {
            Validity::Valid => None,
            Validity::KeyExpired => Some(Lapse::Key),
            Validity::SignatureExpired => Some(Lapse::Signature),
        },
    })
}
