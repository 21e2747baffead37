//! Expiration and revocation of keys and signatures.

use super::*;
use crate::span::Explain as _;

/// How Terraform, OpenTofu, and OpenTofu with enforcement treat keys and signatures that have expired or are not yet valid.
#[test]
fn validity_in_time() {
    let lapsed = |found: &Result<Signer, SignatureError>| {
        let lapse = found.as_ref().ok().and_then(|signer| signer.lapse);
        lapse.map(|lapse| lapse.part)
    };
    for (name, key, part) in [
        ("expired-key", "expired-key", LapsedPart::Key),
        ("future-key", "future-key", LapsedPart::Key),
        ("expired-subkey", "expired-subkey", LapsedPart::Key),
        ("expired-both", "expired-key", LapsedPart::Key),
        ("expired-signature", "valid", LapsedPart::Signature),
        ("future-signature", "valid", LapsedPart::Signature),
    ] {
        let found = terraform(name, &[key]);
        if part == LapsedPart::Key {
            assert_eq!(lapsed(&found), Some(part), "{name}");
        } else {
            let is_refused = matches!(found, Err(SignatureError::NotValid { .. }));
            assert!(is_refused, "{name}: {found:?}");
        }
        let [accepted, enforced] = tofu(name, &[key]);
        assert_eq!(lapsed(&accepted), Some(part), "{name}");
        let is_refused = matches!(enforced, Err(SignatureError::Enforced { .. }));
        assert!(is_refused, "{name}: {enforced:?}");
    }
}

/// Messages name the end of the validity period and the time of verification.
#[test]
fn messages_about_expiration_name_both_times() {
    let hint = |error: &SignatureError| error.hint().unwrap_or_default();
    let message = |fault: &str| {
        format!(
            "cannot verify the checksum list: {fault}; the clock of this machine shows Sat, 21 Nov 2026 12:00:00 GMT"
        )
    };
    for (name, fault, advice) in [
        (
            "expired-signature",
            "the signature by key 0711E43F7EDCCDE4 expired on Tue, 02 Jun 2026 12:00:00 GMT",
            "if it is fast",
        ),
        (
            "future-signature",
            "the signature by key 0711E43F7EDCCDE4 is not valid before Tue, 01 Jun 2027 12:00:00 GMT",
            "if it is slow",
        ),
    ] {
        let error = terraform(name, &["valid"]).unwrap_err();
        assert_eq!(error.to_string(), message(fault));
        assert!(hint(&error).contains(advice), "{}", hint(&error));
    }
    for (name, fault) in [
        (
            "expired-key",
            "key 10EA32F140A92C74 expired on Fri, 31 Jan 2025 12:00:00 GMT",
        ),
        (
            "future-key",
            "key 1C68F2C8A23EF64D is not valid before Fri, 01 Jan 2027 12:00:00 GMT",
        ),
    ] {
        let [_, enforced] = tofu(name, &[name]);
        let error = enforced.unwrap_err();
        assert_eq!(error.to_string(), message(fault));
        assert!(hint(&error).contains("OPENTOFU_ENFORCE_GPG_EXPIRATION"));
    }
}

#[test]
fn a_wrong_signature_by_an_expired_key_is_wrong() {
    let mut forged = fixture("expired-key.sig");
    *forged.last_mut().unwrap() ^= 1;
    for engine in [Engine::Terraform, Engine::Tofu] {
        let policy = SignaturePolicy { engine, ..POLICY };
        let result = verify(&forged, &keys_of(&["expired-key"]), policy);
        assert!(matches!(
            result,
            Err(SignatureError::Invalid(SignatureFault::Mismatch { .. }))
        ));
    }
}

