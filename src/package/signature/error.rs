//! Reasons for rejecting a signature.

use std::time::SystemTime;

use thiserror::Error;

use crate::display::date;
use crate::package::signature::lapse::{Lapse, LapsedPart, ValidityPeriod};
use crate::package::signature::{MAX_ARMOR_BYTES, MAX_KEYS, MAX_SIGNATURE_BYTES};
use crate::span::Explain;

/// The reason why the signature of a checksum list is rejected.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SignatureError {
    #[error(
        "cannot verify the checksum list: the registry sent {count} signing keys; the limit is {MAX_KEYS}"
    )]
    TooManyKeys { count: usize },
    #[error(
        "cannot verify the checksum list: its signature is {size} bytes long; the limit is {MAX_SIGNATURE_BYTES}"
    )]
    SignatureTooLarge { size: usize },
    /// A key is invalid, and the keys before it did not issue the signature.
    #[error("cannot verify the checksum list: signing key {number} of {count} is unusable")]
    Key {
        /// The position of the key, starting at 1.
        number: usize,
        count: usize,
        #[source]
        fault: KeyFault,
    },
    /// None of the keys issued the signature, or there are no keys.
    #[error("cannot verify the checksum list: {}", unknown_issuer(issuers, *keys))]
    UnknownIssuer {
        /// The key IDs of the issuers that the signatures name.
        issuers: Vec<String>,
        keys: usize,
    },
    /// The signature is malformed or incorrect, or its key is revoked.
    #[error("cannot verify the checksum list")]
    Invalid(#[source] SignatureFault),
    /// The signature has expired or was created in the future. Terraform rejects it.
    #[error("cannot verify the checksum list: {}", not_valid(key_id, lapse, *now))]
    NotValid {
        key_id: String,
        lapse: Lapse,
        now: SystemTime,
    },
    /// The key or the signature is not valid, and `OPENTOFU_ENFORCE_GPG_EXPIRATION` makes this an error.
    #[error("cannot verify the checksum list: {}", not_valid(key_id, lapse, *now))]
    Enforced {
        key_id: String,
        lapse: Lapse,
        now: SystemTime,
    },
    /// The registry sent a trust signature, which is HashiCorp's signature of the key, and it is incorrect.
    #[error("cannot verify HashiCorp's trust signature of key {key_id}")]
    Trust {
        key_id: String,
        #[source]
        fault: SignatureFault,
    },
}

fn unknown_issuer(issuers: &[String], keys: usize) -> String {
    match (issuers, keys) {
        (_, 0) => "the registry sent no signing keys".to_owned(),
        ([], _) => "its signature file contains no supported signature".to_owned(),
        (issuers, 1) => format!(
            "it is signed by {}, but the registry sent a different key",
            issuers.join(", ")
        ),
        (issuers, keys) => format!(
            "it is signed by {}, but the registry sent {keys} other keys",
            issuers.join(", ")
        ),
    }
}

fn not_valid(key_id: &str, lapse: &Lapse, now: SystemTime) -> String {
    let part = match lapse.part {
        LapsedPart::Key => "key",
        LapsedPart::SelfSignature => "the self-signature of key",
        LapsedPart::Signature => "the signature by key",
    };
    format!(
        "{part} {key_id} {}; the clock of this machine shows {}",
        lapse.period,
        date(now)
    )
}

/// A fault in a key that the registry sent.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum KeyFault {
    #[error("it is {size} bytes long; the limit is {MAX_ARMOR_BYTES}")]
    TooLarge { size: usize },
    #[error("it is not valid ASCII armor")]
    Armor,
    /// The armor contains something other than a key.
    #[error("its armor contains no key")]
    OtherBlock,
    /// The armor contains no key with a valid user ID.
    #[error("its armor contains no key with a valid user ID")]
    NoKey,
}

#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SignatureFault {
    /// The signature is not a binary OpenPGP signature. Armored signatures are not accepted.
    #[error("the signature is not a binary OpenPGP signature")]
    Malformed,
    #[error("the signature does not name its issuer")]
    NoIssuer,
    /// The signature is for different data, or a different key issued it.
    #[error("the signature by key {key_id} does not match")]
    Mismatch { key_id: String },
    /// The key is on a curve that Terraform supports but tflock does not.
    #[error("key {key_id} is on the curve {curve}, which is not supported")]
    UnsupportedCurve { key_id: String, curve: String },
    /// The signature has a critical notation. tflock supports none.
    #[error("the signature by key {key_id} has an unknown critical notation")]
    CriticalNotation { key_id: String },
    /// The key, its signing subkey or its user ID is revoked.
    #[error("the signature was made by the revoked key {key_id}")]
    Revoked { key_id: String },
    #[error("the signature {period}; the clock of this machine shows {}", date(*now))]
    NotValid {
        period: ValidityPeriod,
        now: SystemTime,
    },
    #[error("the signature was not made by the key of HashiCorp's partner program")]
    NotByPartnerKey,
    /// The signature, or the signed key, is not valid ASCII armor.
    #[error("the signature is not valid ASCII armor")]
    Armor,
}

impl Explain for SignatureError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Invalid(SignatureFault::Mismatch { .. }) => {
                Some("find out whether a proxy or an attacker changed the list or its signature; no lock file was changed".to_owned())
            }
            Self::NotValid { lapse, .. } => Some(match lapse.period {
                ValidityPeriod::Begins(_) => "correct the clock of this machine if it is slow; otherwise wait until the signature is valid",
                ValidityPeriod::Ended(_) => "correct the clock of this machine if it is fast; otherwise ask the publisher of the provider for a new signature",
            }.to_owned()),
            Self::Enforced { .. } => Some("unset OPENTOFU_ENFORCE_GPG_EXPIRATION to accept the signature with a warning".to_owned()),
            _ => None,
        }
    }
}
