//! How HashiCorp vouches for the signer of a provider, as Terraform displays it. It does not affect what is recorded.
//!
//! Two of HashiCorp's public keys are embedded: the key for its own providers, published at <https://www.hashicorp.com/security>,
//! and the key that signs partners' keys, which Terraform embeds, too. The embedded copy of the first key expired on 18 April 2026.
//! This does not matter, because the renewed certificate has the same keys.

use std::fmt;
use std::sync::LazyLock;
use std::time::SystemTime;

use crate::package::signature::check::{CheckError, check};
use crate::package::signature::key_ring::KeyRing;
use crate::package::signature::lapse::{Lapse, LapsedPart};
use crate::package::signature::packets::{dearmor, issuers};
use crate::package::signature::{MAX_ARMOR_BYTES, SignatureFault, SigningKey};

/// How HashiCorp vouches for a signer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tier {
    /// HashiCorp signed the list.
    HashiCorp,
    /// HashiCorp signed the key that signed the list.
    Partner,
    /// Only the registry vouches for the key.
    SelfSigned,
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HashiCorp => "signed by HashiCorp",
            Self::Partner => "signed by a HashiCorp partner",
            Self::SelfSigned => "self-signed",
        })
    }
}

/// HashiCorp's keys. Checking the signatures within a certificate takes several milliseconds, so both key rings are read only if needed.
static HASHICORP: LazyLock<Option<KeyRing>> =
    LazyLock::new(|| KeyRing::read(include_str!("keys/hashicorp.asc")).ok());

/// The IDs of the keys in [`HASHICORP`] that may sign lists.
const HASHICORP_SIGNING_KEYS: [&str; 3] =
    ["34365D9472D7468F", "B0B441097685B676", "C820C6D5CD27AB87"];

/// The key that signs partners' keys.
static PARTNERS: LazyLock<Option<KeyRing>> =
    LazyLock::new(|| KeyRing::read(include_str!("keys/hashicorp-partners.asc")).ok());

/// Determines the tier of a key that signed a list. An incorrect trust signature is an error.
pub(super) fn tier(
    key: &SigningKey,
    list: &[u8],
    signature: &[u8],
    now: SystemTime,
) -> Result<Tier, SignatureFault> {
    let names_hashicorp = issuers(signature)
        .iter()
        .any(|id| HASHICORP_SIGNING_KEYS.contains(&id.as_str()));
    let hashicorp = names_hashicorp.then(|| HASHICORP.as_ref()).flatten();
    rank(hashicorp, || PARTNERS.as_ref(), key, list, signature, now)
}

fn rank<'a>(
    hashicorp: Option<&KeyRing>,
    partners: impl FnOnce() -> Option<&'a KeyRing>,
    key: &SigningKey,
    list: &[u8],
    signature: &[u8],
    now: SystemTime,
) -> Result<Tier, SignatureFault> {
    if hashicorp.is_some_and(|ring| verify(ring, list, signature, now).is_ok()) {
        return Ok(Tier::HashiCorp);
    }
    if key.trust_signature.is_empty() {
        return Ok(Tier::SelfSigned);
    }
    if key.trust_signature.len() > MAX_ARMOR_BYTES {
        return Err(SignatureFault::Armor);
    }
    let (_, document) = dearmor(&key.ascii_armor).ok_or(SignatureFault::Armor)?;
    let (_, signature) = dearmor(&key.trust_signature).ok_or(SignatureFault::Armor)?;
    let partners = partners().ok_or(SignatureFault::NotByPartnerKey)?;
    verify(partners, &document, &signature, now).map(|()| Tier::Partner)
}

fn verify(
    ring: &KeyRing,
    document: &[u8],
    signature: &[u8],
    now: SystemTime,
) -> Result<(), SignatureFault> {
    match check(ring, document, signature, now) {
        Ok(checked) => match checked.lapse {
            Some(Lapse { part, period }) if part != LapsedPart::Key => {
                Err(SignatureFault::NotValid { period, now })
            }
            _ => Ok(()),
        },
        Err(CheckError::UnknownIssuer) => Err(SignatureFault::NotByPartnerKey),
        Err(CheckError::Fault(fault)) => Err(fault),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::package::signature::tests::{fixture, key, now, text};

    #[test]
    fn the_embedded_keys_are_those_of_hashicorp() {
        let rings = [&HASHICORP, &PARTNERS].map(|ring| ring.as_ref().unwrap());
        let fingerprints = rings.map(KeyRing::fingerprints);
        let hashicorp = vec!["C874011F0AB405110D02105534365D9472D7468F".to_owned()];
        let partners = vec!["51890657C5ACDB4B823086567D72D4268E4660FC".to_owned()];
        assert_eq!(fingerprints, [hashicorp, partners]);
        assert_eq!(rings[0].signing_key_ids(), HASHICORP_SIGNING_KEYS);
    }

    #[test]
    fn phrases() {
        let tiers = [Tier::HashiCorp, Tier::Partner, Tier::SelfSigned];
        let phrases = tiers.map(|tier| tier.to_string()).join(", ");
        let expected = "signed by HashiCorp, signed by a HashiCorp partner, self-signed";
        assert_eq!(phrases, expected);
    }

    fn rank(hashicorp: &str, partners: &str, key: &SigningKey) -> Result<Tier, SignatureFault> {
        let [hashicorp, partners] =
            [hashicorp, partners].map(|name| KeyRing::read(&text(name)).unwrap());
        let (list, signature) = (fixture("SHA256SUMS"), fixture("valid.sig"));
        let partners = || Some(&partners);
        super::rank(Some(&hashicorp), partners, key, &list, &signature, now())
    }

    #[test]
    fn ranks() {
        let plain = key("valid");
        let trust_signature = text("valid.trust.asc");
        let trusted = SigningKey {
            trust_signature: trust_signature.clone(),
            ..plain.clone()
        };
        assert_eq!(rank("other.asc", "other.asc", &plain), Ok(Tier::SelfSigned));
        assert_eq!(rank("valid.asc", "other.asc", &plain), Ok(Tier::HashiCorp));
        let both = rank("valid.asc", "valid.asc", &trusted);
        assert_eq!(both, Ok(Tier::HashiCorp), "the trust signature is ignored");
        assert_eq!(rank("other.asc", "other.asc", &trusted), Ok(Tier::Partner));
        let untrusted = rank("other.asc", "valid.asc", &trusted);
        assert_eq!(untrusted, Err(SignatureFault::NotByPartnerKey));
        let over_another_key = SigningKey {
            trust_signature,
            ..key("subkey")
        };
        assert!(matches!(
            rank("subkey.asc", "other.asc", &over_another_key),
            Err(SignatureFault::Mismatch { .. })
        ));
        let long = format!("{}\n", trusted.trust_signature).repeat(2_000);
        let wrong = [
            ("no armor".to_owned(), SignatureFault::Armor),
            (long, SignatureFault::Armor),
            (text("valid.asc"), SignatureFault::Malformed),
            (text("armored.sig"), SignatureFault::NotByPartnerKey),
        ];
        for (trust_signature, fault) in wrong {
            let key = SigningKey {
                trust_signature,
                ..plain.clone()
            };
            assert_eq!(rank("other.asc", "other.asc", &key), Err(fault));
        }
    }
}
