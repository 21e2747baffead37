//! Why a signature is not accepted.

use thiserror::Error;

use crate::package::signature::{MAX_ARMOR_BYTES, MAX_KEYS, MAX_SIGNATURE_BYTES};
use crate::span::Explain;

/// Why the signature over a checksum list is not accepted.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SignatureError {
    /// The registry sends more keys than [`MAX_KEYS`].
    #[error(
        "cannot verify the checksum list: the registry sent {count} signing keys, {MAX_KEYS} are accepted"
    )]
    TooManyKeys {
        /// How many.
        count: usize,
    },
    /// The signature file is larger than [`MAX_SIGNATURE_BYTES`].
    #[error(
        "cannot verify the checksum list: its signature has {size} bytes, {MAX_SIGNATURE_BYTES} are accepted"
    )]
    SignatureTooLarge {
        /// Its size.
        size: usize,
    },
    /// One of the keys cannot be read; those before it did not issue the signature.
    #[error("cannot verify the checksum list: signing key {number} of {count} is unusable")]
    Key {
        /// Which key, from 1.
        number: usize,
        /// How many keys the registry sent.
        count: usize,
        /// What is wrong with it.
        #[source]
        fault: KeyFault,
    },
    /// None of the keys issued the signature, or there are no keys.
    #[error("cannot verify the checksum list: {}", unknown_issuer(issuers, *keys))]
    UnknownIssuer {
        /// Key IDs that the signatures name.
        issuers: Vec<String>,
        /// How many keys the registry sent.
        keys: usize,
    },
    /// The signature is malformed, does not verify, or its key is revoked.
    #[error("cannot verify the checksum list")]
    Invalid(#[source] SignatureFault),
    /// The signature has expired or was made in the future, which Terraform refuses.
    #[error(
        "signature of the checksum list by key {key_id} has expired, or was made in the future"
    )]
    Expired {
        /// The key.
        key_id: String,
    },
    /// The key or the signature has expired, and `OPENTOFU_ENFORCE_GPG_EXPIRATION` refuses that.
    #[error(
        "signature of the checksum list by key {key_id} is no longer valid: the key or the signature has expired"
    )]
    Enforced {
        /// The key.
        key_id: String,
    },
    /// The registry says that HashiCorp vouches for the key, and this does not verify.
    #[error("cannot verify the trust signature of key {key_id}")]
    Trust {
        /// The key.
        key_id: String,
        /// What is wrong with it.
        #[source]
        fault: SignatureFault,
    },
}

fn unknown_issuer(issuers: &[String], keys: usize) -> String {
    match (issuers, keys) {
        (_, 0) => "the registry sent no signing keys".to_owned(),
        ([], _) => "its signature names no issuer that can be checked".to_owned(),
        (issuers, 1) => format!(
            "it is signed by {}, the registry sent another key",
            issuers.join(", ")
        ),
        (issuers, keys) => {
            format!(
                "it is signed by {}, the registry sent {keys} other keys",
                issuers.join(", ")
            )
        }
    }
}

/// What is wrong with a key that the registry sent.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum KeyFault {
    /// It is larger than [`MAX_ARMOR_BYTES`].
    #[error("it has {size} bytes, {MAX_ARMOR_BYTES} are accepted")]
    TooLarge {
        /// Its size.
        size: usize,
    },
    /// It is no ASCII armor, or a damaged one.
    #[error("it is not a readable ASCII armor")]
    Armor,
    /// The armor holds something else.
    #[error("its armor holds no key")]
    OtherBlock,
    /// The armor holds no key with a valid user ID.
    #[error("its armor holds no complete key")]
    NoKey,
}

/// What is wrong with a signature.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum SignatureFault {
    /// It is no binary OpenPGP signature; an armored one is not accepted.
    #[error("the signature is not a binary OpenPGP signature")]
    Malformed,
    /// It does not say which key made it.
    #[error("the signature does not name its issuer")]
    NoIssuer,
    /// It is not over these bytes, or not by this key.
    #[error("the signature by key {key_id} does not match")]
    Mismatch {
        /// The key that it names.
        key_id: String,
    },
    /// The key is on a curve that is not supported here, though Terraform knows it.
    #[error("key {key_id} is on the curve {curve}, which is not supported")]
    UnsupportedCurve {
        /// The key.
        key_id: String,
        /// The curve.
        curve: String,
    },
    /// A notation that must be understood is not.
    #[error("the signature by key {key_id} has a critical notation that is not known")]
    CriticalNotation {
        /// The key.
        key_id: String,
    },
    /// The key, its signing sub-key or its user ID is revoked.
    #[error("the signature was made by the revoked key {key_id}")]
    Revoked {
        /// The key.
        key_id: String,
    },
    /// It has expired or was made in the future.
    #[error("the signature has expired, or was made in the future")]
    Expired,
    /// HashiCorp's key did not make it.
    #[error("the signature is not by the key of HashiCorp's partner program")]
    NotByPartnerKey,
    /// It is not in an ASCII armor, or the key that it is over is not.
    #[error("the signature is not a readable ASCII armor")]
    Armor,
}

impl Explain for SignatureError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Invalid(SignatureFault::Mismatch { .. }) => {
                Some("the list or its signature may have been changed on the way; no lock file was changed".to_owned())
            }
            Self::Enforced { .. } => Some("unset OPENTOFU_ENFORCE_GPG_EXPIRATION to accept it with a warning".to_owned()),
            _ => None,
        }
    }
}
