//! The rules for signatures, with keys and signatures created by `gpg` (testdata/keys/signatures/README.md).

mod time;

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::*;

pub(crate) fn fixture(name: &str) -> Vec<u8> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    std::fs::read(root.join("testdata/keys/signatures").join(name)).unwrap()
}

pub(crate) fn text(name: &str) -> String {
    String::from_utf8(fixture(name)).unwrap()
}

pub(crate) fn key(name: &str) -> SigningKey {
    SigningKey {
        ascii_armor: text(&format!("{name}.asc")),
        trust_signature: String::new(),
    }
}

/// 2026-11-21T12:00:00Z.
pub(crate) fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_secs(1_795_262_400)
}

const POLICY: SignaturePolicy = SignaturePolicy {
    engine: Engine::Terraform,
    now: UNIX_EPOCH,
    keys_optional: false,
    enforce_validation: false,
    enforce_expiration: false,
};

fn verify(
    signature: &[u8],
    keys: &[SigningKey],
    policy: SignaturePolicy,
) -> Result<Signer, SignatureError> {
    let policy = SignaturePolicy {
        now: now(),
        ..policy
    };
    verify_signature(&fixture("SHA256SUMS"), signature, keys, &policy)
}

/// Verifies by the rules of Terraform.
fn terraform(signature: &str, keys: &[&str]) -> Result<Signer, SignatureError> {
    let signature = fixture(&format!("{signature}.sig"));
    verify(&signature, &keys_of(keys), POLICY)
}

/// Verifies by the rules of OpenTofu, without and with `OPENTOFU_ENFORCE_GPG_EXPIRATION`.
fn tofu(signature: &str, keys: &[&str]) -> [Result<Signer, SignatureError>; 2] {
    [false, true].map(|enforce_expiration| {
        let policy = SignaturePolicy {
            engine: Engine::Tofu,
            enforce_expiration,
            ..POLICY
        };
        let signature = fixture(&format!("{signature}.sig"));
        verify(&signature, &keys_of(keys), policy)
    })
}

fn keys_of(names: &[&str]) -> Vec<SigningKey> {
    names.iter().map(|name| key(name)).collect()
}

const VALID: &str = "0711E43F7EDCCDE4";

#[test]
fn a_valid_signature_has_a_signer() {
    let signer = terraform("valid", &["valid"]).unwrap();
    assert_eq!(signer.key_id, VALID);
    assert!(signer.fingerprint.ends_with(VALID) && signer.fingerprint.len() == 40);
    assert_eq!(signer.tier, Tier::SelfSigned);
    assert_eq!(signer.lapse, None);
    // 2026-06-01T12:00:00Z, plus the seconds that gpg took.
    let since = signer.signed_at.duration_since(UNIX_EPOCH).unwrap();
    assert_eq!(since.as_secs() / 100, 1_780_315_200 / 100);
    assert_eq!(tofu("valid", &["valid"]), [Ok(signer.clone()), Ok(signer)]);
}

#[test]
fn kinds_of_signatures_that_are_accepted() {
    for signature in ["valid", "text", "sha1", "notation"] {
        let signer = terraform(signature, &["valid"]).unwrap();
        assert_eq!(signer.key_id, VALID, "{signature}");
    }
    // The ID is that of the primary key, which may itself only certify.
    let subkey = terraform("subkey", &["subkey"]).unwrap();
    assert_eq!(subkey.key_id, "C0E132D2EE1AB38B");
    for number in 1..=6 {
        let signer = terraform(&format!("secp256k1-{number}"), &["secp256k1"]);
        assert_eq!(signer.unwrap().key_id, "6D09B3996F7EEF49", "high and low s");
    }
}

fn unknown(issuer: &str, keys: usize) -> SignatureError {
    let issuers = if issuer.is_empty() {
        Vec::new()
    } else {
        vec![issuer.to_owned()]
    };
    SignatureError::UnknownIssuer { issuers, keys }
}