/// Terraform stops at an expired key. OpenTofu tries the next one.
#[test]
fn later_keys_after_an_expired_one() {
    let both = [fixture("expired-key.sig"), fixture("valid.sig")].concat();
    let bad = SigningKey {
        ascii_armor: "garbage".to_owned(),
        ..SigningKey::default()
    };
    let run = |engine, keys: &[SigningKey]| {
        let policy = SignaturePolicy { engine, ..POLICY };
        let signer = verify(&both, keys, policy);
        signer.map(|signer| signer.lapse.map(|lapse| lapse.part))
    };
    let keys = keys_of(&["expired-key", "valid"]);
    let key = Ok(Some(LapsedPart::Key));
    assert_eq!(run(Engine::Terraform, &keys), key);
    assert_eq!(run(Engine::Tofu, &keys), Ok(None));
    let keys = keys_of(&["expired-key", "other"]);
    assert_eq!(run(Engine::Tofu, &keys), key, "no later key issued it");
    let keys = [super::key("expired-key"), bad];
    assert_eq!(
        run(Engine::Terraform, &keys),
        key,
        "the second key is not read"
    );
    let fault = KeyFault::Armor;
    assert_eq!(
        run(Engine::Tofu, &keys),
        Err(SignatureError::Key {
            number: 2,
            count: 2,
            fault
        })
    );
}

#[test]
fn the_first_of_several_expired_keys_is_the_signer() {
    let both = [fixture("expired-signature.sig"), fixture("expired-key.sig")].concat();
    let policy = SignaturePolicy {
        engine: Engine::Tofu,
        ..POLICY
    };
    let signer = verify(&both, &keys_of(&["valid", "expired-key"]), policy).unwrap();
    assert_eq!(
        (signer.key_id.as_str(), signer.lapse.map(|lapse| lapse.part)),
        (VALID, Some(LapsedPart::Signature))
    );
}

#[test]
fn revoked_keys_end_the_search() {
    for name in [
        "revoked-key",
        "revoked-subkey",
        "revoked-id",
        "compromised-later",
    ] {
        for engine in [Engine::Terraform, Engine::Tofu] {
            let policy = SignaturePolicy { engine, ..POLICY };
            let result = verify(
                &fixture(&format!("{name}.sig")),
                &keys_of(&[name, name]),
                policy,
            );
            assert!(
                matches!(
                    result,
                    Err(SignatureError::Invalid(SignatureFault::Revoked { .. }))
                ),
                "{name}: {result:?}"
            );
        }
    }
}

#[test]
fn a_revocation_from_the_future_is_effective_only_for_a_compromised_key() {
    let before = UNIX_EPOCH + Duration::from_secs(1_780_401_600);
    for (name, is_revoked) in [
        ("revoked-key", false),
        ("revoked-subkey", false),
        ("compromised-later", true),
    ] {
        let policy = SignaturePolicy {
            now: before,
            ..POLICY
        };
        let signature = fixture(&format!("{name}.sig"));
        let result = verify_signature(
            &fixture("SHA256SUMS"),
            &signature,
            &keys_of(&[name]),
            &policy,
        );
        assert_eq!(result.is_err(), is_revoked, "{name}: {result:?}");
    }
}

#[test]
fn expiration_is_exact_to_the_second() {
    let future = fixture("future-signature.sig");
    // Created at 2026-06-01T12:00:00Z or a few seconds later, and valid for a day.
    let expiring = fixture("expired-signature.sig");
    let at = |now: SystemTime, signature: &[u8]| {
        let policy = SignaturePolicy { now, ..POLICY };
        verify_signature(
            &fixture("SHA256SUMS"),
            signature,
            &keys_of(&["valid"]),
            &policy,
        )
    };
    for (signature, time, lapse) in [
        (&expiring, "Tue, 02 Jun 2026 12:00:00 GMT", None),
        (
            &expiring,
            "Tue, 02 Jun 2026 12:00:01 GMT",
            Some("expired on Tue, 02 Jun 2026 12:00:00 GMT"),
        ),
        (
            &future,
            "Tue, 01 Jun 2027 11:59:59 GMT",
            Some("is not valid before Tue, 01 Jun 2027 12:00:00 GMT"),
        ),
        (&future, "Tue, 01 Jun 2027 12:00:00 GMT", None),
    ] {
        let now = httpdate::parse_http_date(time).unwrap();
        let found = match at(now, signature) {
            Err(SignatureError::NotValid { lapse, .. }) => Some(lapse.period.to_string()),
            found => found.map(|_| None).unwrap(),
        };
        assert_eq!(found.as_deref(), lapse, "{time}");
    }
}
