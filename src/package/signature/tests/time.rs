//! Expiration and revocation of keys and signatures.

use super::*;

/// How Terraform, OpenTofu, and OpenTofu with enforcement treat expired keys and signatures.
#[test]
fn validity_in_time() {
    let lapsed = |lapse: Lapse| move |signer: &Signer| signer.lapse == Some(lapse);
    for name in ["expired-key", "future-key", "expired-subkey"] {
        assert!(
            terraform(name, &[name]).is_ok_and(|signer| signer.lapse == Some(Lapse::Key)),
            "{name}"
        );
        let [accepted, enforced] = tofu(name, &[name]);
        assert!(accepted.as_ref().is_ok_and(lapsed(Lapse::Key)), "{name}");
        let key_id = accepted.unwrap().key_id;
        assert_eq!(enforced, Err(SignatureError::Enforced { key_id }), "{name}");
    }
    for name in ["expired-signature", "future-signature"] {
        let key_id = VALID.to_owned();
        assert_eq!(
            terraform(name, &["valid"]),
            Err(SignatureError::Expired {
                key_id: key_id.clone()
            })
        );
        let [accepted, enforced] = tofu(name, &["valid"]);
        assert!(
            accepted.as_ref().is_ok_and(lapsed(Lapse::Signature)),
            "{name}"
        );
        assert_eq!(enforced, Err(SignatureError::Enforced { key_id }), "{name}");
    }
    let both = terraform("expired-both", &["expired-key"]);
    assert!(
        both.is_ok_and(|signer| signer.lapse == Some(Lapse::Key)),
        "the key takes precedence"
    );
    let [both, _] = tofu("expired-both", &["expired-key"]);
    assert!(both.as_ref().is_ok_and(lapsed(Lapse::Key)));
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
        verify(&both, keys, policy).map(|signer| signer.lapse)
    };
    let keys = keys_of(&["expired-key", "valid"]);
    assert_eq!(run(Engine::Terraform, &keys), Ok(Some(Lapse::Key)));
    assert_eq!(run(Engine::Tofu, &keys), Ok(None));
    let keys = keys_of(&["expired-key", "other"]);
    assert_eq!(
        run(Engine::Tofu, &keys),
        Ok(Some(Lapse::Key)),
        "no later key issued it"
    );
    let keys = [key("expired-key"), bad];
    assert_eq!(
        run(Engine::Terraform, &keys),
        Ok(Some(Lapse::Key)),
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
        (signer.key_id.as_str(), signer.lapse),
        (VALID, Some(Lapse::Signature))
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
    // The signature was created at 2026-06-01T12:00:00Z or a few seconds later, and is valid for a day.
    let made = terraform("valid", &["valid"]).unwrap().signed_at;
    let expiring = fixture("expired-signature.sig");
    let at = |now: SystemTime, signature: &[u8]| {
        let policy = SignaturePolicy { now, ..POLICY };
        verify_signature(
            &fixture("SHA256SUMS"),
            signature,
            &keys_of(&["valid"]),
            &policy,
        )
        .map(|signer| signer.signed_at)
    };
    assert_eq!(at(made, &fixture("valid.sig")), Ok(made));
    let expired = Err(SignatureError::Expired {
        key_id: VALID.to_owned(),
    });
    assert_eq!(
        at(made - Duration::from_secs(1), &fixture("valid.sig")).is_err(),
        {
            // A second earlier, the key may not exist yet. Terraform accepts it like an expired key.
            at(made - Duration::from_secs(1), &fixture("valid.sig")) == expired
        }
    );
    let made = at(made + Duration::from_secs(60), &expiring).unwrap();
    let end = made + Duration::from_secs(86_400);
    assert_eq!(at(end, &expiring), Ok(made));
    assert_eq!(at(end + Duration::from_secs(1), &expiring), expired);
}