#[test]
fn signatures_by_unknown_keys_are_errors() {
    let other = SignatureError::UnknownIssuer {
        issuers: packets::issuers(&fixture("other.sig")),
        keys: 1,
    };
    assert_eq!(terraform("valid", &[]), Err(unknown(VALID, 0)), "no keys");
    assert_eq!(terraform("other", &["valid"]), Err(other.clone()));
    assert_eq!(terraform("ripemd160", &["valid"]), Err(unknown("", 1)));
    let mut md5 = fixture("valid.sig");
    assert_eq!(std::mem::replace(&mut md5[5], 1), 8, "SHA-256 becomes MD5");
    for signature in [&b""[..], &md5] {
        let found = verify(signature, &keys_of(&["valid"]), POLICY);
        assert_eq!(found, Err(unknown("", 1)));
    }
    assert_eq!(tofu("other", &["valid"]), [Err(other.clone()), Err(other)]);
}

#[test]
fn errors_that_end_the_search() {
    let key_id = || VALID.to_owned();
    let mismatch = || SignatureError::Invalid(SignatureFault::Mismatch { key_id: key_id() });
    let policy = SignaturePolicy {
        now: now(),
        ..POLICY
    };
    let (signature, keys) = (fixture("valid.sig"), keys_of(&["valid"]));
    let changed = verify_signature(b"other bytes", &signature, &keys, &policy);
    assert_eq!(changed, Err(mismatch()));
    let mut forged = fixture("valid.sig");
    *forged.last_mut().unwrap() ^= 1;
    assert_eq!(verify(&forged, &keys, POLICY), Err(mismatch()));
    let notation = SignatureFault::CriticalNotation { key_id: key_id() };
    for (signature, fault) in [
        ("armored", SignatureFault::Malformed),
        ("critical", notation),
    ] {
        let found = terraform(signature, &["valid", "valid"]);
        assert_eq!(found, Err(SignatureError::Invalid(fault)), "{signature}");
    }
    let garbage = verify(b"\xff\xff garbage", &keys_of(&["valid"]), POLICY);
    assert!(garbage.is_err());
    let curve = terraform("brainpool", &["brainpool"]);
    assert!(
        matches!(&curve, Err(SignatureError::Invalid(SignatureFault::UnsupportedCurve { curve, .. })) if curve == "brainpoolP256r1"),
        "{curve:?}"
    );
}

#[test]
fn several_signatures_in_one_file() {
    let join = |names: &[&str]| {
        let parts: Vec<_> = names
            .iter()
            .map(|name| fixture(&format!("{name}.sig")))
            .collect();
        verify(&parts.concat(), &keys_of(&["valid"]), POLICY).map(|signer| signer.key_id)
    };
    let valid = Ok(VALID.to_owned());
    assert_eq!(join(&["other", "valid"]), valid);
    assert_eq!(join(&["valid", "other"]), valid);
    assert_eq!(join(&["ripemd160", "valid"]), valid);
    assert_eq!(
        join(&["valid", "expired-signature"]),
        valid,
        "the first one"
    );
    let expired = join(&["expired-signature", "valid"]);
    assert!(matches!(expired, Err(SignatureError::NotValid { .. })));
    let then_garbage = [fixture("valid.sig"), b"garbage".to_vec()].concat();
    let found = verify(&then_garbage, &keys_of(&["valid"]), POLICY);
    assert!(found.is_ok(), "the garbage is not read");
}

