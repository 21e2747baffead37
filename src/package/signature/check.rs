//! One signature file against the keys of one armor.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pgp::packet::{Packet, Signature};
use pgp::types::KeyDetails;

use crate::package::signature::SignatureFault;
use crate::package::signature::holder::{Holder, is_revoked};
use crate::package::signature::packets::{
    has_critical_notation, is_expired, issuer, key_lifetime, made_at, packets, upper_hex,
};
use crate::package::signature::ring::{Part, Ring};
use crate::package::signature::verify::{signs_data, unsupported_curve};

/// A signature that verifies.
#[derive(Debug)]
pub(super) struct Checked<'a> {
    holder: &'a Holder,
    made_at: u64,
    /// Whether it also does so at the time of the check.
    pub(super) validity: Validity,
}

/// What time makes of a signature that verifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Validity {
    Valid,
    /// The primary or the signing key has expired, or is from the future; whatever the signature is.
    KeyExpired,
    /// The signature, or one that makes the key what it is, has expired or is from the future.
    SignatureExpired,
}

/// Why a signature does not verify.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CheckError {
    /// It is by none of the keys.
    UnknownIssuer,
    /// It is by one of them, or it cannot be read.
    Fault(SignatureFault),
}

impl Checked<'_> {
    pub(super) fn key_id(&self) -> String {
        upper_hex(self.holder.primary.legacy_key_id().as_ref())
    }

    pub(super) fn fingerprint(&self) -> String {
        upper_hex(self.holder.primary.fingerprint().as_bytes())
    }

    pub(super) fn signed_at(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(self.made_at)
    }
}

/// Verifies the first signature that any of the keys issued.
pub(super) fn check<'a>(
    ring: &'a Ring,
    document: &[u8],
    signatures: &[u8],
    now: SystemTime,
) -> Result<Checked<'a>, CheckError> {
    let (signature, parts) = find(ring, signatures)?;
    let key_id = issuer(&signature)
        .map(|id| upper_hex(id.as_ref()))
        .unwrap_or_default();
    for part in &parts {
        if let Some(curve) = part.unsupported_curve() {
            return Err(CheckError::Fault(SignatureFault::UnsupportedCurve {
                key_id,
                curve,
            }));
        }
    }
    let now = now
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let Some(part) = parts
        .into_iter()
        .find(|part| part.verifies(&signature, document))
    else {
        return Err(CheckError::Fault(SignatureFault::Mismatch { key_id }));
    };
    let validity = part
        .judge(&signature, key_id, now)
        .map_err(CheckError::Fault)?;
    Ok(Checked {
        holder: part.holder(),
        made_at: made_at(&signature).unwrap_or_default(),
        validity,
    })
}

fn find<'a>(ring: &'a Ring, signatures: &[u8]) -> Result<(Signature, Vec<Part<'a>>), CheckError> {
    for packet in packets(signatures) {
        let Ok(Packet::Signature(signature)) = packet else {
            return Err(CheckError::Fault(SignatureFault::Malformed));
        };
        if made_at(&signature).is_none() {
            return Err(CheckError::Fault(SignatureFault::Malformed));
        }
        let Some(issuer) = issuer(&signature) else {
            return Err(CheckError::Fault(SignatureFault::NoIssuer));
        };
        let parts = ring.signing_parts(issuer);
        if !parts.is_empty() {
            return Ok((signature, parts));
        }
    }
    Err(CheckError::UnknownIssuer)
}

impl<'a> Part<'a> {
    fn holder(self) -> &'a Holder {
        match self {
            Self::Primary(holder) | Self::Subkey(holder, _) => holder,
        }
    }

    fn unsupported_curve(self) -> Option<String> {
        let primary = unsupported_curve(&self.holder().primary);
        match self {
            Self::Primary(_) => primary,
            Self::Subkey(_, subkey) => primary.or_else(|| unsupported_curve(&subkey.key)),
        }
    }

    fn verifies(self, signature: &Signature, document: &[u8]) -> bool {
        match self {
            Self::Primary(holder) => signs_data(signature, &holder.primary, document),
            Self::Subkey(_, subkey) => signs_data(signature, &subkey.key, document),
        }
    }

    /// Whether the key may be used, and was valid.
    fn judge(
        self,
        signature: &Signature,
        key_id: String,
        now: u64,
    ) -> Result<Validity, SignatureFault> {
        let holder = self.holder();
        let mut relevant = vec![signature, &holder.identity.certification];
        let mut is_expired_key = key_expired(&holder.primary, &holder.identity.certification, now);
        let mut revoked =
            is_revoked(&holder.revocations, now) || is_revoked(&holder.identity.revocations, now);
        if let Self::Subkey(_, subkey) = self {
            relevant.push(&subkey.binding);
            relevant.extend(subkey.binding.embedded_signature());
            is_expired_key |= key_expired(&subkey.key, &subkey.binding, now);
            revoked |= is_revoked(&subkey.revocations, now);
        }
        if relevant
            .iter()
            .any(|signature| has_critical_notation(signature))
        {
            return Err(SignatureFault::CriticalNotation { key_id });
        }
        if revoked {
            return Err(SignatureFault::Revoked { key_id });
        }
        if is_expired_key {
            return Ok(Validity::KeyExpired);
        }
        if relevant.iter().any(|signature| is_expired(signature, now)) {
            return Ok(Validity::SignatureExpired);
        }
        Ok(Validity::Valid)
    }
}

/// Whether a key has reached the end of the life that its self-signature gives it, or not begun it.
fn key_expired(key: &impl KeyDetails, self_signature: &Signature, now: u64) -> bool {
    let created = u64::from(key.created_at().as_secs());
    let lifetime = key_lifetime(self_signature);
    created > now || (lifetime > 0 && now > created + lifetime)
}
