//! Checks a signature file with the keys of one armor block.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use pgp::packet::{Packet, Signature};
use pgp::types::KeyDetails;

use crate::package::signature::SignatureFault;
use crate::package::signature::certificate::{OpenPgpCertificate, is_revoked};
use crate::package::signature::key_ring::{DataSigningKey, KeyRing};
use crate::package::signature::lapse::{Lapse, LapsedPart, ValidityPeriod};
use crate::package::signature::packets::{
    created_at, has_critical_notation, issuer, key_lifetime, lapsed_period, packets, upper_hex,
};
use crate::package::signature::verify::{signs_data, unsupported_curve};

#[derive(Debug)]
pub(super) struct CheckedSignature<'a> {
    certificate: &'a OpenPgpCertificate,
    /// The creation time of the signature in Unix seconds.
    created_at: u64,
    /// Why the signature is not valid at the time of the check; `None` if it is valid. An expired key takes precedence over an expired
    /// signature.
    pub(super) lapse: Option<Lapse>,
}

/// The reason why a signature was not verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum CheckError {
    /// None of the keys issued the signature.
    UnknownIssuer,
    /// The signature is malformed, or it is rejected although one of the keys issued it.
    Fault(SignatureFault),
}

impl CheckedSignature<'_> {
    pub(super) fn key_id(&self) -> String {
        upper_hex(self.certificate.primary.legacy_key_id().as_ref())
    }

    pub(super) fn fingerprint(&self) -> String {
        upper_hex(self.certificate.primary.fingerprint().as_bytes())
    }

    pub(super) fn signed_at(&self) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(self.created_at)
    }
}

/// Verifies the first signature that was issued by any of the keys.
pub(super) fn check<'a>(
    ring: &'a KeyRing,
    document: &[u8],
    signatures: &[u8],
    now: SystemTime,
) -> Result<CheckedSignature<'a>, CheckError> {
    let (signature, keys) = find(ring, signatures)?;
    let key_id = issuer(&signature)
        .map(|id| upper_hex(id.as_ref()))
        .unwrap_or_default();
    for key in &keys {
        if let Some(curve) = key.unsupported_curve() {
            return Err(CheckError::Fault(SignatureFault::UnsupportedCurve {
                key_id,
                curve,
            }));
        }
    }
    let now = now
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let Some(key) = keys
        .into_iter()
        .find(|key| key.verifies(&signature, document))
    else {
        return Err(CheckError::Fault(SignatureFault::Mismatch { key_id }));
    };
    let lapse = key
        .lapse(&signature, key_id, now)
        .map_err(CheckError::Fault)?;
    Ok(CheckedSignature {
        certificate: key.certificate(),
        created_at: created_at(&signature).unwrap_or_default(),
        lapse,
    })
}

fn find<'a>(
    ring: &'a KeyRing,
    signatures: &[u8],
) -> Result<(Signature, Vec<DataSigningKey<'a>>), CheckError> {
    for packet in packets(signatures) {
        let Ok(Packet::Signature(signature)) = packet else {
            return Err(CheckError::Fault(SignatureFault::Malformed));
        };
        if created_at(&signature).is_none() {
            return Err(CheckError::Fault(SignatureFault::Malformed));
        }
        let Some(issuer) = issuer(&signature) else {
            return Err(CheckError::Fault(SignatureFault::NoIssuer));
        };
        let keys = ring.signing_keys(issuer);
        if !keys.is_empty() {
            return Ok((signature, keys));
        }
    }
    Err(CheckError::UnknownIssuer)
}

impl<'a> DataSigningKey<'a> {
    fn certificate(self) -> &'a OpenPgpCertificate {
        match self {
            Self::Primary(certificate) | Self::Subkey(certificate, _) => certificate,
        }
    }

    fn unsupported_curve(self) -> Option<String> {
        let primary = unsupported_curve(&self.certificate().primary);
        match self {
            Self::Primary(_) => primary,
            Self::Subkey(_, subkey) => primary.or_else(|| unsupported_curve(&subkey.key)),
        }
    }

    fn verifies(self, signature: &Signature, document: &[u8]) -> bool {
        match self {
            Self::Primary(certificate) => signs_data(signature, &certificate.primary, document),
            Self::Subkey(_, subkey) => signs_data(signature, &subkey.key, document),
        }
    }

    /// Determines why a verified signature is not valid at the time `now`; `None` if it is valid. A revocation or an unknown critical
    /// notation is an error.
    fn lapse(
        self,
        signature: &Signature,
        key_id: String,
        now: u64,
    ) -> Result<Option<Lapse>, SignatureFault> {
        let certificate = self.certificate();
        let certification = &certificate.identity.certification;
        let mut self_signatures = vec![certification];
        let mut key_period = lapsed_key_period(&certificate.primary, certification, now);
        let mut revoked = is_revoked(&certificate.revocations, now)
            || is_revoked(&certificate.identity.revocations, now);
        if let Self::Subkey(_, subkey) = self {
            self_signatures.push(&subkey.binding);
            self_signatures.extend(subkey.binding.embedded_signature());
            key_period =
                key_period.or_else(|| lapsed_key_period(&subkey.key, &subkey.binding, now));
            revoked |= is_revoked(&subkey.revocations, now);
        }
        let mut relevant = self_signatures.iter().copied().chain([signature]);
        if relevant.any(has_critical_notation) {
            return Err(SignatureFault::CriticalNotation { key_id });
        }
        if revoked {
            return Err(SignatureFault::Revoked { key_id });
        }
        let signature_period = lapsed_period(signature, now);
        let mut self_periods = self_signatures
            .into_iter()
            .filter_map(|signature| lapsed_period(signature, now));
        let (part, period) = if let Some(period) = key_period {
            (LapsedPart::Key, period)
        } else if let Some(period) = signature_period {
            (LapsedPart::Signature, period)
        } else if let Some(period) = self_periods.next() {
            (LapsedPart::SelfSignature, period)
        } else {
            return Ok(None);
        };
        Ok(Some(Lapse { part, period }))
    }
}

/// Returns the limit of a key's validity period that is violated at `now`, or `None` if the key is valid. Its lifetime is in the
/// self-signature.
fn lapsed_key_period(
    key: &impl KeyDetails,
    self_signature: &Signature,
    now: u64,
) -> Option<ValidityPeriod> {
    let created = u64::from(key.created_at().as_secs());
    ValidityPeriod::without(now, created, key_lifetime(self_signature))
}