#[test]
fn keys_are_tried_in_order() {
    assert!(terraform("valid", &["other", "valid"]).is_ok());
    let bad = |ascii_armor: &str| SigningKey {
        ascii_armor: ascii_armor.to_owned(),
        ..SigningKey::default()
    };
    let size = MAX_ARMOR_BYTES + 1;
    let cases = [
        (bad(""), KeyFault::Armor),
        (bad("garbage"), KeyFault::Armor),
        (bad(&text("armored.sig")), KeyFault::OtherBlock),
        (bad(&"x".repeat(size)), KeyFault::TooLarge { size }),
    ];
    for (bad, fault) in cases {
        let error = SignatureError::Key {
            number: 1,
            count: 2,
            fault,
        };
        let first = verify(&fixture("valid.sig"), &[bad.clone(), key("valid")], POLICY);
        assert_eq!(first, Err(error));
        let second = verify(&fixture("valid.sig"), &[key("valid"), bad], POLICY);
        assert!(second.is_ok(), "the invalid key is not read");
    }
}

#[test]
fn only_the_first_armor_block_is_read() {
    let two = |one: &str, other: &str| SigningKey {
        ascii_armor: text(&format!("{one}.asc")) + &text(&format!("{other}.asc")),
        ..SigningKey::default()
    };
    assert!(verify(&fixture("valid.sig"), &[two("valid", "other")], POLICY).is_ok());
    assert!(verify(&fixture("valid.sig"), &[two("other", "valid")], POLICY).is_err());
    let introduced = SigningKey {
        ascii_armor: format!("My key:\n\n{}", text("valid.asc")),
        ..SigningKey::default()
    };
    let found = verify(&fixture("valid.sig"), &[introduced], POLICY);
    assert!(found.is_ok(), "text before the armor is ignored");
}

#[test]
fn verification_is_skipped_only_without_keys_if_they_are_optional() {
    let keys = keys_of(&["valid"]);
    let optional = SignaturePolicy {
        keys_optional: true,
        ..POLICY
    };
    assert!(optional.skips(&[]));
    assert!(!optional.skips(&keys));
    assert!(!POLICY.skips(&[]));
    let enforced = SignaturePolicy {
        enforce_validation: true,
        ..optional
    };
    assert!(!enforced.skips(&[]));
}

#[test]
fn a_trust_signature_must_verify_for_terraform_only() {
    let keys = [SigningKey {
        trust_signature: "malformed".to_owned(),
        ..key("valid")
    }];
    let fault = SignatureFault::Armor;
    let error = SignatureError::Trust {
        key_id: VALID.to_owned(),
        fault,
    };
    assert_eq!(verify(&fixture("valid.sig"), &keys, POLICY), Err(error));
    let policy = SignaturePolicy {
        engine: Engine::Tofu,
        ..POLICY
    };
    let signer = verify(&fixture("valid.sig"), &keys, policy).unwrap();
    assert_eq!(signer.tier, Tier::SelfSigned);
}

#[test]
fn limits_are_enforced() {
    let keys = vec![key("valid"); MAX_KEYS + 1];
    assert!(verify(&fixture("valid.sig"), &keys[1..], POLICY).is_ok());
    let error = SignatureError::TooManyKeys {
        count: MAX_KEYS + 1,
    };
    assert_eq!(verify(&fixture("valid.sig"), &keys, POLICY), Err(error));
    let mut long = fixture("valid.sig");
    long.resize(MAX_SIGNATURE_BYTES, 0);
    assert!(verify(&long, &keys[..1], POLICY).is_ok());
    long.push(0);
    let size = MAX_SIGNATURE_BYTES + 1;
    assert_eq!(
        verify(&long, &keys[..1], POLICY),
        Err(SignatureError::SignatureTooLarge { size })
    );
}

#[test]
fn messages_name_the_signer() {
    for (issuer, keys, reason) in [
        ("", 0, "the registry sent no signing keys"),
        ("", 1, "its signature file contains no supported signature"),
        (
            "A",
            1,
            "it is signed by A, but the registry sent a different key",
        ),
        (
            "A",
            2,
            "it is signed by A, but the registry sent 2 other keys",
        ),
    ] {
        let message = format!("cannot verify the checksum list: {reason}");
        assert_eq!(unknown(issuer, keys).to_string(), message);
    }
}
